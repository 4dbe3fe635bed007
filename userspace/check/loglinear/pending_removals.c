// SPDX-License-Identifier: GPL-2.0
/*
 * Pending removals.  A value v without a known removal may have a deadline: a time by which it must
 * have been removed.  Only a pending removal that was called before can have removed it.  Deadlines
 * by container, where w is another value:
 *
 * - queue: the first return of an operation that saw w (w.first_seen_ret), if w certainly entered
 *   after v (v.first_ret < w.call)
 * - stack: the return of w's pop (w.remove_ret), if w is certainly below v
 *   (w.first_ret <= v.call, v.first_ret <= w.last_call)
 * - priority queue: the return of w's removal (w.remove_ret), if w has lower priority and is
 *   removed when v is certainly inside (w.last_call >= v.first_ret)
 * - all: the return of an operation that found the container empty, if it was called when v was
 *   inside
 *
 * The value with the earliest deadline gets the pending removal that was called first, and so on.
 * So each value gets one if that is possible.  Values together may need earlier deadlines.  When
 * a monitor finds a core for this reason, a value of the core gets the core's deadline, and all
 * removals are given again.  That is only a good guess: an order that results is an order of the
 * history, and confirm() decides about a violation.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "check/loglinear/loglinear.h"

/* A Fenwick tree of @n times, for the minimum of all entries from an index on. */
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

/* Return: true if the value has operations, but no removal. */
static bool is_left(const struct loglinear *m, uint32_t value)
{
	const struct ll_value *v = &m->v[value];

	return v->remove == LL_NONE && !ll_gone(m, v);
}

/* Go from the last addition back, with the first first_seen_ret of all values added later. */
static void queue_deadlines(const struct loglinear *m, uint32_t *deadline)
{
	uint32_t least = UINT32_MAX, i = m->nins, k;

	while (i--) {
		const uint32_t value = m->ins[i] >> 1;
		const struct ll_value *v = &m->v[value];

		if (m->ins[i] == ll_in(value, false))
			least = v->first_seen_ret < least ? v->first_seen_ret : least;
		else if (v->first_ret != LL_START && is_left(m, value))
			deadline[value] = least;
	}
	for (k = 0; k < m->nvalues; k++)
		if (m->v[k].first_ret == LL_START && is_left(m, k))
			deadline[k] = least;
}

/* Go through the additions by call; @l has the removed values that were inside by that call. */
static void stack_deadlines(const struct loglinear *m, uint32_t *deadline, struct least *l)
{
	uint32_t i;

	for (i = 0; i < m->nvalues; i++)
		if (m->v[i].first_ret == LL_START && m->v[i].remove != LL_NONE)
			least_put(l, m->v[i].last_call, m->v[i].remove_ret);
	for (i = 0; i < m->nins; i++) {
		const uint32_t value = m->ins[i] >> 1;
		const struct ll_value *v = &m->v[value];

		if (m->ins[i] == ll_in(value, false)) {
			if (is_left(m, value))
				deadline[value] = least_from(l, v->first_ret);
		} else if (v->remove != LL_NONE) {
			least_put(l, v->last_call, v->remove_ret);
		}
	}
}

/* Go from the lowest priority up; @l has the removed values of lower priority. */
static int pqueue_deadlines(const struct loglinear *m, uint32_t *deadline, struct least *l)
{
	uint32_t i, j, same, n;
	uint64_t *turn = ll_turns(m, true, &n);

	if (!turn)
		return -ENOMEM;
	for (i = 0; i < n; i = same) {
		for (same = i; same < n && ll_one_turn(m, turn[same], turn[i]); same++) {
			const uint32_t value = turn[same];

			if (is_left(m, value))
				deadline[value] = least_from(l, m->v[value].first_ret);
		}
		for (j = i; j < same; j++) {
			const struct ll_value *v = &m->v[(uint32_t)turn[j]];

			if (v->remove != LL_NONE)
				least_put(l, v->last_call, v->remove_ret);
		}
	}
	free(turn);
	return 0;
}

/*
 * Find, for each value, the first operation called after first_ret that found the container empty.
 * The calls of m->cut are in order.
 */
static void empty_deadlines(const struct loglinear *m, uint32_t *deadline)
{
	uint32_t i, low, high, mid;

	for (i = 0; i < m->nvalues && m->ncuts; i++) {
		if (!is_left(m, i))
			continue;
		for (low = 0, high = m->ncuts; low < high; ) {
			mid = low + (high - low) / 2;
			if (m->cut[mid].call < m->v[i].first_ret)
				low = mid + 1;
			else
				high = mid;
		}
		if (low < m->ncuts && m->cut[low].ret < deadline[i])
			deadline[i] = m->cut[low].ret;
	}
}

/*
 * Assign all pending removals again, by m->deadline.  Return: 1 if the value @want got one or is
 * LL_NONE, 0 if not, -ENOMEM.
 */
static int give_all(struct loglinear *m, uint32_t want)
{
	struct kl_key *k = malloc(2 * ((size_t)m->nvalues + 1) * sizeof(*k));
	uint32_t i, n = 0, next = 0;
	bool has = want == LL_NONE;

	if (!k)
		return -ENOMEM;
	for (i = 0; i < m->nwild; i++)
		m->op[m->wild[i]] = ll_op(LL_UNKNOWN, 0);
	for (i = 0; i < m->nvalues; i++)
		if (m->deadline[i] < m->end - 1)
			k[n++] = (struct kl_key){ .key = m->deadline[i], .val = i };
	kl_sort_keys(k, n, k + n);
	for (i = 0; i < n && next < m->nwild; i++) {
		if (ll_call(m, m->wild[next]) >= k[i].key)
			continue;
		m->op[m->wild[next++]] = ll_op(LL_REMOVE, k[i].val);
		has |= k[i].val == want;
	}
	free(k);
	ll_gather(m);
	return has;
}

int ll_give_unknown(struct loglinear *m)
{
	struct least l = { .n = m->end + 1 };
	int ret = -ENOMEM;

	m->deadline = malloc(((size_t)m->nvalues + 1) * sizeof(*m->deadline));
	l.min = malloc(((size_t)l.n + 2) * sizeof(*l.min));
	if (!m->deadline || !l.min || ll_times(m) || ll_events(m) ||
	    (m->c.kind == KL_CONTAINER_STACK && ll_list_ins(m)))
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
		ret = give_all(m, LL_NONE);
out:
	free(l.min);
	return ret < 0 ? ret : 0;
}

/*
 * Return: the first value of the core, from @from on, that could be removed by the core's deadline
 * but is not; or LL_NONE.
 */
static uint32_t find_late(const struct loglinear *m, uint32_t from)
{
	uint32_t i;
	size_t w;

	for (i = from; i < m->nvalues; i++) {
		const struct ll_value *v = &m->v[i];

		if (ll_gone(m, v) || v->last_call < m->core.deadline ||
		    m->deadline[i] <= m->core.deadline ||
		    (v->remove != LL_NONE && !ll_pending(m, v->remove)))
			continue;
		for (w = 0; w < m->core.n; w++)
			if (ll_word_of(m, i) == m->core.words[w])
				return i;
	}
	return LL_NONE;
}

int ll_give_more(struct loglinear *m)
{
	uint32_t value = LL_NONE, before;
	int ret;

	while ((value = find_late(m, value + 1)) != LL_NONE) {
		before = m->deadline[value];
		m->deadline[value] = m->core.deadline;
		ret = give_all(m, value);
		if (ret)
			return ret;
		m->deadline[value] = before;
		ret = give_all(m, LL_NONE);
		if (ret < 0)
			return ret;
	}
	return 0;
}
