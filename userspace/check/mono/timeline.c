// SPDX-License-Identifier: GPL-2.0
/*
 * One pass over the operations, in order of call: what each is, the number of its
 * value, and all calls and returns in one order, see mono.h.  Those that are open
 * wait by return, as many as overlap, so that nothing has to be sorted; if that
 * costs too much, where thousands overlap, they are.
 *
 * With `strict' the clock has no error, and where times are equal a thread's return
 * comes before its next call.  That orders all that is certain: of two operations
 * of a thread by both rules of history.h, of others as if there was no error.  It may
 * order more, so an order of it is one of the history; that it has none says nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "check/mono/mono.h"
#include "check/mono/words.h"

#define BLOCK		128	/* operations whose words are looked up together */
#define MOVES		16	/* of those that wait, for each operation, before they are sorted */
#define FIRST_WAIT	1024

struct open {
	uint64_t ret;
	uint32_t item, thread;
};

struct timeline {
	struct mono *m;
	const struct kl_op *ops;
	const uint32_t *list;	/* of the operations; NULL: all */
	struct mono_words words;
	uint8_t *roles;		/* of the history's methods */
	uint32_t numbered;	/* operations so far */
	uint64_t error;
	/* Open: wait[head] .. wait[tail - 1], by return, then as called. */
	struct open *wait;
	size_t head, tail, cwait;
	uint64_t moves;
	bool sorted;		/* all that will be are there already */
	uint32_t *mark, run;	/* of threads that return and are called at one time */
	char *reason;
	size_t size;
};

static inline const struct kl_op *op_of(const struct timeline *t, uint32_t item)
{
	return &t->ops[t->list ? t->list[item] : item];
}

/* What a pending removal or a result that is no word makes of an operation. */
static int special(struct timeline *t, uint32_t item, enum kl_role role, struct kl_val v,
		   bool pending)
{
	struct mono *m = t->m;

	if (role == KL_ROLE_ADD) {
		snprintf(t->reason, t->size, "an addition of what is no known word");
		return 0;
	}
	if (pending && role == KL_ROLE_REMOVE) {
		m->op[item] = mono_op(MONO_WILD, 0);
		m->nwild++;
		return 1;
	}
	if (pending || (v.tag == KL_ANY && role == KL_ROLE_PEEK)) {
		m->op[item] = mono_op(pending ? MONO_NOTHING : MONO_FREE, 0);
		m->nfree += !pending;
		return 1;
	}
	if (v.tag == KL_EMPTY && m->c.kind != KL_CONTAINER_REGISTER) {
		m->op[item] = mono_op(MONO_EMPTY, 0);
		return kl_grow(m->cut, m->ccuts, ++m->nempty) ? -ENOMEM : 1;
	}
	snprintf(t->reason, t->size, v.tag == KL_ANY ? "a removal whose result is not known" :
		 "a result that no container gives");
	return 0;
}

static int no_role(struct timeline *t, unsigned int method)
{
	snprintf(t->reason, t->size, "method %s is none of a %s's", t->m->s->h->methods[method],
		 kl_container_name(t->m->c.kind));
	return 0;
}

static int number_op(struct timeline *t, uint32_t item, enum kl_role role, struct kl_val v)
{
	static const enum mono_kind kinds[] = {
		[KL_ROLE_ADD] = MONO_ADD, [KL_ROLE_REMOVE] = MONO_REMOVE,
		[KL_ROLE_PEEK] = MONO_PEEK,
	};
	struct mono *m = t->m;
	uint32_t number;

	if (v.tag != KL_WORD)
		return special(t, item, role, v, op_of(t, item)->flags & KL_OP_PENDING);
	/* In case it is new. */
	mono_new_value(m, t->words.n);
	if (mono_words_number(&t->words, v.v, &number))
		return -ENOMEM;
	m->op[item] = mono_op(kinds[role], number);
	m->npeeks += role == KL_ROLE_PEEK;
	return 1;
}

/* Words are looked up together, so that they do not wait for memory one by one. */
static int number_block(struct timeline *t)
{
	const struct kl_history *h = t->m->s->h;
	const uint32_t from = t->numbered, left = t->m->nitems - from;
	const uint32_t n = left < BLOCK ? left : BLOCK;
	struct kl_val v[BLOCK];
	uint8_t method[BLOCK];
	uint32_t i;
	int ret = 1;

	for (i = 0; i < n; i++) {
		const struct kl_shape *s = &h->shapes[op_of(t, from + i)->shape];

		method[i] = s->method;
		if (t->roles[s->method] == KL_ROLE_OTHER)
			return no_role(t, s->method);
		/* Its argument if it adds, else its result: there is no other. */
		v[i] = h->vals[s->vals];
		if (v[i].tag == KL_WORD)
			mono_words_soon(&t->words, v[i].v);
	}
	for (i = 0; i < n && ret > 0; i++)
		ret = number_op(t, from + i, t->roles[method[i]], v[i]);
	t->numbered += n;
	return ret;
}

