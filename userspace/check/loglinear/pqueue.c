// SPDX-License-Identifier: GPL-2.0
/*
 * Priority queues (section 9).  There is an order if and only if each removal and peek of a value
 * has a slot in no critical interval of a value with higher priority (Corollary 9.3).  Values with
 * lower priority do not matter.
 *
 * Values are processed from the highest priority down, and slots disappear as intervals cover them.
 * A value is added as late as possible, but before its first peek, and removed as early as
 * possible.  So its life covers no slots but those of its critical interval, and the other slots
 * are left for lower priorities.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "check/loglinear/position_set.h"
#include "check/loglinear/positions.h"

#define AHEAD	8	/* values between two steps of prefetching, see fetch() */
#define FETCHED	4	/* peeks of a value that are prefetched */

struct pqueue {
	struct loglinear *m;
	struct position_set free;	/* slots in no critical interval of a higher priority */
};

/*
 * Make a core: @value, and values of higher priority that together cover all slots @w of an
 * operation on it.  Return: 0, or -ENOMEM.
 */
static int blocked(struct pqueue *q, uint32_t value, struct ll_window w)
{
	struct loglinear *m = q->m;
	const uint64_t word = ll_word(m, value);
	uint32_t best, i;
	int ret;

	ll_core_start(m, w.to + 1);
	ret = ll_core_add(m, value);
	while (!ret && w.from <= w.to) {
		best = LL_NONE;
		for (i = 0; i < m->nvalues; i++) {
			const struct ll_value *v = &m->v[i];
			const uint64_t other = ll_word(m, i);

			if (!ll_critical(v) || (m->c.max ? other <= word : other >= word) ||
			    v->first_ret > w.from || v->last_call <= w.from)
				continue;
			if (best == LL_NONE || v->last_call > m->v[best].last_call)
				best = i;
		}
		if (best == LL_NONE)
			break;
		ret = ll_core_add(m, best);
		w.from = m->v[best].last_call;
	}
	if (!ret && m->core.n == 2)
		ll_core_say(m,
			    "%" PRIu64 " was removed, or was first, while %" PRIu64
			    ", which has priority, was inside all the time",
			    word, m->words[m->core.words[1]]);
	else if (!ret)
		ll_core_say(m,
			    "%" PRIu64 " was removed, or was first, but at each time one of %zu "
				       "values with priority, such as %" PRIu64 ", was inside",
			    word, m->core.n - 1, m->words[m->core.words[m->core.n > 1]]);
	return ret;
}

static void put(const struct loglinear *m, uint32_t item, uint32_t gap)
{
	if (m->ordered)
		m->places->at[item] = gap;
}

/* Give each operation of a value a slot.  Return: 1, 0 with a core, -ENOMEM. */
static int place(struct pqueue *q, uint32_t value)
{
	struct loglinear *m = q->m;
	const struct ll_value *v = &m->v[value];
	uint32_t in = v->add == LL_NONE ? 0 : v->first_ret - 1, out = m->end - 1, first, i;

	if (v->remove != LL_NONE) {
		out = position_set_next(&q->free, v->last_call);
		if (out >= v->remove_ret)
			return blocked(q, value, ll_remove_window(v));
		put(m, v->remove, out);
		/* All operations take effect in the same slot. */
		if (out < in)
			in = out;
	}
	first = in;
	for (i = 0; i < v->peeks; i++) {
		const uint32_t peek = ll_peeks(m, value)[i];
		const struct ll_window w = ll_peek_window(m, v, peek);
		const uint32_t from = w.from > in ? w.from : in;
		uint32_t gap = position_set_next(&q->free, from);

		if (gap > w.to || gap > out)
			gap = position_set_prev(&q->free, from);
		if (gap == LL_NONE || gap < w.from || gap > w.to)
			return blocked(q, value, w);
		put(m, peek, gap);
		first = gap < first ? gap : first;
	}
	if (v->add != LL_NONE)
		put(m, v->add, first);
	return 1;
}

/* Return: how many peeks of the value of @turn are prefetched. */
static uint32_t few_peeks(const struct loglinear *m, uint64_t turn)
{
	const uint32_t peeks = m->v[(uint32_t)turn].peeks;

	return peeks < FETCHED ? peeks : FETCHED;
}

/*
 * Prefetch what the values after @i need, which is scattered in memory and found by pointers that
 * are scattered, too.  So the value 4 * AHEAD later gets its first step, the value 3 * AHEAD later
 * its second, and so on.  Without inlining, the compiler would drop the prefetches.
 */
static inline __attribute__((always_inline)) void
fetch(const struct loglinear *m, const uint64_t *turn, uint32_t i, uint32_t n)
{
	const struct ll_peek_times *t = &m->peek_times;
	uint32_t k;

	if (i + 4 * AHEAD >= n)
		return;
	turn += i;
	__builtin_prefetch(&m->v[(uint32_t)turn[4 * AHEAD]]);
	if (!m->npeeks)
		return;
	__builtin_prefetch(&m->first_peek[(uint32_t)turn[4 * AHEAD]]);
	if (few_peeks(m, turn[3 * AHEAD]))
		__builtin_prefetch(ll_peeks(m, (uint32_t)turn[3 * AHEAD]));
	for (k = few_peeks(m, turn[2 * AHEAD]); k--; )
		__builtin_prefetch(&t->nth[ll_peeks(m, (uint32_t)turn[2 * AHEAD])[k]]);
	for (k = few_peeks(m, turn[AHEAD]); k--; ) {
		const uint32_t peek = ll_peeks(m, (uint32_t)turn[AHEAD])[k];

		__builtin_prefetch(ll_peek_time(t, peek, false));
		__builtin_prefetch(ll_peek_time(t, peek, true));
	}
}

static int decide_sorted(struct pqueue *q, const uint64_t *turn, uint32_t n)
{
	struct loglinear *m = q->m;
	uint32_t i, j, same;
	int ret = 1;

	for (i = 0; i < n && ret > 0; i = same) {
		/* Equal words have equal priority, and do not block each other. */
		for (same = i; same < n && ll_one_turn(m, turn[same], turn[i]) && ret > 0; same++) {
			fetch(m, turn, same, n);
			if (m->ordered)
				m->places->rank[(uint32_t)turn[same]] = n - 1 - same;
			ret = place(q, turn[same]);
		}
		for (j = i; j < same; j++) {
			const struct ll_value *v = &m->v[(uint32_t)turn[j]];

			if (ll_critical(v))
				position_set_clear(&q->free, v->first_ret, v->last_call - 1);
		}
	}
	return ret;
}

static int pqueue_decide(struct loglinear *m)
{
	struct pqueue q = { .m = m };
	uint32_t n;
	/* Sorting needs much memory, so it comes before other allocations. */
	uint64_t *turn = ll_turns(m, false, &n);
	int ret = turn ? ll_positions_init(m) ?: ll_list_peeks(m) : -ENOMEM;

	if (!ret)
		ret = position_set_init(&q.free, m->end, true);
	if (!ret)
		ret = decide_sorted(&q, turn, n);
	position_set_free(&q.free);
	free(turn);
	return ret;
}

static const struct ll_type ll_pqueue = {
	.kind = KL_CONTAINER_PQUEUE,
	.phases = true,
	.decide = pqueue_decide,
	.order = ll_positions_order,
};
LL_MONITOR(ll_pqueue);
