// SPDX-License-Identifier: GPL-2.0
/* Gaps, and an order from them, see gaps.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "check/mono/gaps.h"

/* What happens to a value in a gap, in this order. */
enum { ENDS, STAYS, EMPTY, BEGINS };

void mono_gaps_free(struct mono_gaps *g)
{
	if (!g)
		return;
	free(g->op);
	free(g->v);
	free(g->begin);
	free(g->at);
	free(g->rank);
	free(g);
}

/* One pass over the events, counting the ends of critical intervals. */
static void number_gaps(struct mono *m, struct mono_gaps *g)
{
	uint32_t e, i;

	g->begin[0] = 0;
	for (i = 0; i < m->nvalues; i++)
		g->v[i] = (struct mono_edges){ .lo = -1, .hi = INT32_MAX };
	for (e = 0; e < m->nev; e++) {
		const uint32_t item = m->ev[e] >> 1, op = m->op[item];
		const bool ret = m->ev[e] & 1;
		const struct mono_value *v = &m->v[op & MONO_VALUE];
		struct mono_edges *edges = &g->v[op & MONO_VALUE];

		if (mono_kind(op) > MONO_PEEK)
			continue;
		if (ret)
			g->op[item].to = g->n;
		if (v->lo == e + 1)
			edges->lo = g->n;
		if (mono_critical(v) && (v->lo == e + 1 || v->hi == e + 1))
			g->begin[++g->n] = e + 1;
		if (v->hi == e + 1)
			edges->hi = g->n;
		if (!ret)
			g->op[item] = (struct mono_window){ g->n, UINT32_MAX };
	}
	g->begin[++g->n] = m->end;
}

/* Section 5: nothing before the addition, nothing after the removal. */
static void tighten(struct mono *m, struct mono_gaps *g)
{
	uint32_t i;

	for (i = 0; i < m->nvalues; i++)
		if (m->v[i].hi == m->end)
			g->v[i].hi = g->n;
	for (i = 0; i < m->nitems; i++) {
		const uint32_t op = m->op[i];
		const struct mono_value *v = &m->v[op & MONO_VALUE];
		struct mono_window *w = &g->op[i];

		if (mono_kind(op) > MONO_PEEK)
			continue;
		if (w->to >= g->n)
			w->to = g->n - 1;
		if (mono_kind(op) == MONO_ADD)
			w->to = g->v[op & MONO_VALUE].lo;
		else if (v->add != MONO_NONE && w->from < g->op[v->add].from)
			w->from = g->op[v->add].from;
		if (mono_kind(op) == MONO_REMOVE)
			w->from = g->v[op & MONO_VALUE].hi;
		else if (mono_kind(op) == MONO_PEEK && v->remove != MONO_NONE &&
			 g->op[v->remove].to < w->to)
			w->to = g->op[v->remove].to;
	}
}

int mono_gaps_init(struct mono *m)
{
	const size_t nv = (size_t)m->nvalues + 1, ni = (size_t)m->nitems + 1;
	struct mono_gaps *g = calloc(1, sizeof(*g));

	mono_gaps_free(m->gaps);
	m->gaps = g;
	if (!g)
		return -ENOMEM;
	g->op = malloc(ni * sizeof(*g->op));
	g->v = malloc(nv * sizeof(*g->v));
	g->begin = malloc((2 * nv + 2) * sizeof(*g->begin));
	g->at = malloc(ni * sizeof(*g->at));
	g->rank = malloc(nv * sizeof(*g->rank));
	if (!g->op || !g->v || !g->begin || !g->at || !g->rank)
		return -ENOMEM;
	number_gaps(m, g);
	tighten(m, g);
	return mono_list_peeks(m);
}

static uint32_t later(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t earlier(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/*
 * From numbers of gaps to times, by the same rules: an addition as late as it can be
 * in its gap, a removal as early, both at once if that would be the wrong way round.
 */
static void find_times(struct mono *m, uint32_t value)
{
	const struct mono_gaps *g = m->gaps;
	const struct mono_value *v = &m->v[value];
	uint32_t in = MONO_START, peek, first, *at = g->at;

	if (v->add != MONO_NONE)
		in = earlier(v->lo - 1, g->begin[at[v->add] + 1] - 1);
	if (v->remove != MONO_NONE) {
		at[v->remove] = later(v->hi, g->begin[at[v->remove]]);
		in = earlier(in, at[v->remove]);
	}
	first = in;
	for (peek = v->peeks ? m->first_peek[value] : MONO_NONE; peek != MONO_NONE;
	     peek = m->next_peek[peek]) {
		const uint32_t gap = at[peek];

		at[peek] = earlier(later(later(mono_call(m, peek), in), g->begin[gap]),
				   g->begin[gap + 1] - 1);
		first = earlier(first, at[peek]);
	}
	if (v->add != MONO_NONE)
		at[v->add] = first;
}

static uint64_t key(const struct mono *m, uint32_t item)
{
	const struct mono_gaps *g = m->gaps;
	const uint32_t value = m->op[item] & MONO_VALUE, at = g->at[item];
	const struct mono_value *v = &m->v[value];
	uint64_t rank = g->rank[value], what = STAYS;

	if (v->remove != MONO_NONE && g->at[v->remove] == at) {
		what = ENDS;
		rank = MONO_VALUE - rank;
	} else if (v->add != MONO_NONE && g->at[v->add] == at) {
		what = BEGINS;
	}
	return (uint64_t)at << 30 | what << 28 | rank;
}

int mono_gaps_order(struct mono *m)
{
	struct kl_key *k = malloc(2 * ((size_t)m->nitems + 1) * sizeof(*k));
	uint32_t i, peek, n = 0;

	if (!k)
		return -ENOMEM;
	/* Of one value in one gap: the addition, peeks, the removal; the sort is stable. */
	for (i = 0; i < m->nvalues; i++) {
		const struct mono_value *v = &m->v[i];

		if (mono_gone(m, v))
			continue;
		find_times(m, i);
		if (v->add != MONO_NONE)
			k[n++] = (struct kl_key){ .key = key(m, v->add), .val = v->add };
		for (peek = v->peeks ? m->first_peek[i] : MONO_NONE; peek != MONO_NONE;
		     peek = m->next_peek[peek])
			k[n++] = (struct kl_key){ .key = key(m, peek), .val = peek };
		if (v->remove != MONO_NONE)
			k[n++] = (struct kl_key){ .key = key(m, v->remove), .val = v->remove };
	}
	for (i = 0; i < m->ncuts; i++)
		k[n++] = (struct kl_key){
			.key = (uint64_t)m->cut[i].gap << 30 | (uint64_t)EMPTY << 28,
			.val = m->cut[i].item,
		};
	kl_sort_keys(k, n, k + n);
	for (i = 0; i < n; i++)
		m->order[m->norder++] = k[i].val;
	free(k);
	return 0;
}
