// SPDX-License-Identifier: GPL-2.0
/*
 * Containers.  Queues, stacks and priority queues hold values, the others pairs:
 *	set	key, 1 or absent
 *	map	key, value or absent
 *	bag	key, count (tag KL_WORD: so many, KL_ANY: so many or more)
 * An entry `absent` (or 0) says that the key is not in it, and is kept while the
 * container may have more than is listed.  No two keys of a container are
 * equal: a path on which two turn out to be equal stands for nothing.
 *
 * What is not listed of an unknown container: in a queue it stands before what
 * is listed, but for the front if that has been seen, which an entry KL_REST then comes
 * next to; in a stack below it, in a deque where an entry KL_REST says (a deque
 * of which nothing is known has none); of a set, map or bag nothing is known of the
 * keys that are not listed; of a priority queue there are more values.
 */
#include <errno.h>
#include <string.h>

#include "spec/run.h"

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
	return 0;
}

static int append(struct kl_run *r, struct kl_cont *c, struct kl_val v)
{
	int ret;

	if (c->n >= KL_ENTRIES_MAX)
		return kl_run_fail(r, -E2BIG, "more than %u entries in a container",
				   KL_ENTRIES_MAX);
	ret = kl_grow(c->e, c->cap, c->n + 1);
	if (!ret)
		c->e[c->n++] = v;
	return ret;
}

static int append_pair(struct kl_run *r, struct kl_cont *c, struct kl_val k, struct kl_val v)
{
	int ret = append(r, c, k);

	return ret ? ret : append(r, c, v);
}

static void delete(struct kl_cont *c, size_t at, size_t n)
{
	memmove(c->e + at, c->e + at + n, (c->n - at - n) * sizeof(*c->e));
	c->n -= n;
}

/* Is the unknown rest empty?  0: yes, and the container is known now; 1: no; or an error. */
static int rest(struct kl_run *r, struct kl_cont *c)
{
	int ret = kl_run_guess(r, 2);

	if (!ret)
		c->unknown = false;
	return ret;
}

/* ---- queue, stack ---- */

static int size(struct kl_run *r, struct kl_cont *c, uint64_t listed, struct kl_val *v)
{
	int ret;

	if (c->unknown) {
		ret = rest(r, c);
		if (ret < 0)
			return ret;
	}
	if (!c->unknown) {
		*v = kl_word(listed);
		return 0;
	}
	ret = kl_sym_fresh(r, v);
	return ret ? ret : kl_sym_limit(r, *v, listed + 1, UINT64_MAX);
}

/* The end where @at is; an unknown rest begins there if @at_rest. */
static int take(struct kl_run *r, struct kl_cont *c, bool at_rest, size_t at, bool remove,
		struct kl_val *v)
{
	int ret;

	if (c->unknown && at_rest) {
		ret = rest(r, c);
		if (ret < 0)
			return ret;
		if (ret)
			return kl_sym_fresh(r, v);
	}
	if (!c->n) {
		*v = kl_special(KL_EMPTY);
		return 0;
	}
	*v = c->e[at];
	if (remove)
		delete(c, at, 1);
	return 0;
}

static int insert(struct kl_run *r, struct kl_cont *c, size_t at, struct kl_val v)
{
	int ret = append(r, c, v);

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
		return append(r, c, v[0]);
	case KL_CO_SIZE:
		ret = size(r, c, c->n - seen, v);
		if (seen && !c->unknown)
			delete(c, 1, 1);
		return ret;
	case KL_CO_CLEAR:
		c->n = 0;
		c->unknown = false;
		return 0;
	default:
		if (seen) {
			*v = c->e[0];
			if (op == KL_CO_POP)
				delete(c, 0, 2);
			return 0;
		}
		ret = take(r, c, true, 0, op == KL_CO_POP, v);
		/* The front of the unknown rest has been seen, and stays. */
		if (!ret && op != KL_CO_POP && c->unknown)
			ret = insert(r, c, 0, kl_special(KL_REST)) ?: insert(r, c, 0, *v);
		return ret;
	}
}

