// SPDX-License-Identifier: GPL-2.0
/* The naive machine, see naive.h. */
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "naive.h"

#define OBJECTS		8
#define MEM		(N_VARS + 2 * OBJECTS)
#define BUF		24
#define PTR		1000
#define DATA		100

enum { ENTRY, CALL, RET };

struct entry {
	uint64_t kind, addr, val, more;
};

struct thread {
	uint64_t ops, method, pc, nbuf;		/* method: index plus one, 0 if in none */
	uint64_t reg[N_REGS];
	struct entry buf[BUF];
};

struct state {
	uint64_t set, nobj, mem[MEM];
	struct thread thread[N_THREADS_MAX];
};

struct event {
	/* kind: CALL or RET, plus 2 if its marker is flushed */
	uint64_t kind, thread, method, val;
};

struct search {
	const struct n_program *p;
	const struct n_method *methods;
	struct kl_intern states, specs, sets, memo;
	uint32_t *after;		/* for each element of memo, the resulting set */
	size_t nafter, cafter;
	uint32_t (*edge)[2];
	size_t nedges, cedges;
	bool *ends;
	size_t cends;
	unsigned int wrong;
	size_t nwrong;			/* number of wrong steps */
};

static void *need(void *p)
{
	if (!p)
		abort();
	return p;
}

static int64_t number(int64_t n)
{
	if (n < 0)
		abort();
	return n;
}

/* Write the used parts of a state as words. */
static size_t words(const struct search *s, const struct state *st, uint64_t *w)
{
	size_t n = 0;
	int t;

	w[n++] = st->set;
	w[n++] = st->nobj;
	memcpy(w + n, st->mem, sizeof(st->mem));
	n += MEM;
	for (t = 0; t < s->p->nthreads; t++) {
		const struct thread *th = &st->thread[t];

		memcpy(w + n, th, offsetof(struct thread, buf));
		n += offsetof(struct thread, buf) / sizeof(*w);
		memcpy(w + n, th->buf, th->nbuf * sizeof(*th->buf));
		n += th->nbuf * sizeof(*th->buf) / sizeof(*w);
	}
	return n;
}

static uint32_t keep(const struct search *s, struct kl_intern *in, const struct state *st)
{
	uint64_t w[sizeof(*st) / sizeof(uint64_t)];

	return number(kl_intern(in, w, words(s, st, w)));
}

static void get(const struct search *s, const struct kl_intern *in, uint32_t id, struct state *st)
{
	const uint64_t *w;
	size_t n;
	int t;

	w = kl_intern_get(in, id, &n);
	memset(st, 0, sizeof(*st));
	st->set = *w++;
	st->nobj = *w++;
	memcpy(st->mem, w, sizeof(st->mem));
	w += MEM;
	for (t = 0; t < s->p->nthreads; t++) {
		struct thread *th = &st->thread[t];

		memcpy(th, w, offsetof(struct thread, buf));
		w += offsetof(struct thread, buf) / sizeof(*w);
		memcpy(th->buf, w, th->nbuf * sizeof(*th->buf));
		w += th->nbuf * sizeof(*th->buf) / sizeof(*w);
	}
}

static void push(struct thread *th, uint64_t kind, uint64_t addr, uint64_t val)
{
	if (th->nbuf == BUF)
		abort();
	th->buf[th->nbuf++] = (struct entry){ kind, addr, val, 0 };
}

static uint64_t look(const struct state *st, const struct thread *th, uint64_t addr)
{
	uint64_t i, v = st->mem[addr];

	for (i = 0; i < th->nbuf; i++)
		if (th->buf[i].kind == ENTRY && th->buf[i].addr == addr)
			v = th->buf[i].val;
	return v;
}

/* Return: the index of a field's word in memory, or -1 if there is no such object. */
static int64_t field(const struct state *st, uint64_t ptr, int c)
{
	return ptr >= PTR && ptr < PTR + st->nobj ? (int64_t)(N_VARS + 2 * (ptr - PTR) + c) : -1;
}

static bool local(enum n_op op)
{
	return op == N_CONST || op == N_MOV || op == N_INC || op == N_JMP || op == N_JEQ ||
	       op == N_JNE || op == N_JODD;
}

