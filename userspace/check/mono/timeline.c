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
#include <errno.h>
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
	struct mono_eye eye;
	uint32_t *ev;		/* m->ev, or NULL: not wanted now */
	uint32_t *calls, *rets;	/* m->call, m->ret, or NULL */
	bool again;		/* all has been seen, only m->ev is wanted */
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
	if (v.tag == KL_ANY) {
		m->op[item] = mono_op(MONO_WILD, 0);
		m->nunknown++;
		return 1;
	}
	snprintf(t->reason, t->size, "a result that no container gives");
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
	for (i = 0; i < n && t->words.table; i++)
		if (v[i].tag == KL_WORD)
			__builtin_prefetch(&t->m->v[mono_words_sooner(&t->words, v[i].v)], 1);
	for (i = 0; i < n && ret > 0; i++)
		ret = number_op(t, from + i, t->roles[method[i]], v[i]);
	t->numbered += n;
	t->eye.cut = t->m->cut;
	return ret;
}

static inline void put_call(struct timeline *t, uint32_t item)
{
	if (t->ev)
		*t->ev++ = item << 1;
	if (!t->again)
		mono_see_call(&t->eye, item);
	if (t->calls)
		t->calls[item] = t->eye.time;
}

static inline void put_ret(struct timeline *t, uint32_t item)
{
	if (t->ev)
		*t->ev++ = item << 1 | 1;
	if (!t->again)
		mono_see_ret(&t->eye, item);
	if (t->rets)
		t->rets[item] = t->eye.time;
}

/*
 * Room for @more that wait: behind, or where those were that do no more.  Before the
 * first is always one that returned earlier than any that is to come.
 */
static int make_room(struct timeline *t, size_t more)
{
	const size_t n = t->tail - t->head;

	if (t->tail + more < t->cwait)
		return 0;
	if (n + more + 2 > t->cwait / 2) {
		int ret = kl_grow(t->wait, t->cwait, 2 * (n + more) + FIRST_WAIT);

		if (ret)
			return ret;
	}
	memmove(t->wait + 1, t->wait + t->head, n * sizeof(*t->wait));
	t->wait[0].ret = 0;
	t->head = 1;
	t->tail = n + 1;
	return 0;
}

/* It waits: the new end of those that do. */
static inline size_t add_open(struct open *wait, size_t tail, uint64_t ret, uint32_t item,
			      uint32_t thread, uint64_t *moves)
{
	size_t at;

	for (at = tail; wait[at - 1].ret > ret; at--)
		wait[at] = wait[at - 1];
	*moves += tail - at;
	wait[at] = (struct open){ .ret = ret, .item = item, .thread = thread };
	return tail + 1;
}

/* Too many at once: sort those that wait and those that will. */
static int sort_all(struct timeline *t, uint32_t item)
{
	const size_t open = t->tail - t->head, n = open + t->m->nitems - item;
	struct kl_key *k = kl_big_alloc(2 * n * sizeof(*k));
	struct open *sorted = kl_big_alloc((n + 2) * sizeof(*sorted));
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
		sorted[i + 1] = (struct open){
			.ret = k[i].key, .item = k[i].val, .thread = op_of(t, k[i].val)->thread,
		};
	free(k);
	free(t->wait);
	t->wait = sorted;
	t->cwait = n + 2;
	t->head = 1;
	t->tail = nk + 1;
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
	if (t->sorted)
		return end;
	ret = make_room(t, end - item + 1);
	for (i = item; i < end && !ret; i++) {
		const struct kl_op *op = op_of(t, i);

		if (op->ret != KL_TIME_MAX)
			t->tail = add_open(t->wait, t->tail, kl_time_add(op->ret, t->error), i,
					   op->thread, &t->moves);
	}
	return ret ? (int64_t)ret : end;
}

/*
 * Operations @i .. @end - 1, or up to one that is called when others return.  All
 * that changes is in variables of its own, which nothing else points at.
 */
static inline uint32_t sweep_some(struct timeline *t, uint32_t i, uint32_t end, bool see, bool list,
				  bool times)
{
	uint32_t *const calls = t->calls, *const rets = t->rets;
	struct mono_eye eye = t->eye;
	struct open *wait = t->wait;
	size_t head = t->head, tail = t->tail;
	uint64_t moves = t->moves;
	uint32_t *ev = t->ev;

	for (; i < end; i++) {
		const struct kl_op *op = op_of(t, i);

		/* Behind the last is one that never returns. */
		wait[tail].ret = KL_TIME_MAX;
		for (; wait[head].ret < op->call; head++) {
			if (list)
				*ev++ = wait[head].item << 1 | 1;
			if (see)
				mono_see_ret(&eye, wait[head].item);
			if (times)
				rets[wait[head].item] = eye.time;
		}
		if (wait[head].ret == op->call)
			break;
		if (list)
			*ev++ = i << 1;
		if (see)
			mono_see_call(&eye, i);
		if (times)
			calls[i] = eye.time;
		if (op->ret != KL_TIME_MAX && !t->sorted)
			tail = add_open(wait, tail, kl_time_add(op->ret, t->error), i, op->thread,
					&moves);
	}
	t->eye = eye;
	t->head = head;
	t->tail = tail;
	t->moves = moves;
	t->ev = ev;
	return i;
}

