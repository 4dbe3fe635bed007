// SPDX-License-Identifier: GPL-2.0
/*
 * Queues.  Two relations order the values v and w:
 *
 *	added	v.first_ret < w.call: v was inside before w was added
 *	seen	v.first_seen_ret < w.last_call: v was seen at the front, or removed, before the
 *		last operation that saw w
 *
 * First the relation `seen'.  A value with first_seen_ret < last_call is at the front between these
 * times.  No two such periods may overlap, and no other value may be seen only within one.  If
 * a value can be seen before a period as well as in it, it is seen before: its first_seen_ret is
 * clipped to the begin of the period.  Then no first_seen_ret is inside a period, and `seen' is
 * transitive.  So is `added'.
 *
 * There is an order if and only if no two values are related both ways, v -> w by one relation and
 * w -> v by the other.  Longer cycles need not be looked for: if v -> w and x -> y by one relation,
 * then v -> y or x -> w by the same, so a shortest cycle does not have four steps.
 *
 * Without cycles, let the values enter, and be seen, in an order that respects both relations.
 * Each operation takes effect at the latest call so far, the earliest possible time.  Additions are
 * in time by `added', other operations by `seen'.  An operation on v may also wait for the addition
 * of a value x in front of v.  It is in time by `added': if it had returned before x was called,
 * v.first_ret < x.call, and v would be in front.
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

#define TOGETHER	128	/* entries of m->ins that are processed together */
/* unused entries at an array's begin after which waiting values are moved there */
#define WARM		64
#define WARM_SIGHTS	1024	/* the same for waiting removals and peeks */
/* moves of waiting values after which all values are sorted instead: for each value, */
#define MOVES		16
#define FIRST_MOVES	1024	/* and besides */

/* Return: first_seen_ret of the value, clipped by the periods of others if there are peeks. */
static inline uint32_t first_sight(const struct loglinear *m, uint32_t value)
{
	return m->first_sight ? m->first_sight[value] : m->v[value].first_seen_ret;
}

/* Add the value that was certainly at the front at @time to the core. */
static int add_front(struct loglinear *m, uint32_t time)
{
	uint32_t i;

	for (i = 0; i < m->nvalues; i++)
		if (m->v[i].first_seen_ret < time && time < m->v[i].last_call)
			return ll_core_add(m, i);
	return 0;
}

/* Make a core: @w is seen while the value whose period begins at @begins is at the front. */
static int overlap(struct loglinear *m, uint32_t begins, uint32_t w)
{
	uint32_t v = 0;
	int ret;

	while (m->v[v].first_seen_ret != begins)
		v++;
	ll_core_start(m, m->v[w].first_seen_ret);
	ll_core_say(m, "%" PRIu64 " was at the front while %" PRIu64 " was", ll_word(m, w),
		    ll_word(m, v));
	ret = ll_core_add(m, v);
	return ret ? ret : ll_core_add(m, w);
}

/* Periods in which a value is certainly at the front, by their begins, and their ends. */
struct fronts {
	struct position_set begins;
	uint32_t *rank;		/* number of periods that begin before each word of @begins */
	uint32_t *ends;		/* end of each period, in order of begins */
};

static inline uint32_t rank_of(const struct fronts *f, uint32_t begins)
{
	const uint64_t before = f->begins.word[0][begins / 64] & ((1ull << begins % 64) - 1);

	return f->rank[begins / 64] + __builtin_popcountll(before);
}

static int find_fronts(const struct loglinear *m, struct fronts *f)
{
	const uint32_t words = m->end / 64 + 1;
	uint32_t i, n = 0;

	if (position_set_init(&f->begins, m->end + 1, false))
		return -ENOMEM;
	f->rank = malloc(words * sizeof(*f->rank));
	f->ends = malloc(((size_t)m->nvalues + 1) * sizeof(*f->ends));
	if (!f->rank || !f->ends)
		return -ENOMEM;
	for (i = 0; i < m->nvalues; i++)
		if (m->v[i].first_seen_ret < m->v[i].last_call)
			position_set_set(&f->begins, m->v[i].first_seen_ret);
	for (i = 0; i < words; i++) {
		f->rank[i] = n;
		n += __builtin_popcountll(f->begins.word[0][i]);
	}
	for (i = 0; i < m->nvalues; i++)
		if (m->v[i].first_seen_ret < m->v[i].last_call)
			f->ends[rank_of(f, m->v[i].first_seen_ret)] = m->v[i].last_call;
	return 0;
}