enum result { DONE, WAITS, FAULTS };

/* Run one instruction other than N_BEGIN, N_END, N_RET; @direct: stores go to memory. */
static enum result insn(struct state *st, struct thread *th, const struct n_insn *i, bool direct)
{
	uint64_t *r = th->reg;
	int64_t at;

	th->pc++;
	switch (i->op) {
	case N_LD:
		r[i->o[0]] = look(st, th, i->o[1]);
		break;
	case N_ST:
		if (direct)
			st->mem[i->o[0]] = r[i->o[1]];
		else
			push(th, ENTRY, i->o[0], r[i->o[1]]);
		break;
	case N_LDF:
	case N_STF:
		at = field(st, r[i->o[1]], i->o[2]);
		if (at < 0)
			return FAULTS;
		if (i->op == N_LDF)
			r[i->o[0]] = look(st, th, at);
		else if (direct)
			st->mem[at] = r[i->o[0]];
		else
			push(th, ENTRY, at, r[i->o[0]]);
		break;
	case N_NEW:
		if (st->nobj == OBJECTS)
			abort();
		r[i->o[0]] = PTR + st->nobj++;
		break;
	case N_CONST:
		r[i->o[0]] = i->o[1];
		break;
	case N_MOV:
		r[i->o[0]] = r[i->o[1]];
		break;
	case N_INC:
		r[i->o[0]] += i->o[1];
		break;
	case N_ASSUME0:
		return r[i->o[0]] ? WAITS : DONE;
	case N_JMP:
		th->pc = i->o[0];
		break;
	case N_JEQ:
	case N_JNE:
		if ((r[i->o[1]] == r[i->o[2]]) == (i->op == N_JEQ))
			th->pc = i->o[0];
		break;
	case N_JODD:
		if (r[i->o[1]] & 1)
			th->pc = i->o[0];
		break;
	case N_ASSERT:
		return r[i->o[0]] == r[i->o[1]] ? DONE : FAULTS;
	default:
		abort();
	}
	return DONE;
}

/* Run one step of a thread that is in a method and not at its N_RET. */
static enum result step(const struct search *s, struct state *st, struct thread *th)
{
	const struct n_method *m = &s->methods[th->method - 1];
	const struct n_insn *i = &m->code[th->pc];
	enum result r = DONE;
	uint64_t first, k;
	bool direct;

	if (i->op == N_FENCE) {
		th->pc++;
		return th->nbuf ? WAITS : DONE;
	}
	if (i->op == N_BEGIN) {
		direct = i->o[0] || s->p->sc;
		if (i->o[0] && th->nbuf)
			return WAITS;
		first = th->nbuf;
		for (th->pc++; r == DONE && m->code[th->pc].op != N_END;)
			r = insn(st, th, &m->code[th->pc], direct);
		th->pc++;
		for (k = first; k + 1 < th->nbuf; k++)
			th->buf[k].more = 1;
	} else {
		r = insn(st, th, i, s->p->sc);
	}
	while (r == DONE && local(m->code[th->pc].op))
		r = insn(st, th, &m->code[th->pc], false);
	return r;
}

static void call(const struct search *s, struct state *st, int t, int method, uint64_t arg)
{
	struct thread *th = &st->thread[t];

	th->ops++;
	th->method = 1 + method;
	th->reg[R_V] = arg;
	while (local(s->methods[method].code[th->pc].op))
		insn(st, th, &s->methods[method].code[th->pc], false);
	if (!s->p->sc)
		push(th, CALL, 0, 0);
}

/* Return: the result of a thread at its N_RET.  The thread leaves its method. */
static uint64_t leave(const struct search *s, struct thread *th)
{
	const struct n_insn *i = &s->methods[th->method - 1].code[th->pc];
	uint64_t v = i->o[0] >= 0 ? th->reg[i->o[0]] : 0;

	th->method = th->pc = 0;
	memset(th->reg, 0, sizeof(th->reg));
	if (!s->p->sc)
		push(th, RET, 0, 0);
	return v;
}

static void drop(struct thread *th, uint64_t n)
{
	th->nbuf -= n;
	memmove(th->buf, th->buf + n, th->nbuf * sizeof(*th->buf));
	memset(th->buf + th->nbuf, 0, n * sizeof(*th->buf));
}

