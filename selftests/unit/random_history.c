// SPDX-License-Identifier: GPL-2.0
/* Small random histories, see random_history.h. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "tso/machine/machine.h"
#include "random_history.h"

#define MAX_OPS		16
#define MAX_STATE	256
/* upper bound of most times; it is small, so that ties are frequent */
#define HORIZON		24
#define MAX_SKEW	4
#define WISHES		8
/* most unknown arguments of a history; each of them may be any index of an array */
#define MAX_UNKNOWN	2

struct rop {
	unsigned int method, thread;
	uint64_t call, point, ret, flush;
	/* time at which all stores of its thread up to this operation are flushed */
	uint64_t empty;
	struct kl_val args[KL_MAX_ARGS], res[KL_MAX_ARGS];
	bool done;		/* it has taken effect */
	bool wrote;
};

/* A run of the specification in which each operation has a random outcome. */
struct world {
	const struct kl_spec *spec;
	const struct random_config *c;
	struct kl_run *run;
	uint64_t *seed;
	/* not TSO: the states after and before the operation */
	struct kl_val state[MAX_STATE], old[MAX_STATE];
	size_t len, old_len;
	struct kl_machine m, before;	/* TSO: the machines after and before the operation */
	struct kl_val *view;
	size_t cview;
	struct rop *fifo[MAX_OPS];	/* stores in buffers, in order of execution */
	size_t nfifo;
	/* The current operation. */
	const struct kl_method *method;
	struct rop *op;
	unsigned int n;
};

static uint64_t below(struct world *w, uint64_t n)
{
	return kl_rand_below(w->seed, n);
}

/* Choose a random outcome by reservoir sampling. */
static int pick_outcome(void *ctx, const struct kl_outcome *o)
{
	struct world *w = ctx;

	if (w->c->tso && o->barrier && kl_machine_oldest(&w->before, w->op->thread) >= 0)
		return 0;
	if (below(w, ++w->n))
		return 0;
	memcpy(w->op->res, o->results, w->method->nresults * sizeof(*o->results));
	if (w->c->tso) {
		assert(!kl_machine_copy(&w->m, &w->before));
		assert(kl_machine_exec(&w->m, o, w->op->thread, KL_NO_OP) >= 0);
		w->op->wrote = o->nwrote && !o->through;
	} else {
		assert(o->len <= MAX_STATE);
		memcpy(w->state, o->state, o->len * sizeof(*o->state));
		w->len = o->len;
	}
	return 0;
}

static bool apply(struct world *w, const struct kl_val *res)
{
	size_t len = w->old_len;

	if (w->c->tso) {
		assert(!kl_machine_view(&w->before, w->op->thread, &w->view, &w->cview, &len));
		kl_run_set_fresh(w->run, kl_machine_next_unknown(&w->before));
	}
	w->n = 0;
	assert(!kl_run_apply(w->run, w->c->tso ? w->view : w->old, len, w->op->method,
			     w->op->args, res, pick_outcome, w));
	return w->n;
}

/* Fill @wish with the results; some word replaces each unknown one.  Return: true if one was. */
static bool make_wish(struct world *w, struct kl_val *wish, unsigned int tries)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < w->method->nresults; i++) {
		wish[i] = w->op->res[i];
		if (wish[i].tag != KL_ANY)
			continue;
		wish[i] = kl_word(below(w, w->method->results[i].type == KL_T_BOOL ? 2 :
					w->c->values + tries));
		any = true;
	}
	return any;
}

/*
 * Let the operation take effect; results that the specification leaves open get some allowed
 * value.
 */
static void take_effect(struct world *w, struct rop *op)
{
	struct kl_val wish[KL_MAX_ARGS];
	unsigned int tries;

	w->op = op;
	w->method = kl_spec_method(w->spec, op->method);
	memcpy(w->old, w->state, w->len * sizeof(*w->state));
	w->old_len = w->len;
	if (w->c->tso)
		assert(!kl_machine_copy(&w->before, &w->m));
	op->done = apply(w, NULL);
	/* If the wish is not an allowed result, the previous outcome remains. */
	for (tries = 0; op->done && tries < WISHES && make_wish(w, wish, tries); tries++)
		apply(w, wish);
	if (!op->done || !make_wish(w, wish, 0))
		return;
	/*
	 * An open result would remain in the state, but a real history has a value; so undo the
	 * operation.
	 */
	op->done = false;
	memcpy(w->state, w->old, w->old_len * sizeof(*w->old));
	w->len = w->old_len;
	if (w->c->tso)
		assert(!kl_machine_copy(&w->m, &w->before));
}

/* Flush the oldest entry of @thread at @time. */
static bool flush_oldest(struct world *w, unsigned int thread, uint64_t time)
{
	size_t k;

	for (k = 0; k < w->nfifo; k++) {
		if (w->fifo[k]->thread != thread)
			continue;
		w->fifo[k]->flush = time;
		assert(kl_machine_flush(&w->m, thread));
		memmove(w->fifo + k, w->fifo + k + 1, (--w->nfifo - k) * sizeof(*w->fifo));
		return true;
	}
	return false;
}