static int stack_call(struct kl_run *r, struct kl_cont *c, enum kl_cont_op op, struct kl_val *v)
{
	bool at_rest = !c->n;
	int ret;

	switch (op) {
	case KL_CO_PUSH:
		return append(r, c, v[0]);
	case KL_CO_SIZE:
		return size(r, c, c->n, v);
	case KL_CO_CLEAR:
		c->n = 0;
		c->unknown = false;
		return 0;
	default:
		ret = take(r, c, at_rest, at_rest ? 0 : c->n - 1, op == KL_CO_POP, v);
		/* The top of the unknown rest has been seen, and stays. */
		if (!ret && op == KL_CO_TOP && at_rest && c->unknown)
			ret = append(r, c, v[0]);
		return ret;
	}
}

/* ---- deque ---- */

static void drop_rest(struct kl_cont *c)
{
	size_t i = 0;

	while (c->e[i].tag != KL_REST)
		i++;
	delete(c, i, 1);
}

static int deque_take(struct kl_run *r, struct kl_cont *c, bool back, bool remove,
		      struct kl_val *v)
{
	int ret;

	if (c->unknown && c->e[back ? c->n - 1 : 0].tag == KL_REST) {
		ret = rest(r, c);
		if (ret < 0)
			return ret;
		if (ret) {
			ret = kl_sym_fresh(r, v);
			return ret || remove ? ret : insert(r, c, back ? c->n : 0, *v);
		}
		drop_rest(c);
	}
	return take(r, c, false, back && c->n ? c->n - 1 : 0, remove, v);
}

static int deque_call(struct kl_run *r, struct kl_cont *c, enum kl_cont_op op, struct kl_val *v)
{
	bool unknown = c->unknown;
	int ret = 0;

	if (c->unknown && !c->n)
		ret = append(r, c, kl_special(KL_REST));
	if (ret)
		return ret;
	switch (op) {
	case KL_CO_PUSH_FRONT:
		return insert(r, c, 0, v[0]);
	case KL_CO_PUSH:
		return append(r, c, v[0]);
	case KL_CO_SIZE:
		ret = size(r, c, c->n - c->unknown, v);
		if (unknown && !c->unknown)
			drop_rest(c);
		return ret;
	default:
		return deque_take(r, c, op == KL_CO_POP_BACK || op == KL_CO_BACK,
				  op == KL_CO_POP || op == KL_CO_POP_BACK, v);
	}
}

/* ---- pqueue ---- */

static int pqueue_take(struct kl_run *r, struct kl_cont *c, bool max, bool remove, struct kl_val *v)
{
	size_t i, best = SIZE_MAX, nsym = 0, at;
	uint64_t lo = 0, hi = UINT64_MAX;
	bool rest_empty = false;
	int pick;

	for (i = 0; i < c->n; i++) {
		c->e[i] = kl_sym_get(r, c->e[i]);
		if (c->e[i].tag == KL_ANY)
			nsym++;
		else if (best == SIZE_MAX ||
			 (max ? c->e[i].v > c->e[best].v : c->e[i].v < c->e[best].v))
			best = i;
	}
	/* Unknown values, the best known one, the unknown rest: each may be first. */
	if (c->unknown && !c->n) {
		pick = rest(r, c);
		if (pick < 0)
			return pick;
		rest_empty = !pick;
	}
	if (rest_empty || (!c->unknown && !c->n)) {
		*v = kl_special(KL_EMPTY);
		return 0;
	}
	if (best != SIZE_MAX) {
		lo = max ? c->e[best].v : 0;
		hi = max ? UINT64_MAX : c->e[best].v;
	}
	pick = 0;
	if (nsym + (best != SIZE_MAX) + c->unknown > 1) {
		pick = kl_run_guess(r, nsym + (best != SIZE_MAX) + c->unknown);
		if (pick < 0)
			return pick;
	}
	if (best != SIZE_MAX && !pick--) {
		*v = c->e[best];
		if (remove)
			delete(c, best, 1);
		return 0;
	}
	for (at = 0; at < c->n; at++)
		if (c->e[at].tag == KL_ANY && !pick--)
			break;
	if (at < c->n) {
		*v = c->e[at];
		if (remove)
			delete(c, at, 1);
	} else {
		int ret = kl_sym_fresh(r, v);

		if (!ret && !remove)
			ret = append(r, c, *v);
		if (ret)
			return ret;
	}
	return kl_sym_limit(r, *v, lo, hi);
}

static int pqueue_call(struct kl_run *r, struct kl_cont *c, bool max, enum kl_cont_op op,
		       struct kl_val *v)
{
	switch (op) {
	case KL_CO_PUSH:
		v[0] = kl_sym_get(r, v[0]);
		if (v[0].tag > KL_ANY)
			return kl_run_fault(r, "a special value cannot be in a pqueue");
		return append(r, c, v[0]);
	case KL_CO_SIZE:
		return size(r, c, c->n, v);
	default:
		return pqueue_take(r, c, max, op == KL_CO_POP, v);
	}
}

