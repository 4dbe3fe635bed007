// SPDX-License-Identifier: GPL-2.0
/*
 * Containers.  An entry is a value in a queue, stack, deque or pqueue, and a pair in the others:
 *	set	key, 1 or absent
 *	map	key, value or absent
 *	bag	key, count (tag KL_WORD: exact, KL_ANY: a lower bound)
 * An entry with `absent' or count 0 says that the key is not in the container.  Such entries exist
 * while the container is unknown.  The keys of a container differ: a path on which two become equal
 * is dropped.
 *
 * An unknown container may have entries that are not listed.  Their position is:
 *	queue	before the listed entries; if the front is known, at an entry KL_REST after it
 *	stack	below the listed entries
 *	deque	at an entry KL_REST, which is left out if there is no other entry
 *	others	they have no position; their keys and values are unknown
 */
#include <errno.h>
#include <string.h>

#include "spec/interp/container_state.h"

int kl_cont_load(struct kl_run *r, unsigned int index)
{
	struct kl_cont *c = &r->conts[index];
	const struct kl_val *head = r->in + r->cont_at[index];
	size_t n = head->v * kl_cont_stride(r->s->conts[index]->cont);
	int ret;

	ret = kl_grow(c->e, c->cap, n + 4);
	if (ret)
		return ret;
	if (n)
		memcpy(c->e, head + 1, n * sizeof(*c->e));
	c->n = n;
	c->unknown = head->tag == KL_ANY;
	c->loaded = true;
	c->appended = false;
	return 0;
}

int kl_cont_append(struct kl_run *r, struct kl_cont *c, struct kl_val v)
{
	int ret;

	if (c->n >= KL_ENTRIES_MAX)
		return kl_run_fail(r, -E2BIG, "more than %u entries in a container",
				   KL_ENTRIES_MAX);
	c->appended = true;
	ret = kl_grow(c->e, c->cap, c->n + 1);
	if (!ret)
		c->e[c->n++] = v;
	return ret;
}

void kl_cont_delete(struct kl_cont *c, size_t at, size_t n)
{
	memmove(c->e + at, c->e + at + n, (c->n - at - n) * sizeof(*c->e));
	c->n -= n;
}

int kl_cont_rest(struct kl_run *r, struct kl_cont *c, bool *empty)
{
	const struct kl_val n = kl_sym_get(r, c->rest);
	int ret = 0;

	if (n.tag == KL_WORD) {
		*empty = !n.v;
	} else {
		ret = kl_run_guess(r, 2);
		if (ret < 0)
			return ret;
		*empty = !ret;
		ret = 0;
		if (n.tag == KL_ANY)
			ret = *empty ? kl_sym_unify(r, n, kl_word(0)) :
			      kl_sym_limit(r, n, 1, UINT64_MAX);
	}
	if (*empty)
		c->unknown = false;
	return ret;
}

int kl_cont_rest_less(struct kl_run *r, struct kl_cont *c, uint64_t n)
{
	struct kl_val rest;
	int ret;

	if (c->rest.tag == KL_REST || !n)
		return 0;
	ret = kl_sym_limit(r, c->rest, n, UINT64_MAX);
	if (ret)
		return ret;
	rest = kl_sym_get(r, c->rest);
	if (rest.tag == KL_ANY)
		return kl_sym_result(r, '-', rest, kl_word(n), &c->rest);
	c->rest = kl_word(rest.v - n);
	return 0;
}

/* ---- queue, stack ---- */

int kl_cont_size(struct kl_run *r, struct kl_cont *c, uint64_t listed, struct kl_val *v)
{
	struct kl_val rest;
	bool empty = true;
	int ret = 0;

	if (c->unknown)
		ret = kl_cont_rest(r, c, &empty);
	if (ret)
		return ret;
	*v = kl_word(listed);
	if (empty)
		return 0;
	rest = kl_sym_get(r, c->rest);
	if (rest.tag == KL_REST) {
		ret = kl_sym_fresh(r, v);
		return ret ? ret : kl_sym_limit(r, *v, listed + 1, UINT64_MAX);
	}
	ret = kl_sym_limit(r, rest, 1, KL_LENGTH_MAX);
	if (ret)
		return ret;
	rest = kl_sym_get(r, rest);
	if (rest.tag == KL_ANY)
		return kl_sym_result(r, '+', rest, *v, v);
	v->v += rest.v;
	return 0;
}

