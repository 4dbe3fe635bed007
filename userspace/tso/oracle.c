// SPDX-License-Identifier: GPL-2.0
/*
 * The TSO oracle: Definitions 1 and 2 of Burckhardt et al. for a recorded
 * history, by trying all orders of executions and flushes.  Tiny and slow on
 * purpose: it takes the order of points from the operations' times, keeps no
 * configurations, and shares with the engine only the machine.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tso/machine.h"
#include "tso/tso.h"

#define MAX_ITEMS	32
#define MAX_STEPS	20000000ull

/* Points of item i: its execution is bit i, its flush bit MAX_ITEMS + i. */
struct oracle {
	const struct kl_part *p;
	struct kl_run *run;
	uint64_t before_exec[MAX_ITEMS], must;
	uint64_t steps;
	struct kl_step order[2 * MAX_ITEMS], best[2 * MAX_ITEMS];
	size_t depth, nbest;
};

struct machines {
	struct kl_machine *m;
	size_t n, cap;
	const struct kl_machine *before;
	uint32_t thread, item;
};

/* Is @a's execution (or its flush) over before @b may execute? */
static bool point_before(const struct kl_part *p, uint32_t a, uint32_t b, bool flush)
{
	const struct kl_item *x = &p->items[a], *y = &p->items[b];
	const struct kl_op *ox, *oy;
	uint64_t drain;

	if (x->kind != KL_ITEM_OP || y->kind != KL_ITEM_OP) {
		uint32_t ev = flush ? x->drain_ev : x->ret_ev;

		return (!flush && x->kind == KL_ITEM_ENTER && b == a + 1 &&
			y->kind == KL_ITEM_LEAVE) || (ev != KL_NO_EVENT && ev < y->call_ev);
	}
	ox = kl_item_op(p, x);
	oy = kl_item_op(p, y);
	if (!flush)
		return kl_op_before(p->h, ox, oy);
	drain = ox->drain > ox->ret ? ox->drain : ox->ret;
	return drain < KL_TIME_MAX - p->h->error && drain + p->h->error < oy->call;
}

static int add_machine(void *ctx, const struct kl_outcome *o)
{
	struct machines *l = ctx;
	struct kl_machine *m;
	int ret;

	if (o->barrier && kl_machine_oldest(l->before, l->thread) >= 0)
		return 0;
	ret = kl_grow(l->m, l->cap, l->n + 1);
	if (ret)
		return ret;
	m = &l->m[l->n];
	ret = kl_machine_init(m, l->before->nmem);
	if (ret)
		return ret;
	l->n++;
	ret = kl_machine_copy(m, l->before);
	if (!ret)
		ret = kl_machine_exec(m, o, l->thread, l->item);
	return ret < 0 ? ret : 0;
}

static int try_orders(struct oracle *o, uint64_t done, const struct kl_machine *m);

static int try_exec(struct oracle *o, uint64_t done, const struct kl_machine *m, uint32_t item)
{
	const struct kl_item *it = &o->p->items[item];
	struct machines l = { .before = m, .item = item };
	struct kl_val *view = NULL;
	size_t i;
	int ret = 0;

	if (it->kind == KL_ITEM_OP) {
		const struct kl_op *op = kl_item_op(o->p, it);

		view = calloc(m->nmem + 1, sizeof(*view));
		if (!view)
			return -ENOMEM;
		l.thread = op->thread;
		kl_machine_view(m, l.thread, view);
		kl_run_set_fresh(o->run, kl_machine_next_unknown(m));
		ret = kl_run_apply(o->run, view, m->nmem, it->method, kl_op_args(o->p->h, op),
				   kl_op_res(o->p->h, op), add_machine, &l);
	} else if (it->kind == KL_ITEM_ENTER || m->in_gap) {
		struct kl_outcome none = { 0 };

		ret = add_machine(&l, &none);
		if (!ret) {
			l.m[0].in_gap = it->kind == KL_ITEM_ENTER;
			kl_machine_forget(&l.m[0]);
		}
	}
	for (i = 0; i < l.n && !ret; i++) {
		bool left = l.m[i].nentries > m->nentries;

		o->order[o->depth++] = (struct kl_step){ item, left ? KL_STEP_BUFFERED : 0 };
		/* What left no entry has nothing to flush. */
		ret = try_orders(o, done | 1ull << item |
				 (left ? 0 : 1ull << (MAX_ITEMS + item)), &l.m[i]);
		o->depth--;
	}
	for (i = 0; i < l.n; i++)
		kl_machine_free(&l.m[i]);
	free(l.m);
	free(view);
	return ret;
}