static void flush_some(struct world *w, const struct rop *op)
{
	const struct kl_method *method = kl_spec_method(w->spec, op->method);

	while (!below(w, 3))
		flush_oldest(w, below(w, w->c->threads), op->point);
	/* Usually empty the buffer for an operation that needs it empty. */
	while (method->barrier && below(w, 8) && flush_oldest(w, op->thread, op->point))
		;
}

static void random_args(struct world *w, struct rop *op)
{
	const struct kl_method *m;
	unsigned int i;

	op->method = below(w, kl_spec_nmethods(w->spec));
	m = kl_spec_method(w->spec, op->method);
	for (i = 0; i < m->nparams; i++)
		op->args[i] = kl_word(below(w, m->params[i].type == KL_T_BOOL ? 2 : w->c->values));
}

/* Set the first state; variables without an initial value get one. */
static void begin(struct world *w, bool fresh)
{
	const struct kl_val *first = kl_run_init(w->run, true, &w->len);
	unsigned int n;
	size_t i;

	assert(first && w->len <= MAX_STATE);
	for (i = 0; i < w->len; i++) {
		w->state[i] = first[i];
		if (first[i].tag == KL_ANY && kl_spec_fixed_size(w->spec))
			w->state[i] = kl_word(below(w, 2));
	}
	if (w->c->tso) {
		assert(!kl_machine_init(&w->m, w->len) && !kl_machine_init(&w->before, w->len));
		memcpy(w->m.mem, w->state, w->len * sizeof(*w->state));
		kl_run_set_raw(w->run, true);
	}
	/* Unless the object is fresh, unrecorded operations change the first state. */
	for (n = fresh ? 0 : below(w, 4); n; n--) {
		struct rop op = { .thread = 0 };

		random_args(w, &op);
		take_effect(w, &op);
		while (w->c->tso && kl_machine_flush(&w->m, 0))
			;
	}
}

static int by_point(const void *a, const void *b)
{
	const struct rop *const *x = a, *const *y = b;

	if ((*x)->point != (*y)->point)
		return (*x)->point < (*y)->point ? -1 : 1;
	/* A thread's earlier operation comes first in the array. */
	return *x < *y ? -1 : *x > *y;
}

/* Let the operations take effect in the order of their points; impossible ones have no effect. */
static void run_all(struct world *w, struct rop *ops, size_t n)
{
	struct rop *order[MAX_OPS];
	size_t i, k;

	for (i = 0; i < n; i++)
		order[i] = &ops[i];
	qsort(order, n, sizeof(*order), by_point);
	for (i = 0; i < n; i++) {
		if (w->c->tso)
			flush_some(w, order[i]);
		take_effect(w, order[i]);
		if (order[i]->done && order[i]->wrote)
			w->fifo[w->nfifo++] = order[i];
	}
	for (k = 0; k < w->nfifo; k++)
		w->fifo[k]->flush = KL_TIME_MAX;
	/* A buffer is empty at the time at which its last store is flushed. */
	for (i = 0; i < n; i++) {
		order[i]->empty = order[i]->point;
		for (k = 0; k <= i; k++)
			if (order[k]->thread == order[i]->thread && order[k]->done &&
			    order[k]->wrote && order[k]->flush > order[i]->empty)
				order[i]->empty = order[k]->flush;
	}
}

/* Create each thread's operations in the order of their calls, each with its point inside. */
static size_t lay_out(struct world *w, struct rop *ops)
{
	size_t n = 0, max = 1 + below(w, w->c->max_ops);
	unsigned int thread;

	for (thread = 0; thread < w->c->threads; thread++) {
		uint64_t t = below(w, HORIZON / 3);

		while (n < max && t < HORIZON && below(w, 5)) {
			struct rop *op = &ops[n++];

			memset(op, 0, sizeof(*op));
			op->thread = thread;
			random_args(w, op);
			op->call = t;
			op->point = t + below(w, 5);
			op->ret = op->point + below(w, 5);
			if (w->c->overlap && !below(w, 2))
				t += below(w, 5);
			else
				t = op->ret + below(w, 4);
			/*
			 * Calls of one thread never tie, since only their order distinguishes them.
			 */
			if (t == op->call)
				t++;
		}
	}
	return n;
}

static void falsify_one(struct world *w, struct rop *ops, size_t n)
{
	struct rop *op = &ops[below(w, n)], *other = &ops[below(w, n)];
	const struct kl_method *m = kl_spec_method(w->spec, op->method);
	unsigned int k;

	if (!m->nresults)
		return;
	k = below(w, m->nresults);
	if (m->results[k].type == KL_T_BOOL)
		op->res[k] = kl_word(!op->res[k].v);
	else if (below(w, 2) && kl_spec_method(w->spec, other->method)->nresults)
		op->res[k] = other->res[0];
	else
		op->res[k] = kl_word(below(w, w->c->values));
}