/*
 * Get the entry at index @at, an end of the container, and remove it if @remove.  If @at_rest,
 * unlisted entries are at this end, and come first.
 */
static int take_end(struct kl_run *r, struct kl_cont *c, bool at_rest, size_t at, bool remove,
		    struct kl_val *v)
{
	bool empty;
	int ret;

	if (c->unknown && at_rest) {
		ret = kl_cont_rest(r, c, &empty);
		if (ret)
			return ret;
		if (!empty)
			return kl_sym_fresh(r, v) ?: kl_cont_rest_less(r, c, 1);
	}
	if (!c->n) {
		*v = kl_special(KL_EMPTY);
		return 0;
	}
	*v = c->e[at];
	if (remove)
		kl_cont_delete(c, at, 1);
	return 0;
}

static int insert_at(struct kl_run *r, struct kl_cont *c, size_t at, struct kl_val v)
{
	int ret = kl_cont_append(r, c, v);

	if (ret)
		return ret;
	memmove(c->e + at + 1, c->e + at, (c->n - 1 - at) * sizeof(*c->e));
	c->e[at] = v;
	return 0;
}

static int queue_call(struct kl_run *r, struct kl_cont *c, enum kl_cont_op op, struct kl_val *v)
{
	const bool seen = c->unknown && c->n > 1 && c->e[1].tag == KL_REST;
	int ret;

	switch (op) {
	case KL_CO_PUSH:
		return kl_cont_append(r, c, v[0]);
	case KL_CO_SIZE:
		ret = kl_cont_size(r, c, c->n - seen, v);
		if (seen && !c->unknown)
			kl_cont_delete(c, 1, 1);
		return ret;
	case KL_CO_CLEAR:
		c->n = 0;
		c->unknown = false;
		return 0;
	default:
		if (seen) {
			*v = c->e[0];
			if (op == KL_CO_POP)
				kl_cont_delete(c, 0, 2);
			return 0;
		}
		ret = take_end(r, c, true, 0, op == KL_CO_POP, v);
		/* The front was not removed: it becomes known, before the unlisted entries. */
		if (!ret && op != KL_CO_POP && c->unknown)
			ret = insert_at(r, c, 0, kl_special(KL_REST)) ?: insert_at(r, c, 0, *v);
		return ret;
	}
}

static int stack_call(struct kl_run *r, struct kl_cont *c, enum kl_cont_op op, struct kl_val *v)
{
	bool at_rest = !c->n;
	int ret;

	switch (op) {
	case KL_CO_PUSH:
		return kl_cont_append(r, c, v[0]);
	case KL_CO_SIZE:
		return kl_cont_size(r, c, c->n, v);
	case KL_CO_CLEAR:
		c->n = 0;
		c->unknown = false;
		return 0;
	default:
		ret = take_end(r, c, at_rest, at_rest ? 0 : c->n - 1, op == KL_CO_POP, v);
		/* The top was not removed: it becomes known. */
		if (!ret && op == KL_CO_TOP && at_rest && c->unknown)
			ret = kl_cont_append(r, c, v[0]);
		return ret;
	}
}

/* ---- deque ---- */

static void drop_rest(struct kl_cont *c)
{
	size_t i = 0;

	while (c->e[i].tag != KL_REST)
		i++;
	kl_cont_delete(c, i, 1);
}

static int deque_take(struct kl_run *r, struct kl_cont *c, bool back, bool remove,
		      struct kl_val *v)
{
	bool empty;
	int ret;

	if (c->unknown && c->e[back ? c->n - 1 : 0].tag == KL_REST) {
		ret = kl_cont_rest(r, c, &empty);
		if (!ret && !empty)
			ret = kl_sym_fresh(r, v) ?: kl_cont_rest_less(r, c, 1);
		if (ret)
			return ret;
		if (!empty)
			return remove ? 0 : insert_at(r, c, back ? c->n : 0, *v);
		drop_rest(c);
	}
	return take_end(r, c, false, back && c->n ? c->n - 1 : 0, remove, v);
}