static inline void put_call(struct timeline *t, uint32_t item)
{
	struct mono *m = t->m;

	m->ev[m->nev++] = item << 1;
	mono_see_call(m, item, m->nev);
}

static inline void put_ret(struct timeline *t, uint32_t item)
{
	struct mono *m = t->m;

	m->ev[m->nev++] = item << 1 | 1;
	mono_see_ret(m, item, m->nev);
}

/* Room for one more that waits: behind, or where those were that do no more. */
static int make_room(struct timeline *t)
{
	const size_t n = t->tail - t->head;

	if (t->head <= t->cwait / 2) {
		int ret = kl_grow(t->wait, t->cwait, 2 * t->cwait + FIRST_WAIT);

		if (ret)
			return ret;
	}
	if (t->head)
		memmove(t->wait, t->wait + t->head, n * sizeof(*t->wait));
	t->head = 0;
	t->tail = n;
	return 0;
}

static inline int wait(struct timeline *t, uint32_t item, const struct kl_op *op)
{
	uint64_t ret;
	size_t at;

	if (op->ret == KL_TIME_MAX || t->sorted)
		return 0;
	ret = kl_time_add(op->ret, t->error);
	if (t->tail == t->cwait && make_room(t))
		return -ENOMEM;
	for (at = t->tail++; at > t->head && t->wait[at - 1].ret > ret; at--)
		t->wait[at] = t->wait[at - 1];
	t->moves += t->tail - 1 - at;
	t->wait[at] = (struct open){ .ret = ret, .item = item, .thread = op->thread };
	return 0;
}

/* Too many at once: sort those that wait and those that will. */
static int sort_all(struct timeline *t, uint32_t item)
{
	const size_t open = t->tail - t->head, n = open + t->m->nitems - item;
	struct kl_key *k = kl_big_alloc(2 * n * sizeof(*k));
	struct open *sorted = kl_big_alloc(n * sizeof(*sorted));
	size_t nk = 0, i;

	if (!k || !sorted) {
		free(k);
		free(sorted);
		return -ENOMEM;
	}
	for (i = t->head; i < t->tail; i++)
		k[nk++] = (struct kl_key){ .key = t->wait[i].ret, .val = t->wait[i].item };
	for (; item < t->m->nitems; item++) {
		const struct kl_op *op = op_of(t, item);

		if (op->ret != KL_TIME_MAX)
			k[nk++] = (struct kl_key){
				.key = kl_time_add(op->ret, t->error), .val = item,
			};
	}
	kl_sort_keys(k, nk, k + n);
	for (i = 0; i < nk; i++)
		sorted[i] = (struct open){
			.ret = k[i].key, .item = k[i].val, .thread = op_of(t, k[i].val)->thread,
		};
	free(k);
	free(t->wait);
	t->wait = sorted;
	t->head = 0;
	t->tail = nk;
	t->sorted = true;
	return 0;
}

/* Was it called before @time, at which it returns and another of its thread is called? */
static bool is_tied(const struct timeline *t, const struct open *o, uint64_t time)
{
	return op_of(t, o->item)->call < time;
}

/* Mark the threads that return at @time. */
static void mark_returns(struct timeline *t, uint64_t time)
{
	size_t i;

	t->run++;
	for (i = t->head; i < t->tail && t->wait[i].ret == time; i++)
		if (is_tied(t, &t->wait[i], time))
			t->mark[t->wait[i].thread] = 2 * t->run;
}

/* Calls of the run @item .. @end - 1 of threads that do return then, or that do not. */
static int put_calls(struct timeline *t, uint32_t item, uint32_t end, bool tied)
{
	bool any = false;

	for (; item < end; item++) {
		uint32_t *mark = &t->mark[op_of(t, item)->thread];

		if ((*mark >> 1 == t->run) != tied)
			any |= !tied;
		else
			put_call(t, item);
		if (!tied && *mark >> 1 == t->run)
			*mark |= 1;
	}
	return any;
}

