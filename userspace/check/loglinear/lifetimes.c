// SPDX-License-Identifier: GPL-2.0
/* Values, and words that are used more than once, see loglinear.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/loglinear/value_scan.h"

int mono_alloc_times(struct mono *m, bool rets)
{
	const size_t n = (size_t)m->nitems + 1;

	if (!m->call)
		m->call = kl_big_alloc(n * sizeof(*m->call));
	if (rets && !m->ret)
		m->ret = kl_big_alloc(n * sizeof(*m->ret));
	return m->call && (m->ret || !rets) ? 0 : -ENOMEM;
}

int mono_times(struct mono *m)
{
	struct mono_eye eye = mono_open_eye(m);
	uint32_t e, i;

	if (m->call && m->ret)
		return 0;
	if (mono_events(m) || mono_alloc_times(m, true))
		return -ENOMEM;
	for (i = 0; i < m->nitems; i++)
		m->ret[i] = m->end - 1;
	for (e = 0; e < m->nev; e++)
		*(m->ev[e] & 1 ? &m->ret[m->ev[e] >> 1] : &m->call[m->ev[e] >> 1]) =
			mono_tick(&eye, m->ev[e]);
	return 0;
}

int mono_list_ins(struct mono *m)
{
	if (m->ins)
		return 0;
	m->ins = kl_big_alloc(2 * ((size_t)m->nitems + 1) * sizeof(*m->ins));
	if (!m->ins)
		return -ENOMEM;
	mono_gather(m);
	return 0;
}

/* How many peeks there are is not known yet; what is not filled is not there. */
int mono_alloc_peek_times(struct mono *m)
{
	struct mono_peek_times *t = &m->peek_times;
	const size_t n = (size_t)m->nitems + 1;

	t->first = kl_big_alloc((n / MONO_SOME_PEEKS + 1) * sizeof(*t->first));
	t->nth = kl_big_alloc(n);
	t->time[0] = kl_big_alloc((n + 1) * sizeof(*t->time[0]));
	t->time[1] = kl_big_alloc((n + 1) * sizeof(*t->time[1]));
	return t->first && t->nth && t->time[0] && t->time[1] ? 0 : -ENOMEM;
}

int mono_need_peek_times(struct mono *m)
{
	struct mono_peek_times *t = &m->peek_times;
	struct mono_eye eye = mono_open_eye(m);
	uint32_t e, i, n = 0;

	if (t->nth)
		return 0;
	if (mono_events(m) || mono_alloc_peek_times(m))
		return -ENOMEM;
	for (i = 0; i < m->nitems; i++) {
		mono_count_peeks(t, i, n);
		if (mono_kind(m->op[i]) != MONO_PEEK)
			continue;
		t->time[1][++n] = m->end - 1;
	}
	for (e = 0; e < m->nev; e++)
		*mono_any_time(t, m->ev[e] >> 1, m->ev[e] & 1,
			       mono_kind(m->op[m->ev[e] >> 1]) == MONO_PEEK) =
			mono_tick(&eye, m->ev[e]);
	return 0;
}

void mono_free_peek_times(struct mono *m)
{
	struct mono_peek_times *t = &m->peek_times;

	free(t->first);
	free(t->nth);
	free(t->time[0]);
	free(t->time[1]);
	*t = (struct mono_peek_times){ 0 };
}

void mono_free_times(struct mono *m)
{
	mono_free_peek_times(m);
	if (m->nwild)
		return;
	free(m->call);
	free(m->ret);
	m->call = m->ret = NULL;
}

/* One that was not both added and removed, by operations that returned. */
static void settle_open(struct mono *m, uint32_t value)
{
	const bool removes = m->c.kind != KL_CONTAINER_REGISTER;
	struct mono_value *v = &m->v[value];

	if (v->remove != MONO_NONE && v->rret == MONO_START) {
		v->rret = m->end - 1;
		if (v->oret == MONO_UNSEEN)
			v->oret = m->end - 1;
	}
	if (v->oret == MONO_UNSEEN)
		v->oret = m->end + 1;
	if (v->lo == MONO_UNSEEN)
		v->lo = v->hi == MONO_START ? m->end + 1 : m->end - 1;
	if (v->hi == MONO_START)
		return;
	/* A pending addition that nobody saw: without it an order is an order, too. */
	if (v->oret > m->end && v->lo == m->end - 1) {
		m->op[v->add] = mono_op(MONO_OUT, value);
		v->lo = v->hi = m->end + 1;
		return;
	}
	if (v->add == MONO_NONE) {
		v->lo = MONO_START;
		m->nfirst++;
	}
	if (removes && v->remove == MONO_NONE)
		v->hi = m->end;
}