static int deque_call(struct kl_run *r, struct kl_cont *c, enum kl_cont_op op, struct kl_val *v)
{
	bool unknown = c->unknown;
	int ret = 0;

	if (c->unknown && !c->n)
		ret = kl_cont_append(r, c, kl_special(KL_REST));
	if (ret)
		return ret;
	switch (op) {
	case KL_CO_PUSH_FRONT:
		return insert_at(r, c, 0, v[0]);
	case KL_CO_PUSH:
		return kl_cont_append(r, c, v[0]);
	case KL_CO_SIZE:
		ret = kl_cont_size(r, c, c->n - c->unknown, v);
		if (unknown && !c->unknown)
			drop_rest(c);
		return ret;
	default:
		return deque_take(r, c, op == KL_CO_POP_BACK || op == KL_CO_BACK,
				  op == KL_CO_POP || op == KL_CO_POP_BACK, v);
	}
}

/* ---- pqueue ---- */

/* Require that @a comes before @b in a pqueue, or, unless @strict, equals @b. */
static int in_order(struct kl_run *r, bool max, struct kl_val a, struct kl_val b, bool strict)
{
	return max ? kl_sym_at_most(r, b, a, strict) : kl_sym_at_most(r, a, b, strict);
}

/*
 * The pqueue returned @v, so no unlisted entry comes before @v: raise the floor to @v.  With
 * @of_rest, @v was itself an unlisted entry, and must not come before the old floor.
 */
static int raise_floor(struct kl_run *r, struct kl_cont *c, bool max, struct kl_val v, bool of_rest)
{
	const struct kl_val floor = kl_sym_get(r, c->floor);
	int ret = 0, pick;

	v = kl_sym_get(r, v);
	if (of_rest && floor.tag != KL_REST)
		ret = in_order(r, max, floor, v, false);
	if (of_rest || floor.tag == KL_REST) {
		c->floor = v;
	} else if (v.tag == KL_WORD && floor.tag == KL_WORD) {
		if (max ? v.v < floor.v : v.v > floor.v)
			c->floor = v;
	} else if (!kl_val_eq(v, floor)) {
		/* The later of the two becomes the floor; try both. */
		pick = kl_run_guess(r, 2);
		if (pick < 0)
			return pick;
		if (pick)
			return in_order(r, max, v, floor, false);
		ret = in_order(r, max, floor, v, true);
		c->floor = v;
	}
	return ret;
}

/*
 * Take the entry @at of a pqueue as the first one; if @at is the number of entries, an unlisted
 * one.  Require that no other entry comes before it.  Entry @best is the first of the known
 * entries, so the others need no check; @nsym entries are unknown.
 */
static int pqueue_first(struct kl_run *r, struct kl_cont *c, bool max, size_t at, size_t best,
			size_t nsym, struct kl_val *v)
{
	size_t i;
	int ret = 0;

	if (at < c->n)
		*v = c->e[at];
	else
		ret = kl_sym_fresh(r, v) ?: kl_sym_limit(r, *v, 0, UINT64_MAX) ?:
		      kl_cont_rest_less(r, c, 1);
	if (!ret && c->unknown)
		ret = raise_floor(r, c, max, *v, at == c->n);
	if (at == best && !nsym)
		return ret;
	for (i = 0; i < c->n && !ret; i++)
		if (i != at && (i == best || c->e[i].tag == KL_ANY))
			ret = in_order(r, max, *v, c->e[i], false);
	return ret;
}