/* ---- set, map, bag ---- */

/* The place of @key's entry, or SIZE_MAX if it has none. */
static int look_up(struct kl_run *r, struct kl_cont *c, struct kl_val key, size_t *at)
{
	size_t i, n = 0;
	int pick;

	key = kl_sym_get(r, key);
	*at = SIZE_MAX;
	for (i = 0; i < c->n; i += 2) {
		struct kl_val k = kl_sym_get(r, c->e[i]);

		if (kl_val_eq(k, key)) {
			*at = i;
			return 0;
		}
		n += k.tag == KL_ANY || key.tag == KL_ANY;
	}
	if (!n)
		return 0;
	pick = kl_run_guess(r, n + 1);
	if (pick < 0)
		return pick;
	for (i = 0; i < c->n; i += 2) {
		struct kl_val k = kl_sym_get(r, c->e[i]);

		if ((k.tag == KL_ANY || key.tag == KL_ANY) && !pick--) {
			*at = i;
			return kl_sym_unify(r, k, key);
		}
	}
	for (i = 0; i < c->n; i += 2)
		kl_sym_differ(r, c->e[i], key);
	return 0;
}

static void remove_pair(struct kl_cont *c, size_t at, struct kl_val gone)
{
	if (c->unknown)
		c->e[at + 1] = gone;
	else
		delete(c, at, 2);
}

static uint64_t listed(const struct kl_cont *c, bool bag)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < c->n; i += 2)
		n += bag ? c->e[i + 1].v : c->e[i + 1].tag != KL_ABSENT;
	return n;
}

/*
 * Make sure that @key has an entry if the container is unknown; a value that
 * is made up for it is fresh for a map, 1 for a set.
 */
static int settle(struct kl_run *r, struct kl_cont *c, bool map, struct kl_val key, size_t *at)
{
	struct kl_val v = kl_special(KL_ABSENT);
	int ret;

	ret = look_up(r, c, key, at);
	if (ret || *at != SIZE_MAX || !c->unknown)
		return ret;
	ret = kl_run_guess(r, 2);
	if (ret < 0)
		return ret;
	if (ret) {
		v = kl_word(1);
		ret = map ? kl_sym_fresh(r, &v) : 0;
		if (ret)
			return ret;
	}
	*at = c->n;
	return append_pair(r, c, key, v);
}

static int map_put(struct kl_run *r, struct kl_cont *c, struct kl_val *v)
{
	size_t at;
	int ret;

	v[1] = kl_sym_get(r, v[1]);
	if (v[1].tag == KL_ABSENT)
		return kl_run_fault(r, "'absent' cannot be put into a map");
	ret = look_up(r, c, v[0], &at);
	if (ret)
		return ret;
	if (at == SIZE_MAX)
		return append_pair(r, c, v[0], v[1]);
	c->e[at + 1] = v[1];
	return 0;
}

static int set_add(struct kl_run *r, struct kl_cont *c, size_t at, struct kl_val *v)
{
	bool added = at == SIZE_MAX || c->e[at + 1].tag == KL_ABSENT;
	int ret = 0;

	if (at == SIZE_MAX)
		ret = append_pair(r, c, v[0], kl_word(1));
	else
		c->e[at + 1] = kl_word(1);
	v[0] = kl_word(added);
	return ret;
}

static int map_call(struct kl_run *r, struct kl_cont *c, bool map, enum kl_cont_op op,
		    struct kl_val *v)
{
	struct kl_val old = kl_special(KL_ABSENT);
	size_t at;
	int ret;

	if (op == KL_CO_SIZE)
		return size(r, c, listed(c, false), v);
	if (op == KL_CO_PUT)
		return map_put(r, c, v);
	ret = settle(r, c, map, v[0], &at);
	if (ret)
		return ret;
	if (op == KL_CO_ADD)
		return set_add(r, c, at, v);
	if (at != SIZE_MAX)
		old = c->e[at + 1];
	if (op == KL_CO_REMOVE && old.tag != KL_ABSENT)
		remove_pair(c, at, kl_special(KL_ABSENT));
	v[0] = map && op != KL_CO_HAS ? old : kl_word(old.tag != KL_ABSENT);
	return 0;
}

