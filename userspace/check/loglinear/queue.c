// SPDX-License-Identifier: GPL-2.0
/*
 * Queues.  Values v, w are in order by their additions, v -> w, if v.lo < w.call
 * (v was in before w was added), and by what saw them if v.oret < w.hi (v was seen
 * at the front, or removed, before w was for the last time).
 *
 * First the second order.  A value with oret < hi was at the front all that time:
 * no two such times may overlap, and no other value can be seen only within one.
 * One that could be seen before and in such a time is seen before: its oret is
 * clipped to where that time begins.  Now v -> w -> x implies v -> x, as no oret is
 * between w.oret and w.hi, and so it is with additions.
 *
 * There is an order if and only if then no two values are in both orders, one
 * each way: if v -> w and x -> y, then v -> y or x -> w by the same order, so a
 * shortest cycle does not have four steps.  Without cycles, let the values enter
 * and be seen one after the other in an order that respects both, each operation
 * at the earliest time, the latest call so far: an addition is in time by the
 * first order, the others by the second, and one that waits for the addition of
 * some x in front also by the first: had it returned before x was called, lo
 * would be before that call.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "base/sort.h"
#include "check/loglinear/position_set.h"
#include "check/loglinear/loglinear.h"
#include "check/loglinear/return_queue.h"

#define TOGETHER	128	/* of m->ins that are looked at together */
#define WARM		64	/* places behind which those that wait are moved down */
#define WARM_SIGHTS	1024
#define MOVES		16	/* of those that wait, for each value, and some, before they are sorted */
#define FIRST_MOVES	1024

/* Clipped, if there are peeks. */
static inline uint32_t first_sight(const struct mono *m, uint32_t value)
{
	return m->first_sight ? m->first_sight[value] : m->v[value].oret;
}

/* The value that was at the front at @time for certain joins the core. */
static int add_front(struct mono *m, uint32_t time)
{
	uint32_t i;

	for (i = 0; i < m->nvalues; i++)
		if (m->v[i].oret < time && time < m->v[i].hi)
			return mono_core_add(m, i);
	return 0;
}

/* @w is seen while the value that came to the front at @begins is there. */
static int overlap(struct mono *m, uint32_t begins, uint32_t w)
{
	uint32_t v = 0;
	int ret;

	while (m->v[v].oret != begins)
		v++;
	mono_core_start(m, m->v[w].oret);
	mono_core_say(m, "%" PRIu64 " was at the front while %" PRIu64 " was", mono_word(m, w),
		      mono_word(m, v));
	ret = mono_core_add(m, v);
	return ret ? ret : mono_core_add(m, w);
}

/* Times at the front for certain, by when they began: @hi is when each was over. */
struct fronts {
	struct mono_bits begins;
	uint32_t *rank;		/* of each word of bits how many began before */
	uint32_t *hi;
};

static inline uint32_t rank_of(const struct fronts *f, uint32_t begins)
{
	const uint64_t before = f->begins.word[0][begins / 64] & ((1ull << begins % 64) - 1);

	return f->rank[begins / 64] + __builtin_popcountll(before);
}

static int find_fronts(const struct mono *m, struct fronts *f)
{
	const uint32_t words = m->end / 64 + 1;
	uint32_t i, n = 0;

	if (mono_bits_init(&f->begins, m->end + 1, false))
		return -ENOMEM;
	f->rank = malloc(words * sizeof(*f->rank));
	f->hi = malloc(((size_t)m->nvalues + 1) * sizeof(*f->hi));
	if (!f->rank || !f->hi)
		return -ENOMEM;
	for (i = 0; i < m->nvalues; i++)
		if (m->v[i].oret < m->v[i].hi)
			mono_bits_set(&f->begins, m->v[i].oret);
	for (i = 0; i < words; i++) {
		f->rank[i] = n;
		n += __builtin_popcountll(f->begins.word[0][i]);
	}
	for (i = 0; i < m->nvalues; i++)
		if (m->v[i].oret < m->v[i].hi)
			f->hi[rank_of(f, m->v[i].oret)] = m->v[i].hi;
	return 0;
}