/* Clip all values by the periods of others.  Return: 1, or 0 with a core. */
static int clip_all(struct loglinear *m, const struct fronts *f)
{
	uint32_t i, begins;

	for (i = 0; i < m->nvalues; i++) {
		const struct ll_value *v = &m->v[i];

		m->first_sight[i] = v->first_seen_ret;
		/* No operation that returned saw the value. */
		if (v->first_seen_ret >= m->end - 1)
			continue;
		begins = position_set_prev(&f->begins,
					   v->first_seen_ret - (v->first_seen_ret < v->last_call));
		if (begins == LL_NONE || f->ends[rank_of(f, begins)] < v->first_seen_ret)
			continue;
		if (begins < v->last_call)
			return overlap(m, begins, i);
		m->first_sight[i] = begins;
	}
	return 1;
}

static int clip(struct loglinear *m)
{
	struct fronts f = { 0 };
	int ret;

	free(m->first_sight);
	m->first_sight = kl_big_alloc(((size_t)m->nvalues + 1) * sizeof(*m->first_sight));
	ret = m->first_sight ? find_fronts(m, &f) : -ENOMEM;
	if (!ret)
		ret = clip_all(m, &f);
	position_set_free(&f.begins);
	free(f.rank);
	free(f.ends);
	return ret;
}

static int pair(struct loglinear *m, uint32_t v, uint32_t w)
{
	int ret;

	ll_core_start(m, m->v[w].first_seen_ret);
	ll_core_say(m, "%" PRIu64 " was %s before %" PRIu64 "%s, although it was enqueued later",
		    ll_word(m, w),
		    m->v[w].first_seen_ret == m->v[w].remove_ret ? "dequeued" : "at the front",
		    ll_word(m, v), m->v[v].remove == LL_NONE || m->v[v].peeks ? " was gone" : "");
	ret = ll_core_add(m, v) ?: ll_core_add(m, w);
	if (!ret && m->npeeks)
		ret = add_front(m, m->v[w].first_seen_ret) ?: add_front(m, m->v[v].last_call);
	return ret;
}

/* Return: the first value added before ins[@at] whose last_call is @last, or LL_NONE. */
static uint32_t seen_at(const struct loglinear *m, uint32_t at, uint32_t last)
{
	uint32_t i;

	for (i = 0; i < m->nvalues; i++)
		if (m->v[i].first_ret == LL_START && m->v[i].last_call == last)
			return i;
	for (i = 0; i < at; i++)
		if (m->ins[i] & 1 && m->v[m->ins[i] >> 1].last_call == last)
			return m->ins[i] >> 1;
	return LL_NONE;
}

/*
 * Compare each value's first_sight() with the greatest last_call of all values that were added
 * before it.  The kinds of entries cannot be predicted, so there are no branches on them.
 */
static int compare(struct loglinear *m)
{
	uint32_t most = 0, i;

	for (i = 0; m->nfirst && i < m->nvalues; i++)
		if (m->v[i].first_ret == LL_START && m->v[i].last_call > most)
			most = m->v[i].last_call;
	for (i = 0; i < m->nins; i++) {
		const uint32_t value = m->ins[i] >> 1, latest = -(m->ins[i] & 1);
		const uint32_t last = m->v[value].last_call & latest;

		if ((first_sight(m, value) | latest) < most)
			return pair(m, seen_at(m, i, most), value);
		most = last > most ? last : most;
	}
	return 1;
}

static int queue_decide(struct loglinear *m)
{
	const int ret = m->npeeks ? clip(m) : 1;

	return ret > 0 ? compare(m) : ret;
}

/*
 * Making the order.  A value's rank is the lesser of last_call and first_seen_ret.  Values go by
 * rank, but none goes before a value that was added before it.  So if one of those has a higher
 * rank, the value gets the highest of their ranks.  Equal ranks go by the additions' calls.
 *
 * That keeps both relations.  Let u be added before v, and v be seen before w: v.first_seen_ret <
 * w.last_call.  Since v is not seen before u, u.last_call <= v.first_seen_ret < w.last_call.  Since
 * w is not seen before u, u.last_call <= w.first_seen_ret.  So the rank of u is not higher than
 * that of w.  A clipped value has no last_call behind its first_seen_ret, so clipping makes no
 * difference.
 */
struct next {
	struct loglinear *m;
	/* Values that wait for their place, and their ranks, in order; see return_queue.h. */
	uint64_t *wait;
	uint32_t *value;
	size_t head, tail;
	uint64_t moves;		/* entries that open_add() has moved */
	uint32_t most;		/* values to come have no lower rank */
	uint32_t ins;		/* entries of m->ins that were processed */
	uint32_t cut;		/* next operation that found the queue empty */
	/* Removals and peeks that wait for additions: time << 32 | item, in order. */
	uint64_t *see;
	size_t see_head, see_tail;
	/* times at which the last addition, and the last other operation, take effect */
	uint32_t add_time, see_time;
	struct kl_step *order;
	uint32_t norder;
};

static inline uint32_t rank(const struct ll_value *v)
{
	return v->last_call < v->first_seen_ret ? v->last_call : v->first_seen_ret;
}

