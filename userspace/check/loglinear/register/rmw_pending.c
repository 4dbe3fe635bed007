// SPDX-License-Identifier: GPL-2.0
/*
 * Pending operations of a register.  Each may have taken effect or not.  So the order contains only
 * those that made a word which was seen, and which no other operation made.
 *
 * Of several pending writes and compare-and-swaps that make such a word, the one that was called
 * first is taken.  A pending addition may have seen any word.  If all add the same number d, w was
 * made from w - d, that from w - 2d, and so on, back to a word that was made otherwise.  Additions
 * differ only in their calls, so those that were called first go first.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/sort.h"
#include "check/loglinear/register/rmw.h"

#define ROUNDS	64	/* passes over the pending operations */

/* Return: true if the value was seen or replaced, but no operation made it. */
static bool is_wanted(const struct rmw *m, uint32_t value)
{
	const struct rmw_value *v = &m->v[value];

	return value != m->first && v->maker == LL_NONE && (v->taker != LL_NONE || v->last_call);
}

/* Choose pending writes and compare-and-swaps.  Return: true if one was chosen. */
static bool take_some(struct rmw *m)
{
	bool any = false;
	uint32_t i;

	for (i = 0; i < m->npending; i++) {
		struct rmw_op *op = &m->op[m->pending[i]];

		if (op->after == LL_NONE || m->v[op->after].maker != LL_NONE ||
		    !is_wanted(m, op->after))
			continue;
		if (op->before != LL_NONE && m->v[op->before].taker != LL_NONE)
			continue;
		m->v[op->after].maker = m->pending[i];
		if (op->before != LL_NONE)
			m->v[op->before].taker = m->pending[i];
		any = true;
	}
	return any;
}

/* Pending additions, and the values that they make. */
struct adds {
	struct rmw *m;
	uint64_t by;		/* the number that each adds */
	uint32_t *op;		/* the additions, in order of call */
	uint32_t n, used;
	uint32_t *made;		/* the values that the first @used of them make */
};

/* List pending additions.  Return: 1, 0 if there are none or they add different numbers. */
static int list_adds(struct rmw *m, struct adds *a)
{
	uint32_t i;

	for (i = 0; i < m->npending; i++) {
		const struct kl_op *op = &m->s->h->ops[m->s->ops ? m->s->ops[m->pending[i]] :
						       m->pending[i]];
		struct kl_word_step step;

		if (m->op[m->pending[i]].kind != KL_WORD_ADDS)
			continue;
		step = kl_word_step(kl_word_method(m->s->spec,
						   m->s->methods[kl_op_method(m->s->h, op)]),
				    kl_op_args(m->s->h, op), true);
		if (a->n && step.after != a->by)
			return 0;
		a->by = step.after;
		a->op[a->n++] = m->pending[i];
	}
	return a->n > 0;
}

/*
 * Assign additions that make @value, from a value that is made otherwise.  If they do not suffice,
 * none is assigned.  Return: 0, or -ENOMEM.
 */
static int add_up(struct adds *a, uint32_t value)
{
	struct rmw *m = a->m;
	const uint32_t before = a->used;
	uint32_t to = value, from;

	for (;;) {
		if (a->used == a->n || m->words.n == m->words.most)
			break;
		if (rmw_number(m, rmw_word(m, to) - a->by, &from))
			return -ENOMEM;
		if (m->v[from].taker != LL_NONE)
			break;
		m->v[to].maker = m->v[from].taker = a->op[a->used];
		m->op[a->op[a->used]].before = from;
		m->op[a->op[a->used]].after = to;
		a->made[a->used++] = to;
		if (from == m->first || m->v[from].maker != LL_NONE || m->v[from].last_call)
			return 0;
		to = from;
	}
	/* No value that is made otherwise was reached. */
	while (a->used > before) {
		to = a->made[--a->used];
		m->v[m->op[a->op[a->used]].before].taker = LL_NONE;
		m->v[to].maker = LL_NONE;
	}
	return 0;
}

/*
 * Assign the additions to the values of a->made again: the addition that was called first to the
 * value that must be there first.  Return: 0, or -ENOMEM.
 */
static int in_order(struct adds *a)
{
	struct rmw *m = a->m;
	struct kl_key *k = malloc(2 * ((size_t)a->used + 1) * sizeof(*k));
	uint32_t i, at, next;
	uint32_t (*ends)[2] = malloc(((size_t)a->used + 1) * sizeof(*ends));

	if (!k || !ends) {
		free(k);
		free(ends);
		return -ENOMEM;
	}
	for (i = 0; i < a->used; i++) {
		uint64_t deadline = FOREVER;

		for (at = a->made[i]; ; at = m->op[next].after) {
			deadline = m->v[at].first_ret < deadline ? m->v[at].first_ret : deadline;
			next = m->v[at].taker;
			if (next == LL_NONE || m->op[next].after == a->made[i])
				break;
			deadline = m->op[next].ret < deadline ? m->op[next].ret : deadline;
		}
		k[i] = (struct kl_key){ .key = deadline, .val = i };
	}
	/* In a chain with equal deadlines, the value that add_up() made last comes first. */
	for (i = 0; i < a->used / 2; i++) {
		const struct kl_key t = k[i];

		k[i] = k[a->used - 1 - i];
		k[a->used - 1 - i] = t;
	}
	kl_sort_keys(k, a->used, k + a->used);
	for (i = 0; i < a->used; i++) {
		ends[i][0] = m->op[a->op[k[i].val]].before;
		ends[i][1] = m->op[a->op[k[i].val]].after;
	}
	for (i = 0; i < a->used; i++) {
		m->op[a->op[i]].before = ends[i][0];
		m->op[a->op[i]].after = ends[i][1];
		m->v[ends[i][0]].taker = m->v[ends[i][1]].maker = a->op[i];
	}
	free(k);
	free(ends);
	return 0;
}

static int use_adds(struct rmw *m)
{
	const size_t n = (size_t)m->npending + 1;
	struct adds a = {
		.m = m, .op = malloc(n * sizeof(*a.op)), .made = malloc(n * sizeof(*a.made)),
	};
	uint32_t nwanted = 0, i;
	int ret = a.op && a.made ? 0 : -ENOMEM;

	for (i = 0; i < m->words.n; i++)
		nwanted += is_wanted(m, i);
	/* If the first value is unknown, one value that is wanted may be it. */
	if (!ret && nwanted > (m->first == LL_NONE) && list_adds(m, &a)) {
		for (i = 0; i < m->words.n && !ret; i++)
			if (is_wanted(m, i))
				ret = add_up(&a, i);
		if (!ret)
			ret = in_order(&a);
	}
	free(a.op);
	free(a.made);
	return ret;
}

int rmw_choose(struct rmw *m)
{
	unsigned int rounds = 0;
	uint32_t i;
	int ret;

	while (m->npending && rounds++ < ROUNDS && take_some(m))
		;
	ret = m->npending ? use_adds(m) : 0;
	/* All other pending operations are omitted. */
	for (i = 0; i < m->npending; i++) {
		struct rmw_op *op = &m->op[m->pending[i]];

		if (op->after == LL_NONE || m->v[op->after].maker != m->pending[i])
			op->kind = KL_WORD_NEVER;
		else if (op->kind == KL_WORD_ADDS)
			op->kind = KL_WORD_MOVES;
	}
	return ret;
}
