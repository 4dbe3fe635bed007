// SPDX-License-Identifier: GPL-2.0
/*
 * Pending removals.  A value that nobody is known to have removed, and that has to be
 * gone by some time, its deadline, can only have been taken by one that was called
 * before.  What is given here has to be gone:
 *
 * - In a queue before what certainly entered later (v.lo < w.call) is seen (w.oret).
 * - On a stack before what is certainly below it (w.lo <= v.call, v.lo <= w.hi) is
 *   popped (w.rret).
 * - In a priority queue before what goes later and is removed after it is certainly in
 *   (w.hi >= v.lo) is removed (w.rret).
 * - In all of them before an operation that began when it was in finds it empty.
 *
 * The earliest deadline has the removal that was called first, so that if there is one
 * for each each has one.  There are other reasons to be gone, of several values together:
 * when a monitor finds one, a value of its core is given an earlier deadline, and all is
 * given anew.  That is no more than a good guess: an order that comes of it is an order,
 * and for a violation see confirm().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "check/loglinear/loglinear.h"

/* The least of what was put in at @at or behind. */
struct least {
	uint32_t *min, n;
};

static void least_put(struct least *l, uint32_t at, uint32_t value)
{
	for (at = l->n - at; at <= l->n; at += at & -at)
		l->min[at] = value < l->min[at] ? value : l->min[at];
}

static uint32_t least_from(const struct least *l, uint32_t at)
{
	uint32_t min = UINT32_MAX;

	for (at = l->n - at; at; at -= at & -at)
		min = l->min[at] < min ? l->min[at] : min;
	return min;
}

static bool is_left(const struct mono *m, uint32_t value)
{
	const struct mono_value *v = &m->v[value];

	return v->remove == MONO_NONE && !mono_gone(m, v);
}

/* From the last addition back: what was seen of all that were added later. */
static void queue_deadlines(const struct mono *m, uint32_t *deadline)
{
	uint32_t least = UINT32_MAX, i = m->nins, k;

	while (i--) {
		const uint32_t value = m->ins[i] >> 1;
		const struct mono_value *v = &m->v[value];

		if (m->ins[i] == mono_in(value, false))
			least = v->oret < least ? v->oret : least;
		else if (v->lo != MONO_START && is_left(m, value))
			deadline[value] = least;
	}
	for (k = 0; k < m->nvalues; k++)
		if (m->v[k].lo == MONO_START && is_left(m, k))
			deadline[k] = least;
}

/* By calls of additions, with all that were certainly in by then. */
static void stack_deadlines(const struct mono *m, uint32_t *deadline, struct least *l)
{
	uint32_t i;

	for (i = 0; i < m->nvalues; i++)
		if (m->v[i].lo == MONO_START && m->v[i].remove != MONO_NONE)
			least_put(l, m->v[i].hi, m->v[i].rret);
	for (i = 0; i < m->nins; i++) {
		const uint32_t value = m->ins[i] >> 1;
		const struct mono_value *v = &m->v[value];

		if (m->ins[i] == mono_in(value, false)) {
			if (is_left(m, value))
				deadline[value] = least_from(l, v->lo);
		} else if (v->remove != MONO_NONE) {
			least_put(l, v->hi, v->rret);
		}
	}
}

/* From what goes last up. */
static int pqueue_deadlines(const struct mono *m, uint32_t *deadline, struct least *l)
{
	uint32_t i, j, same, n;
	uint64_t *turn = mono_turns(m, true, &n);

	if (!turn)
		return -ENOMEM;
	for (i = 0; i < n; i = same) {
		for (same = i; same < n && mono_one_turn(m, turn[same], turn[i]); same++) {
			const uint32_t value = turn[same];

			if (is_left(m, value))
				deadline[value] = least_from(l, m->v[value].lo);
		}
		for (j = i; j < same; j++) {
			const struct mono_value *v = &m->v[(uint32_t)turn[j]];

			if (v->remove != MONO_NONE)
				least_put(l, v->hi, v->rret);
		}
	}
	free(turn);
	return 0;
}

