// SPDX-License-Identifier: GPL-2.0
/*
 * Priority queues (section 9).  There is an order if and only if each operation
 * that sees a value has a gap in no critical interval of a value that goes first
 * (Corollary 9.3): nobody cares when values of less priority are added, and what
 * is seen is seen while no other is in its way.
 *
 * From the first priority down: gaps are taken away as intervals cover them.
 * A value is added as late as it can, before its first peek if that had to be
 * earlier, and removed as early: so no gap is inside its life that was not inside
 * its critical interval and is left for those that come after.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "check/loglinear/position_set.h"
#include "check/loglinear/positions.h"

#define AHEAD	8	/* values between one step of fetching them and the next, see fetch() */
#define FETCHED	4	/* peeks of a value that are */

struct pqueue {
	struct mono *m;
	struct mono_bits free;	/* gaps in no interval of a higher priority */
};

/* The values that cover all gaps of @w, where an operation of @value would be, and its own. */
static int blocked(struct pqueue *q, uint32_t value, struct mono_window w)
{
	struct mono *m = q->m;
	const uint64_t word = mono_word(m, value);
	uint32_t best, i;
	int ret;

	mono_core_start(m, w.to + 1);
	ret = mono_core_add(m, value);
	while (!ret && w.from <= w.to) {
		best = MONO_NONE;
		for (i = 0; i < m->nvalues; i++) {
			const struct mono_value *v = &m->v[i];
			const uint64_t other = mono_word(m, i);

			if (!mono_critical(v) || (m->c.max ? other <= word : other >= word) ||
			    v->lo > w.from || v->hi <= w.from)
				continue;
			if (best == MONO_NONE || v->hi > m->v[best].hi)
				best = i;
		}
		if (best == MONO_NONE)
			break;
		ret = mono_core_add(m, best);
		w.from = m->v[best].hi;
	}
	if (!ret && m->core.n == 2)
		mono_core_say(m, "%" PRIu64 " came out, or was first, while %" PRIu64 ", which goes "
			      "before it, was inside all the time", word,
			      m->words[m->core.words[1]]);
	else if (!ret)
		mono_core_say(m, "%" PRIu64 " came out, or was first, while one or another of %zu "
			      "values that go before it, as %" PRIu64 ", was inside", word,
			      m->core.n - 1, m->words[m->core.words[m->core.n > 1]]);
	return ret;
}

static void put(const struct mono *m, uint32_t item, uint32_t gap)
{
	if (m->ordered)
		m->places->at[item] = gap;
}

/* Give each operation of a value its gap.  1, 0 with a core, -ENOMEM. */
static int place(struct pqueue *q, uint32_t value)
{
	struct mono *m = q->m;
	const struct mono_value *v = &m->v[value];
	uint32_t in = v->add == MONO_NONE ? 0 : v->lo - 1, out = m->end - 1, first, i;

	if (v->remove != MONO_NONE) {
		out = mono_bits_next(&q->free, v->hi);
		if (out >= v->rret)
			return blocked(q, value, mono_remove_window(v));
		put(m, v->remove, out);
		/* All at one time. */
		if (out < in)
			in = out;
	}
	first = in;
	for (i = 0; i < v->peeks; i++) {
		const uint32_t peek = mono_peeks(m, value)[i];
		const struct mono_window w = mono_peek_window(m, v, peek);
		const uint32_t from = w.from > in ? w.from : in;
		uint32_t gap = mono_bits_next(&q->free, from);

		if (gap > w.to || gap > out)
			gap = mono_bits_prev(&q->free, from);
		if (gap == MONO_NONE || gap < w.from || gap > w.to)
			return blocked(q, value, w);
		put(m, peek, gap);
		first = gap < first ? gap : first;
	}
	if (v->add != MONO_NONE)
		put(m, v->add, first);
	return 1;
}

/* Peeks of a value that are fetched, one after the other. */
static uint32_t few_peeks(const struct mono *m, uint64_t turn)
{
	const uint32_t peeks = m->v[(uint32_t)turn].peeks;

	return peeks < FETCHED ? peeks : FETCHED;
}

/*
 * What the values behind @i need lies anywhere, and where tells what lies anywhere, too: of
 * the next AHEAD ones all is there but the times of their peeks, of those behind them where
 * these are, and so on.  Not inlined, this would be taken for nothing.
 */
static inline __attribute__((always_inline))
void fetch(const struct mono *m, const uint64_t *turn, uint32_t i, uint32_t n)
{
	const struct mono_peek_times *t = &m->peek_times;
	uint32_t k;

	if (i + 4 * AHEAD >= n)
		return;
	turn += i;
	__builtin_prefetch(&m->v[(uint32_t)turn[4 * AHEAD]]);
	if (!m->npeeks)
		return;
	__builtin_prefetch(&m->first_peek[(uint32_t)turn[4 * AHEAD]]);
	if (few_peeks(m, turn[3 * AHEAD]))
		__builtin_prefetch(mono_peeks(m, (uint32_t)turn[3 * AHEAD]));
	for (k = few_peeks(m, turn[2 * AHEAD]); k--; )
		__builtin_prefetch(&t->nth[mono_peeks(m, (uint32_t)turn[2 * AHEAD])[k]]);
	for (k = few_peeks(m, turn[AHEAD]); k--; ) {
		const uint32_t peek = mono_peeks(m, (uint32_t)turn[AHEAD])[k];

		__builtin_prefetch(mono_peek_time(t, peek, false));
		__builtin_prefetch(mono_peek_time(t, peek, true));
	}
}

static int decide_sorted(struct pqueue *q, const uint64_t *turn, uint32_t n)
{
	struct mono *m = q->m;
	uint32_t i, j, same;
	int ret = 1;

	for (i = 0; i < n && ret > 0; i = same) {
		/* Equal words are not in each other's way. */
		for (same = i; same < n && mono_one_turn(m, turn[same], turn[i]) && ret > 0; same++) {
			fetch(m, turn, same, n);
			if (m->ordered)
				m->places->rank[(uint32_t)turn[same]] = n - 1 - same;
			ret = place(q, turn[same]);
		}
		for (j = i; j < same; j++) {
			const struct mono_value *v = &m->v[(uint32_t)turn[j]];

			if (mono_critical(v))
				mono_bits_clear(&q->free, v->lo, v->hi - 1);
		}
	}
	return ret;
}

static int pqueue_decide(struct mono *m)
{
	struct pqueue q = { .m = m };
	uint32_t n;
	/* Before all else that needs room. */
	uint64_t *turn = mono_turns(m, false, &n);
	int ret = turn ? mono_places_init(m) ?: mono_list_peeks(m) : -ENOMEM;

	if (!ret)
		ret = mono_bits_init(&q.free, m->end, true);
	if (!ret)
		ret = decide_sorted(&q, turn, n);
	mono_bits_free(&q.free);
	free(turn);
	return ret;
}

const struct mono_type mono_pqueue = { .decide = pqueue_decide, .order = mono_places_order };
