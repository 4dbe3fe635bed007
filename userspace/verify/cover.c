// SPDX-License-Identifier: GPL-2.0
/*
 * The covering test: the abstraction of each concrete state of a bounded run must lie below a
 * stored abstract state.  This checks soundness on examples.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "verify/model.h"

#define CONCRETE_MAX	2000000		/* maximal number of states of a bounded run */

struct cover {
	struct kl_verifier *x;
	struct kl_verifier *y;		/* the verifier in concrete mode */
	struct kl_table table;		/* x's states, hashed without their summaries */
	char *why;
	size_t why_size;
};

/* Return: the number of individuals before the summaries: null, and those with a name. */
static unsigned int named(const struct kl_vf_state *s)
{
	unsigned int n = 1;

	while (n < s->nn && !(s->kind[n] & KF_SUM))
		n++;
	return n;
}

/* Return: a hash of a packed key without its summaries. */
static uint32_t hash_core(const uint8_t *key, unsigned int len, const struct kl_vf_state *s)
{
	const unsigned int core = len - 8 * (s->nn - named(s));
	uint64_t h = core;
	unsigned int i;

	for (i = 1; i < core; i++)
		h = kl_mix(h, key[i]);
	return h;
}

static int build(struct cover *c)
{
	const struct kl_vf_store *st = &c->x->store;
	struct kl_vf_state s;
	uint32_t hash;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < st->n; i++) {
		kl_vf_unpack(c->x, i, &s);
		hash = hash_core(st->bytes + st->e[i].at, st->e[i].len, &s);
		ret = kl_table_add(&c->table, hash, i);
	}
	return ret;
}

/*
 * Return: true if the canonical state @a is below @b.  Then @b has the same named individuals,
 * and at least the summaries and edges of @a.
 */
static bool below(const struct kl_vf_state *a, const struct kl_vf_state *b)
{
	const unsigned int n = named(a);
	uint8_t to[KL_VF_NODES] = { 0 };
	unsigned int i, k;
	uint32_t set, succ, rsucc;

	if (named(b) != n || memcmp(a->kind + 1, b->kind + 1, (n - 1) * sizeof(*a->kind)))
		return false;
	for (i = 1; i < a->nn; i++) {
		to[i] = i;
		if (i < n)
			continue;
		for (k = n; k < b->nn && b->kind[k] != a->kind[i]; k++)
			;
		if (k == b->nn)
			return false;
		to[i] = k;
	}
	for (i = 1; i < a->nn; i++) {
		succ = a->succ[i] & 1;
		rsucc = a->rsucc[i] & 1;
		for (set = a->succ[i] & ~1u; set; set &= set - 1)
			succ |= kl_vf_bit(to[__builtin_ctz(set)]);
		for (set = a->rsucc[i] & ~1u; set; set &= set - 1)
			rsucc |= kl_vf_bit(to[__builtin_ctz(set)]);
		if (succ & ~b->succ[to[i]] ||
		    (kf_has_rsucc(a->kind[i]) && rsucc & ~b->rsucc[to[i]]))
			return false;
	}
	return true;
}

static bool same_core(const struct cover *c, uint32_t i, const struct kl_vf_state *a,
		      const struct kl_vf_state *b)
{
	const struct kl_vf_store *st = &c->x->store;
	const unsigned int core = st->len - 8 * (a->nn - named(a));

	return st->e[i].len - 8 * (b->nn - named(b)) == core &&
	       !memcmp(st->bytes + st->e[i].at + 1, st->key + 1, core - 1);
}

static bool find(const struct cover *c, const struct kl_vf_state *a)
{
	struct kl_vf_state b;
	const uint32_t hash = hash_core(c->x->store.key, c->x->store.len, a);
	uint32_t i;
	size_t at;

	kl_table_for_each(&c->table, hash, at, i) {
		kl_vf_unpack(c->x, i, &b);
		if (same_core(c, i, a, &b) && below(a, &b))
			return true;
	}
	return false;
}

/*
 * Try all orders of threads with the same role.  In a covering state similar threads may have
 * another order, because its edges differ.  Return: true if a covering state is found.
 */
