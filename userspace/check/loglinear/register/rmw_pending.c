// SPDX-License-Identifier: GPL-2.0
/*
 * Pending operations of a register: none need have taken effect, so only those are in the
 * order without which a word that was seen would not have been there.
 *
 * A write or a compare-and-swap that makes such a word is taken, of several the first that
 * was called.  What adds a number to whatever it sees may stand anywhere: if all add the
 * same, w was made of w - d, that of w - 2d and so on, back to a word that was made.  Which
 * of them is which makes no difference but for their calls: as none returns, the ones
 * called first go first.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/sort.h"
#include "check/loglinear/register/rmw.h"

#define ROUNDS	64	/* over the pending operations */

static bool is_wanted(const struct moves *m, uint32_t value)
{
	const struct moves_value *v = &m->v[value];

	return value != m->first && v->maker == MONO_NONE && (v->taker != MONO_NONE || v->hi);
}

/* Take pending writes and compare-and-swaps. */
static bool take_some(struct moves *m)
{
	bool any = false;
	uint32_t i;

	for (i = 0; i < m->npending; i++) {
		struct moves_op *op = &m->op[m->pending[i]];

		if (op->after == MONO_NONE || m->v[op->after].maker != MONO_NONE ||
		    !is_wanted(m, op->after))
			continue;
		if (op->before != MONO_NONE && m->v[op->before].taker != MONO_NONE)
			continue;
		m->v[op->after].maker = m->pending[i];
		if (op->before != MONO_NONE)
			m->v[op->before].taker = m->pending[i];
		any = true;
	}
	return any;
}

/* The places of pending additions. */
struct adds {
	struct moves *m;
	uint64_t by;
	uint32_t *op;		/* the operations, in order of call */
	uint32_t n, used;
	uint32_t *made;		/* by @used of them: values */
};

/* 1: there are some, 0: none, or not all of them add the same. */
static int list_adds(struct moves *m, struct adds *a)
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

/* If @value was made by additions put them in, back to one that is there.  0 or -ENOMEM. */
static int add_up(struct adds *a, uint32_t value)
{
	struct moves *m = a->m;
	const uint32_t before = a->used;
	uint32_t to = value, from;

	for (;;) {
		if (a->used == a->n || m->words.n == m->words.most)
			break;
		if (moves_number(m, moves_word(m, to) - a->by, &from))
			return -ENOMEM;
		if (m->v[from].taker != MONO_NONE)
			break;
		m->v[to].maker = m->v[from].taker = a->op[a->used];
		m->op[a->op[a->used]].before = from;
		m->op[a->op[a->used]].after = to;
		a->made[a->used++] = to;
		if (from == m->first || m->v[from].maker != MONO_NONE || m->v[from].hi)
			return 0;
		to = from;
	}
	/* It does not lead anywhere. */
	while (a->used > before) {
		to = a->made[--a->used];
		m->v[m->op[a->op[a->used]].before].taker = MONO_NONE;
		m->v[to].maker = MONO_NONE;
	}
	return 0;
}

/* In the order of their places, the first that has to be over first. */
static int in_order(struct adds *a)
{
	struct moves *m = a->m;
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
			deadline = m->v[at].lo < deadline ? m->v[at].lo : deadline;
			next = m->v[at].taker;
			if (next == MONO_NONE || m->op[next].after == a->made[i])
				break;
			deadline = m->op[next].ret < deadline ? m->op[next].ret : deadline;
		}
		k[i] = (struct kl_key){ .key = deadline, .val = i };
	}
	/* Of one chain and with equal deadlines those made last, by add_up(), come first. */
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

static int use_adds(struct moves *m)
{
	const size_t n = (size_t)m->npending + 1;
	struct adds a = {
		.m = m, .op = malloc(n * sizeof(*a.op)), .made = malloc(n * sizeof(*a.made)),
	};
	uint32_t nwanted = 0, i;
	int ret = a.op && a.made ? 0 : -ENOMEM;

	for (i = 0; i < m->words.n; i++)
		nwanted += is_wanted(m, i);
	/* One may have been there first. */
	if (!ret && nwanted > (m->first == MONO_NONE) && list_adds(m, &a)) {
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

int moves_choose(struct moves *m)
{
	unsigned int rounds = 0;
	uint32_t i;
	int ret;

	while (m->npending && rounds++ < ROUNDS && take_some(m))
		;
	ret = m->npending ? use_adds(m) : 0;
	/* All others are not there. */
	for (i = 0; i < m->npending; i++) {
		struct moves_op *op = &m->op[m->pending[i]];

		if (op->after == MONO_NONE || m->v[op->after].maker != m->pending[i])
			op->kind = KL_WORD_NEVER;
		else if (op->kind == KL_WORD_ADDS)
			op->kind = KL_WORD_MOVES;
	}
	return ret;
}
