// SPDX-License-Identifier: GPL-2.0
/* Containers with keys: sets, maps and bags.  container_state.c describes their entries. */
#include <errno.h>
#include <string.h>

#include "spec/interp/container_state.h"

static int append_pair(struct kl_run *r, struct kl_cont *c, struct kl_val k, struct kl_val v)
{
	int ret = kl_cont_append(r, c, k);

	return ret ? ret : kl_cont_append(r, c, v);
}

/*
 * Set *@at to the index of the entry of @key, or to SIZE_MAX if it has none.  If it is not known
 * whether a listed key equals @key, that is a choice of the path.  @adds is set if the caller then
 * adds an entry for @key.
 */
static int find_key(struct kl_run *r, struct kl_cont *c, struct kl_val key, bool adds, size_t *at)
{
	size_t i, n = 0;
	int pick;

	key = kl_sym_get(r, key);
	*at = SIZE_MAX;
	/* Fast case: nothing is unknown. */
	for (i = 0; i < c->n && !kl_val_eq(c->e[i], key); i += 2)
		;
	if (i < c->n)
		*at = i;
	if (i < c->n || !r->nsym)
		return 0;
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
	for (i = 0; i < c->n; i += 2) {
		const struct kl_val k = kl_sym_get(r, c->e[i]);

		/* Listed keys differ anyway, and the caller lists @key. */
		if (adds && k.tag == KL_ANY && key.tag == KL_ANY)
			continue;
		pick = kl_sym_differ(r, k, key);
		if (pick)
			return pick;
	}
	return 0;
}

/* Delete the entry @at, and record that its key differs from the other keys. */
static int delete_entry(struct kl_run *r, struct kl_cont *c, size_t at)
{
	const struct kl_val key = kl_sym_get(r, c->e[at]);
	size_t i;
	int ret;

	kl_cont_delete(c, at, 2);
	for (i = 0; r->nsym && i < c->n; i += 2) {
		const struct kl_val k = kl_sym_get(r, c->e[i]);

		ret = k.tag == KL_ANY || key.tag == KL_ANY ? kl_sym_differ(r, k, key) : 0;
		if (ret)
			return ret;
	}
	return 0;
}

static int remove_pair(struct kl_run *r, struct kl_cont *c, size_t at, struct kl_val gone)
{
	if (!c->unknown)
		return delete_entry(r, c, at);
	c->e[at + 1] = gone;
	return 0;
}

/* Return: the number of elements in the listed entries. */
static uint64_t count_listed(const struct kl_cont *c, bool bag)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < c->n; i += 2)
		n += bag ? c->e[i + 1].v : c->e[i + 1].tag != KL_ABSENT;
	return n;
}

/*
 * Find the entry of @key.  If the container is unknown and lists no such entry, add one: a choice
 * says whether the key is absent, or has a value, which is a new unknown in a map and 1 in a set.
 */
static int find_or_guess(struct kl_run *r, struct kl_cont *c, bool map, struct kl_val key,
			 bool adds, size_t *at)
{
	struct kl_val v = kl_special(KL_ABSENT);
	int ret;

	ret = find_key(r, c, key, adds || c->unknown, at);
	if (ret || *at != SIZE_MAX || !c->unknown)
		return ret;
	ret = kl_run_guess(r, 2);
	if (ret < 0)
		return ret;
	if (ret) {
		v = kl_word(1);
		ret = map ? kl_sym_fresh(r, &v) : 0;
		if (!ret)
			ret = kl_cont_rest_less(r, c, 1);
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
	ret = find_key(r, c, v[0], true, &at);
	/* If the size is tracked, it matters whether the key was already in the map. */
	if (!ret && at == SIZE_MAX && c->unknown && c->rest.tag != KL_REST)
		ret = find_or_guess(r, c, true, v[0], true, &at);
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

int kl_cont_map_call(struct kl_run *r, struct kl_cont *c, bool map, enum kl_cont_op op,
		     struct kl_val *v)
{
	struct kl_val old = kl_special(KL_ABSENT);
	size_t at;
	int ret;

	if (op == KL_CO_SIZE)
		return kl_cont_size(r, c, count_listed(c, false), v);
	if (op == KL_CO_PUT)
		return map_put(r, c, v);
	ret = find_or_guess(r, c, map, v[0], op == KL_CO_ADD, &at);
	if (ret)
		return ret;
	if (op == KL_CO_ADD)
		return set_add(r, c, at, v);
	if (at != SIZE_MAX)
		old = c->e[at + 1];
	if (op == KL_CO_REMOVE && old.tag != KL_ABSENT)
		ret = remove_pair(r, c, at, kl_special(KL_ABSENT));
	if (ret)
		return ret;
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
		return ret ? kl_cont_rest_less(r, c, 1) : append_pair(r, c, key, kl_word(0));
	}
	v[0] = kl_word(at != SIZE_MAX && c->e[at + 1].v);
	if (!v[0].v)
		return 0;
	if (--c->e[at + 1].v)
		return 0;
	if (!c->unknown || c->e[at + 1].tag == KL_ANY)
		return delete_entry(r, c, at);
	return 0;
}

static int bag_has(struct kl_run *r, struct kl_cont *c, size_t at, struct kl_val *v)
{
	struct kl_val n;
	int ret;

	if (at != SIZE_MAX || !c->unknown) {
		v[0] = kl_word(at != SIZE_MAX && c->e[at + 1].v);
		return 0;
	}
	ret = kl_run_guess(r, 2);
	if (ret < 0)
		return ret;
	n = (struct kl_val){ .v = ret, .tag = ret ? KL_ANY : KL_WORD };
	ret = kl_cont_rest_less(r, c, n.v) ?: append_pair(r, c, v[0], n);
	v[0] = kl_word(n.v);
	return ret;
}

/* Set the count of @key, of which @least were listed, to @n. */
static int put_count(struct kl_run *r, struct kl_cont *c, size_t at, struct kl_val key,
		     struct kl_val n, uint64_t least)
{
	int ret = kl_cont_rest_less(r, c, n.v - least);

	if (ret)
		return ret;
	if (at == SIZE_MAX)
		return append_pair(r, c, key, n);
	c->e[at + 1] = n;
	return 0;
}

static int bag_count(struct kl_run *r, struct kl_cont *c, size_t at, struct kl_val *v)
{
	const uint64_t least = at == SIZE_MAX ? 0 : c->e[at + 1].v;
	const struct kl_val key = v[0];
	bool seen;
	int ret;

	v[0] = kl_word(least);
	if (!c->unknown || (at != SIZE_MAX && c->e[at + 1].tag == KL_WORD))
		return 0;
	/* A count that is no observed result is opaque: the entry keeps its lower bound. */
	ret = kl_sym_any(r, least, &v[0], &seen);
	if (!ret && seen)
		return put_count(r, c, at, key, v[0], least);
	if (!ret)
		kl_sym_set_opaque(r, v[0]);
	return ret;
}

int kl_cont_bag_call(struct kl_run *r, struct kl_cont *c, enum kl_cont_op op, struct kl_val *v)
{
	size_t at;
	int ret;

	if (op == KL_CO_SIZE)
		return kl_cont_size(r, c, count_listed(c, true), v);
	ret = find_key(r, c, v[0], op == KL_CO_ADD, &at);
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
