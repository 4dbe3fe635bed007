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
#include "check/before.h"
#include "tso/machine.h"
#include "tso/tso.h"

#define MAX_ITEMS	4096
#define MAX_LOOKS	800000000ull	/* at anything: about two seconds */
#define STEP_LOOKS	100		/* what a step costs beside them */

struct oracle {
	const struct kl_part *p;
	struct kl_run *run;
	struct kl_before before;
	/* has point k been?  k < n: item k executes; n + k: its entry leaves */
	uint8_t *done;
	uint32_t *newest;	/* whose entry was its thread's newest when an item had executed */
	uint32_t left;		/* items that have to execute and have not */
	struct kl_looks looks;
	struct kl_step *order, *best;
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
	drain = kl_op_empty(p->h, ox);
	return kl_time_add(drain, p->h->error) < oy->call;
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

static uint32_t newest_entry(const struct kl_machine *m, uint32_t thread)
{
	size_t i;

	for (i = m->nentries; i--; )
		if (m->entries[i].thread == thread)
			return m->entries[i].item;
	return KL_NO_OP;
}

static int try_orders(struct oracle *o, const struct kl_machine *m);

static int try_exec(struct oracle *o, const struct kl_machine *m, uint32_t item)
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
		if (!ret)
			ret = kl_look(&o->looks,
				      kl_run_work(o->run) + (l.n + 1) * (m->nmem + m->nwrites));
	} else if (it->kind == KL_ITEM_ENTER || m->in_gap) {
		struct kl_outcome none = { 0 };

		ret = add_machine(&l, &none);
		if (!ret) {
			l.m[0].in_gap = it->kind == KL_ITEM_ENTER;
			kl_machine_forget(&l.m[0]);
		}
	}
	o->done[item] = 1;
	o->left -= it->ret_ev != KL_NO_EVENT;
	for (i = 0; i < l.n && !ret; i++) {
		bool left = l.m[i].nentries > m->nentries;

		o->order[o->depth++] = (struct kl_step){ item, left ? KL_STEP_BUFFERED : 0 };
		o->newest[item] = newest_entry(&l.m[i], l.thread);
		ret = try_orders(o, &l.m[i]);
		o->depth--;
	}
	o->left += it->ret_ev != KL_NO_EVENT;
	o->done[item] = 0;
	for (i = 0; i < l.n; i++)
		kl_machine_free(&l.m[i]);
	free(l.m);
	free(view);
	return ret;
}

static int try_flush(struct oracle *o, const struct kl_machine *m, const struct kl_entry *e)
{
	struct kl_machine after;
	int ret = kl_machine_init(&after, m->nmem);

	if (!ret)
		ret = kl_machine_copy(&after, m);
	if (!ret) {
		kl_machine_flush(&after, e->thread);
		ret = kl_look(&o->looks, m->nmem + m->nwrites);
	}
	if (!ret) {
		o->order[o->depth++] = (struct kl_step){ e->item, KL_STEP_FLUSH };
		o->done[o->p->nitems + e->item] = 1;
		ret = try_orders(o, &after);
		o->done[o->p->nitems + e->item] = 0;
		o->depth--;
	}
	kl_machine_free(&after);
	return ret;
}

/* Has the point been?  A drain takes what the thread left before the item, too. */
static bool is_done(const struct oracle *o, uint32_t point)
{
	const uint32_t n = o->p->nitems;

	if (point < n)
		return o->done[point];
	return o->done[point - n] && (o->newest[point - n] == KL_NO_OP ||
				      o->done[n + o->newest[point - n]]);
}

/* May @item execute now: is everything over that has to be?  1, 0, or -E2BIG. */
static int may_exec(struct oracle *o, uint32_t item)
{
	const size_t from = o->before.at[item], end = o->before.at[item + 1];
	size_t i;

	if (o->done[item])
		return kl_look(&o->looks, 1);
	for (i = from; i < end; i++)
		if (!is_done(o, o->before.point[i]))
			return kl_look(&o->looks, i - from + 1);
	return kl_look(&o->looks, i - from + 1) ?: 1;
}

