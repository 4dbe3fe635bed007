// SPDX-License-Identifier: GPL-2.0
/*
 * One pass over the operations, in order of call.  It finds the kind of each operation and the
 * number of its value, and puts all calls and returns in one order, see loglinear.h.  Open
 * operations wait in order of return, so that nothing is sorted.  Where thousands of operations
 * overlap that costs too much, and the returns are sorted.
 *
 * With `strict' the clock has no error, and at equal times a thread's return comes before its next
 * call.  This order contains every pair that is certainly ordered, and maybe more.  So an order
 * that fits these events is an order of the history, but if there is none, the history may have
 * one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "base/sort.h"
#include "check/loglinear/value_scan.h"
#include "check/loglinear/return_queue.h"
#include "check/loglinear/words.h"

#define BLOCK		128	/* operations whose words are looked up together */
/* moves of waiting returns, for each operation, after which all returns are sorted instead */
#define MOVES		16
#define FIRST_WAIT	1024	/* waiting returns that are allocated first */
#define TOGETHER	1024	/* events that are processed together */
#define LOOKS		8	/* returns at the time of a call that may_be_tied() looks at */

struct timeline {
	struct loglinear *m;
	struct ll_scan eye;
	uint32_t *ev;		/* where the next entry of m->ev goes; NULL if none is wanted */
	uint32_t *calls;	/* m->call, or NULL */
	bool again;		/* this is a second pass, only for m->ev */
	const struct kl_op *ops;
	const uint32_t *list;	/* indices of the partition's operations; NULL: all */
	struct ll_words words;
	uint8_t *roles;		/* enum kl_role of each method */
	uint32_t numbered;	/* number of operations whose values have numbers, or need none */
	uint32_t nothers;	/* of these, operations without a word */
	uint64_t error;		/* error of the clock; 0 with strict times */
	/* Returns of open operations, wait[head] .. wait[tail - 1]; see return_queue.h. */
	uint64_t *wait;
	uint32_t *event;
	size_t head, tail, cwait, cevent;
	uint64_t moves;		/* entries that open_add() has moved */
	bool sorted;		/* @wait already holds all returns to come */
	/*
	 * For put_run(), by thread: 2 * @run if it returns at the time of the run, + 1 if it also
	 * has a call then.  @run: number of runs so far.
	 */
	uint32_t *mark, run;
	char *reason;
	size_t size;
};

static inline const struct kl_op *op_of(const struct timeline *t, uint32_t item)
{
	return &t->ops[t->list ? t->list[item] : item];
}

/*
 * Classify an operation whose value is not a word.  Return: 1, or 0 if the monitors cannot
 * decide the history, or -ENOMEM.
 */
static int special(struct timeline *t, uint32_t item, enum kl_role role, struct kl_val v,
		   bool pending)
{
	struct loglinear *m = t->m;

	if (role == KL_ROLE_ADD) {
		snprintf(t->reason, t->size, "a value that is added is not a known word");
		return 0;
	}
	if (pending && role == KL_ROLE_REMOVE) {
		m->op[item] = ll_op(LL_UNKNOWN, 0);
		m->nwild++;
		return 1;
	}
	if (pending || (v.tag == KL_ANY && role == KL_ROLE_PEEK)) {
		m->op[item] = ll_op(pending ? LL_NOTHING : LL_FREE, 0);
		m->nfree += !pending;
		return 1;
	}
	if (v.tag == KL_EMPTY && m->c.kind != KL_CONTAINER_REGISTER) {
		m->op[item] = ll_op(LL_EMPTY, 0);
		return kl_grow(m->cut, m->ccuts, ++m->nempty) ? -ENOMEM : 1;
	}
	if (v.tag == KL_ANY) {
		m->op[item] = ll_op(LL_UNKNOWN, 0);
		m->nunknown++;
		return 1;
	}
	snprintf(t->reason, t->size, "a result that no container allows");
	return 0;
}

static int no_role(struct timeline *t, unsigned int method)
{
	snprintf(t->reason, t->size, "method %s is not one of a %s", t->m->s->h->methods[method],
		 kl_container_name(t->m->c.kind));
	return 0;
}

static inline uint32_t op_word(enum kl_role role, uint32_t number)
{
	static const enum ll_kind kinds[] = {
		[KL_ROLE_ADD] = LL_ADD,
		[KL_ROLE_REMOVE] = LL_REMOVE,
		[KL_ROLE_PEEK] = LL_PEEK,
	};

	return ll_op(kinds[role], number);
}