uint32_t mono_settle(struct mono *m)
{
	bool early = false, late = false;
	uint32_t i, seen = 0;

	m->nfirst = 0;
	for (i = 0; i < m->nvalues; i++) {
		struct mono_value *v = &m->v[i];

		seen += (v->add != MONO_NONE) + (v->remove != MONO_NONE) + v->peeks;
		if (v->add == MONO_NONE || v->remove == MONO_NONE || v->rret == MONO_START)
			settle_open(m, i);
		early |= v->add != MONO_NONE && v->oret <= v->call;
		late |= v->remove != MONO_NONE && v->rret <= v->hi;
	}
	m->suspect = early || late;
	/* It may have been there before, too. */
	m->again |= early && (m->c.kind == KL_CONTAINER_REGISTER || !m->s->h->fresh);
	return seen;
}

void mono_gather(struct mono *m)
{
	struct mono_eye eye;
	uint32_t e, i;

	for (i = 0; i < m->nvalues; i++)
		mono_new_value(&m->v[i]);
	m->again = false;
	m->nins = m->ncuts = 0;
	eye = mono_open_eye(m);
	for (e = 0; e < m->nev; e++)
		mono_see(&eye, m->ev[e]);
	mono_close_eye(&eye, m);
	mono_settle(m);
}

/*
 * Uses of a word that are open, as lists: a removal takes the first of them, or
 * on a stack the last, as of its return.
 */
struct uses {
	struct mono *m;
	uint32_t *first, *last;	/* of each word, MONO_NONE if none is open */
	uint32_t *closed;	/* the one closed last */
	uint32_t *next, *prev;	/* of each value */
};

static int new_use(struct uses *u, uint32_t word, uint32_t *value)
{
	struct mono *m = u->m;

	*value = m->nvalues++;
	m->word_of[*value] = word;
	u->prev[*value] = u->last[word];
	u->next[*value] = MONO_NONE;
	if (u->last[word] == MONO_NONE)
		u->first[word] = *value;
	else
		u->next[u->last[word]] = *value;
	u->last[word] = *value;
	return 0;
}

static void close_use(struct uses *u, uint32_t value)
{
	const uint32_t word = u->m->word_of[value], next = u->next[value], prev = u->prev[value];

	if (prev == MONO_NONE)
		u->first[word] = next;
	else
		u->next[prev] = next;
	if (next == MONO_NONE)
		u->last[word] = prev;
	else
		u->prev[next] = prev;
	u->closed[word] = value;
}

/* Which use an operation of @word is of that removes or looks. */
static uint32_t use_of(struct uses *u, uint32_t word, bool remove)
{
	const bool last = u->m->c.kind == KL_CONTAINER_STACK ||
			  u->m->c.kind == KL_CONTAINER_REGISTER;
	uint32_t value = last ? u->last[word] : u->first[word];

	if (value == MONO_NONE && !remove)
		value = u->closed[word];
	if (value == MONO_NONE)
		new_use(u, word, &value);
	if (remove)
		close_use(u, value);
	return value;
}

int mono_rename(struct mono *m)
{
	const size_t nw = (size_t)m->nwords + 1, nv = (size_t)m->nitems + nw;
	struct uses u = { .m = m };
	struct mono_value *v;
	uint32_t *mem, e;

	if (mono_events(m))
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

		if (mono_kind(*op) == MONO_OUT)
			*op = mono_op(MONO_ADD, *op & MONO_VALUE);
		if (mono_kind(*op) > MONO_PEEK ||
		    (mono_kind(*op) == MONO_ADD) != !(m->ev[e] & 1))
			continue;
		if (mono_kind(*op) == MONO_ADD)
			new_use(&u, *op & MONO_VALUE, &value);
		else
			value = use_of(&u, *op & MONO_VALUE, mono_kind(*op) == MONO_REMOVE);
		*op = mono_op(mono_kind(*op), value);
	}
	free(mem);
	return 0;
}
