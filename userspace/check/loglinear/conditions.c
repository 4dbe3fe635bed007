// SPDX-License-Identifier: GPL-2.0
/* What all containers have in common, see loglinear.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/loglinear/loglinear.h"

void mono_core_start(struct mono *m, uint32_t deadline)
{
	m->core.n = 0;
	m->core.item = MONO_NONE;
	m->core.deadline = deadline;
}

void mono_core_say(struct mono *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(m->core.why, sizeof(m->core.why), fmt, ap);
	va_end(ap);
}

int mono_core_add(struct mono *m, uint32_t value)
{
	struct mono_core *c = &m->core;
	const uint32_t word = mono_word_of(m, value);
	size_t i;
	int ret;

	for (i = 0; i < c->n; i++)
		if (c->words[i] == word)
			return 0;
	ret = kl_grow(c->words, c->cap, c->n + 1);
	if (!ret)
		c->words[c->n++] = word;
	return ret;
}

/* Of the intervals that begin in time the one that reaches furthest, until all is covered. */
int mono_core_cover(struct mono *m, uint32_t from, uint32_t to, uint32_t but)
{
	uint32_t best, i;
	int ret = 0;

	for (; from < to && !ret; from = m->v[best].hi) {
		best = MONO_NONE;
		for (i = 0; i < m->nvalues; i++) {
			const struct mono_value *v = &m->v[i];

			if (i == but || v->lo > from || v->hi <= from || mono_gone(m, v))
				continue;
			if (best == MONO_NONE || v->hi > m->v[best].hi)
				best = i;
		}
		if (best == MONO_NONE)
			return 0;
		ret = mono_core_add(m, best);
	}
	return ret;
}

/*
 * A value by itself.  With one addition and at most one removal it has an order
 * if and only if the addition can come first, call < lo, and the removal last,
 * hi < its return: then there is a point before lo and after all calls that come
 * before it for the addition, likewise for the removal, and each peek has one
 * between them, as call <= hi and lo <= ret.
 */
static int check_value(struct mono *m, uint32_t i)
{
	const struct mono_value *v = &m->v[i];
	const uint64_t word = mono_word(m, i);

	if (v->add == MONO_NONE && m->c.init && m->s->h->fresh &&
	    (m->c.kind != KL_CONTAINER_REGISTER || m->c.first.tag != KL_WORD ||
	     m->c.first.v != word))
		mono_core_say(m, "%" PRIu64 " was seen and %s", word,
			      m->nvalues == m->nwords ? "never added" :
			      "not added before, or not so often");
	else if (v->add != MONO_NONE && v->oret <= v->call)
		mono_core_say(m, "%" PRIu64 " was seen before it was added", word);
	else if (v->remove != MONO_NONE && v->rret <= v->hi)
		mono_core_say(m, "%" PRIu64 " was seen or added after it was removed", word);
	else
		return 1;
	mono_core_start(m, v->oret);
	return mono_core_add(m, i);
}

/*
 * Where it was empty, Lemma 5.1.  An operation that found it empty has to have a
 * gap in no critical interval.  That is enough: at such a gap each value is to
 * one side, before if all its operations were called by then (hi <= gap), else
 * after (lo > gap).  Of several gaps, a value that is before one is before the
 * later ones, and after the earlier ones if after one, so it has its place
 * between two of them, and what is left of an order between two gaps is an order.
 *
 * Takes the first such gap for each.
 */
static int find_empty(struct mono *m)
{
	/* Of each gap: how many critical intervals begin there, less those that end. */
	const size_t bytes = ((size_t)m->end + 2) * sizeof(int32_t);
	int32_t *delta = kl_zero_map(bytes, bytes);
	uint32_t i, gap = 0;
	int32_t inside;
	struct mono_cut *cut = m->cut;

	if (!delta)
		return -ENOMEM;
	for (i = 0; i < m->nvalues; i++) {
		const struct mono_value *v = &m->v[i];

		if (!mono_critical(v))
			continue;
		delta[v->lo]++;
		delta[v->hi]--;
	}
	inside = delta[MONO_START];
	for (i = 0; i < m->ncuts; i++, cut++) {
		while (gap < cut->call || (inside && gap + 2 < m->end))
			inside += delta[++gap];
		cut->gap = gap;
		if (gap >= cut->ret)
			break;
	}
	kl_zero_unmap(delta, bytes);
	if (i == m->ncuts)
		return 1;
	mono_core_start(m, cut->ret);
	m->core.item = cut->item;
	if (mono_core_cover(m, cut->call, cut->ret, MONO_NONE))
		return -ENOMEM;
	if (m->core.n == 1)
		mono_core_say(m, "it was found empty while %" PRIu64 " was inside all the time",
			      m->words[m->core.words[0]]);
	else
		mono_core_say(m, "it was found empty while one or another of %zu values, the first of "
			      "them %" PRIu64 ", was inside", m->core.n,
			      m->words[m->core.words[0]]);
	return 0;
}

int mono_standard(struct mono *m)
{
	uint32_t i;
	int ret;

	/* See mono_settle(), but for those that were in from the start. */
	for (i = 0; (m->suspect || m->nfirst) && i < m->nvalues; i++) {
		if (mono_gone(m, &m->v[i]))
			continue;
		ret = check_value(m, i);
		if (ret <= 0)
			return ret;
	}
	return m->nempty ? find_empty(m) : 1;
}

int mono_list_peeks(struct mono *m)
{
	uint32_t *next, i, n = 0;

	if (!m->npeeks)
		return 0;
	free(m->first_peek);
	free(m->peek);
	m->first_peek = kl_big_alloc(((size_t)m->nvalues + 2) * sizeof(*m->first_peek));
	m->peek = kl_big_alloc(((size_t)m->npeeks + 1) * sizeof(*m->peek));
	if (!m->first_peek || !m->peek)
		return -ENOMEM;
	/* Where a value's first one is to be; then, as they are all there, the next value's. */
	m->first_peek[0] = 0;
	next = m->first_peek + 1;
	for (i = 0; i < m->nvalues; n += m->v[i++].peeks)
		next[i] = n;
	next[i] = n;
	/* Which are peeks is chance: all others are one value's that is none. */
	for (i = 0; i < m->nitems; i++) {
		const uint32_t peeks = mono_kind(m->op[i]) == MONO_PEEK, mask = -peeks;
		const uint32_t value = (m->op[i] & MONO_VALUE & mask) | (m->nvalues & ~mask);

		m->peek[next[value]] = i;
		next[value] += peeks;
	}
	return 0;
}