/* Operations whose values get numbers together. */
struct block {
	uint32_t n;
	uint8_t role[BLOCK];
	struct kl_val v[BLOCK];
	uint64_t hash[BLOCK];	/* hash of each word that is not looked up directly */
};

static int number_op(struct timeline *t, const struct block *b, uint32_t i)
{
	const uint32_t item = t->numbered + i;
	const struct kl_val v = b->v[i];
	struct loglinear *m = t->m;
	uint32_t number;

	if (m->peek_times.nth)
		ll_count_peeks(&m->peek_times, item, m->npeeks);
	if (v.tag != KL_WORD) {
		t->nothers++;
		return special(t, item, b->role[i], v, op_of(t, item)->flags & KL_OP_PENDING);
	}
	/* The word may be new. */
	ll_new_value(&m->v[t->words.n]);
	if (ll_words_number(&t->words, v.v, b->hash[i], &number))
		return -ENOMEM;
	/* The value's events come later than this prefetch takes. */
	__builtin_prefetch(&m->v[number], 1);
	m->op[item] = op_word(b->role[i], number);
	m->npeeks += b->role[i] == KL_ROLE_PEEK;
	return 1;
}

/*
 * Number the operations of a block from @i on, up to one whose word is not looked up directly.
 * Return: the index of the first operation that is left.
 */
static uint32_t number_direct(struct timeline *t, const struct block *b, uint32_t i)
{
	struct loglinear *m = t->m;
	struct ll_words words = t->words;	/* for the registers */
	struct ll_value *const values = m->v;
	uint32_t *const op = m->op + t->numbered;
	uint32_t number, npeeks = m->npeeks;

	for (; i < b->n && b->v[i].tag == KL_WORD && b->v[i].v < words.ndirect; i++) {
		if (m->peek_times.nth)
			ll_count_peeks(&m->peek_times, t->numbered + i, npeeks);
		ll_new_value(&values[words.n]);
		number = ll_words_direct(&words, b->v[i].v);
		__builtin_prefetch(&values[number], 1);
		op[i] = op_word(b->role[i], number);
		npeeks += b->role[i] == KL_ROLE_PEEK;
	}
	t->words.n = words.n;
	m->npeeks = npeeks;
	return i;
}

/*
 * Number the words of the next BLOCK operations.  They are looked up together, so that their cache
 * misses overlap.  Return: as special().
 */
static int number_block(struct timeline *t)
{
	const struct kl_opsig *const opsigs = t->m->s->h->opsigs;
	const struct kl_val *const vals = t->m->s->h->vals;
	const uint8_t *const roles = t->roles;
	const struct ll_words *const words = &t->words;
	const uint32_t from = t->numbered, left = t->m->nitems - from;
	uint32_t direct = 0, i;
	struct block b;
	int ret = 1;

	b.n = left < BLOCK ? left : BLOCK;
	for (i = 0; i < b.n; i++) {
		const struct kl_op *op = op_of(t, from + i);
		const struct kl_opsig s = opsigs[op->sig];
		struct kl_val v;

		__builtin_prefetch(op + BLOCK);
		b.role[i] = roles[s.method];
		/* An operation of another method may have no value at all. */
		if (b.role[i] == KL_ROLE_OTHER)
			return no_role(t, s.method);
		/* An addition's only value is its argument, any other's is its result. */
		b.v[i] = v = vals[s.vals];
		if (v.tag != KL_WORD)
			continue;
		if (v.v < words->ndirect)
			direct++;
		else
			b.hash[i] = ll_words_hash(v.v);
		ll_words_soon(words, v.v, b.hash[i]);
	}
	for (i = 0; i < b.n && words->table; i++)
		if (b.v[i].tag == KL_WORD)
			__builtin_prefetch(&t->m->v[ll_words_sooner(words, b.v[i].v, b.hash[i])],
					   1);
	for (i = 0; i < b.n && ret > 0; i++) {
		if (2 * direct > b.n)
			i = number_direct(t, &b, i);
		if (i < b.n)
			ret = number_op(t, &b, i);
	}
	t->numbered += b.n;
	t->eye.cut = t->m->cut;
	return ret;
}

static inline bool is_peek(const struct loglinear *m, uint32_t item)
{
	return ll_kind(m->op[item]) == LL_PEEK;
}

/* Process the next event. */
static inline void put(struct timeline *t, uint32_t event)
{
	if (t->ev)
		*t->ev++ = event;
	if (t->again)
		return;
	t->m->nev++;
	ll_scan_event(&t->eye, event);
	if (t->calls && !(event & 1))
		t->calls[event >> 1] = t->eye.time;
	if (t->m->peek_times.nth)
		*ll_any_time(&t->m->peek_times, event >> 1, event & 1, is_peek(t->m, event >> 1)) =
			t->eye.time;
}

