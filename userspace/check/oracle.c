// SPDX-License-Identifier: GPL-2.0
/*
 * The oracle: linearizability by its definition, trying all orders.  Tiny and
 * slow on purpose; it shares with the engines the specification's interpreter
 * and nothing else: no events, no slots, no interned states.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/before.h"
#include "check/check.h"

#define MAX_ITEMS	4096
#define MAX_LOOKS	800000000ull	/* at anything: about two seconds */
#define STEP_LOOKS	100		/* what a step costs beside them */

struct state {
	struct state *next;
	size_t len;
	struct kl_val v[];
};

struct oracle {
	const struct kl_part *p;
	struct kl_run *run;
	struct kl_before before;
	uint8_t *done;		/* has it taken effect? */
	uint32_t left;		/* items that have to take effect and have not */
	uint32_t *order, depth;
	uint32_t *best, nbest;
	struct kl_looks looks;
};

/* Does item @a happen before item @b?  A gap has only its events. */
static bool item_before(const struct kl_part *p, uint32_t a, uint32_t b, bool flush)
{
	const struct kl_item *x = &p->items[a], *y = &p->items[b];

	if (x->kind == KL_ITEM_OP && y->kind == KL_ITEM_OP)
		return kl_op_before(p->h, kl_item_op(p, x), kl_item_op(p, y));
	if (x->kind == KL_ITEM_ENTER && y->kind == KL_ITEM_LEAVE && b == a + 1)
		return true;
	return x->ret_ev != KL_NO_EVENT && x->ret_ev < y->call_ev;
}

static int add_state(void *ctx, const struct kl_outcome *o)
{
	struct state **list = ctx, *s = malloc(sizeof(*s) + o->len * sizeof(*s->v));

	if (!s)
		return -ENOMEM;
	s->next = *list;
	s->len = o->len;
	memcpy(s->v, o->state, o->len * sizeof(*s->v));
	*list = s;
	return 0;
}

static void free_states(struct state *s)
{
	struct state *next;

	for (; s; s = next) {
		next = s->next;
		free(s);
	}
}

static bool must(const struct oracle *o, uint32_t item)
{
	return o->p->items[item].ret_ev != KL_NO_EVENT;
}

static int try_orders(struct oracle *o, const struct state *s, bool in_gap);

/* Let @item take effect in @s, then go on. */
static int try_item(struct oracle *o, const struct state *s, bool in_gap, uint32_t item)
{
	const struct kl_item *it = &o->p->items[item];
	struct state *list = NULL, *t;
	struct kl_outcome any = { 0 };
	int ret = 0;

	if (it->kind == KL_ITEM_OP) {
		const struct kl_op *op = kl_item_op(o->p, it);

		ret = kl_run_apply(o->run, s->v, s->len, it->method, kl_op_args(o->p->h, op),
				   kl_op_res(o->p->h, op), add_state, &list);
		if (!ret)
			ret = kl_look(&o->looks, kl_run_work(o->run) + s->len);
		/* Inside a gap anything may happen after each operation. */
		if (!ret && list && in_gap) {
			free_states(list);
			list = NULL;
			any.state = kl_run_init(o->run, false, &any.len);
			ret = any.state ? add_state(&list, &any) : -ENOMEM;
		}
	} else if (it->kind == KL_ITEM_ENTER || in_gap) {
		in_gap = it->kind == KL_ITEM_ENTER;
		any.state = kl_run_init(o->run, false, &any.len);
		ret = any.state ? add_state(&list, &any) : -ENOMEM;
	}
	o->order[o->depth++] = item;
	o->done[item] = 1;
	o->left -= must(o, item);
	for (t = list; t && !ret; t = t->next)
		ret = try_orders(o, t, in_gap);
	o->left += must(o, item);
	o->done[item] = 0;
	o->depth--;
	free_states(list);
	return ret;
}

/* 1, 0, or -E2BIG. */
static int may_come(struct oracle *o, uint32_t item)
{
	const size_t from = o->before.at[item], end = o->before.at[item + 1];
	size_t i;

	if (o->done[item])
		return kl_look(&o->looks, 1);
	for (i = from; i < end; i++)
		if (!o->done[o->before.point[i]])
			return kl_look(&o->looks, i - from + 1);
	return kl_look(&o->looks, i - from + 1) ?: 1;
}

/* Return: 1 when an order was found, 0 when there is none, negative errno. */
static int try_orders(struct oracle *o, const struct state *s, bool in_gap)
{
	uint32_t i;
	int ret;

	ret = kl_look(&o->looks, STEP_LOOKS);
	if (ret)
		return ret;
	if (o->depth > o->nbest || !o->left) {
		memcpy(o->best, o->order, o->depth * sizeof(*o->best));
		o->nbest = o->depth;
	}
	if (!o->left)
		return 1;
	for (i = 0; i < o->p->nitems; i++) {
		ret = may_come(o, i);
		if (ret > 0)
			ret = try_item(o, s, in_gap, i);
		if (ret)
			return ret;
	}
	return 0;
}

static int get_room(struct oracle *o)
{
	const uint32_t n = o->p->nitems;
	uint32_t i;

	o->done = calloc(n + 1, sizeof(*o->done));
	o->order = malloc((n + 1) * sizeof(*o->order));
	o->best = malloc((n + 1) * sizeof(*o->best));
	for (i = 0; i < n; i++)
		o->left += must(o, i);
	return o->done && o->order && o->best ?
	       kl_before_list(&o->before, o->p, item_before, false) : -ENOMEM;
}

static int oracle_decide(const struct kl_part *p, const struct kl_limits *lim,
			 struct kl_answer *a)
{
	struct kl_outcome first = { 0 };
	struct oracle o = { .p = p, .looks = { .lim = lim, .most = MAX_LOOKS } };
	struct state *s = NULL;
	int ret;

	a->engine = "oracle";
	a->verdict = KL_UNKNOWN;
	if (p->nitems > MAX_ITEMS) {
		snprintf(a->reason, sizeof(a->reason), "more than %d operations for the oracle",
			 MAX_ITEMS);
		return 0;
	}
	ret = kl_look(&o.looks, (uint64_t)p->nitems * p->nitems) ?: get_room(&o);
	o.run = kl_run_new(p->spec);
	if (o.run)
		first.state = kl_run_init(o.run, p->fresh, &first.len);
	if (!ret)
		ret = first.state ? add_state(&s, &first) : -ENOMEM;
	if (!ret)
		ret = try_orders(&o, s, false);
	if (ret == -E2BIG) {
		snprintf(a->reason, sizeof(a->reason), "%s",
			 *o.looks.reason ? o.looks.reason : kl_run_error(o.run));
		ret = 0;
	} else if (ret >= 0) {
		a->verdict = ret ? KL_LINEARIZABLE : KL_VIOLATION;
		a->steps = calloc(o.nbest + 1, sizeof(*a->steps));
		a->nsteps = o.nbest;
		ret = a->steps ? 0 : -ENOMEM;
		while (!ret && o.nbest--)
			a->steps[o.nbest].item = o.best[o.nbest];
	}
	a->work = o.looks.n;
	kl_before_free(&o.before);
	free(o.done);
	free(o.order);
	free(o.best);
	free_states(s);
	kl_run_free(o.run);
	return ret;
}

const struct kl_engine kl_oracle_engine = { .name = "oracle", .decide = oracle_decide };
