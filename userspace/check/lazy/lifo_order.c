// SPDX-License-Identifier: GPL-2.0
/*
 * Making an order from a configuration of the engine `lifo'.
 *
 * Places order the operations, except operations with equal places.  Of these, removals and peeks
 * keep the search's order.  An addition that was first seen at its own place comes just before the
 * operation that saw it.  The other additions of a place come after the removals and peeks that saw
 * earlier additions.  An addition that is seen again earlier lies above one that is seen later or
 * never.
 */
#include <errno.h>
#include <stdlib.h>

#include "check/lazy/lifo.h"

#define NONE	UINT32_MAX

/* A removal or peek, in the order of the search. */
struct take {
	uint32_t op, place;
	uint32_t x;		/* the addition that it saw, or NONE */
};

/*
 * An addition: its place, the first take that saw it, and the first that saw it at a later place.
 */
struct add {
	uint32_t place, first, later;
};

struct order {
	const struct lazy *f;
	struct take *take;
	struct add *add;
	uint32_t ntakes;
	struct kl_key *k;	/* room for sorting all operations */
	uint32_t n;
};

/* Return: the index of @item on the side @s, or NONE. */
static uint32_t find(const struct lazy_side *s, uint32_t item)
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

/* List the takes in the order of the search, and fill r->add. */
static void follow(struct order *r)
{
	const struct lazy *f = r->f;
	const struct lazy_side *takes = &f->o.side[LAZY_TAKES], *adds = &f->o.side[LAZY_ADDS];
	uint32_t node, at, t, i;

	for (node = f->rec[L_NODE]; node != LAZY_NO_NODE; node = f->nodes[node].parent)
		r->ntakes += find(takes, f->nodes[node].item) != NONE;
	t = r->ntakes;
	for (node = f->rec[L_NODE]; node != LAZY_NO_NODE; node = f->nodes[node].parent) {
		at = find(takes, f->nodes[node].item);
		/* The node before a take is the addition that it saw. */
		if (at != NONE)
			r->take[--t] = (struct take){ at, f->nodes[node].place, NONE };
		else
			r->take[t].x = find(adds, f->nodes[node].item);
	}
	for (i = 0; i < adds->n; i++)
		r->add[i] = (struct add){ LAZY_NOWHERE, NONE, NONE };
	for (node = f->rec[L_NODE]; node != LAZY_NO_NODE; node = f->nodes[node].parent) {
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
		if (r->add[i].first == NONE && adds->op[i].must != LAZY_NEVER)
			r->add[i].place = lazy_last_place(f, f->rec[R_ZONES], adds->op[i].call,
							  adds->op[i].ret - 1);
}

/* Was addition @x first seen by take @t, at its own place? */
static bool added_for(const struct order *r, uint32_t x, uint32_t t)
{
	return x != NONE && r->add[x].first == t && r->add[x].place == r->take[t].place;
}

/* Return: the take at @y's place before which the addition @y comes; NONE: it comes after them. */
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
	const struct lazy_ops *o = &r->f->o;
	uint32_t i, t;

	/* The least significant key is sorted first. */
	for (i = 0; i < o->side[LAZY_ADDS].n; i++)
		if (r->add[i].place != LAZY_NOWHERE)
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
			o->side[LAZY_ADDS].op[y].item,
		};
	}
	for (t = 0; t < r->ntakes; t++)
		r->k[r->n++] = (struct kl_key){
			(uint64_t)r->take[t].place << 32 | (2 * t + 1),
			o->side[LAZY_TAKES].op[r->take[t].op].item,
		};
	kl_sort_keys(r->k, r->n, r->k + o->p->nitems + 1);
}

/*
 * Run the order on a stack; @stack has room for all additions.  Return: false if a removal or peek
 * does not fit.
 */
static bool replay(const struct order *r, uint32_t *stack)
{
	const struct lazy_ops *o = &r->f->o;
	uint32_t depth = 0, old = r->f->old ? LAZY_UNKNOWN : LAZY_NOTHING, i;

	for (i = 0; i < r->n; i++) {
		const uint32_t at = find(&o->side[LAZY_TAKES], r->k[i].val);
		const struct lazy_op *op;

		if (at == NONE) {
			stack[depth++] = o->value[r->k[i].val];
			continue;
		}
		op = &o->side[LAZY_TAKES].op[at];
		if (!depth ? !lazy_see_bottom(&old, op) :
			     op->value != LAZY_ANYTHING && stack[depth - 1] != op->value)
			return false;
		depth -= depth && op->removes;
	}
	return true;
}

int lazy_lifo_order(struct lazy *f, uint32_t *out, uint32_t *n)
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