/* Update values and times by @n events; @phases is a constant for the compiler. */
static inline __attribute__((always_inline))
void see_some(struct timeline *t, const uint32_t *event, uint32_t n, bool phases)
{
	uint32_t nowhere, *const times[2] = { t->calls, &nowhere };
	const uint32_t wanted[2] = { UINT32_MAX, 0 };
	/* Copies stay in registers, since no store can change them. */
	const struct ll_peek_times peeks = t->m->peek_times;
	struct ll_scan eye = t->eye, clock;
	uint32_t i;

	eye.each = !phases;
	eye.listed = !phases;
	clock = eye;
	for (i = 0; phases && peeks.nth && i < n; i++)
		*ll_any_time(&peeks, event[i] >> 1, event[i] & 1,
			     ll_kind(eye.op[event[i] >> 1]) == LL_PEEK) =
			ll_scan_time(&clock, event[i]);
	for (i = 0; !phases && t->calls && i < n; i++)
		times[event[i] & 1][event[i] >> 1 & wanted[event[i] & 1]] =
			ll_scan_time(&clock, event[i]);
	for (i = 0; i < n; i++)
		ll_scan_event(&eye, event[i]);
	t->eye = eye;
}

/* Process the next @n events, as put() does. */
static void put_some(struct timeline *t, const uint32_t *event, uint32_t n)
{
	if (t->ev) {
		memcpy(t->ev, event, n * sizeof(*event));
		t->ev += n;
	}
	if (t->again)
		return;
	t->m->nev += n;
	if (t->m->phases)
		see_some(t, event, n, true);
	else
		see_some(t, event, n, false);
}

/*
 * Move the waiting returns to arrays of @cap entries.  Entries before them get the time 0, and
 * entries behind them a time that never comes.
 */
static void move_open(struct timeline *t, uint64_t *wait, uint32_t *event, size_t cap)
{
	const size_t n = t->tail - t->head;
	size_t i;

	if (n) {
		memmove(wait + OPEN_NEAR, t->wait + t->head, n * sizeof(*wait));
		memmove(event + OPEN_NEAR, t->event + t->head, n * sizeof(*event));
	}
	t->head = OPEN_NEAR;
	t->tail = OPEN_NEAR + n;
	for (i = 0; i < OPEN_NEAR; i++)
		wait[i] = 0;
	for (i = t->tail; i < cap; i++)
		wait[i] = KL_TIME_MAX;
}

/* Make room for @more waiting returns, by growing or by moving the others to the front. */
static int make_room(struct timeline *t, size_t more)
{
	const size_t n = t->tail - t->head;
	int ret;

	if (t->tail + more + OPEN_NEAR < t->cwait)
		return 0;
	if (n + more + 2 * OPEN_NEAR > t->cwait / 2) {
		ret = kl_grow(t->wait, t->cwait, 2 * (n + more) + FIRST_WAIT) ?:
		      kl_grow(t->event, t->cevent, t->cwait);
		if (ret)
			return ret;
	}
	move_open(t, t->wait, t->event, t->cwait);
	return 0;
}

/* Too many operations overlap: sort the waiting returns and all those from @item on. */
static int sort_all(struct timeline *t, uint32_t item)
{
	const size_t open = t->tail - t->head, n = open + t->m->nitems - item;
	const size_t cap = n + 2 * OPEN_NEAR + 1;
	struct kl_key *k = kl_big_alloc(2 * n * sizeof(*k));
	uint64_t *wait = kl_big_alloc(cap * sizeof(*wait));
	uint32_t *event = kl_big_alloc(cap * sizeof(*event));
	size_t nk = 0, i;

	if (!k || !wait || !event) {
		free(k);
		free(wait);
		free(event);
		return -ENOMEM;
	}
	for (i = t->head; i < t->tail; i++)
		k[nk++] = (struct kl_key){ .key = t->wait[i], .val = t->event[i] };
	for (; item < t->m->nitems; item++) {
		const struct kl_op *op = op_of(t, item);

		if (op->ret != KL_TIME_MAX)
			k[nk++] = (struct kl_key){
				.key = kl_time_add(op->ret, t->error), .val = item << 1 | 1,
			};
	}
	kl_sort_keys(k, nk, k + n);
	t->head = t->tail = 0;
	move_open(t, wait, event, cap);
	for (i = 0; i < nk; i++) {
		wait[t->tail] = k[i].key;
		event[t->tail++] = k[i].val;
	}
	free(k);
	free(t->wait);
	free(t->event);
	t->wait = wait;
	t->event = event;
	t->cwait = t->cevent = cap;
	t->sorted = true;
	return 0;
}

