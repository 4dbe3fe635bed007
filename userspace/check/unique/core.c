// SPDX-License-Identifier: GPL-2.0
/*
 * A few operations that have no order by themselves, around the event where the search failed.
 * They are the operations of some values, and some that found the container empty.  A general
 * engine decides whether they have an order; more are taken until they have none.
 *
 * If the whole history has an order, that order without all other operations is an order of these.
 * A push finds room with fewer values inside, a value at an end stays there, and an empty container
 * stays empty.  Operations that found the container full change nothing, and are omitted.  Pending
 * pops may have taken any value, so all of them are kept.
 *
 * If no such operations are found, all operations around the event are decided.  Those before are
 * forgotten, so the first state is unknown.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/explain/omit.h"
#include "check/unique/unique.h"
#include "check/engines.h"
#include "check/loglinear/loglinear.h"

#define FIRST_SPAN	16	/* events around the failure that are tried first */
#define MOST_OPS	300
#define MOST_SPAN	1024
#define CORE_WORK	(4000 * KL_CONFIG_LOOKS)	/* looks for a core, */
#define CORE_EACH	(8 * KL_CONFIG_LOOKS)	/* and more for each operation that was placed */

struct core {
	const struct unique_ops *o;
	uint8_t *value;		/* 1 for each value that is kept */
	uint8_t *found;		/* 1 for kept items that are odd or found the container empty */
	uint32_t *ops, n;	/* indices of kept operations in the history, ascending */
	uint64_t work;		/* bound of looks for a general engine */
};

/* Is the item open at some event of @from .. @to? */
static bool overlaps(const struct kl_item *it, uint32_t from, uint32_t to)
{
	return it->call_ev <= to && it->ret_ev >= from;
}

/*
 * Keep the values of operations that are open at some event of @from .. @to.  Return: false if
 * there are no earlier events.
 */
static bool mark(struct core *c, uint32_t from, uint32_t to)
{
	const struct kl_part *p = c->o->p;
	uint32_t i;

	for (i = 0; i < p->nitems; i++) {
		const struct unique_op *op = &c->o->op[i];

		if (!overlaps(&p->items[i], from, to))
			continue;
		if (op->kind == UNIQUE_PUSH || op->kind == UNIQUE_POP || op->kind == UNIQUE_LOOK)
			c->value[op->value] = 1;
		c->found[i] = op->kind == UNIQUE_EMPTY;
	}
	return from > 0;
}

/* Keep all items of the kind UNIQUE_ODD, and their values.  Return: true if there are any. */
static bool mark_odd(struct core *c)
{
	uint32_t i;

	for (i = 0; c->o->nodd && i < c->o->p->nitems; i++) {
		if (c->o->op[i].kind != UNIQUE_ODD)
			continue;
		c->found[i] = 1;
		if (c->o->op[i].value != UNIQUE_NONE)
			c->value[c->o->op[i].value] = 1;
	}
	return c->o->nodd;
}

static void collect(struct core *c)
{
	const struct kl_part *p = c->o->p;
	uint32_t i;

	c->n = 0;
	for (i = 0; i < p->nitems; i++) {
		const struct unique_op *op = &c->o->op[i];

		if (op->kind == UNIQUE_WILD || c->found[i] ||
		    ((op->kind == UNIQUE_PUSH || op->kind == UNIQUE_POP ||
		      op->kind == UNIQUE_LOOK) &&
		     c->value[op->value]))
			c->ops[c->n++] = p->items[i].op;
	}
}

/*
 * Let a general engine decide the kept operations.
 *
 * Return: 1 with @a if they are a violation, 0 if not or if that is not known, -ENOMEM.
 */
static int ask(struct core *c, const struct kl_limits *limits, struct kl_answer *a)
{
	const struct kl_part *p = c->o->p;
	int *methods = malloc((p->h->nmethods + 1) * sizeof(*methods)), ret;
	const struct kl_slice s = {
		.spec = p->spec, .h = p->h, .methods = methods, .object = p->object,
	};
	struct kl_answer core = { .core = c->ops, .ncore = c->n },
			 general = { .verdict = KL_UNKNOWN };
	struct kl_limits lim = *limits;
	size_t i;

	if (!methods)
		return -ENOMEM;
	for (i = 0; i < p->h->nmethods; i++)
		methods[i] = kl_spec_find_method(p->spec, p->h->methods[i]);
	collect(c);
	core.ncore = c->n;
	lim.work = c->work;
	lim.each = CORE_EACH;
	ret = c->n && c->n <= MOST_OPS ? ll_ask_general(&s, &lim, &core, &general) : 0;
	free(methods);
	if (!ret && general.verdict == KL_VIOLATION) {
		a->verdict = KL_VIOLATION;
		a->fail_event = general.fail_event;
		a->core = c->ops;
		a->ncore = c->n;
		c->ops = NULL;
		ret = 1;
	}
	kl_answer_free(&general);
	return ret;
}

