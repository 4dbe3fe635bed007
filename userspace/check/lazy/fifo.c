// SPDX-License-Identifier: GPL-2.0
/*
 * The engine `fifo': who entered a queue first is decided when the first one leaves.
 *
 * In an order of the history the n-th value that leaves is the n-th that entered; so
 * go through the removals in order, and give each the next addition:
 *
 * - Besides the bounds of late.h an operation's place is not before the operation that
 *   precedes it on its side, nor a removal or peek before its addition, nor an addition
 *   before the last operation that found the queue empty without it.  All these bounds
 *   are from below, so the first place that they allow is as good as any.
 * - What is left at the end are additions that nobody saw leave: they need places
 *   before their returns, and no more.
 *
 * From an unknown first state the queue holds what nobody knows: removals may take
 * that until one takes an addition.  What a peek has seen of it stays until it is
 * removed.  A gap at the beginning is such a state at its end, and operations called
 * before may have taken effect in it.
 */
#include <errno.h>
#include <stdlib.h>

#include "check/engines.h"
#include "check/lazy/late.h"

enum {
	R_FRONT = L_OWN,		/* 0, or an addition that has taken effect, + 1 */
	R_OLD,				/* is there still what nobody knows? */
	R_SEEN,				/* 0, or the value, + 1, seen at the front of that */
};

static void start(const struct late *f, uint32_t *r)
{
	r[R_OLD] = f->old || f->o.from;
}

/* Where an operation of the other side can have its place. */
static uint32_t place_of(const uint32_t *r, const struct late_op *op)
{
	const uint32_t place = late_max(op->call, r[L_PLACE + LATE_TAKES]);

	/* An addition at the front is the last one that has a place. */
	return r[R_FRONT] ? late_max(place, r[L_PLACE + LATE_ADDS]) : place;
}

static bool fits_front(const struct late *f, const uint32_t *r, uint32_t value)
{
	if (value == LATE_ANYTHING || value == LATE_EMPTY)
		return value == LATE_ANYTHING;
	if (r[R_FRONT])
		return value == f->o.side[LATE_ADDS].op[r[R_FRONT] - 1].value;
	return r[R_OLD] && (!r[R_SEEN] || value == r[R_SEEN] - 1);
}

/* Does a peek that fits leave all as it is? */
static bool tells_nothing(const uint32_t *r, uint32_t value)
{
	return r[R_FRONT] || r[R_SEEN] || value == LATE_ANYTHING;
}

/* Operation @o sees what is at the front.  Return: 1, 0 if it cannot, negative errno. */
static int see_front(struct late *f, uint32_t *r, uint32_t o)
{
	const struct late_op *op = &f->o.side[LATE_TAKES].op[o];
	const uint32_t place = place_of(r, op);

	if (!fits_front(f, r, op->value) || !late_take_effect(f, r, LATE_TAKES, o, place))
		return 0;
	if (!r[R_FRONT] && !op->removes && op->value != LATE_ANYTHING)
		r[R_SEEN] = op->value + 1;
	if (op->removes)
		r[R_FRONT] = r[R_SEEN] = 0;
	return late_note(f, r, op->item, place) ?: 1;
}

/* Peeks that fit and keep nobody waiting take effect at once: no order is better without. */
static int settle(struct late *f, uint32_t *r)
{
	const struct late_side *s = &f->o.side[LATE_TAKES];
	uint32_t i, at, now;
	int ret = 1;

	if (!r[R_FRONT] && !r[R_OLD])
		return 1;
	now = place_of(r, &(struct late_op){ .call = 0 });
	*f->looks += 2 * r[L_LEFT + LATE_TAKES];
	for (i = 0; i < r[L_LEFT + LATE_TAKES] && ret > 0; ) {
		const uint32_t o = late_left(f, r, LATE_TAKES)[i];

		if (s->op[o].removes || s->op[o].ret <= now || s->op[o].call > now ||
		    !fits_front(f, r, s->op[o].value) || !tells_nothing(r, s->op[o].value)) {
			i++;
			continue;
		}
		ret = see_front(f, r, o);
		i = 0;
	}
	for (at = r[L_NEXT + LATE_TAKES]; ret > 0 && at < s->n && s->op[at].call <= now; at++)
		if (!s->op[at].removes && s->op[at].ret > now &&
		    fits_front(f, r, s->op[at].value) && tells_nothing(r, s->op[at].value))
			ret = see_front(f, r, at);
	return ret;
}

