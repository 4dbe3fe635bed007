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

#include "base/mem.h"
#include "check/mono/mono.h"
#include "check/mono/open.h"

#define WARM		64	/* places behind which those that wait are moved down */
#define MOVES		16	/* of those that wait, for each value, and some, before they are a heap */
#define FIRST_MOVES	1024

/* @first: first sight of each value, clipped; NULL: as in the values. */
static uint32_t first_sight(const struct mono *m, const uint32_t *first, uint32_t value)
{
	return first ? first[value] : m->v[value].oret;
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

static int overlap(struct mono *m, uint32_t v, uint32_t w)
{
	int ret;

	mono_core_start(m, m->v[w].oret);
	mono_core_say(m, "%" PRIu64 " was at the front while %" PRIu64 " was", mono_word(m, w),
		      mono_word(m, v));
	ret = mono_core_add(m, v);
	return ret ? ret : mono_core_add(m, w);
}

/* What is seen while another is at the front; 1, or 0 with a core. */
static int clip(struct mono *m, uint32_t *first)
{
	uint32_t front = MONO_NONE, begins = 0, e, i;

	for (i = 0; i < m->nvalues; i++)
		first[i] = m->v[i].oret;
	for (e = 0; e < m->nev; e++) {
		const uint32_t op = m->op[m->ev[e] >> 1], value = op & MONO_VALUE;
		const struct mono_value *v = &m->v[value];

		if (mono_kind(op) > MONO_PEEK)
			continue;
		if (v->hi == e + 1 && front == value)
			front = MONO_NONE;
		if (v->oret != e + 1)
			continue;
		if (front != MONO_NONE) {
			if (begins < v->hi)
				return overlap(m, front, value);
			first[value] = begins;
		}
		if (v->oret < v->hi) {
			front = value;
			begins = e + 1;
		}
	}
	return 1;
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

/*
 * For each addition the last sight of the values that were certainly in before it
 * against its own first.
 */
static int compare(struct mono *m, const uint32_t *first)
{
	uint32_t best = MONO_NONE, most = 0, lo = 0, i;

	for (i = 0; i < m->nvalues; i++) {
		if (m->v[i].lo == MONO_START && m->v[i].hi > most) {
			most = m->v[i].hi;
			best = i;
		}
	}
	for (i = 0; i < m->nadds; i++) {
		const uint32_t value = m->adds[i];

		for (; lo < m->nlos && m->v[m->los[lo]].lo <= m->v[value].call; lo++) {
			/* What was in from the start was met above; or it is gone. */
			if (m->v[m->los[lo]].hi <= most)
				continue;
			most = m->v[m->los[lo]].hi;
			best = m->los[lo];
		}
		if (most > first_sight(m, first, value))
			return pair(m, best, value);
	}
	return 1;
}

static int queue_decide(struct mono *m)
{
	uint32_t *first = NULL;
	int ret = 1;

	if (m->npeeks) {
		first = malloc(((size_t)m->nvalues + 1) * sizeof(*first));
		ret = first && !mono_events(m) ? clip(m, first) : -ENOMEM;
	}
	if (ret > 0)
		ret = compare(m, first);
	free(first);
	return ret;
}

/*
 * Making the order: one after the other, of the values that by the additions may be next
 * that which by the sights is first, see rank().  Of what may be next by the additions some
 * value may be by the sights, too; what is before another one by these has the lower rank,
 * and what is before the first also before any other.
 */
struct next {
	struct mono *m;
	const uint32_t *first;
	bool *placed;
	uint32_t adds, los;	/* how far each was looked at */
	/* May be next, see open.h: by rank; or, if that costs too much, a heap of both in one. */
	uint64_t *wait;
	uint32_t *value;
	size_t head, tail;
	uint64_t moves;
	bool heap;
	uint32_t cut;		/* empty there: all before has to be placed first */
	/* Times and items of additions and of what sees them, each in order. */
	uint64_t *add, *see;
	uint32_t nadd, nsee;
	uint32_t add_time, see_time;
};

/* When it was at the front for the last time, at the latest: before what is seen later. */
static inline uint32_t rank(const struct next *n, uint32_t value)
{
	const uint32_t hi = n->m->v[value].hi, first = first_sight(n->m, n->first, value);

	return hi < first ? hi : first;
}

static void heap_up(uint64_t *heap, size_t at, uint64_t one)
{
	for (; at && heap[(at - 1) / 2] > one; at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = one;
}

static void heap_down(uint64_t *heap, size_t n, uint64_t one)
{
	size_t at = 0, next;

	for (; (next = 2 * at + 1) < n; at = next) {
		next += next + 1 < n && heap[next + 1] < heap[next];
		if (heap[next] >= one)
			break;
		heap[at] = heap[next];
	}
	heap[at] = one;
}

/* Too many moves. */
static void make_heap(struct next *n)
{
	size_t i;

	for (i = n->head; i < n->tail; i++)
		n->wait[i - n->head] = n->wait[i] << 32 | n->value[i];
	n->tail -= n->head;
	n->head = 0;
	n->heap = true;
}

/* Vectors that are read where numbers were just written would have to wait. */
__attribute__((optimize("no-tree-vectorize")))
static inline void wait_add(struct next *n, uint32_t value)
{
	if (!n->heap) {
		n->tail = open_add(n->wait, n->value, n->tail, rank(n, value), value, &n->moves);
		if (n->moves > MOVES * (uint64_t)n->m->nvalues + FIRST_MOVES)
			make_heap(n);
	} else {
		heap_up(n->wait, n->tail++, (uint64_t)rank(n, value) << 32 | value);
	}
}

static inline uint32_t wait_first(struct next *n)
{
	const size_t left = n->tail - n->head - 1;
	uint32_t value;

	if (n->heap) {
		value = n->wait[0];
		n->tail--;
		heap_down(n->wait, n->tail, n->wait[n->tail]);
		return value;
	}
	value = n->value[n->head];
	n->wait[n->head++] = 0;
	/* Down to where it is warm. */
	if (n->head > left + WARM) {
		memmove(n->wait + OPEN_NEAR, n->wait + n->head, left * sizeof(*n->wait));
		memmove(n->value + OPEN_NEAR, n->value + n->head, left * sizeof(*n->value));
		n->head = OPEN_NEAR;
		n->tail = OPEN_NEAR + left;
	}
	return value;
}

static inline uint32_t later(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static inline void see(struct next *n, uint32_t item, uint32_t call)
{
	n->see_time = later(n->see_time, call);
	n->see[n->nsee++] = (uint64_t)n->see_time << 32 | item;
}

/* Empty before @hi: what is added later is behind, too. */
static void place_cuts(struct next *n, uint32_t hi)
{
	const struct mono *m = n->m;

	for (; n->cut < m->ncuts && m->cut[n->cut].gap < hi; n->cut++) {
		see(n, m->cut[n->cut].item, m->cut[n->cut].gap);
		n->add_time = later(n->add_time, m->cut[n->cut].gap + 1);
	}
}

/* What is seen is added before, see merge(). */
static void place(struct next *n)
{
	const struct mono *m = n->m;
	const uint32_t value = wait_first(n);
	const struct mono_value *v = &m->v[value];
	uint32_t peek = v->peeks ? m->first_peek[value] : MONO_NONE;

	place_cuts(n, v->hi);
	n->placed[value] = true;
	if (v->add != MONO_NONE) {
		n->add_time = later(n->add_time, v->call);
		n->add[n->nadd++] = (uint64_t)n->add_time << 32 | v->add;
	}
	n->see_time = later(n->see_time, n->add_time);
	for (; peek != MONO_NONE; peek = m->next_peek[peek])
		see(n, peek, mono_call(m, peek));
	/* Of others than peeks it is called last, or its addition is. */
	if (v->remove != MONO_NONE)
		see(n, v->remove, v->peeks ? mono_call(m, v->remove) : v->hi);
}

static void place_all(struct next *n)
{
	const struct mono *m = n->m;
	uint32_t i, until;

	/* What was in from before the start is before all that was added. */
	for (i = 0; m->nadds < m->nvalues && i < m->nvalues; i++)
		if (m->v[i].add == MONO_NONE && !mono_gone(m, &m->v[i]))
			wait_add(n, i);
	while (n->head < n->tail)
		place(n);
	for (;;) {
		while (n->los < m->nlos && n->placed[m->los[n->los]])
			n->los++;
		until = n->los < m->nlos ? m->v[m->los[n->los]].lo : m->end;
		for (; n->adds < m->nadds && m->v[m->adds[n->adds]].call < until; n->adds++)
			if (!mono_gone(m, &m->v[m->adds[n->adds]]))
				wait_add(n, m->adds[n->adds]);
		/* Were some left, in_time() would find them missing. */
		if (n->head == n->tail)
			break;
		place(n);
	}
	place_cuts(n, UINT32_MAX);
}

/* Of one time additions first.  Which comes next is chance: nothing to be guessed. */
static void merge(struct next *n)
{
	struct kl_step *step = n->m->order;
	const uint64_t *add = n->add, *see = n->see;
	const uint32_t count = n->nadd + n->nsee;
	uint32_t i;

	n->add[n->nadd] = n->see[n->nsee] = UINT64_MAX;
	for (i = 0; i < count; i++) {
		const uint64_t a = *add, s = *see;
		const bool adds = a >> 32 <= s >> 32;

		*step++ = (struct kl_step){ .item = s ^ ((a ^ s) & -(uint64_t)adds) };
		add += adds;
		see += !adds;
	}
	n->m->norder = count;
}

static int queue_order(struct mono *m)
{
	const size_t nv = (size_t)m->nvalues + 1, most = nv + 2 * OPEN_NEAR;
	uint32_t *first = m->npeeks ? malloc(nv * sizeof(*first)) : NULL;
	struct next n = { .m = m, .first = first, .head = OPEN_NEAR, .tail = OPEN_NEAR };
	int ret = mono_list_peeks(m);

	n.placed = calloc(nv, sizeof(*n.placed));
	n.wait = malloc(most * sizeof(*n.wait));
	n.value = malloc(most * sizeof(*n.value));
	n.add = kl_big_alloc(nv * sizeof(*n.add));
	n.see = kl_big_alloc(((size_t)m->nitems + 1) * sizeof(*n.see));
	if (ret || !n.placed || !n.wait || !n.value || !n.add || !n.see || (m->npeeks && !first)) {
		ret = -ENOMEM;
		goto out;
	}
	memset(n.wait, 0, OPEN_NEAR * sizeof(*n.wait));
	/* Made before. */
	if (first)
		clip(m, first);
	place_all(&n);
	merge(&n);
out:
	free(first);
	free(n.placed);
	free(n.wait);
	free(n.value);
	free(n.add);
	free(n.see);
	return ret;
}

const struct mono_type mono_queue = { .decide = queue_decide, .order = queue_order };
