// SPDX-License-Identifier: GPL-2.0
/*
 * The engine `fifo': the order in which values entered a queue is decided when they leave.
 *
 * In an order of the history the n-th value that leaves is the n-th that entered.  So the engine
 * goes through the removals in order, and gives each the next addition.
 *
 * - An operation's place is not before the operation that precedes it on its side.  A removal or
 *   peek is not before its addition.  An addition is not before the last operation that found the
 *   queue empty without it.  With the bounds of lazy.h these are lower bounds, so the first place
 *   that they allow is as good as any.
 * - Additions that are left at the end need only places before their returns.
 *
 * In an unknown first state the queue holds unknown values.  Removals may take these until one
 * takes an addition.  A value that a peek saw stays until it is removed.  A gap at the beginning
 * leads to such a state at its end, and operations called before may have taken effect in it.
 */
#include <errno.h>
#include <stdlib.h>

#include "check/engines.h"
#include "check/lazy/lazy.h"

enum {
	/* the addition at the front, which has taken effect, + 1; or 0 */
	R_FRONT = L_OWN,
	R_OLD,				/* whether unknown values of the first state are left */
	R_SEEN,				/* the unknown value that was seen in front, + 1; or 0 */
};

static void start(const struct lazy *f, uint32_t *r)
{
	r[R_OLD] = f->old || f->o.from;
}

/* Return: the first place that a removal or peek can have. */
static uint32_t place_of(const uint32_t *r, const struct lazy_op *op)
{
	const uint32_t place = lazy_max(op->call, r[L_PLACE + LAZY_TAKES]);

	/* An addition at the front is the last addition that has a place. */
	return r[R_FRONT] ? lazy_max(place, r[L_PLACE + LAZY_ADDS]) : place;
}

static bool fits_front(const struct lazy *f, const uint32_t *r, uint32_t value)
{
	if (value == LAZY_ANYTHING || value == LAZY_EMPTY)
		return value == LAZY_ANYTHING;
	if (r[R_FRONT])
		return value == f->o.side[LAZY_ADDS].op[r[R_FRONT] - 1].value;
	return r[R_OLD] && (!r[R_SEEN] || value == r[R_SEEN] - 1);
}

/* Return: true if a peek that sees @value at the front leaves the configuration as it is. */
static bool tells_nothing(const uint32_t *r, uint32_t value)
{
	return r[R_FRONT] || r[R_SEEN] || value == LAZY_ANYTHING;
}

/* Operation @o sees the value at the front.  Return: 1, 0 if it cannot, or a negative errno. */
static int see_front(struct lazy *f, uint32_t *r, uint32_t o)
{
	const struct lazy_op *op = &f->o.side[LAZY_TAKES].op[o];
	const uint32_t place = place_of(r, op);

	if (!fits_front(f, r, op->value) || !lazy_take_effect(f, r, LAZY_TAKES, o, place))
		return 0;
	if (!r[R_FRONT] && !op->removes && op->value != LAZY_ANYTHING)
		r[R_SEEN] = op->value + 1;
	if (op->removes)
		r[R_FRONT] = r[R_SEEN] = 0;
	return lazy_note(f, r, op->item, place) ?: 1;
}

/* Peeks that fit and delay no other operation take effect at once; that is never worse. */
static int settle(struct lazy *f, uint32_t *r)
{
	const struct lazy_side *s = &f->o.side[LAZY_TAKES];
	uint32_t i, at, now;
	int ret = 1;

	if (!r[R_FRONT] && !r[R_OLD])
		return 1;
	now = place_of(r, &(struct lazy_op){ .call = 0 });
	*f->looks += 2 * r[L_LEFT + LAZY_TAKES];
	for (i = 0; i < r[L_LEFT + LAZY_TAKES] && ret > 0;) {
		const uint32_t o = lazy_left(f, r, LAZY_TAKES)[i];

		if (s->op[o].removes || s->op[o].ret <= now || s->op[o].call > now ||
		    !fits_front(f, r, s->op[o].value) || !tells_nothing(r, s->op[o].value)) {
			i++;
			continue;
		}
		ret = see_front(f, r, o);
		i = 0;
	}
	for (at = r[L_NEXT + LAZY_TAKES]; ret > 0 && at < s->n && s->op[at].call <= now; at++)
		if (!s->op[at].removes && s->op[at].ret > now &&
		    fits_front(f, r, s->op[at].value) && tells_nothing(r, s->op[at].value))
			ret = see_front(f, r, at);
	return ret;
}

/* Let @o see each addition that can be at the front, where no value was seen yet. */
static int see_additions(struct lazy *f, uint32_t o, const uint32_t *adds, uint32_t nadds)
{
	const struct lazy_op *op = &f->o.side[LAZY_TAKES].op[o];
	uint32_t i;
	int ret = 0;

	for (i = 0; i < nadds && ret >= 0; i++) {
		const struct lazy_op *add = &f->o.side[LAZY_ADDS].op[adds[i]];
		const uint32_t place = lazy_max(add->call, f->rec[L_PLACE + LAZY_ADDS]);

		if (op->value != LAZY_ANYTHING && op->value != add->value)
			continue;
		memcpy(f->tmp, f->rec, f->len * sizeof(*f->tmp));
		f->tmp[R_OLD] = 0;
		f->tmp[R_FRONT] = adds[i] + 1;
		if (!lazy_take_effect(f, f->tmp, LAZY_ADDS, adds[i], place))
			continue;
		ret = lazy_note(f, f->tmp, add->item, place) ?: see_front(f, f->tmp, o);
		if (ret > 0)
			ret = lazy_add_kid(f, op->ret);
	}
	return ret < 0 ? ret : 0;
}