/* Nothing was seen at the front yet, and @o sees an addition there. */
static int see_additions(struct late *f, uint32_t o, const uint32_t *adds, uint32_t nadds)
{
	const struct late_op *op = &f->o.side[LATE_TAKES].op[o];
	uint32_t i;
	int ret = 0;

	for (i = 0; i < nadds && ret >= 0; i++) {
		const struct late_op *add = &f->o.side[LATE_ADDS].op[adds[i]];
		const uint32_t place = late_max(add->call, f->rec[L_PLACE + LATE_ADDS]);

		if (op->value != LATE_ANYTHING && op->value != add->value)
			continue;
		memcpy(f->tmp, f->rec, f->len * sizeof(*f->tmp));
		f->tmp[R_OLD] = 0;
		f->tmp[R_FRONT] = adds[i] + 1;
		if (!late_take_effect(f, f->tmp, LATE_ADDS, adds[i], place))
			continue;
		ret = late_note(f, f->tmp, add->item, place) ?: see_front(f, f->tmp, o);
		if (ret > 0)
			ret = late_add_kid(f, op->ret);
	}
	return ret < 0 ? ret : 0;
}

static int find_empty(struct late *f, uint32_t o)
{
	const struct late_op *op = &f->o.side[LATE_TAKES].op[o];
	const uint32_t place = place_of(f->rec, op);
	int ret;

	memcpy(f->tmp, f->rec, f->len * sizeof(*f->tmp));
	f->tmp[R_OLD] = 0;
	if (!late_take_effect(f, f->tmp, LATE_TAKES, o, place) ||
	    !late_advance(f, f->tmp, LATE_ADDS, late_max(place, f->tmp[L_PLACE + LATE_ADDS])))
		return 0;
	ret = late_note(f, f->tmp, op->item, place);
	return ret ? ret : late_add_kid(f, op->ret);
}

/* It sees something of which nobody knows when it was added. */
static int see_old(struct late *f, uint32_t o)
{
	const struct late_op *op = &f->o.side[LATE_TAKES].op[o];
	int ret;

	memcpy(f->tmp, f->rec, f->len * sizeof(*f->tmp));
	ret = see_front(f, f->tmp, o);
	return ret > 0 ? late_add_kid(f, op->ret) : ret;
}

static int expand_one(struct late *f, uint32_t o, const uint32_t *adds, uint32_t nadds)
{
	const struct late_op *op = &f->o.side[LATE_TAKES].op[o];
	int ret = 0;

	if (f->rec[R_FRONT]) {
		memcpy(f->tmp, f->rec, f->len * sizeof(*f->tmp));
		ret = see_front(f, f->tmp, o);
		return ret > 0 ? late_add_kid(f, op->ret) : ret;
	}
	if (f->rec[R_OLD] && op->value != LATE_EMPTY)
		ret = see_old(f, o);
	if (ret || f->rec[R_SEEN])
		return ret;
	return op->value == LATE_EMPTY ? find_empty(f, o) : see_additions(f, o, adds, nadds);
}

static int expand(struct late *f, uint32_t ntakes)
{
	const uint32_t nadds = f->rec[R_FRONT] ? 0 :
			       late_candidates(f, f->rec, LATE_ADDS, f->adds);
	uint32_t i;
	int ret = 0;

	for (i = 0; i < ntakes && !ret; i++)
		ret = expand_one(f, f->takes[i], f->adds, nadds);
	return ret;
}

/* Of those whose places are equal, what came first in the search comes first. */
static void put_places(const struct late *f, struct kl_key *k, uint8_t *placed, uint32_t *count)
{
	uint32_t node, n = 0, i;

	for (node = f->rec[L_NODE]; node != LATE_NO_NODE; node = f->nodes[node].parent)
		n++;
	*count = n;
	for (node = f->rec[L_NODE]; node != LATE_NO_NODE; node = f->nodes[node].parent) {
		k[--n] = (struct kl_key){
			.key = f->nodes[node].place, .val = f->nodes[node].item,
		};
		placed[f->nodes[node].item] = 1;
	}
	for (i = 0; i < f->o.side[LATE_ADDS].n; i++) {
		const struct late_op *op = &f->o.side[LATE_ADDS].op[i];

		if (op->must == LATE_NEVER || placed[op->item])
			continue;
		k[(*count)++] = (struct kl_key){
			.key = late_max(op->call, f->rec[L_PLACE + LATE_ADDS]), .val = op->item,
		};
		placed[op->item] = 1;
	}
	kl_sort_keys(k, *count, k + f->o.p->nitems + 1);
}

/* What had its effect in a gap at the beginning comes between the gap's two ends. */
static void put_gap(const struct late *f, const uint8_t *placed, uint32_t *out, uint32_t *n)
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

static int order(struct late *f, uint32_t *out, uint32_t *n)
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
	static const struct late_discipline fifo = {
		.name = "fifo", .kind = KL_CONTAINER_QUEUE, .takes_gaps = true,
		.start = start, .expand = expand, .settle = settle, .order = order,
	};

	return late_decide(&fifo, p, lim, a);
}

const struct kl_engine kl_fifo_engine = {
	.name = "fifo",
	.help = "queues where values repeat",
	.rank = 40,
	.decide = fifo_decide,
};
KL_ENGINE(kl_fifo_engine);
