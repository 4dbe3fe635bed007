// SPDX-License-Identifier: GPL-2.0
/*
 * The order that a configuration of the engine `lifo' stands for.
 *
 * Places give the order but for what shares one.  There the removals and peeks are in
 * the order in which the search took them.  An addition that was first seen at its own
 * place comes just before that.  All others of a place come after those removals and
 * peeks of it that saw what was added earlier; what is seen again first is above what
 * is seen later or never, also beside what was seen at its own place and stays.
 */
#include <errno.h>
#include <stdlib.h>

#include "check/lazy/lifo.h"

#define NONE	UINT32_MAX

/* A removal or peek, in the order of the search. */
struct take {
	uint32_t op, place, x;	/* x: the addition that it saw, or NONE */
};

/* An addition: its place, and the numbers of the takes that saw it first, and first later. */
struct add {
	uint32_t place, first, later;
};

struct order {
	const struct late *f;
	struct take *take;
	struct add *add;
	uint32_t ntakes;
	struct kl_key *k;	/* of all */
	uint32_t n;
};

/* Number of the operation of a side that is item @item. */
static uint32_t find(const struct late_side *s, uint32_t item)
{
	uint32_t lo = 0, hi = s->n;

	while (lo < hi) {
		const uint32_t mid = lo + (hi - lo) / 2;

		if (s->op[mid].item < item)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->n && s->op[lo].item == item ? lo : NONE;
}

/* What the search did, from its first step on. */
static void follow(struct order *r)
{
	const struct late *f = r->f;
	const struct late_side *takes = &f->o.side[LATE_TAKES], *adds = &f->o.side[LATE_ADDS];
	uint32_t node, at, t, i;

	for (node = f->rec[L_NODE]; node != LATE_NO_NODE; node = f->nodes[node].parent)
		r->ntakes += find(takes, f->nodes[node].item) != NONE;
	t = r->ntakes;
	for (node = f->rec[L_NODE]; node != LATE_NO_NODE; node = f->nodes[node].parent) {
		at = find(takes, f->nodes[node].item);
		/* Before each the addition that it saw. */
		if (at != NONE)
			r->take[--t] = (struct take){ at, f->nodes[node].place, NONE };
		else
			r->take[t].x = find(adds, f->nodes[node].item);
	}
	for (i = 0; i < adds->n; i++)
		r->add[i] = (struct add){ LATE_NOWHERE, NONE, NONE };
	for (node = f->rec[L_NODE]; node != LATE_NO_NODE; node = f->nodes[node].parent) {
		at = find(adds, f->nodes[node].item);
		if (at != NONE)
			r->add[at].place = f->nodes[node].place;
	}
	for (t = r->ntakes; t--; ) {
		if (r->take[t].x == NONE)
			continue;
		r->add[r->take[t].x].first = t;
		if (r->take[t].place > r->add[r->take[t].x].place)
			r->add[r->take[t].x].later = t;
	}
	for (i = 0; i < adds->n; i++)
		if (r->add[i].first == NONE && adds->op[i].must != LATE_NEVER)
			r->add[i].place = late_last_place(f, f->rec[R_ZONES], adds->op[i].call,
							  adds->op[i].ret - 1);
}

/* Was addition @x first seen by take @t, at its own place? */
static bool added_for(const struct order *r, uint32_t x, uint32_t t)
{
	return x != NONE && r->add[x].first == t && r->add[x].place == r->take[t].place;
}

/* The take before which addition @y comes among those of its place, or NONE: after all. */
static uint32_t comes_before(const struct order *r, uint32_t y)
{
	const uint32_t place = r->add[y].place;
	uint32_t lo = 0, hi = r->ntakes, t, before = NONE;

	while (lo < hi) {
		const uint32_t mid = lo + (hi - lo) / 2;

		if (r->take[mid].place < place)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (t = lo; t < r->ntakes && r->take[t].place == place; t++) {
		const uint32_t x = r->take[t].x;

		if (x == NONE || r->add[x].place < place)
			before = NONE;
		else if (before == NONE && added_for(r, x, t) &&
			 r->add[x].later < r->add[y].later)
			before = t;
	}
	return before;
}

static void put(struct order *r)
{
	const struct late_ops *o = &r->f->o;
	uint32_t i, t;

	/* First what decides last. */
	for (i = 0; i < o->side[LATE_ADDS].n; i++)
		if (r->add[i].place != LATE_NOWHERE)
			r->k[r->n++] = (struct kl_key){
				r->add[i].first != NONE && added_for(r, i, r->add[i].first) ?
				UINT64_MAX : NONE - r->add[i].later, i,
			};
	kl_sort_keys(r->k, r->n, r->k + o->p->nitems + 1);
	for (i = 0; i < r->n; i++) {
		const uint32_t y = r->k[i].val;

		t = r->add[y].first;
		if (t == NONE || !added_for(r, y, t))
			t = comes_before(r, y);
		r->k[i] = (struct kl_key){
			(uint64_t)r->add[y].place << 32 | (t == NONE ? NONE : 2 * t),
			o->side[LATE_ADDS].op[y].item,
		};
	}
	for (t = 0; t < r->ntakes; t++)
		r->k[r->n++] = (struct kl_key){
			(uint64_t)r->take[t].place << 32 | (2 * t + 1),
			o->side[LATE_TAKES].op[r->take[t].op].item,
		};
	kl_sort_keys(r->k, r->n, r->k + o->p->nitems + 1);
}

/* Does a stack do that?  @stack: room for all additions. */
static bool replay(const struct order *r, uint32_t *stack)
{
	const struct late_ops *o = &r->f->o;
	uint32_t depth = 0, old = r->f->old ? LATE_UNKNOWN : LATE_NOTHING, i;

	for (i = 0; i < r->n; i++) {
		const uint32_t at = find(&o->side[LATE_TAKES], r->k[i].val);
		const struct late_op *op;

		if (at == NONE) {
			stack[depth++] = o->value[r->k[i].val];
			continue;
		}
		op = &o->side[LATE_TAKES].op[at];
		if (!depth ? !late_see_bottom(&old, op) :
		    op->value != LATE_ANYTHING && stack[depth - 1] != op->value)
			return false;
		depth -= depth && op->removes;
	}
	return true;
}

int late_lifo_order(struct late *f, uint32_t *out, uint32_t *n)
{
	const size_t nitems = (size_t)f->o.p->nitems + 1;
	struct order r = {
		.f = f, .take = malloc(nitems * sizeof(*r.take)),
		.add = malloc(nitems * sizeof(*r.add)), .k = malloc(2 * nitems * sizeof(*r.k)),
	};
	uint32_t *stack = malloc(nitems * sizeof(*stack)), i;
	int ret = -ENOMEM;

	if (r.take && r.add && r.k && stack) {
		follow(&r);
		put(&r);
		ret = replay(&r, stack) ? 0 : 1;
		for (i = 0; i < r.n; i++)
			out[i] = r.k[i].val;
		*n = r.n;
	}
	free(r.take);
	free(r.add);
	free(r.k);
	free(stack);
	return ret;
}
