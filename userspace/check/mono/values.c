// SPDX-License-Identifier: GPL-2.0
/* From a partition's operations to values, see mono.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "check/mono/mono.h"

#define DIRECT	4	/* words below so many times the operations are looked up directly */

struct words {
	struct mono *m;
	uint32_t *direct;	/* word -> number + 1 */
	uint64_t ndirect;
	uint32_t *table;	/* hash of the others -> number + 1 */
	size_t size;
};

static int look_up_hashed(struct words *w, uint64_t word, uint32_t *number)
{
	struct mono *m = w->m;
	size_t at;

	if (!w->table) {
		for (w->size = 64; w->size < 2 * (size_t)m->p->nitems; )
			w->size *= 2;
		w->table = calloc(w->size, sizeof(*w->table));
		if (!w->table)
			return -ENOMEM;
	}
	at = kl_mix(word, 0) & (w->size - 1);
	while (w->table[at] && m->words[w->table[at] - 1] != word)
		at = (at + 1) & (w->size - 1);
	if (!w->table[at]) {
		m->words[m->nwords++] = word;
		w->table[at] = m->nwords;
	}
	*number = w->table[at] - 1;
	return 0;
}

static inline int look_up(struct words *w, uint64_t word, uint32_t *number)
{
	struct mono *m = w->m;

	if (word >= w->ndirect)
		return look_up_hashed(w, word, number);
	if (!w->direct[word]) {
		m->words[m->nwords++] = word;
		w->direct[word] = m->nwords;
	}
	*number = w->direct[word] - 1;
	return 0;
}

/* What a pending removal or a result that is no word makes of an operation. */
static int special(struct mono *m, uint32_t item, enum kl_role role, struct kl_val res,
		   bool pending, char *reason, size_t size)
{
	if (pending && role == KL_ROLE_REMOVE) {
		m->op[item] = mono_op(MONO_WILD, 0);
		m->nwild++;
		return 1;
	}
	if (pending || (res.tag == KL_ANY && role == KL_ROLE_PEEK)) {
		m->op[item] = mono_op(pending ? MONO_NOTHING : MONO_FREE, 0);
		m->nfree += !pending;
		return 1;
	}
	if (res.tag == KL_EMPTY && m->c.kind != KL_CONTAINER_REGISTER) {
		m->op[item] = mono_op(MONO_EMPTY, 0);
		m->nempty++;
		return 1;
	}
	snprintf(reason, size, res.tag == KL_ANY ? "a removal whose result is not known" :
		 "a result that no container gives");
	return 0;
}

static int number_ops(struct words *w, const enum kl_role *roles, char *reason, size_t size)
{
	static const enum mono_kind kinds[] = {
		[KL_ROLE_ADD] = MONO_ADD, [KL_ROLE_REMOVE] = MONO_REMOVE,
		[KL_ROLE_PEEK] = MONO_PEEK,
	};
	struct mono *m = w->m;
	const struct kl_history *h = m->p->h;
	uint32_t i, number;
	int ret;

	for (i = 0; i < m->p->nitems; i++) {
		const struct kl_item *it = &m->p->items[i];
		const enum kl_role role = roles[it->method];
		struct kl_val v;

		if (role == KL_ROLE_OTHER) {
			snprintf(reason, size, "method %s is none of a %s's",
				 kl_spec_method(m->p->spec, it->method)->name,
				 kl_container_name(m->c.kind));
			return 0;
		}
		/* Its argument if it adds, else its result: there is no other. */
		v = h->vals[h->shapes[it->shape].vals];
		if (v.tag != KL_WORD) {
			if (role == KL_ROLE_ADD) {
				snprintf(reason, size, "an addition of what is no known word");
				return 0;
			}
			ret = special(m, i, role, v, it->ret_ev == KL_NO_EVENT, reason, size);
			if (ret <= 0)
				return ret;
			continue;
		}
		ret = look_up(w, v.v, &number);
		if (ret)
			return ret;
		m->op[i] = mono_op(kinds[role], number);
		m->npeeks += role == KL_ROLE_PEEK;
	}
	return 1;
}

static int list_wild(struct mono *m)
{
	uint32_t i, n = 0;

	m->wild = malloc(((size_t)m->nwild + 1) * sizeof(*m->wild));
	if (!m->wild)
		return -ENOMEM;
	for (i = 0; m->nwild && i < m->p->nitems; i++)
		if (mono_kind(m->op[i]) == MONO_WILD)
			m->wild[n++] = i;
	return 1;
}

