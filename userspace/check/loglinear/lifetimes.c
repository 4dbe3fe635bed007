// SPDX-License-Identifier: GPL-2.0
/* Values and their times, and words that are used more than once; see loglinear.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/loglinear/value_scan.h"

int ll_alloc_times(struct loglinear *m, bool rets)
{
	const size_t n = (size_t)m->nitems + 1;

	if (!m->call)
		m->call = kl_big_alloc(n * sizeof(*m->call));
	if (rets && !m->ret)
		m->ret = kl_big_alloc(n * sizeof(*m->ret));
	return m->call && (m->ret || !rets) ? 0 : -ENOMEM;
}

int ll_times(struct loglinear *m)
{
	struct ll_scan eye = ll_scan_begin(m);
	uint32_t e, i;

	if (m->call && m->ret)
		return 0;
	if (ll_events(m) || ll_alloc_times(m, true))
		return -ENOMEM;
	for (i = 0; i < m->nitems; i++)
		m->ret[i] = m->end - 1;
	for (e = 0; e < m->nev; e++)
		*(m->ev[e] & 1 ? &m->ret[m->ev[e] >> 1] : &m->call[m->ev[e] >> 1]) =
			ll_scan_time(&eye, m->ev[e]);
	return 0;
}

int ll_list_ins(struct loglinear *m)
{
	if (m->ins)
		return 0;
	m->ins = kl_big_alloc(2 * ((size_t)m->nitems + 1) * sizeof(*m->ins));
	if (!m->ins)
		return -ENOMEM;
	ll_gather(m);
	return 0;
}

/* The number of peeks is not known yet.  Pages that are never filled take no memory. */
int ll_alloc_peek_times(struct loglinear *m)
{
	struct ll_peek_times *t = &m->peek_times;
	const size_t n = (size_t)m->nitems + 1;

	t->first = kl_big_alloc((n / LL_SOME_PEEKS + 1) * sizeof(*t->first));
	t->nth = kl_big_alloc(n);
	t->time[0] = kl_big_alloc((n + 1) * sizeof(*t->time[0]));
	t->time[1] = kl_big_alloc((n + 1) * sizeof(*t->time[1]));
	return t->first && t->nth && t->time[0] && t->time[1] ? 0 : -ENOMEM;
}

int ll_need_peek_times(struct loglinear *m)
{
	struct ll_peek_times *t = &m->peek_times;
	struct ll_scan eye = ll_scan_begin(m);
	uint32_t e, i, n = 0;

	if (t->nth)
		return 0;
	if (ll_events(m) || ll_alloc_peek_times(m))
		return -ENOMEM;
	for (i = 0; i < m->nitems; i++) {
		ll_count_peeks(t, i, n);
		if (ll_kind(m->op[i]) != LL_PEEK)
			continue;
		t->time[1][++n] = m->end - 1;
	}
	for (e = 0; e < m->nev; e++)
		*ll_any_time(t, m->ev[e] >> 1, m->ev[e] & 1,
			     ll_kind(m->op[m->ev[e] >> 1]) == LL_PEEK) =
			ll_scan_time(&eye, m->ev[e]);
	return 0;
}

void ll_free_peek_times(struct loglinear *m)
{
	struct ll_peek_times *t = &m->peek_times;

	free(t->first);
	free(t->nth);
	free(t->time[0]);
	free(t->time[1]);
	*t = (struct ll_peek_times){ 0 };
}

void ll_free_times(struct loglinear *m)
{
	ll_free_peek_times(m);
	if (m->nwild)
		return;
	free(m->call);
	free(m->ret);
	m->call = m->ret = NULL;
}

/* Complete a value that lacks an addition, or a removal that returned. */
static void settle_open(struct loglinear *m, uint32_t value)
{
	const bool removes = m->c.kind != KL_CONTAINER_REGISTER;
	struct ll_value *v = &m->v[value];

	if (v->remove != LL_NONE && v->remove_ret == LL_START) {
		v->remove_ret = m->end - 1;
		if (v->first_seen_ret == LL_UNSEEN)
			v->first_seen_ret = m->end - 1;
	}
	if (v->first_seen_ret == LL_UNSEEN)
		v->first_seen_ret = m->end + 1;
	if (v->first_ret == LL_UNSEEN)
		v->first_ret = v->last_call == LL_START ? m->end + 1 : m->end - 1;
	if (v->last_call == LL_START)
		return;
	/* A pending addition whose value no operation saw need not have taken effect: omit it. */
	if (v->first_seen_ret > m->end && v->first_ret == m->end - 1) {
		m->op[v->add] = ll_op(LL_OUT, value);
		v->first_ret = v->last_call = m->end + 1;
		return;
	}
	if (v->add == LL_NONE) {
		v->first_ret = LL_START;
		m->nfirst++;
	}
	if (removes && v->remove == LL_NONE)
		v->last_call = m->end;
}