static bool find_ordered(struct cover *c, const struct kl_vf_state *s, uint8_t *order,
			 unsigned int from)
{
	struct kl_vf_state a;
	unsigned int i;
	bool found = false;
	uint8_t t;

	if (from == s->nt) {
		kl_vf_ordered(c->x, s, order, &a);
		return find(c, &a);
	}
	for (i = from; i < s->nt && !found; i++) {
		if (c->x->role[order[i]] != c->x->role[order[from]])
			break;
		t = order[from];
		order[from] = order[i];
		order[i] = t;
		found = find_ordered(c, s, order, from + 1);
		t = order[from];
		order[from] = order[i];
		order[i] = t;
	}
	return found;
}

/* Return: true if a concrete state with the threads of x is covered. */
static bool covered(struct cover *c, struct kl_vf_state *s)
{
	uint8_t order[KL_VF_THREADS];
	struct kl_vf_state a;
	unsigned int t;

	for (t = 0; t < s->nt; t++) {
		s->th[t].ops = 0;
		order[t] = t;
	}
	kl_vf_abstract_keys(c->x, s);
	kl_vf_canon(c->x, s, &a);
	return find(c, &a) || (!c->x->o.no_symmetry && find_ordered(c, s, order, 0));
}

static bool look_at(struct cover *c, uint32_t at)
{
	struct kl_vf_state s, one;
	unsigned int t;

	kl_vf_unpack(c->y, at, &s);
	if (c->x->o.threads) {
		kl_vf_copy(&one, &s);
		if (covered(c, &one))
			return true;
		snprintf(c->why, c->why_size, "concrete state %u is not covered", at);
		return false;
	}
	for (t = 0; t < s.nt; t++) {
		kl_vf_copy(&one, &s);
		kl_vf_only(c->x, &one, t);
		if (covered(c, &one))
			continue;
		snprintf(c->why, c->why_size, "thread %u's view of the concrete state %u is not "
			 "covered", t, at);
		return false;
	}
	return true;
}

/*
 * Run the model concretely.
 * Return: 1 if all its states are covered, 0 with c->why set if not, or a negative errno.
 */
static int run(struct cover *c)
{
	struct kl_verifier *y = c->y;
	struct kl_vf_run *r = calloc(1, sizeof(*r));
	struct kl_vf_state s;
	unsigned int t;
	uint32_t at;
	int ret = -ENOMEM;

	if (!r)
		return ret;
	y->parent = y->actor = KL_VF_NO_STATE;
	ret = kl_vf_first(y, &r->s);
	if (!ret && !y->alarm)
		ret = y->keep(y, r);
	free(r);
	while (!ret && !y->alarm && y->store.n < CONCRETE_MAX) {
		at = kl_vf_store_next(&y->store);
		if (at == KL_VF_NO_STATE)
			break;
		if (!look_at(c, at))
			return 0;
		kl_vf_unpack(y, at, &s);
		y->parent = at;
		for (t = 0; t < s.nt && !ret && !y->alarm; t++)
			ret = kl_vf_step(y, &s, t);
	}
	if (ret)
		return ret;
	if (y->alarm || y->restart) {
		snprintf(c->why, c->why_size, "a concrete run fails: %s", y->alarm ?
			 y->message : "an assumption does not hold");
		return 0;
	}
	return 1;
}

int kl_verify_cover(struct kl_verifier *x, unsigned int threads, unsigned int ops,
		    uint64_t *states, char *why, size_t size)
{
	struct cover c = { .x = x, .why = why, .why_size = size };
	struct kl_verifier *y = calloc(1, sizeof(*y));
	int ret = -ENOMEM;

	if (!y)
		return ret;
	if (x->o.threads)
		threads = x->o.threads;
	*y = *x;
	y->concrete = true;
	y->coarse = false;
	y->o.threads = y->nt = threads;
	y->o.memory = 0;
	y->max_ops = ops;
	y->tried_any = true;
	y->stack = NULL;
	y->nstack = y->cstack = 0;
	y->views = NULL;
	y->emit = y->keep;
	memset(&y->store, 0, sizeof(y->store));
	c.y = y;
	ret = build(&c);
	if (!ret)
		ret = run(&c);
	if (states)
		*states = y->store.n;
	kl_table_free(&c.table);
	free(y->stack);
	kl_vf_store_free(&y->store);
	free(y);
	return ret;
}