/* What is seen while another is at the front; 1, or 0 with a core. */
static int clip_all(struct mono *m, const struct fronts *f)
{
	uint32_t i, begins;

	for (i = 0; i < m->nvalues; i++) {
		const struct mono_value *v = &m->v[i];

		m->first_sight[i] = v->oret;
		/* Not seen, or by what never returned. */
		if (v->oret >= m->end - 1)
			continue;
		begins = mono_bits_prev(&f->begins, v->oret - (v->oret < v->hi));
		if (begins == MONO_NONE || f->hi[rank_of(f, begins)] < v->oret)
			continue;
		if (begins < v->hi)
			return overlap(m, begins, i);
		m->first_sight[i] = begins;
	}
	return 1;
}

static int clip(struct mono *m)
{
	struct fronts f = { 0 };
	int ret;

	free(m->first_sight);
	m->first_sight = kl_big_alloc(((size_t)m->nvalues + 1) * sizeof(*m->first_sight));
	ret = m->first_sight ? find_fronts(m, &f) : -ENOMEM;
	if (!ret)
		ret = clip_all(m, &f);
	mono_bits_free(&f.begins);
	free(f.rank);
	free(f.hi);
	return ret;
}

static int pair(struct mono *m, uint32_t v, uint32_t w)
{
	int ret;

	mono_core_start(m, m->v[w].oret);
	mono_core_say(m, "%" PRIu64 " was %s before %" PRIu64 "%s, although it was enqueued after it",
		      mono_word(m, w), m->v[w].oret == m->v[w].rret ? "dequeued" : "at the front",
		      mono_word(m, v), m->v[v].remove == MONO_NONE || m->v[v].peeks ?
		      " was gone" : "");
	ret = mono_core_add(m, v) ?: mono_core_add(m, w);
	if (!ret && m->npeeks)
		ret = add_front(m, m->v[w].oret) ?: add_front(m, m->v[v].hi);
	return ret;
}

/* The first value that was certainly in before the addition at @at, and seen last at @hi. */
static uint32_t seen_at(const struct mono *m, uint32_t at, uint32_t hi)
{
	uint32_t i;

	for (i = 0; i < m->nvalues; i++)
		if (m->v[i].lo == MONO_START && m->v[i].hi == hi)
			return i;
	for (i = 0; i < at; i++)
		if (m->ins[i] & 1 && m->v[m->ins[i] >> 1].hi == hi)
			return m->ins[i] >> 1;
	return MONO_NONE;
}

/*
 * For each addition the last sight of the values that were certainly in before it
 * against its own first.  Which comes next is chance, so there are no branches.
 */
static int compare(struct mono *m)
{
	uint32_t most = 0, i;

	for (i = 0; m->nfirst && i < m->nvalues; i++)
		if (m->v[i].lo == MONO_START && m->v[i].hi > most)
			most = m->v[i].hi;
	for (i = 0; i < m->nins; i++) {
		const uint32_t value = m->ins[i] >> 1, lo = -(m->ins[i] & 1);
		const uint32_t hi = m->v[value].hi & lo;

		if ((first_sight(m, value) | lo) < most)
			return pair(m, seen_at(m, i, most), value);
		most = hi > most ? hi : most;
	}
	return 1;
}

static int queue_decide(struct mono *m)
{
	const int ret = m->npeeks ? clip(m) : 1;

	return ret > 0 ? compare(m) : ret;
}

/*
 * Making the order: values by rank, the end of what they may be seen first; but none
 * before one that was certainly in before it was added: so at least by the highest rank
 * of those, and of one rank by when they were added.  That keeps both orders: let u be in
 * before v is added, and v be seen before w, so v.oret < w.hi.  As v is not seen before u
 * either, u.hi <= v.oret < w.hi; and as w is not seen before u, u.hi <= w.oret: so u has
 * no higher rank than w.  What is clipped has no hi behind that, so it makes no difference.
 */