/* Return: the operation whose return is entry @i of the queue. */
static inline const struct kl_op *waiting(const struct timeline *t, size_t i)
{
	return op_of(t, t->event[i] >> 1);
}

/* Mark the threads of operations that were called before @time and return at @time. */
static void mark_returns(struct timeline *t, uint64_t time)
{
	size_t i;

	t->run++;
	for (i = t->head; i < t->tail && t->wait[i] == time; i++)
		if (waiting(t, i)->call < time)
			t->mark[waiting(t, i)->thread] = 2 * t->run;
}

/*
 * Process the calls of the items @item .. @end - 1.  If @tied, only those of marked threads, which
 * also return then.  Else only the others, and mark these threads as having both.  Return: true if
 * @tied is not set and calls were left out.
 */
static int put_calls(struct timeline *t, uint32_t item, uint32_t end, bool tied)
{
	bool any = false;

	for (; item < end; item++) {
		uint32_t *mark = &t->mark[op_of(t, item)->thread];

		if ((*mark >> 1 == t->run) != tied)
			any |= !tied;
		else
			put(t, item << 1);
		if (!tied && *mark >> 1 == t->run)
			*mark |= 1;
	}
	return any;
}

/* Process the returns at @time of threads that also have a call then. */
static void put_returns(struct timeline *t, uint64_t time)
{
	size_t i, to, end = t->head;

	while (end < t->tail && t->wait[end] == time)
		end++;
	for (i = to = end; i-- > t->head; ) {
		const uint32_t event = t->event[i];

		if (t->mark[waiting(t, i)->thread] == 2 * t->run + 1 && waiting(t, i)->call < time)
			put(t, event);
		else
			t->event[--to] = event;
	}
	t->head = to;
}

/*
 * Process all calls at the same time as that of @item.  Some may come from threads that also return
 * then.  Return: the next item, @item if the monitors cannot decide the history, or -ENOMEM.
 */
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
			t->tail = open_add(t->wait, t->event, t->tail,
					   kl_time_add(op->ret, t->error), i << 1 | 1, &t->moves);
	}
	return ret ? (int64_t)ret : end;
}

/*
 * Return: true if the thread of @op may return from an earlier operation when it calls @op.  The
 * waiting returns begin at @wait.  After LOOKS of them the answer is true: put_run() looks at all.
 */
static inline bool may_be_tied(const struct timeline *t, const struct kl_op *op,
			       const uint64_t *wait, const uint32_t *event)
{
	unsigned int i;

	for (i = 0; wait[i] == op->call; i++) {
		const struct kl_op *o = op_of(t, event[i] >> 1);

		if (i == LOOKS || (o->thread == op->thread && o->call < op->call))
			return true;
	}
	return false;
}

/*
 * Move the returns before @time from the queue, from index *head on, to the end of @events, which
 * has @n entries.  Process @events first if it is full.  Return: the new number of entries.
 */
static __attribute__((noinline))
uint32_t put_before(struct timeline *t, size_t *head, uint64_t time, uint32_t *events, uint32_t n)
{
	uint32_t now;

	do {
		if (n > TOGETHER - OPEN_NEAR * (BLOCK + 2)) {
			put_some(t, events, n);
			n = 0;
		}
		now = open_before(t->wait + *head, time);
		open_copy(events + n, t->event + *head);
		n += now;
		*head += now;
	} while (now == OPEN_NEAR);
	return n;
}

/*
 * Process the items @i .. @end - 1, at most BLOCK, up to one whose thread may return when it calls.
 * Return: the next item.
 */
KL_NOT_VECTORIZED
static uint32_t sweep_block(struct timeline *t, uint32_t i, uint32_t end)
{
	/* This is enough for a block; put_before() makes room for more. */
	uint32_t events[TOGETHER], n = 0, now;
	const struct kl_op *const ops = t->ops;
	const uint32_t *const list = t->list;
	const uint64_t error = t->error;
	const bool sorted = t->sorted;
	uint64_t *const wait = t->wait;
	uint32_t *const event = t->event;
	size_t head = t->head, tail = t->tail;
	uint64_t moves = t->moves;

	for (; i < end; i++) {
		const struct kl_op *op = &ops[list ? list[i] : i];

		now = open_before(wait + head, op->call);
		open_copy(events + n, event + head);
		n += now;
		head += now;
		if (now == OPEN_NEAR) {
			size_t to = head;

			n = put_before(t, &to, op->call, events, n);
			head = to;
		}
		if (wait[head] == op->call && may_be_tied(t, op, wait + head, event + head))
			break;
		events[n++] = i << 1;
		if (op->ret != KL_TIME_MAX && !sorted)
			tail = open_add(wait, event, tail, kl_time_add(op->ret, error),
					i << 1 | 1, &moves);
	}
	put_some(t, events, n);
	t->head = head;
	t->tail = tail;
	t->moves = moves;
	return i;
}