/* Of those that found it empty, whose calls are in order, the first after each value was in. */
static void empty_deadlines(const struct mono *m, uint32_t *deadline)
{
	uint32_t i, low, high, mid;

	for (i = 0; i < m->nvalues && m->ncuts; i++) {
		if (!is_left(m, i))
			continue;
		for (low = 0, high = m->ncuts; low < high; ) {
			mid = low + (high - low) / 2;
			if (m->cut[mid].call < m->v[i].lo)
				low = mid + 1;
			else
				high = mid;
		}
		if (low < m->ncuts && m->cut[low].ret < deadline[i])
			deadline[i] = m->cut[low].ret;
	}
}

/*
 * Give them away anew; @want: a value that has to have one, or MONO_NONE.  1, 0 if it has
 * none, -ENOMEM.
 */
static int give_all(struct mono *m, uint32_t want)
{
	struct kl_key *k = malloc(2 * ((size_t)m->nvalues + 1) * sizeof(*k));
	uint32_t i, n = 0, next = 0;
	bool has = want == MONO_NONE;

	if (!k)
		return -ENOMEM;
	for (i = 0; i < m->nwild; i++)
		m->op[m->wild[i]] = mono_op(MONO_WILD, 0);
	for (i = 0; i < m->nvalues; i++)
		if (m->deadline[i] < m->end - 1)
			k[n++] = (struct kl_key){ .key = m->deadline[i], .val = i };
	kl_sort_keys(k, n, k + n);
	for (i = 0; i < n && next < m->nwild; i++) {
		if (mono_call(m, m->wild[next]) >= k[i].key)
			continue;
		m->op[m->wild[next++]] = mono_op(MONO_REMOVE, k[i].val);
		has |= k[i].val == want;
	}
	free(k);
	mono_gather(m);
	return has;
}

int mono_give_wild(struct mono *m)
{
	struct least l = { .n = m->end + 1 };
	int ret = -ENOMEM;

	m->deadline = malloc(((size_t)m->nvalues + 1) * sizeof(*m->deadline));
	l.min = malloc(((size_t)l.n + 2) * sizeof(*l.min));
	if (!m->deadline || !l.min || mono_times(m) || mono_events(m) ||
	    (m->c.kind == KL_CONTAINER_STACK && mono_list_ins(m)))
		goto out;
	memset(m->deadline, 0xff, m->nvalues * sizeof(*m->deadline));
	memset(l.min, 0xff, ((size_t)l.n + 2) * sizeof(*l.min));
	ret = 0;
	if (m->c.kind == KL_CONTAINER_QUEUE)
		queue_deadlines(m, m->deadline);
	else if (m->c.kind == KL_CONTAINER_STACK)
		stack_deadlines(m, m->deadline, &l);
	else if (m->c.kind == KL_CONTAINER_PQUEUE)
		ret = pqueue_deadlines(m, m->deadline, &l);
	empty_deadlines(m, m->deadline);
	if (!ret)
		ret = give_all(m, MONO_NONE);
out:
	free(l.min);
	return ret < 0 ? ret : 0;
}

/* A value of the core that may have been gone earlier, or MONO_NONE. */
static uint32_t find_late(const struct mono *m, uint32_t from)
{
	uint32_t i;
	size_t w;

	for (i = from; i < m->nvalues; i++) {
		const struct mono_value *v = &m->v[i];

		if (mono_gone(m, v) || v->hi < m->core.deadline || m->deadline[i] <= m->core.deadline ||
		    (v->remove != MONO_NONE && !mono_pending(m, v->remove)))
			continue;
		for (w = 0; w < m->core.n; w++)
			if (mono_word_of(m, i) == m->core.words[w])
				return i;
	}
	return MONO_NONE;
}

int mono_give_more(struct mono *m)
{
	uint32_t value = MONO_NONE, before;
	int ret;

	while ((value = find_late(m, value + 1)) != MONO_NONE) {
		before = m->deadline[value];
		m->deadline[value] = m->core.deadline;
		ret = give_all(m, value);
		if (ret)
			return ret;
		m->deadline[value] = before;
		ret = give_all(m, MONO_NONE);
		if (ret < 0)
			return ret;
	}
	return 0;
}