static uint32_t sweep_block(struct timeline *t, uint32_t i, uint32_t end)
{
	if (t->again)
		return sweep_some(t, i, end, false, true, false);
	if (t->calls)
		return sweep_some(t, i, end, true, false, true);
	return t->ev ? sweep_some(t, i, end, true, true, false) :
		       sweep_some(t, i, end, true, false, false);
}

static int sweep(struct timeline *t)
{
	const uint64_t most = MOVES * (uint64_t)t->m->nitems + FIRST_WAIT;
	uint32_t i, end;
	int64_t next;
	int ret;

	t->head = t->tail = 1;
	if (make_room(t, BLOCK))
		return -ENOMEM;
	for (i = 0; i < t->m->nitems; ) {
		if (i == t->numbered) {
			ret = number_block(t);
			if (ret <= 0)
				return ret;
		}
		if (t->moves > most && !t->sorted && sort_all(t, i))
			return -ENOMEM;
		end = i + BLOCK < t->numbered ? i + BLOCK : t->numbered;
		if (!t->sorted && make_room(t, end - i + 1))
			return -ENOMEM;
		i = sweep_block(t, i, end);
		if (i == end)
			continue;
		next = put_run(t, i);
		if (next < 0 || next == i)
			return next < 0 ? -ENOMEM : 0;
		i = next;
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
	m->v = kl_big_alloc(n * sizeof(*m->v));
	m->adds = kl_big_alloc(n * sizeof(*m->adds));
	m->los = kl_big_alloc(n * sizeof(*m->los));
	t->roles = calloc(s->h->nmethods + 1, sizeof(*t->roles));
	if (!m->op || !m->v || !m->adds || !m->los || !t->roles)
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
		if (mono_kind(m->op[i]) == MONO_WILD && mono_pending(m, i))
			m->wild[n++] = i;
	return 1;
}

static void start(struct timeline *t, struct mono *m)
{
	t->m = m;
	t->ops = m->s->h->ops;
	t->list = m->s->ops;
	t->error = m->strict ? 0 : m->s->h->error;
	t->ev = m->ev;
	t->calls = t->again ? NULL : m->call;
	t->rets = t->again ? NULL : m->ret;
	t->eye = mono_open_eye(m);
}

enum wants { NOTHING, TIMES, EVENTS };

/* What is wanted in any case?  For an order events; for peeks those or times, but registers. */
static enum wants wants(const struct timeline *t, const struct mono *m)
{
	const struct kl_history *h = m->s->h;
	size_t i;

	if (h->error || !m->lim->no_witness)
		return EVENTS;
	if (m->c.kind == KL_CONTAINER_REGISTER)
		return NOTHING;
	for (i = 0; i < h->nshapes && t->roles[h->shapes[i].method] != KL_ROLE_PEEK; i++)
		;
	return i == h->nshapes ? NOTHING : m->c.kind == KL_CONTAINER_QUEUE ? EVENTS : TIMES;
}

static int allocate_wanted(const struct timeline *t, struct mono *m)
{
	const size_t n = (size_t)m->nitems + 1;

	switch (wants(t, m)) {
	case NOTHING:
		return 0;
	case TIMES:
		return mono_alloc_times(m);
	case EVENTS:
		m->ev = kl_big_alloc(2 * n * sizeof(*m->ev));
		return m->ev ? 0 : -ENOMEM;
	}
	return 0;
}

/* What never returned does so at the end. */
static void end_times(struct mono *m)
{
	uint32_t i;

	for (i = 0; m->ret && m->nev < 2 * m->nitems && i < m->nitems; i++)
		if (mono_pending(m, i))
			m->ret[i] = m->end - 1;
}

int mono_timeline(struct mono *m, char *reason, size_t size)
{
	struct timeline t = { .m = m, .reason = reason, .size = size };
	int ret;

	m->nitems = m->s->nops;
	ret = allocate(&t) ?: allocate_wanted(&t, m);
	if (!ret) {
		start(&t, m);
		ret = sweep(&t);
		mono_close_eye(&t.eye, m);
	}
	mono_words_close(&t.words);
	m->words = t.words.word;
	m->nwords = m->nvalues = t.words.n;
	m->end = m->nev + 2;
	free(t.roles);
	free(t.wait);
	free(t.mark);
	if (ret > 0) {
		end_times(m);
		mono_settle(m);
	}
	return ret > 0 ? list_wild(m) : ret;
}

int mono_events(struct mono *m)
{
	struct timeline t = { .again = true, .numbered = m->nitems };
	int ret;

	if (m->ev)
		return 0;
	m->ev = kl_big_alloc((2 * (size_t)m->nitems + 1) * sizeof(*m->ev));
	if (!m->ev)
		return -ENOMEM;
	start(&t, m);
	ret = sweep(&t);
	free(t.wait);
	free(t.mark);
	return ret < 0 ? ret : 0;
}