static int try_flush(struct oracle *o, uint64_t done, const struct kl_machine *m,
		     const struct kl_entry *e)
{
	struct kl_machine after;
	int ret = kl_machine_init(&after, m->nmem);

	if (!ret)
		ret = kl_machine_copy(&after, m);
	if (!ret) {
		kl_machine_flush(&after, e->thread);
		o->order[o->depth++] = (struct kl_step){ e->item, KL_STEP_FLUSH };
		ret = try_orders(o, done | 1ull << (MAX_ITEMS + e->item), &after);
		o->depth--;
	}
	kl_machine_free(&after);
	return ret;
}

/* May @item execute now: is everything over that has to be? */
static bool may_exec(const struct oracle *o, uint64_t done, uint32_t item)
{
	uint32_t i;

	if (done >> item & 1 || (o->before_exec[item] & ~done))
		return false;
	for (i = 0; i < o->p->nitems; i++)
		if (i != item && !(done >> (MAX_ITEMS + i) & 1) && point_before(o->p, i, item, true))
			return false;
	return true;
}

static int try_orders(struct oracle *o, uint64_t done, const struct kl_machine *m)
{
	uint32_t i;
	size_t k;
	int ret;

	if (++o->steps > MAX_STEPS)
		return -E2BIG;
	if (o->depth > o->nbest) {
		memcpy(o->best, o->order, o->depth * sizeof(*o->best));
		o->nbest = o->depth;
	}
	/* Entries may stay in the buffer for ever unless a drain says otherwise. */
	if (!(o->must & ~done)) {
		memcpy(o->best, o->order, o->depth * sizeof(*o->best));
		o->nbest = o->depth;
		return 1;
	}
	for (i = 0; i < o->p->nitems; i++) {
		if (!may_exec(o, done, i))
			continue;
		ret = try_exec(o, done, m, i);
		if (ret)
			return ret;
	}
	for (k = 0; k < m->nentries; k++) {
		if (kl_machine_oldest(m, m->entries[k].thread) != (int64_t)k)
			continue;
		ret = try_flush(o, done, m, &m->entries[k]);
		if (ret)
			return ret;
	}
	return 0;
}

static int tso_oracle_decide(const struct kl_part *p, const struct kl_limits *lim,
			     struct kl_answer *a)
{
	struct oracle o = { .p = p };
	struct kl_machine m = { 0 };
	const struct kl_val *first;
	uint32_t i, j;
	size_t len;
	int ret = -ENOMEM;

	a->engine = "tso-oracle";
	a->verdict = KL_UNKNOWN;
	if (p->nitems > MAX_ITEMS || !kl_spec_fixed_size(p->spec)) {
		snprintf(a->reason, sizeof(a->reason), "%s",
			 p->nitems > MAX_ITEMS ? "too many operations for the oracle" :
			 "store buffers of containers are not modelled");
		return 0;
	}
	for (i = 0; i < p->nitems; i++) {
		if (p->items[i].ret_ev != KL_NO_EVENT)
			o.must |= 1ull << i;
		for (j = 0; j < p->nitems; j++)
			if (i != j && point_before(p, j, i, false))
				o.before_exec[i] |= 1ull << j;
	}
	o.run = kl_run_new(p->spec);
	first = o.run ? kl_run_init(o.run, p->fresh, &len) : NULL;
	if (first)
		ret = kl_machine_init(&m, len);
	if (!ret) {
		memcpy(m.mem, first, len * sizeof(*first));
		kl_run_set_raw(o.run, true);
		ret = try_orders(&o, 0, &m);
	}
	if (ret == -E2BIG) {
		snprintf(a->reason, sizeof(a->reason), "too many orders for the oracle");
		ret = 0;
	} else if (ret >= 0) {
		a->verdict = ret ? KL_LINEARIZABLE : KL_VIOLATION;
		a->steps = calloc(o.nbest + 1, sizeof(*a->steps));
		a->nsteps = o.nbest;
		ret = a->steps ? 0 : -ENOMEM;
		if (!ret)
			memcpy(a->steps, o.best, o.nbest * sizeof(*a->steps));
	}
	a->work = o.steps;
	kl_machine_free(&m);
	kl_run_free(o.run);
	return ret;
}

const struct kl_engine kl_tso_oracle_engine = {
	.name = "tso-oracle", .tso = true, .decide = tso_oracle_decide,
};