static int try_orders(struct oracle *o, const struct kl_machine *m)
{
	uint32_t i;
	size_t k;
	int ret;

	ret = kl_look(&o->looks, STEP_LOOKS);
	if (ret)
		return ret;
	if (o->depth > o->nbest || !o->left) {
		memcpy(o->best, o->order, o->depth * sizeof(*o->best));
		o->nbest = o->depth;
	}
	/* Entries may stay in the buffer for ever unless a drain says otherwise. */
	if (!o->left)
		return 1;
	for (i = 0; i < o->p->nitems; i++) {
		ret = may_exec(o, i);
		if (ret > 0)
			ret = try_exec(o, m, i);
		if (ret)
			return ret;
	}
	for (k = 0; k < m->nentries; k++) {
		const int64_t oldest = kl_machine_oldest(m, m->entries[k].thread);

		ret = kl_look(&o->looks, oldest + 1);
		if (!ret && oldest == (int64_t)k)
			ret = try_flush(o, m, &m->entries[k]);
		if (ret)
			return ret;
	}
	return 0;
}

static int get_room(struct oracle *o)
{
	const size_t n = o->p->nitems;
	size_t i;

	o->done = calloc(2 * n + 1, sizeof(*o->done));
	o->newest = calloc(n + 1, sizeof(*o->newest));
	o->order = malloc((2 * n + 1) * sizeof(*o->order));
	o->best = malloc((2 * n + 1) * sizeof(*o->best));
	for (i = 0; i < n; i++)
		o->left += o->p->items[i].ret_ev != KL_NO_EVENT;
	return o->done && o->newest && o->order && o->best ?
	       kl_before_list(&o->before, o->p, point_before, true) : -ENOMEM;
}

static int tso_oracle_decide(const struct kl_part *p, const struct kl_limits *lim,
			     struct kl_answer *a)
{
	struct oracle o = { .p = p, .looks = { .lim = lim, .most = MAX_LOOKS } };
	struct kl_machine m = { 0 };
	const struct kl_val *first;
	size_t len;
	int ret;

	a->engine = "tso-oracle";
	a->verdict = KL_UNKNOWN;
	if (p->nitems > MAX_ITEMS || !kl_spec_fixed_size(p->spec)) {
		snprintf(a->reason, sizeof(a->reason), "%s",
			 p->nitems > MAX_ITEMS ? "too many operations for the oracle" :
			 "store buffers of containers are not modelled");
		return 0;
	}
	ret = kl_look(&o.looks, (uint64_t)p->nitems * p->nitems) ?: get_room(&o);
	o.run = kl_run_new(p->spec);
	first = o.run ? kl_run_init(o.run, p->fresh, &len) : NULL;
	if (!ret)
		ret = first ? kl_machine_init(&m, len) : -ENOMEM;
	if (!ret) {
		memcpy(m.mem, first, len * sizeof(*first));
		kl_run_set_raw(o.run, true);
		ret = try_orders(&o, &m);
	}
	if (ret == -E2BIG) {
		snprintf(a->reason, sizeof(a->reason), "%s",
			 *o.looks.reason ? o.looks.reason : kl_run_error(o.run));
		ret = 0;
	} else if (ret >= 0) {
		a->verdict = ret ? KL_LINEARIZABLE : KL_VIOLATION;
		a->steps = calloc(o.nbest + 1, sizeof(*a->steps));
		a->nsteps = o.nbest;
		ret = a->steps ? 0 : -ENOMEM;
		if (!ret)
			memcpy(a->steps, o.best, o.nbest * sizeof(*a->steps));
	}
	a->work = o.looks.n;
	kl_before_free(&o.before);
	free(o.done);
	free(o.newest);
	free(o.order);
	free(o.best);
	kl_machine_free(&m);
	kl_run_free(o.run);
	return ret;
}

const struct kl_engine kl_tso_oracle_engine = {
	.name = "tso-oracle", .tso = true, .decide = tso_oracle_decide,
};