static void flush(struct state *st, struct thread *th)
{
	uint64_t n = 0;

	do {
		st->mem[th->buf[n].addr] = th->buf[n].val;
	} while (th->buf[n++].more);
	drop(th, n);
}

/* ---- the specification ------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Add all specification states that internal steps reach from the states of @set. */
static void close_set(struct search *s, struct kl_intern *set)
{
	struct state st, next;
	const uint64_t *w;
	size_t i, n;
	int t;

	s->methods = s->p->spec;
	for (i = 0; i < set->n; i++) {
		w = kl_intern_get(set, i, &n);
		get(s, &s->specs, *w, &st);
		for (t = 0; t < s->p->nthreads; t++) {
			struct thread *th = &next.thread[t];
			uint64_t id;

			next = st;
			if (th->method && s->methods[th->method - 1].code[th->pc].op != N_RET &&
			    step(s, &next, th) == DONE) {
				id = keep(s, &s->specs, &next);
				number(kl_intern(set, &id, 1));
			}
			next = st;
			if (th->nbuf && th->buf[0].kind == ENTRY) {
				flush(&next, th);
				id = keep(s, &s->specs, &next);
				number(kl_intern(set, &id, 1));
			}
		}
	}
	s->methods = s->p->impl;
}

/* Close @set, and append its number to s->after, as the result of the newest element of memo. */
static uint32_t after(struct search *s, struct kl_intern *set)
{
	uint32_t id;

	close_set(s, set);
	if (set->n)
		qsort(set->words, set->n, sizeof(*set->words), by_number);
	id = number(kl_intern(&s->sets, set->words, set->n));
	kl_intern_free(set);
	if (s->nafter == s->cafter) {
		s->cafter = s->cafter ? 2 * s->cafter : 64;
		s->after = need(realloc(s->after, s->cafter * sizeof(*s->after)));
	}
	s->after[s->nafter++] = id;
	return id;
}

/* Return: the number of the specification's set after an event; 0 is the empty set. */
static uint32_t spec_event(struct search *s, uint32_t set, const struct event *e)
{
	uint64_t key[] = { set, e->kind, e->thread, e->method, e->val };
	struct kl_intern next = { 0 };
	struct state st;
	struct thread *th = &st.thread[e->thread];
	uint64_t id = number(kl_intern(&s->memo, key, 5));
	const size_t n = s->sets.at[set + 1] - s->sets.at[set];
	size_t i;

	if (id < s->nafter)
		return s->after[id];
	s->methods = s->p->spec;
	for (i = 0; i < n; i++) {
		get(s, &s->specs, s->sets.words[s->sets.at[set] + i], &st);
		if (e->kind == CALL) {
			call(s, &st, e->thread, e->method, e->val);
		} else if (e->kind == RET) {
			if (s->methods[th->method - 1].code[th->pc].op != N_RET ||
			    leave(s, th) != e->val)
				continue;
		} else {
			if (!th->nbuf || th->buf[0].kind != e->kind - 2)
				continue;
			drop(th, 1);
		}
		id = keep(s, &s->specs, &st);
		number(kl_intern(&next, &id, 1));
	}
	return after(s, &next);
}

/* ---- the search ---------------------------------------------------------------- */

static void wrong(struct search *s, unsigned int what)
{
	s->wrong |= what;
	s->nwrong++;
}

/* Record an event of a run.  Return: false if no history of the specification has it. */
static bool happens(struct search *s, struct state *st, uint64_t kind, int t, int method,
		    uint64_t val)
{
	const struct event e = { kind, t, method, val };

	st->set = spec_event(s, st->set, &e);
	if (!st->set)
		wrong(s, N_NOT_LINEARIZABLE);
	return st->set;
}

static void reached(struct search *s, uint32_t from, const struct state *st)
{
	if (s->nedges == s->cedges) {
		s->cedges = s->cedges ? 2 * s->cedges : 1024;
		s->edge = need(realloc(s->edge, s->cedges * sizeof(*s->edge)));
	}
	s->edge[s->nedges][0] = from;
	s->edge[s->nedges++][1] = keep(s, &s->states, st);
}