static int find_empty(struct lazy *f, uint32_t o)
{
	const struct lazy_op *op = &f->o.side[LAZY_TAKES].op[o];
	const uint32_t place = place_of(f->rec, op);
	int ret;

	memcpy(f->tmp, f->rec, f->len * sizeof(*f->tmp));
	f->tmp[R_OLD] = 0;
	if (!lazy_take_effect(f, f->tmp, LAZY_TAKES, o, place) ||
	    !lazy_advance(f, f->tmp, LAZY_ADDS, lazy_max(place, f->tmp[L_PLACE + LAZY_ADDS])))
		return 0;
	ret = lazy_note(f, f->tmp, op->item, place);
	return ret ? ret : lazy_add_kid(f, op->ret);
}

/* Let @o see an unknown value of the first state. */
static int see_old(struct lazy *f, uint32_t o)
{
	const struct lazy_op *op = &f->o.side[LAZY_TAKES].op[o];
	int ret;

	memcpy(f->tmp, f->rec, f->len * sizeof(*f->tmp));
	ret = see_front(f, f->tmp, o);
	return ret > 0 ? lazy_add_kid(f, op->ret) : ret;
}

static int expand_one(struct lazy *f, uint32_t o, const uint32_t *adds, uint32_t nadds)
{
	const struct lazy_op *op = &f->o.side[LAZY_TAKES].op[o];
	int ret = 0;

	if (f->rec[R_FRONT]) {
		memcpy(f->tmp, f->rec, f->len * sizeof(*f->tmp));
		ret = see_front(f, f->tmp, o);
		return ret > 0 ? lazy_add_kid(f, op->ret) : ret;
	}
	if (f->rec[R_OLD] && op->value != LAZY_EMPTY)
		ret = see_old(f, o);
	if (ret || f->rec[R_SEEN])
		return ret;
	return op->value == LAZY_EMPTY ? find_empty(f, o) : see_additions(f, o, adds, nadds);
}

static int expand(struct lazy *f, uint32_t ntakes)
{
	const uint32_t nadds = f->rec[R_FRONT] ? 0 : lazy_candidates(f, f->rec, LAZY_ADDS, f->adds);
	uint32_t i;
	int ret = 0;

	for (i = 0; i < ntakes && !ret; i++)
		ret = expand_one(f, f->takes[i], f->adds, nadds);
	return ret;
}

/* Sort the operations into @k by place; those with equal places stay in the search's order. */
static void put_places(const struct lazy *f, struct kl_key *k, uint8_t *placed, uint32_t *count)
{
	uint32_t node, n = 0, i;

	for (node = f->rec[L_NODE]; node != LAZY_NO_NODE; node = f->nodes[node].parent)
		n++;
	*count = n;
	for (node = f->rec[L_NODE]; node != LAZY_NO_NODE; node = f->nodes[node].parent) {
		k[--n] = (struct kl_key){
			.key = f->nodes[node].place, .val = f->nodes[node].item,
		};
		placed[f->nodes[node].item] = 1;
	}
	for (i = 0; i < f->o.side[LAZY_ADDS].n; i++) {
		const struct lazy_op *op = &f->o.side[LAZY_ADDS].op[i];

		if (op->must == LAZY_NEVER || placed[op->item])
			continue;
		k[(*count)++] = (struct kl_key){
			.key = lazy_max(op->call, f->rec[L_PLACE + LAZY_ADDS]),
			.val = op->item,
		};
		placed[op->item] = 1;
	}
	kl_sort_keys(k, *count, k + f->o.p->nitems + 1);
}

/* Operations that took effect in a gap at the beginning come between the gap's two ends. */
static void put_gap(const struct lazy *f, const uint8_t *placed, uint32_t *out, uint32_t *n)
{
	const struct kl_part *p = f->o.p;
	uint32_t i;

	for (i = 0; i < p->nitems; i++)
		if (p->items[i].kind == KL_ITEM_ENTER)
			out[(*n)++] = i;
	for (i = 0; i < p->nitems; i++)
		if (p->items[i].kind == KL_ITEM_OP && !placed[i] &&
		    p->items[i].ret_ev != KL_NO_EVENT)
			out[(*n)++] = i;
	for (i = 0; i < p->nitems; i++)
		if (p->items[i].kind == KL_ITEM_LEAVE)
			out[(*n)++] = i;
}

static int order(struct lazy *f, uint32_t *out, uint32_t *n)
{
	const size_t nitems = f->o.p->nitems;
	struct kl_key *k = malloc(2 * (nitems + 1) * sizeof(*k));
	uint8_t *placed = calloc(nitems + 1, 1);
	uint32_t count = 0, i;

	if (k && placed) {
		put_places(f, k, placed, &count);
		if (f->o.from)
			put_gap(f, placed, out, n);
		for (i = 0; i < count; i++)
			out[(*n)++] = k[i].val;
	}
	i = k && placed;
	free(k);
	free(placed);
	return i ? 0 : -ENOMEM;
}

static int fifo_decide(const struct kl_part *p, const struct kl_limits *lim, struct kl_answer *a)
{
	static const struct lazy_discipline fifo = {
		.name = "fifo",
		.kind = KL_CONTAINER_QUEUE,
		.takes_gaps = true,
		.start = start,
		.expand = expand,
		.settle = settle,
		.order = order,
	};

	return lazy_decide(&fifo, p, lim, a);
}

const struct kl_engine kl_fifo_engine = {
	.name = "fifo",
	.help = "queues where values repeat",
	.rank = 40,
	.decide = fifo_decide,
};
KL_ENGINE(kl_fifo_engine);