int mono_number(struct mono *m, char *reason, size_t size)
{
	const unsigned int nmethods = kl_spec_nmethods(m->p->spec);
	struct words w = { .m = m, .ndirect = DIRECT * (uint64_t)m->p->nitems };
	enum kl_role *roles = malloc(nmethods * sizeof(*roles));
	unsigned int k;
	int ret = -ENOMEM;

	m->op = malloc(((size_t)m->p->nitems + 1) * sizeof(*m->op));
	m->words = malloc(((size_t)m->p->nitems + 1) * sizeof(*m->words));
	w.direct = calloc(w.ndirect + 1, sizeof(*w.direct));
	if (roles && m->op && m->words && w.direct) {
		for (k = 0; k < nmethods; k++)
			roles[k] = kl_spec_role(m->p->spec, k);
		ret = number_ops(&w, roles, reason, size);
	}
	if (ret > 0)
		ret = list_wild(m);
	m->nvalues = m->nwords;
	m->cvalues = (size_t)m->nwords + 1;
	m->v = malloc(m->cvalues * sizeof(*m->v));
	if (ret > 0 && !m->v)
		ret = -ENOMEM;
	for (k = 0; ret > 0 && k < m->nwords; k++)
		m->v[k].word = k;
	free(roles);
	free(w.direct);
	free(w.table);
	return ret;
}

void mono_gather(struct mono *m)
{
	const bool removes = m->c.kind != KL_CONTAINER_REGISTER;
	uint32_t i;

	for (i = 0; i < m->nvalues; i++) {
		struct mono_value *v = &m->v[i];

		v->add = v->remove = MONO_NONE;
		v->call = v->hi = MONO_START;
		v->lo = v->oret = m->end + 1;
		v->peeks = 0;
	}
	m->again = false;
	for (i = 0; i < m->p->nitems; i++) {
		const uint32_t op = m->op[i], call = mono_call(m, i), ret = mono_ret(m, i);
		struct mono_value *v = &m->v[op & MONO_VALUE];

		if (mono_kind(op) > MONO_PEEK)
			continue;
		v->lo = ret < v->lo ? ret : v->lo;
		v->hi = call > v->hi ? call : v->hi;
		if (mono_kind(op) == MONO_ADD) {
			m->again |= v->add != MONO_NONE;
			v->add = i;
			v->call = call;
			continue;
		}
		v->oret = ret < v->oret ? ret : v->oret;
		if (mono_kind(op) == MONO_PEEK) {
			v->peeks++;
		} else {
			m->again |= v->remove != MONO_NONE;
			v->remove = i;
		}
	}
	for (i = 0; i < m->nvalues; i++) {
		struct mono_value *v = &m->v[i];

		if (v->hi == MONO_START)
			continue;
		/* A pending addition that nobody saw: without it an order is an order, too. */
		if (v->oret > m->end && mono_ret(m, v->add) == m->end - 1) {
			m->op[v->add] = mono_op(MONO_OUT, i);
			v->lo = v->hi = m->end + 1;
			continue;
		}
		if (v->add == MONO_NONE)
			v->lo = MONO_START;
		if (removes && v->remove == MONO_NONE)
			v->hi = m->end;
		/* It may have been there before, too. */
		if (v->add != MONO_NONE && v->oret <= v->call && (!removes || !m->p->fresh))
			m->again = true;
	}
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
	m->v[*value].word = word;
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
	const uint32_t word = u->m->v[value].word, next = u->next[value], prev = u->prev[value];

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
	const size_t nw = (size_t)m->nwords + 1, nv = (size_t)m->p->nitems + nw;
	struct uses u = { .m = m };
	struct mono_value *v;
	uint32_t *mem, e;

	mem = malloc((3 * nw + 2 * nv) * sizeof(*mem));
	if (!mem)
		return -ENOMEM;
	v = realloc(m->v, nv * sizeof(*v));
	if (!v) {
		free(mem);
		return -ENOMEM;
	}
	m->v = v;
	m->cvalues = nv;
	m->nvalues = 0;
	u.first = mem;
	u.last = mem + nw;
	u.closed = mem + 2 * nw;
	u.next = mem + 3 * nw;
	u.prev = u.next + nv;
	memset(mem, 0xff, 3 * nw * sizeof(*mem));
	for (e = 0; e < m->p->nevents; e++) {
		const struct kl_event ev = m->p->events[e];
		uint32_t *op = &m->op[ev.item], value;

		if (mono_kind(*op) == MONO_OUT)
			*op = mono_op(MONO_ADD, *op & MONO_VALUE);
		if (mono_kind(*op) > MONO_PEEK ||
		    (mono_kind(*op) == MONO_ADD) != (ev.kind == KL_EV_CALL))
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