/* Try all calls.  Arguments are the given values, or a fresh number if data matters. */
static void calls(struct search *s, uint32_t from, const struct state *st, int t)
{
	const struct n_program *p = s->p;
	struct state next;
	uint64_t v;
	int m, k;

	for (m = 0; m < 2; m++) {
		for (k = 0; p->may[t] >> m & 1 && k < (p->impl[m].has_arg && !p->data ?
						       p->nvalues : 1); k++) {
			next = *st;
			v = !p->impl[m].has_arg ? 0 : !p->data ? (uint64_t)p->values[k] :
			    DATA + t * p->ops + st->thread[t].ops;
			call(s, &next, t, m, v);
			if (happens(s, &next, CALL, t, m, v))
				reached(s, from, &next);
		}
	}
}

static void expand(struct search *s, uint32_t id)
{
	const size_t nwrong = s->nwrong;
	const size_t before = s->nedges;
	struct state st, next;
	bool over = true;
	uint64_t m, v;
	int t;

	get(s, &s->states, id, &st);
	for (t = 0; t < s->p->nthreads; t++) {
		struct thread *th = &next.thread[t];

		next = st;
		m = th->method;
		over &= !m && th->ops == (uint64_t)s->p->ops && !th->nbuf;
		if (!m && th->ops < (uint64_t)s->p->ops) {
			calls(s, id, &st, t);
		} else if (m && s->methods[m - 1].code[th->pc].op == N_RET) {
			v = leave(s, th);
			if (happens(s, &next, RET, t, m - 1, v))
				reached(s, id, &next);
		} else if (m) {
			enum result r = step(s, &next, th);

			if (r == DONE)
				reached(s, id, &next);
			else if (r == FAULTS)
				wrong(s, N_FAULT);
		}
		next = st;
		if (th->nbuf && th->buf[0].kind == ENTRY) {
			flush(&next, th);
			reached(s, id, &next);
		} else if (th->nbuf) {
			m = th->buf[0].kind + 2;
			drop(th, 1);
			if (happens(s, &next, m, t, 0, 0))
				reached(s, id, &next);
		}
	}
	if (id >= s->cends) {
		s->ends = need(realloc(s->ends, 2 * (id + 1)));
		memset(s->ends + s->cends, 0, 2 * (id + 1) - s->cends);
		s->cends = 2 * (id + 1);
	}
	s->ends[id] = over;
	/* A state with another fault counts as one that can end. */
	s->ends[id] |= s->nwrong != nwrong;
	if (!s->ends[id] && s->nedges == before) {
		s->ends[id] = true;
		s->wrong |= N_DEADLOCK;
	}
}

/* Report N_ENDLESS if no end can be reached from some state. */
static void check_ends(struct search *s)
{
	bool more = true;
	size_t i;

	while (more) {
		more = false;
		for (i = s->nedges; i--;) {
			if (s->ends[s->edge[i][0]] || !s->ends[s->edge[i][1]])
				continue;
			s->ends[s->edge[i][0]] = more = true;
		}
	}
	for (i = 0; i < s->states.n; i++)
		if (!s->ends[i])
			s->wrong |= N_ENDLESS;
}

unsigned int naive_check(const struct n_program *p, size_t max_states, size_t *states)
{
	struct search s = { .p = p, .methods = p->impl };
	struct kl_intern first = { 0 };
	struct state st = { 0 };
	uint64_t id = keep(&s, &s.specs, &st);
	size_t i;

	number(kl_intern(&s.sets, NULL, 0));
	/* The first element of memo stands for no event and leads to the first set. */
	number(kl_intern(&s.memo, &id, 1));
	number(kl_intern(&first, &id, 1));
	st.set = after(&s, &first);
	keep(&s, &s.states, &st);
	for (i = 0; i < s.states.n && i < max_states; i++)
		expand(&s, i);
	if (i < s.states.n) {
		s.wrong = N_TOO_LARGE;
	} else {
		check_ends(&s);
	}
	*states = s.states.n;
	kl_intern_free(&s.states);
	kl_intern_free(&s.specs);
	kl_intern_free(&s.sets);
	kl_intern_free(&s.memo);
	free(s.after);
	free(s.edge);
	free(s.ends);
	return s.wrong;
}
