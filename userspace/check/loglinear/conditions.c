// SPDX-License-Identifier: GPL-2.0
/* Conditions that every container must fulfil, and what monitors share; see loglinear.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/loglinear/loglinear.h"

void ll_core_start(struct loglinear *m, uint32_t deadline)
{
	m->core.n = 0;
	m->core.item = LL_NONE;
	m->core.deadline = deadline;
}

void ll_core_say(struct loglinear *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(m->core.why, sizeof(m->core.why), fmt, ap);
	va_end(ap);
}

int ll_core_add(struct loglinear *m, uint32_t value)
{
	struct ll_core *c = &m->core;
	const uint32_t word = ll_word_of(m, value);
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

/* Of the intervals that contain the first slot not yet covered, take the one that ends last. */
int ll_core_cover(struct loglinear *m, uint32_t from, uint32_t to, uint32_t but)
{
	uint32_t best, i;
	int ret = 0;

	for (; from < to && !ret; from = m->v[best].last_call) {
		best = LL_NONE;
		for (i = 0; i < m->nvalues; i++) {
			const struct ll_value *v = &m->v[i];

			if (i == but || v->first_ret > from || v->last_call <= from ||
			    ll_gone(m, v))
				continue;
			if (best == LL_NONE || v->last_call > m->v[best].last_call)
				best = i;
		}
		if (best == LL_NONE)
			return 0;
		ret = ll_core_add(m, best);
	}
	return ret;
}

/*
 * Check a value by itself.  With one addition and at most one removal it has an order if and only
 * if the addition can come first, call < first_ret, and the removal last, last_call < its return.
 * Then the addition can take effect just before first_ret, and the removal just after last_call.
 * Each peek has a slot between them, since its call <= last_call and first_ret <= its return.
 */
static int check_value(struct loglinear *m, uint32_t i)
{
	const struct ll_value *v = &m->v[i];
	const uint64_t word = ll_word(m, i);

	if (v->add == LL_NONE && m->c.init && m->s->h->fresh &&
	    (m->c.kind != KL_CONTAINER_REGISTER || m->c.first.tag != KL_WORD ||
	     m->c.first.v != word))
		ll_core_say(m, "%" PRIu64 " was seen and %s", word,
			    m->nvalues == m->nwords ? "was never added" :
						      "was not added before, or not as often");
	else if (v->add != LL_NONE && v->first_seen_ret <= v->call)
		ll_core_say(m, "%" PRIu64 " was seen before it was added", word);
	else if (v->remove != LL_NONE && v->remove_ret <= v->last_call)
		ll_core_say(m, "%" PRIu64 " was seen or added after it was removed", word);
	else
		return 1;
	ll_core_start(m, v->first_seen_ret);
	return ll_core_add(m, i);
}

/*
 * Operations that found the container empty (Lemma 5.1).  Each must have a slot in no critical
 * interval.  That is enough, since at such a slot each value is on one side.  It is before the slot
 * if all its operations were called by then (last_call <= slot), else after it (first_ret > slot).
 * So each value lies between two neighbours of these slots, and the values between two slots can be
 * ordered by themselves.
 *
 * Each operation gets its first such slot.
 */
static int find_empty(struct loglinear *m)
{
	/* For each slot: critical intervals that begin there less those that end there. */
	const size_t bytes = ((size_t)m->end + 2) * sizeof(int32_t);
	int32_t *delta = kl_zero_map(bytes, bytes);
	uint32_t i, gap = 0;
	int32_t inside;
	struct ll_cut *cut = m->cut;

	if (!delta)
		return -ENOMEM;
	for (i = 0; i < m->nvalues; i++) {
		const struct ll_value *v = &m->v[i];

		if (!ll_critical(v))
			continue;
		delta[v->first_ret]++;
		delta[v->last_call]--;
	}
	inside = delta[LL_START];
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
	ll_core_start(m, cut->ret);
	m->core.item = cut->item;
	if (ll_core_cover(m, cut->call, cut->ret, LL_NONE))
		return -ENOMEM;
	if (m->core.n == 1)
		ll_core_say(m, "it was found empty while %" PRIu64 " was inside all the time",
			    m->words[m->core.words[0]]);
	else
		ll_core_say(m,
			    "it was found empty, but at each time one of %zu values was inside; "
			    "the first is %" PRIu64 ", was inside",
			    m->core.n, m->words[m->core.words[0]]);
	return 0;
}

int ll_conditions(struct loglinear *m)
{
	uint32_t i;
	int ret;

	/* m->suspect does not cover values that were inside from the start. */
	for (i = 0; (m->suspect || m->nfirst) && i < m->nvalues; i++) {
		if (ll_gone(m, &m->v[i]))
			continue;
		ret = check_value(m, i);
		if (ret <= 0)
			return ret;
	}
	return m->nempty ? find_empty(m) : 1;
}

int ll_list_peeks(struct loglinear *m)
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
	/* next[i] begins as the index of value i's first peek, and ends as that of value i + 1. */
	m->first_peek[0] = 0;
	next = m->first_peek + 1;
	for (i = 0; i < m->nvalues; n += m->v[i++].peeks)
		next[i] = n;
	next[i] = n;
	/* Whether an item is a peek cannot be predicted: other items go to a dummy value. */
	for (i = 0; i < m->nitems; i++) {
		const uint32_t peeks = ll_kind(m->op[i]) == LL_PEEK, mask = -peeks;
		const uint32_t value = (m->op[i] & LL_VALUE & mask) | (m->nvalues & ~mask);

		m->peek[next[value]] = i;
		next[value] += peeks;
	}
	return 0;
}