static inline uint32_t later(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Append the waiting removals and peeks before @time; the order has room for OPEN_NEAR more. */
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

/* Let a removal or peek wait, which takes effect at @call or, if that is later, n->see_time. */
static inline __attribute__((always_inline)) void see(struct next *n, uint32_t item, uint32_t call)
{
	n->see_time = later(n->see_time, call);
	n->see[n->see_tail] = (uint64_t)n->see_time << 32 | item;
	n->see[n->see_tail++ + OPEN_NEAR] = UINT64_MAX;
}

/* If few removals and peeks wait, move them to the array's begin, which is in the cache. */
static void move_sights(struct next *n)
{
	const size_t left = n->see_tail - n->see_head;

	if (n->see_head < left + WARM_SIGHTS)
		return;
	memmove(n->see, n->see + n->see_head, (left + OPEN_NEAR) * sizeof(*n->see));
	n->see_head = 0;
	n->see_tail = left;
}

/* Append an addition.  At equal times additions come before operations that see the value. */
static inline __attribute__((always_inline)) void add(struct next *n, uint32_t item, uint32_t call)
{
	n->add_time = later(n->add_time, call);
	put_sights(n, n->add_time);
	n->order[n->norder++] = (struct kl_step){ .item = item };
}

/* Place operations that found the queue empty before @time; later additions come after them. */
static inline __attribute__((always_inline)) void place_cuts(struct next *n, uint32_t time)
{
	const struct loglinear *m = n->m;

	for (; n->cut < m->ncuts && m->cut[n->cut].gap < time; n->cut++) {
		see(n, m->cut[n->cut].item, m->cut[n->cut].gap);
		n->add_time = later(n->add_time, m->cut[n->cut].gap + 1);
	}
}

static inline __attribute__((always_inline)) void place(struct next *n, uint32_t value)
{
	const struct loglinear *m = n->m;
	const struct ll_value *v = &m->v[value];
	const uint32_t *const peek = v->peeks ? ll_peeks(m, value) : NULL;
	uint32_t i;

	place_cuts(n, v->last_call);
	if (v->add != LL_NONE)
		add(n, v->add, v->call);
	n->see_time = later(n->see_time, n->add_time);
	for (i = 0; i < v->peeks; i++)
		see(n, peek[i], ll_call(m, peek[i]));
	/* Without peeks, last_call is the later call of the removal and the addition. */
	if (v->remove != LL_NONE)
		see(n, v->remove, v->peeks ? ll_call(m, v->remove) : v->last_call);
}

/* Let the values wait that were inside from the start; they come before all additions. */
static void wait_first(struct next *n)
{
	const struct loglinear *m = n->m;
	uint32_t i;

	for (i = 0; m->nfirst && i < m->nvalues; i++) {
		if (m->v[i].add != LL_NONE || ll_gone(m, &m->v[i]))
			continue;
		n->tail = open_add(n->wait, n->value, n->tail, rank(&m->v[i]), i, &n->moves);
		n->most = later(n->most, rank(&m->v[i]));
	}
}

/*
 * Return: the rank of the next entry of m->ins, whose value becomes *value.  Its kind cannot be
 * predicted, so an entry that is not an addition's call gets the rank UINT64_MAX, and is later
 * overwritten.
 */
static inline __attribute__((always_inline)) uint64_t next_rank(struct next *n, uint32_t *value)
{
	const uint32_t in = n->m->ins[n->ins++], latest = in & 1;
	const struct ll_value *v = &n->m->v[in >> 1];
	const uint64_t never = -(uint64_t)(latest | ll_gone(n->m, v));
	const uint32_t most = n->most;

	*value = in >> 1;
	n->most = later(most, rank(v) & -latest);
	return later(most, rank(v)) | never;
}

/* Process entries of m->ins up to @end, and place values that no later one can precede. */
KL_NOT_VECTORIZED
static void place_some(struct next *next, uint32_t end)
{
	struct next n = *next;	/* a copy that the compiler keeps in registers */
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

/* There were too many moves: sort all values that wait or will wait. */
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

/* Move waiting values to the begin of their arrays, which is in the cache. */
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

static int queue_order(struct loglinear *m)
{
	const size_t most = (size_t)m->nvalues + 1 + 2 * OPEN_NEAR;
	struct next n = { .m = m, .head = OPEN_NEAR, .tail = OPEN_NEAR, .order = m->order };
	size_t i;
	int ret = ll_list_peeks(m);

	n.wait = malloc(most * sizeof(*n.wait));
	n.value = malloc(most * sizeof(*n.value));
	n.see = kl_big_alloc(((size_t)m->nitems + OPEN_NEAR) * sizeof(*n.see));
	if (!ret && m->npeeks)
		ret = m->call ? 0 : ll_times(m);
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

static const struct ll_type ll_queue = {
	.kind = KL_CONTAINER_QUEUE,
	.decide = queue_decide,
	.order = queue_order,
};
LL_MONITOR(ll_queue);