/* Records a run with some information removed. */
struct recorder {
	struct kl_history *h;
	uint64_t base, skew[MAX_OPS];
	bool lose;
	unsigned int unknown;	/* number of unknown arguments so far */
};

/* Return: the time on the clock of @thread's CPU. */
static uint64_t shown(const struct recorder *r, unsigned int thread, uint64_t time)
{
	return time == KL_TIME_MAX ? time : r->base + r->skew[thread] + time;
}

static void set_clocks(struct world *w, struct recorder *r)
{
	static const uint64_t errors[] = { 0, 0, 0, 0, 1, 2, 3, 30, KL_TIME_MAX - 1, KL_TIME_MAX };
	struct kl_history *h = r->h;
	unsigned int i;

	h->error = errors[below(w, w->c->far ? 10 : 7)];
	for (i = 0; i < w->c->threads && w->c->clocks; i++)
		r->skew[i] = below(w, (h->error < MAX_SKEW ? h->error : MAX_SKEW) + 1);
}

/* Sometimes move the history to the largest possible times. */
static void push_to_end(struct world *w, const struct rop *ops, size_t n, struct recorder *r)
{
	uint64_t last = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t t = ops[i].ret;

		if (w->c->tso && ops[i].wrote && ops[i].flush != KL_TIME_MAX && ops[i].flush > t)
			t = ops[i].flush;
		t += r->skew[ops[i].thread];
		last = t > last ? t : last;
	}
	if (w->c->far && below(w, 2))
		r->base = KL_TIME_MAX - 1 - last - below(w, 4);
}

static void record_op(struct world *w, struct recorder *r, struct rop *rop)
{
	const struct kl_method *m = kl_spec_method(w->spec, rop->method);
	struct kl_history *h = r->h;
	struct kl_op op = {
		.call = shown(r, rop->thread, rop->call), .ret = shown(r, rop->thread, rop->ret),
		.thread = kl_history_thread(h, rop->thread), .object = kl_history_object(h, 0),
		.cpu = rop->thread,
	};
	const struct kl_opsig s = {
		.method = kl_history_method(h, m->name, strlen(m->name)),
		.nargs = m->nparams,
		.nres = m->nresults,
	};
	bool stored = rop->done && rop->wrote;
	uint64_t drain = KL_TIME_MAX;
	uint64_t empty = w->c->drains ? rop->empty : stored ? rop->flush : KL_TIME_MAX;
	unsigned int k;

	if (!rop->done || !below(w, 8)) {
		op.ret = KL_TIME_MAX;
		op.flags = KL_OP_PENDING;
	} else if (r->lose && !below(w, 3)) {
		struct kl_gap g = {
			.from = op.call, .to = op.ret, .lost = 1, .cpu = op.cpu,
			.object = KL_ALL_OBJECTS,
		};

		assert(!kl_history_add_gap(h, &g));
		return;
	} else if (w->c->tso && empty != KL_TIME_MAX && below(w, 2)) {
		drain = shown(r, rop->thread, empty > rop->ret ? empty : rop->ret);
	}
	if (w->c->unknown && !below(w, 12)) {
		op.call = KL_TIME_MIN;
		op.flags |= KL_OP_NOCALL;
	}
	for (k = 0; k < m->nparams; k++)
		if (w->c->unknown && r->unknown < MAX_UNKNOWN && !below(w, 12)) {
			rop->args[k] = kl_special(KL_ANY);
			r->unknown++;
		}
	for (k = 0; k < m->nresults; k++)
		if (!below(w, 16) || rop->res[k].tag == KL_ANY)
			rop->res[k] = kl_special(KL_ANY);
	assert(!kl_history_add(h, &op, &s, rop->args, rop->res));
	assert(!kl_history_set_points(h, h->nops - 1, KL_TIME_MAX, drain));
}

struct kl_history *random_history(const struct kl_spec *spec, const struct random_config *c,
				  uint64_t *seed, bool *falsified)
{
	struct world w = { .spec = spec, .c = c, .seed = seed };
	struct recorder r = { .h = kl_history_new() };
	struct rop ops[MAX_OPS];
	size_t n, i;

	w.run = kl_run_new(spec);
	assert(w.run && r.h && c->max_ops < MAX_OPS && c->threads <= MAX_OPS);
	r.h->fresh = below(&w, 4);
	r.lose = c->gaps && !below(&w, 3);
	n = lay_out(&w, ops);
	begin(&w, r.h->fresh);
	run_all(&w, ops, n);
	*falsified = below(&w, 2);
	for (i = 0; *falsified && n && i < 1 + below(&w, 2); i++)
		falsify_one(&w, ops, n);
	set_clocks(&w, &r);
	push_to_end(&w, ops, n, &r);
	for (i = 0; i < n; i++)
		record_op(&w, &r, &ops[i]);
	assert(!kl_history_finish(r.h));
	if (c->tso) {
		kl_machine_free(&w.m);
		kl_machine_free(&w.before);
	}
	free(w.view);
	kl_run_free(w.run);
	return r.h;
}