struct next {
	struct mono *m;
	/* To be placed, see return_queue.h: by rank. */
	uint64_t *wait;
	uint32_t *value;
	size_t head, tail;
	uint64_t moves;
	uint32_t most;		/* what is to come has no lower rank */
	uint32_t ins;		/* of these so many were looked at */
	uint32_t cut;		/* empty there: all before has to be placed first */
	/* Of what sees: times and items, in order, that wait for additions of these times. */
	uint64_t *see;
	size_t see_head, see_tail;
	uint32_t add_time, see_time;
	struct kl_step *order;
	uint32_t norder;
};

static inline uint32_t rank(const struct mono_value *v)
{
	return v->hi < v->oret ? v->hi : v->oret;
}

static inline uint32_t later(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Those before @time take their places in the order, which has room for some more behind it. */
static inline __attribute__((always_inline)) void put_sights(struct next *n, uint64_t time)
{
	uint32_t i, now;

	do {
		now = open_before(n->see + n->see_head, time << 32);
		for (i = 0; i < OPEN_NEAR; i++)
			n->order[n->norder + i] =
				(struct kl_step){ .item = n->see[n->see_head + i] };
		n->norder += now;
		n->see_head += now;
	} while (now == OPEN_NEAR);
}

static inline __attribute__((always_inline)) void see(struct next *n, uint32_t item, uint32_t call)
{
	n->see_time = later(n->see_time, call);
	n->see[n->see_tail] = (uint64_t)n->see_time << 32 | item;
	n->see[n->see_tail++ + OPEN_NEAR] = UINT64_MAX;
}

/* Down to where it is warm, if that are few. */
static void move_sights(struct next *n)
{
	const size_t left = n->see_tail - n->see_head;

	if (n->see_head < left + WARM_SIGHTS)
		return;
	memmove(n->see, n->see + n->see_head, (left + OPEN_NEAR) * sizeof(*n->see));
	n->see_head = 0;
	n->see_tail = left;
}

/* Of one time additions first: what is seen is added before. */
static inline __attribute__((always_inline)) void add(struct next *n, uint32_t item, uint32_t call)
{
	n->add_time = later(n->add_time, call);
	put_sights(n, n->add_time);
	n->order[n->norder++] = (struct kl_step){ .item = item };
}

/* Empty before @hi: what is added later is behind, too. */
static inline __attribute__((always_inline)) void place_cuts(struct next *n, uint32_t hi)
{
	const struct mono *m = n->m;

	for (; n->cut < m->ncuts && m->cut[n->cut].gap < hi; n->cut++) {
		see(n, m->cut[n->cut].item, m->cut[n->cut].gap);
		n->add_time = later(n->add_time, m->cut[n->cut].gap + 1);
	}
}

static inline __attribute__((always_inline)) void place(struct next *n, uint32_t value)
{
	const struct mono *m = n->m;
	const struct mono_value *v = &m->v[value];
	const uint32_t *const peek = v->peeks ? mono_peeks(m, value) : NULL;
	uint32_t i;

	place_cuts(n, v->hi);
	if (v->add != MONO_NONE)
		add(n, v->add, v->call);
	n->see_time = later(n->see_time, n->add_time);
	for (i = 0; i < v->peeks; i++)
		see(n, peek[i], mono_call(m, peek[i]));
	/* Of others than peeks it is called last, or its addition is. */
	if (v->remove != MONO_NONE)
		see(n, v->remove, v->peeks ? mono_call(m, v->remove) : v->hi);
}

/* Those that were in from the start are before all that was added. */
static void wait_first(struct next *n)
{
	const struct mono *m = n->m;
	uint32_t i;

	for (i = 0; m->nfirst && i < m->nvalues; i++) {
		if (m->v[i].add != MONO_NONE || mono_gone(m, &m->v[i]))
			continue;
		n->tail = open_add(n->wait, n->value, n->tail, rank(&m->v[i]), i, &n->moves);
		n->most = later(n->most, rank(&m->v[i]));
	}
}

/*
 * The next of m->ins.  Which it is, is chance: so what is only seen waits as what will never
 * be placed, and is written over.
 */
static inline __attribute__((always_inline)) uint64_t next_rank(struct next *n, uint32_t *value)
{
	const uint32_t in = n->m->ins[n->ins++], lo = in & 1;
	const struct mono_value *v = &n->m->v[in >> 1];
	const uint64_t never = -(uint64_t)(lo | mono_gone(n->m, v));
	const uint32_t most = n->most;

	*value = in >> 1;
	n->most = later(most, rank(v) & -lo);
	return later(most, rank(v)) | never;
}

/* As far as @end. */
KL_NOT_VECTORIZED
static void place_some(struct next *next, uint32_t end)
{
	struct next n = *next;	/* for the registers */
	uint32_t value;

	while (n.ins < end) {
		const uint64_t of = next_rank(&n, &value);

		n.tail = open_add(n.wait, n.value, n.tail, of, value, &n.moves);
		n.tail -= of == UINT64_MAX;
	}
	while (n.head < n.tail && n.wait[n.head] <= n.most)
		place(&n, n.value[n.head++]);
	*next = n;
}

/* Too many moves. */
static int place_sorted(struct next *n)
{
	const size_t most = n->tail - n->head + n->m->nins - n->ins;
	struct kl_key *k = kl_big_alloc(2 * (most + 1) * sizeof(*k));
	uint32_t value;
	size_t nk = 0, i;

	if (!k)
		return -ENOMEM;
	for (; n->head < n->tail; n->head++)
		k[nk++] = (struct kl_key){ .key = n->wait[n->head], .val = n->value[n->head] };
	while (n->ins < n->m->nins) {
		const uint64_t of = next_rank(n, &value);

		if (of != UINT64_MAX)
			k[nk++] = (struct kl_key){ .key = of, .val = value };
	}
	kl_sort_keys(k, nk, k + nk);
	for (i = 0; i < nk; i++)
		place(n, k[i].val);
	free(k);
	return 0;
}

/* Down to where it is warm. */
static void move_down(struct next *n)
{
	const size_t left = n->tail - n->head;

	if (n->head > left + WARM) {
		memmove(n->wait + OPEN_NEAR, n->wait + n->head, left * sizeof(*n->wait));
		memmove(n->value + OPEN_NEAR, n->value + n->head, left * sizeof(*n->value));
		n->head = OPEN_NEAR;
		n->tail = OPEN_NEAR + left;
	}
	move_sights(n);
}

static int place_all(struct next *n)
{
	const uint32_t nins = n->m->nins;
	const uint64_t most = MOVES * (uint64_t)n->m->nvalues + FIRST_MOVES;
	int ret = 0;

	wait_first(n);
	while (n->ins < nins && n->moves <= most) {
		place_some(n, nins - n->ins < TOGETHER ? nins : n->ins + TOGETHER);
		move_down(n);
	}
	if (n->moves > most)
		ret = place_sorted(n);
	while (n->head < n->tail)
		place(n, n->value[n->head++]);
	place_cuts(n, UINT32_MAX);
	return ret;
}

static int queue_order(struct mono *m)
{
	const size_t most = (size_t)m->nvalues + 1 + 2 * OPEN_NEAR;
	struct next n = { .m = m, .head = OPEN_NEAR, .tail = OPEN_NEAR, .order = m->order };
	size_t i;
	int ret = mono_list_peeks(m);

	n.wait = malloc(most * sizeof(*n.wait));
	n.value = malloc(most * sizeof(*n.value));
	n.see = kl_big_alloc(((size_t)m->nitems + OPEN_NEAR) * sizeof(*n.see));
	if (!ret && m->npeeks)
		ret = m->call ? 0 : mono_times(m);
	if (ret || !n.wait || !n.value || !n.see) {
		ret = -ENOMEM;
		goto out;
	}
	memset(n.wait, 0, OPEN_NEAR * sizeof(*n.wait));
	for (i = 0; i < OPEN_NEAR; i++)
		n.see[i] = UINT64_MAX;
	ret = place_all(&n);
	put_sights(&n, UINT32_MAX);
	m->norder = n.norder;
out:
	free(n.wait);
	free(n.value);
	free(n.see);
	return ret;
}

const struct mono_type mono_queue = { .decide = queue_decide, .order = queue_order };