static int pqueue_take(struct kl_run *r, struct kl_cont *c, bool max, bool remove, struct kl_val *v)
{
	size_t i, best = SIZE_MAX, nsym = 0, at;
	bool empty = !c->unknown;
	int pick = 0, ret = 0;

	for (i = 0; i < c->n; i++) {
		c->e[i] = kl_sym_get(r, c->e[i]);
		if (c->e[i].tag == KL_ANY)
			nsym++;
		else if (best == SIZE_MAX ||
			 (max ? c->e[i].v > c->e[best].v : c->e[i].v < c->e[best].v))
			best = i;
	}
	if (c->unknown && !c->n)
		ret = kl_cont_rest(r, c, &empty);
	if (ret)
		return ret;
	if (empty && !c->n) {
		*v = kl_special(KL_EMPTY);
		return 0;
	}
	/* The first may be an unknown entry, the first known entry, or an unlisted one. */
	if (nsym + (best != SIZE_MAX) + c->unknown > 1) {
		pick = kl_run_guess(r, nsym + (best != SIZE_MAX) + c->unknown);
		if (pick < 0)
			return pick;
	}
	at = best;
	if (best == SIZE_MAX || pick--)
		for (at = 0; at < c->n; at++)
			if (c->e[at].tag == KL_ANY && !pick--)
				break;
	ret = pqueue_first(r, c, max, at, best, nsym, v);
	if (ret)
		return ret;
	if (at == c->n)
		return remove ? 0 : kl_cont_append(r, c, *v);
	if (remove)
		kl_cont_delete(c, at, 1);
	return 0;
}

static int pqueue_call(struct kl_run *r, struct kl_cont *c, bool max, enum kl_cont_op op,
		       struct kl_val *v)
{
	int ret;

	switch (op) {
	case KL_CO_PUSH:
		v[0] = kl_sym_get(r, v[0]);
		if (v[0].tag > KL_ANY)
			return kl_run_fault(r, "a special value (empty, full, absent) cannot be "
					    "in a pqueue");
		ret = v[0].tag == KL_ANY ? kl_sym_limit(r, v[0], 0, UINT64_MAX) : 0;
		return ret ? ret : kl_cont_append(r, c, v[0]);
	case KL_CO_SIZE:
		return kl_cont_size(r, c, c->n, v);
	default:
		return pqueue_take(r, c, max, op == KL_CO_POP, v);
	}
}

/*
 * Return: true if a call with the result @v may have changed the container.  @fewer is set if the
 * container has fewer values than before: then a result `empty' may be a value that was in it.
 */
static bool may_change(enum kl_cont_kind kind, enum kl_cont_op op, struct kl_val v, bool fewer)
{
	switch (op) {
	case KL_CO_HAS:
	case KL_CO_GET:
	case KL_CO_SIZE:
	case KL_CO_FRONT:
	case KL_CO_BACK:
	case KL_CO_TOP:
	case KL_CO_COUNT:
		return false;
	case KL_CO_POP:
	case KL_CO_POP_BACK:
		return v.tag != KL_EMPTY || fewer;
	case KL_CO_ADD:
		return kind != KL_C_SET || v.tag != KL_WORD || v.v;
	case KL_CO_REMOVE:
		return v.tag != KL_ABSENT && (kind == KL_C_MAP || v.tag != KL_WORD || v.v);
	default:
		return true;
	}
}

static int call(struct kl_run *r, const struct kl_var *var, struct kl_cont *c,
		enum kl_cont_op op, struct kl_val *v)
{
	switch (var->cont) {
	case KL_C_QUEUE:
		return queue_call(r, c, op, v);
	case KL_C_STACK:
		return stack_call(r, c, op, v);
	case KL_C_PQUEUE:
		return pqueue_call(r, c, var->max, op, v);
	case KL_C_DEQUE:
		return deque_call(r, c, op, v);
	case KL_C_BAG:
		return kl_cont_bag_call(r, c, op, v);
	default:
		return kl_cont_map_call(r, c, var->cont == KL_C_MAP, op, v);
	}
}

int kl_cont_call(struct kl_run *r, unsigned int index, enum kl_cont_op op, struct kl_val *v)
{
	const struct kl_var *var = r->s->conts[index];
	struct kl_cont *c = &r->conts[index];
	int ret = c->loaded ? 0 : kl_cont_load(r, index);
	const size_t n = c->n;

	/* The number of unlisted entries is tracked only if the specification uses size(). */
	if (!ret && c->unknown && var->sized && c->rest.tag == KL_REST && kl_run_keeps(r))
		ret = kl_sym_fresh(r, &c->rest) ?: kl_sym_limit(r, c->rest, 0, UINT64_MAX);
	if (!ret)
		ret = call(r, var, c, op, v);
	r->cont_changed |= may_change(var->cont, op, v[0], c->n < n);
	return ret;
}