static int sweep(struct timeline *t)
{
	const uint64_t most = MOVES * (uint64_t)t->m->nitems + FIRST_WAIT;
	uint32_t i, end;
	int64_t next;
	int ret;

	t->head = t->tail = OPEN_NEAR;
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
		put(t, t->event[t->head++]);
	return 1;
}

static int allocate(struct timeline *t)
{
	struct loglinear *m = t->m;
	const size_t n = (size_t)m->nitems + 1;

	m->op = kl_big_alloc(n * sizeof(*m->op));
	m->v = kl_big_alloc(n * sizeof(*m->v));
	if (!m->phases)
		m->ins = kl_big_alloc(2 * n * sizeof(*m->ins));
	t->roles = ll_roles(m->s);
	if (!m->op || !m->v || (!m->phases && !m->ins) || !t->roles)
		return -ENOMEM;
	return ll_words_init(&t->words, m->s->h, m->nitems);
}

static int list_wild(struct loglinear *m)
{
	uint32_t i, n = 0;

	m->wild = malloc(((size_t)m->nwild + 1) * sizeof(*m->wild));
	if (!m->wild)
		return -ENOMEM;
	for (i = 0; m->nwild && i < m->nitems; i++)
		if (ll_kind(m->op[i]) == LL_UNKNOWN && ll_pending(m, i))
			m->wild[n++] = i;
	return 1;
}

static void start(struct timeline *t, struct loglinear *m)
{
	t->m = m;
	t->ops = m->s->h->ops;
	t->list = m->s->ops;
	t->error = m->strict ? 0 : m->s->h->error;
	t->ev = m->ev;
	t->calls = t->again ? NULL : m->call;
	t->eye = ll_scan_begin(m);
}

static bool has_peeks(const struct timeline *t, const struct kl_history *h)
{
	size_t i;

	for (i = 0; i < h->nmethods; i++)
		if (h->arities[i] && t->roles[i] == KL_ROLE_PEEK)
			return true;
	return false;
}

/*
 * Allocate what will certainly be needed, so that the first pass can fill it.  An order of a
 * register needs events, since its words are often written again.  Stacks and priority queues
 * need the times of peeks.  An order of a queue with peeks needs the times of all calls.
 */
static int allocate_wanted(const struct timeline *t, struct loglinear *m)
{
	const bool order = m->s->h->error || !m->lim->no_witness;

	if (m->c.kind == KL_CONTAINER_REGISTER && order) {
		m->ev = kl_big_alloc((2 * (size_t)m->nitems + 1) * sizeof(*m->ev));
		return m->ev ? 0 : -ENOMEM;
	}
	if (m->c.kind == KL_CONTAINER_REGISTER || !(order || m->phases) || !has_peeks(t, m->s->h))
		return 0;
	return m->phases ? ll_alloc_peek_times(m) : ll_alloc_times(m, false);
}

/* Let pending peeks return at the end. */
static void end_peeks(struct loglinear *m)
{
	uint32_t i;

	for (i = 0; m->peek_times.nth && m->nev < 2 * m->nitems && i < m->nitems; i++)
		if (is_peek(m, i) && ll_pending(m, i))
			*ll_peek_time(&m->peek_times, i, true) = m->end - 1;
}

int ll_timeline(struct loglinear *m, char *reason, size_t size)
{
	struct timeline t = { .m = m, .reason = reason, .size = size };
	int ret;

	m->nitems = m->s->nops;
	ret = allocate(&t) ?: allocate_wanted(&t, m);
	if (!ret) {
		start(&t, m);
		ret = sweep(&t);
		ll_scan_end(&t.eye, m);
	}
	ll_words_close(&t.words);
	m->words = t.words.word;
	m->nwords = m->nvalues = t.words.n;
	free(t.roles);
	free(t.wait);
	free(t.event);
	free(t.mark);
	if (ret > 0) {
		end_peeks(m);
		m->again |= ll_settle(m) != m->nitems - t.nothers;
	}
	return ret > 0 ? list_wild(m) : ret;
}

int ll_events(struct loglinear *m)
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
	free(t.event);
	free(t.mark);
	return ret < 0 ? ret : 0;
}
