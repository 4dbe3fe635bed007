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

#include "check/mono/mono.h"

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

/* Making the order: who may be next, by additions and by sights. */
struct next {
	struct mono *m;
	uint8_t *passed;	/* of each value: 1 added, 2 seen for the last time, 4 placed */
	uint32_t *values;	/* placed, in order */
	uint32_t nplaced, nseen;
	uint32_t nfirst;	/* in from before the start, and not placed yet */
	uint32_t *ready, nready;
	uint32_t *held, nheld;	/* the same, once the front is placed */
	uint32_t adds, sights;	/* events up to which each was looked at */
	uint32_t front;		/* seen and not placed yet: before all that are last seen later */
	uint32_t cut;		/* empty there: all before has to be placed first */
	uint32_t *from;		/* placed before each cut */
};

static void pass(struct next *n, uint32_t value, uint8_t what)
{
	n->passed[value] |= what;
	if (what == 2)
		n->nseen++;
	if (n->passed[value] != 3 || value == n->front)
		return;
	if (n->front != MONO_NONE && n->m->v[value].hi > n->m->v[n->front].oret)
		n->held[n->nheld++] = value;
	else
		n->ready[n->nready++] = value;
}

static void pass_adds(struct next *n)
{
	const struct mono *m = n->m;

	for (; !n->nfirst && n->adds < m->nev; n->adds++) {
		const uint32_t e = m->ev[n->adds], op = m->op[e >> 1], value = op & MONO_VALUE;

		if (mono_kind(op) > MONO_PEEK)
			continue;
		if (!(e & 1) && mono_kind(op) == MONO_ADD)
			pass(n, value, 1);
		else if ((e & 1) && m->v[value].lo == n->adds + 1 &&
			 !(n->passed[value] & 4))
			break;
	}
}

/* Return: false if something else has to be placed first. */
static bool pass_sight(struct next *n, uint32_t at)
{
	const struct mono *m = n->m;
	const uint32_t e = m->ev[at], op = m->op[e >> 1], value = op & MONO_VALUE;

	if (mono_kind(op) > MONO_PEEK)
		return true;
	if (!(e & 1)) {
		if (m->v[value].hi == at + 1)
			pass(n, value, 2);
	} else if (m->v[value].oret == at + 1 && !(n->passed[value] & 4)) {
		if (n->front != MONO_NONE && n->front != value)
			return false;
		n->front = value;
	}
	return true;
}

static void pass_sights(struct next *n)
{
	struct mono *m = n->m;
	uint32_t i;

	for (; n->sights < m->nev; n->sights++) {
		while (n->cut < m->ncuts && m->cut[n->cut].gap == n->sights) {
			if (n->nplaced < n->nseen)
				return;
			n->from[n->cut++] = n->nplaced;
		}
		if (!pass_sight(n, n->sights))
			return;
	}
	if (n->sights > m->nev)
		return;
	for (; n->cut < m->ncuts; n->cut++) {
		if (n->nplaced < n->nseen)
			return;
		n->from[n->cut] = n->nplaced;
	}
	n->sights++;
	for (i = 0; i < m->nvalues; i++)
		if (m->v[i].hi == m->end)
			pass(n, i, 2);
}

static bool place(struct next *n)
{
	uint32_t value = n->front;

	while (n->nready && (n->passed[n->ready[n->nready - 1]] & 4))
		n->nready--;
	if (n->nready) {
		value = n->ready[--n->nready];
	} else if (value == MONO_NONE || n->passed[value] != 3) {
		return false;
	}
	if (value == n->front) {
		n->front = MONO_NONE;
		while (n->nheld)
			n->ready[n->nready++] = n->held[--n->nheld];
	}
	n->nfirst -= n->m->v[value].add == MONO_NONE;
	n->passed[value] |= 4;
	n->values[n->nplaced++] = value;
	return true;
}

/* Merging what is in order already: additions, and what sees them. */
struct merge {
	struct mono *m;
	const uint32_t *values;
	uint32_t added, seen;	/* how far each is */
	uint32_t add_time, see_time;
};

static void put(struct mono *m, uint32_t item)
{
	m->order[m->norder++] = item;
}

static void put_add(struct merge *g)
{
	const struct mono_value *v = &g->m->v[g->values[g->added++]];

	if (v->add != MONO_NONE)
		put(g->m, v->add);
}

static uint32_t add_time(const struct merge *g)
{
	const uint32_t call = g->m->v[g->values[g->added]].call;

	return call > g->add_time ? call : g->add_time;
}

/* Additions up to @time, among the first @to. */
static void put_adds(struct merge *g, uint32_t time, uint32_t to)
{
	while (g->added < to && (g->added <= g->seen || add_time(g) <= time)) {
		g->add_time = add_time(g);
		put_add(g);
	}
}

static void put_sight(struct merge *g, uint32_t item, uint32_t to)
{
	const uint32_t call = mono_call(g->m, item);

	if (call > g->see_time)
		g->see_time = call;
	put_adds(g, g->see_time, to);
	put(g->m, item);
}

static void put_values(struct merge *g, uint32_t to)
{
	for (; g->seen < to; g->seen++) {
		const uint32_t value = g->values[g->seen];
		uint32_t peek = g->m->npeeks ? g->m->first_peek[value] : MONO_NONE;

		put_adds(g, 0, to);
		if (g->add_time > g->see_time && g->added == g->seen + 1)
			g->see_time = g->add_time;
		for (; peek != MONO_NONE; peek = g->m->next_peek[peek])
			put_sight(g, peek, to);
		if (g->m->v[value].remove != MONO_NONE)
			put_sight(g, g->m->v[value].remove, to);
	}
}

static int merge(struct mono *m, const struct next *n)
{
	struct merge g = { .m = m, .values = n->values };
	uint32_t i;
	int ret = mono_list_peeks(m);

	for (i = 0; i <= m->ncuts && !ret; i++) {
		put_values(&g, i < m->ncuts ? n->from[i] : n->nplaced);
		if (i == m->ncuts)
			break;
		put(m, m->cut[i].item);
		g.add_time = g.add_time < m->cut[i].gap ? m->cut[i].gap : g.add_time;
		g.see_time = g.see_time < m->cut[i].gap ? m->cut[i].gap : g.see_time;
	}
	return ret;
}

static int queue_order(struct mono *m)
{
	struct next n = { .m = m, .front = MONO_NONE };
	const size_t nv = (size_t)m->nvalues + 1;
	uint32_t i;
	int ret = -ENOMEM;

	n.passed = calloc(nv, 1);
	n.values = malloc(nv * sizeof(*n.values));
	n.ready = malloc(nv * sizeof(*n.ready));
	n.held = malloc(nv * sizeof(*n.held));
	n.from = malloc(((size_t)m->ncuts + 1) * sizeof(*n.from));
	if (!n.passed || !n.values || !n.ready || !n.held || !n.from)
		goto out;
	for (i = 0; i < m->nvalues; i++) {
		if (m->v[i].add != MONO_NONE || mono_gone(m, &m->v[i]))
			continue;
		pass(&n, i, 1);
		n.nfirst++;
	}
	do {
		pass_adds(&n);
		pass_sights(&n);
	} while (place(&n));
	/* Were some left, in_time() would find them missing. */
	for (; n.cut < m->ncuts; n.cut++)
		n.from[n.cut] = n.nplaced;
	ret = merge(m, &n);
out:
	free(n.passed);
	free(n.values);
	free(n.ready);
	free(n.held);
	free(n.from);
	return ret;
}

const struct mono_type mono_queue = { .decide = queue_decide, .order = queue_order };