static int widen(struct core *c, uint32_t at, const struct kl_limits *lim, struct kl_answer *a)
{
	uint32_t span = FIRST_SPAN;
	bool more = true;
	int ret = 0;

	if (c->o->wrong != UNIQUE_NONE)
		c->value[c->o->wrong] = 1;
	if (mark_odd(c) || c->o->wrong != UNIQUE_NONE)
		return ask(c, lim, a);
	for (c->n = 0; !ret && more && c->n <= MOST_OPS; span *= 2) {
		more = mark(c, at > span ? at - span : 0, at);
		ret = ask(c, lim, a);
	}
	return ret;
}

/*
 * Decide all operations that are open at some event of @from .. @to.  Those before are forgotten,
 * so the first state is unknown.
 *
 * Return: 1 with @a if they are a violation, 0 if not or if that is not known, -ENOMEM.
 */
static int ask_window(struct core *c, uint32_t from, uint32_t to, const struct kl_limits *lim,
		      struct kl_answer *a)
{
	const struct kl_part *p = c->o->p;
	struct kl_answer general = { .verdict = KL_UNKNOWN };
	uint32_t *order = malloc(((size_t)p->nitems + 1) * sizeof(*order)), i, n = 0, last = 0;
	struct kl_history *h = NULL;
	struct kl_cut cut = { 0 };
	struct kl_event fail;
	uint64_t time = 0;
	int ret = order ? 0 : -ENOMEM;

	for (i = 0; i < p->nitems; i++) {
		const struct kl_item *it = &p->items[i];

		c->ops[i] = it->op;
		if (it->ret_ev < from && kl_item_op(p, it)->ret > time)
			time = kl_item_op(p, it)->ret;
	}
	while (p->events[to].kind != KL_EV_RET)
		to--;
	if (!ret)
		ret = kl_cut_init(&cut, p->spec, p->h, c->ops, p->nitems, from, time,
				  kl_item_op(p, &p->items[p->events[to].item])->ret);
	for (i = 0; i < p->nitems; i++)
		if (overlaps(&p->items[i], from, to))
			c->ops[n++] = p->items[i].op;
	if (!ret)
		ret = kl_cut_history(&cut, c->ops, n, false, &h, order);
	if (!ret)
		ret = kl_decide_history(p->spec, h, &kl_frontier_engine, lim, &general, &fail);
	if (!ret && general.verdict == KL_VIOLATION && fail.item < n) {
		for (i = 0; p->items[i].op != order[fail.item]; i++)
			;
		last = p->items[i].ret_ev;
		a->verdict = KL_VIOLATION;
		a->fail_event = last == KL_NO_EVENT ? to : last;
		a->from_event = from;
		ret = 1;
	}
	kl_history_free(h);
	kl_cut_free(&cut);
	kl_answer_free(&general);
	free(order);
	return ret == -EOVERFLOW ? 0 : ret;
}

static int widen_window(struct core *c, uint32_t at, const struct kl_limits *limits,
			struct kl_answer *a)
{
	const uint32_t events = c->o->p->nevents;
	struct kl_limits lim = *limits;
	uint32_t span = FIRST_SPAN;
	int ret = 0;

	lim.work = c->work;
	lim.each = CORE_EACH;
	lim.no_witness = true;
	lim.progress = NULL;
	for (; !ret && span <= MOST_SPAN; span *= 2) {
		ret = ask_window(c, at > span ? at - span : 0,
				 at + span < events ? at + span : events - 1, &lim, a);
		if (span >= events)
			break;
	}
	return ret;
}

/*
 * Return: the return event of an operation whose value or results are wrong by themselves, or @at.
 */
static uint32_t wrong_at(const struct unique_ops *o, uint32_t at)
{
	uint32_t i;

	if (o->wrong == UNIQUE_NONE && !o->nodd)
		return at;
	for (i = 0; i < o->p->nitems; i++)
		if (o->op[i].kind == UNIQUE_ODD ||
		    (o->wrong != UNIQUE_NONE && o->op[i].value == o->wrong))
			at = o->p->items[i].ret_ev < o->p->nevents ? o->p->items[i].ret_ev : at;
	return at;
}

int unique_core(const struct unique_ops *o, uint32_t at, unsigned int times,
		const struct kl_limits *lim, struct kl_answer *a)
{
	struct core c = { .o = o, .work = times * CORE_WORK };
	int ret;

	c.value = calloc((size_t)o->nvalues + 1, 1);
	c.found = calloc((size_t)o->p->nitems + 1, 1);
	c.ops = malloc(((size_t)o->p->nitems + 1) * sizeof(*c.ops));
	ret = c.value && c.found && c.ops ? 0 : -ENOMEM;
	/*
	 * Kept operations must show that the others may be omitted.  A hidden pop took effect, and
	 * may have taken any value.  Whether a push with an unknown result had room depends on all
	 * other operations.
	 */
	if (!ret && !o->may_differ && !o->nhidden && !o->nmaybe)
		ret = widen(&c, at, lim, a);
	if (ret > 0)
		snprintf(a->reason, sizeof(a->reason),
			 "%zu operations that have no order, even without the others", a->ncore);
	else if (!ret && o->p->nevents)
		ret = widen_window(&c, wrong_at(o, at), lim, a);
	free(c.value);
	free(c.found);
	free(c.ops);
	return ret;
}