/* The returns of marked threads that are called, too. */
static void put_returns(struct timeline *t, uint64_t time)
{
	size_t i, to, end = t->head;

	while (end < t->tail && t->wait[end].ret == time)
		end++;
	for (i = to = end; i-- > t->head; ) {
		const struct open o = t->wait[i];

		if (t->mark[o.thread] == 2 * t->run + 1 && is_tied(t, &o, time))
			put_ret(t, o.item);
		else
			t->wait[--to] = o;
	}
	t->head = to;
}

/* All that are called when others return; the next item, or -ENOMEM. */
static int64_t put_run(struct timeline *t, uint32_t item)
{
	const uint64_t time = op_of(t, item)->call;
	uint32_t end = item, i;
	int ret = 1;

	for (; end < t->m->nitems && op_of(t, end)->call == time; end++)
		;
	while (t->numbered < end && ret > 0)
		ret = number_block(t);
	if (ret <= 0)
		return ret < 0 ? (int64_t)ret : item;
	if (!t->mark)
		t->mark = calloc(t->m->s->h->nthreads + 1, sizeof(*t->mark));
	if (!t->mark)
		return -ENOMEM;
	mark_returns(t, time);
	if (put_calls(t, item, end, false)) {
		t->m->ties = true;
		if (t->m->strict)
			put_returns(t, time);
		put_calls(t, item, end, true);
	}
	for (i = item, ret = 0; i < end && !ret; i++)
		ret = wait(t, i, op_of(t, i));
	return ret ? (int64_t)ret : end;
}

static int sweep(struct timeline *t)
{
	const uint64_t most = MOVES * (uint64_t)t->m->nitems + FIRST_WAIT;
	uint32_t i;
	int64_t next;
	int ret;

	for (i = 0; i < t->m->nitems; ) {
		const struct kl_op *op = op_of(t, i);

		if (i == t->numbered) {
			ret = number_block(t);
			if (ret <= 0)
				return ret;
		}
		while (t->head < t->tail && t->wait[t->head].ret < op->call)
			put_ret(t, t->wait[t->head++].item);
		if (t->head < t->tail && t->wait[t->head].ret == op->call) {
			next = put_run(t, i);
			if (next < 0 || next == i)
				return next < 0 ? -ENOMEM : 0;
			i = next;
			continue;
		}
		put_call(t, i);
		if (wait(t, i, op))
			return -ENOMEM;
		i++;
		if (t->moves > most && !t->sorted && sort_all(t, i))
			return -ENOMEM;
	}
	while (t->head < t->tail)
		put_ret(t, t->wait[t->head++].item);
	return 1;
}

static int allocate(struct timeline *t)
{
	struct mono *m = t->m;
	const struct kl_slice *s = m->s;
	const size_t n = (size_t)m->nitems + 1;
	size_t i;

	m->op = kl_big_alloc(n * sizeof(*m->op));
	m->ev = kl_big_alloc(2 * n * sizeof(*m->ev));
	m->v = kl_big_alloc(n * sizeof(*m->v));
	m->adds = kl_big_alloc(n * sizeof(*m->adds));
	m->los = kl_big_alloc(n * sizeof(*m->los));
	t->roles = calloc(s->h->nmethods + 1, sizeof(*t->roles));
	if (!m->op || !m->ev || !m->v || !m->adds || !m->los || !t->roles)
		return -ENOMEM;
	for (i = 0; i < s->h->nmethods; i++)
		t->roles[i] = s->methods[i] < 0 ? KL_ROLE_OTHER : kl_spec_role(s->spec, s->methods[i]);
	return mono_words_init(&t->words, m->nitems);
}

static int list_wild(struct mono *m)
{
	uint32_t i, n = 0;

	m->wild = malloc(((size_t)m->nwild + 1) * sizeof(*m->wild));
	if (!m->wild)
		return -ENOMEM;
	for (i = 0; m->nwild && i < m->nitems; i++)
		if (mono_kind(m->op[i]) == MONO_WILD)
			m->wild[n++] = i;
	return 1;
}

int mono_timeline(struct mono *m, char *reason, size_t size)
{
	struct timeline t = {
		.m = m, .ops = m->s->h->ops, .list = m->s->ops, .reason = reason, .size = size,
		.error = m->strict ? 0 : m->s->h->error,
	};
	int ret;

	m->nitems = m->s->nops;
	ret = allocate(&t);
	if (!ret)
		ret = sweep(&t);
	mono_words_close(&t.words);
	m->words = t.words.word;
	m->nwords = m->nvalues = t.words.n;
	m->end = m->nev + 2;
	free(t.roles);
	free(t.wait);
	free(t.mark);
	if (ret > 0)
		mono_settle(m);
	return ret > 0 ? list_wild(m) : ret;
}