static int bag_add(struct kl_run *r, struct kl_cont *c, size_t at, struct kl_val key)
{
	if (at != SIZE_MAX) {
		c->e[at + 1].v++;
		return 0;
	}
	return append_pair(r, c, key,
			   (struct kl_val){ .v = 1, .tag = c->unknown ? KL_ANY : KL_WORD });
}

static int bag_remove(struct kl_run *r, struct kl_cont *c, size_t at, struct kl_val *v)
{
	struct kl_val key = v[0];
	int ret;

	if (at == SIZE_MAX && c->unknown) {
		ret = kl_run_guess(r, 2);
		if (ret < 0)
			return ret;
		v[0] = kl_word(ret);
		return ret ? 0 : append_pair(r, c, key, kl_word(0));
	}
	v[0] = kl_word(at != SIZE_MAX && c->e[at + 1].v);
	if (!v[0].v)
		return 0;
	if (--c->e[at + 1].v)
		return 0;
	if (!c->unknown || c->e[at + 1].tag == KL_ANY)
		delete(c, at, 2);
	return 0;
}

static int bag_has(struct kl_run *r, struct kl_cont *c, size_t at, struct kl_val *v)
{
	int ret;

	if (at != SIZE_MAX || !c->unknown) {
		v[0] = kl_word(at != SIZE_MAX && c->e[at + 1].v);
		return 0;
	}
	ret = kl_run_guess(r, 2);
	if (ret < 0)
		return ret;
	at = c->n;
	ret = append_pair(r, c, v[0], (struct kl_val){ .v = ret, .tag = ret ? KL_ANY : KL_WORD });
	v[0] = kl_word(c->e[at + 1].v);
	return ret;
}

static int bag_count(struct kl_run *r, struct kl_cont *c, size_t at, struct kl_val *v)
{
	uint64_t least = at == SIZE_MAX ? 0 : c->e[at + 1].v;
	int ret;

	if (c->unknown && (at == SIZE_MAX || c->e[at + 1].tag == KL_ANY)) {
		ret = kl_sym_fresh(r, &v[0]);
		return ret ? ret : kl_sym_limit(r, v[0], least, UINT64_MAX);
	}
	v[0] = kl_word(least);
	return 0;
}

static int bag_call(struct kl_run *r, struct kl_cont *c, enum kl_cont_op op, struct kl_val *v)
{
	size_t at;
	int ret;

	if (op == KL_CO_SIZE)
		return size(r, c, listed(c, true), v);
	ret = look_up(r, c, v[0], &at);
	if (ret)
		return ret;
	switch (op) {
	case KL_CO_ADD:
		return bag_add(r, c, at, v[0]);
	case KL_CO_REMOVE:
		return bag_remove(r, c, at, v);
	case KL_CO_HAS:
		return bag_has(r, c, at, v);
	default:
		return bag_count(r, c, at, v);
	}
}

/* May a call with the result @v have changed the container? */
static bool changes(enum kl_cont_kind kind, enum kl_cont_op op, struct kl_val v)
{
	switch (op) {
	case KL_CO_HAS:
	case KL_CO_GET:
	case KL_CO_SIZE:
	case KL_CO_FRONT:
	case KL_CO_TOP:
	case KL_CO_COUNT:
		return false;
	case KL_CO_POP:
		return v.tag != KL_EMPTY;
	case KL_CO_ADD:
		return kind != KL_C_SET || v.tag != KL_WORD || v.v;
	case KL_CO_REMOVE:
		return v.tag != KL_ABSENT && (kind == KL_C_MAP || v.tag != KL_WORD || v.v);
	default:
		return true;
	}
}

static int call(struct kl_run *r, unsigned int index, enum kl_cont_op op, struct kl_val *v)
{
	const struct kl_var *var = r->s->conts[index];
	struct kl_cont *c = &r->conts[index];
	int ret;

	if (!c->loaded) {
		ret = kl_cont_load(r, index);
		if (ret)
			return ret;
	}
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
		return bag_call(r, c, op, v);
	default:
		return map_call(r, c, var->cont == KL_C_MAP, op, v);
	}
}

int kl_cont_call(struct kl_run *r, unsigned int index, enum kl_cont_op op, struct kl_val *v)
{
	int ret = call(r, index, op, v);

	r->cont_changed |= changes(r->s->conts[index]->cont, op, v[0]);
	return ret;
}