uint32_t ll_settle(struct loglinear *m)
{
	bool early = false, late = false;
	uint32_t i, seen = 0;

	m->nfirst = 0;
	for (i = 0; i < m->nvalues; i++) {
		struct ll_value *v = &m->v[i];

		seen += (v->add != LL_NONE) + (v->remove != LL_NONE) + v->peeks;
		if (v->add == LL_NONE || v->remove == LL_NONE || v->remove_ret == LL_START)
			settle_open(m, i);
		early |= v->add != LL_NONE && v->first_seen_ret <= v->call;
		late |= v->remove != LL_NONE && v->remove_ret <= v->last_call;
	}
	m->suspect = early || late;
	/* What was seen before the addition may be an earlier use of the word, from the start. */
	m->again |= early && (m->c.kind == KL_CONTAINER_REGISTER || !m->s->h->fresh);
	return seen;
}

void ll_gather(struct loglinear *m)
{
	struct ll_scan eye;
	uint32_t e, i;

	for (i = 0; i < m->nvalues; i++)
		ll_new_value(&m->v[i]);
	m->again = false;
	m->nins = m->ncuts = 0;
	eye = ll_scan_begin(m);
	for (e = 0; e < m->nev; e++)
		ll_scan_event(&eye, m->ev[e]);
	ll_scan_end(&eye, m);
	ll_settle(m);
}

/*
 * For each word, a list of its open uses: added, and not yet removed.  When a removal or a peek
 * returns, it is assigned to the first open use of its word; on a stack or a register, to the last.
 */
struct uses {
	struct loglinear *m;
	uint32_t *first, *last;	/* open uses of each word, or LL_NONE */
	uint32_t *closed;	/* each word's use that was closed last */
	uint32_t *next, *prev;	/* links of each value */
};

static int new_use(struct uses *u, uint32_t word, uint32_t *value)
{
	struct loglinear *m = u->m;

	*value = m->nvalues++;
	m->word_of[*value] = word;
	u->prev[*value] = u->last[word];
	u->next[*value] = LL_NONE;
	if (u->last[word] == LL_NONE)
		u->first[word] = *value;
	else
		u->next[u->last[word]] = *value;
	u->last[word] = *value;
	return 0;
}

static void close_use(struct uses *u, uint32_t value)
{
	const uint32_t word = u->m->word_of[value], next = u->next[value], prev = u->prev[value];

	if (prev == LL_NONE)
		u->first[word] = next;
	else
		u->next[prev] = next;
	if (next == LL_NONE)
		u->last[word] = prev;
	else
		u->prev[next] = prev;
	u->closed[word] = value;
}

/* Return: the use to which a removal or peek of @word is assigned; it may be new. */
static uint32_t use_of(struct uses *u, uint32_t word, bool remove)
{
	const bool last = u->m->c.kind == KL_CONTAINER_STACK ||
			  u->m->c.kind == KL_CONTAINER_REGISTER;
	uint32_t value = last ? u->last[word] : u->first[word];

	if (value == LL_NONE && !remove)
		value = u->closed[word];
	if (value == LL_NONE)
		new_use(u, word, &value);
	if (remove)
		close_use(u, value);
	return value;
}

int ll_rename(struct loglinear *m)
{
	const size_t nw = (size_t)m->nwords + 1, nv = (size_t)m->nitems + nw;
	struct uses u = { .m = m };
	struct ll_value *v;
	uint32_t *mem, e;

	if (ll_events(m))
		return -ENOMEM;
	mem = malloc((3 * nw + 2 * nv) * sizeof(*mem));
	if (!mem)
		return -ENOMEM;
	free(m->word_of);
	m->word_of = malloc(nv * sizeof(*m->word_of));
	v = realloc(m->v, nv * sizeof(*v));
	if (v)
		m->v = v;
	if (!v || !m->word_of) {
		free(mem);
		return -ENOMEM;
	}
	m->nvalues = 0;
	u.first = mem;
	u.last = mem + nw;
	u.closed = mem + 2 * nw;
	u.next = mem + 3 * nw;
	u.prev = u.next + nv;
	memset(mem, 0xff, 3 * nw * sizeof(*mem));
	for (e = 0; e < m->nev; e++) {
		uint32_t *op = &m->op[m->ev[e] >> 1], value;

		if (ll_kind(*op) == LL_OUT)
			*op = ll_op(LL_ADD, *op & LL_VALUE);
		if (ll_kind(*op) > LL_PEEK || (ll_kind(*op) == LL_ADD) != !(m->ev[e] & 1))
			continue;
		if (ll_kind(*op) == LL_ADD)
			new_use(&u, *op & LL_VALUE, &value);
		else
			value = use_of(&u, *op & LL_VALUE, ll_kind(*op) == LL_REMOVE);
		*op = ll_op(ll_kind(*op), value);
	}
	free(mem);
	return 0;
}
