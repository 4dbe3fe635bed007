// SPDX-License-Identifier: GPL-2.0
/* Small random histories, see random_history.h. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "tso/machine.h"
#include "random_history.h"

#define MAX_OPS		16
#define HORIZON		24	/* times are below: ties are frequent */

struct rop {
	unsigned int method, thread;
	uint64_t call, point, ret, flush;
	struct kl_val args[KL_MAX_ARGS], res[KL_MAX_ARGS];
	bool done;		/* it took effect */
	bool wrote;
};

struct pick {
	uint64_t *seed;
	unsigned int n;
	struct kl_machine *m, *before;
	struct rop *op;
	const struct kl_method *method;
};

/* Reservoir sampling over the outcomes. */
static int pick_outcome(void *ctx, const struct kl_outcome *o)
{
	struct pick *p = ctx;

	if (o->barrier && kl_machine_oldest(p->before, p->op->thread) >= 0)
		return 0;
	if (kl_rand_below(p->seed, ++p->n))
		return 0;
	assert(!kl_machine_copy(p->m, p->before));
	assert(kl_machine_exec(p->m, o, p->op->thread, KL_NO_OP) >= 0);
	memcpy(p->op->res, o->results, p->method->nresults * sizeof(*o->results));
	p->op->wrote = o->nwrote && !o->through;
	return 0;
}

/* The same for specs whose state may grow. */
struct plain {
	uint64_t *seed;
	unsigned int n;
	struct kl_val state[256];
	size_t len;
	struct rop *op;
	const struct kl_method *method;
};

static int pick_plain(void *ctx, const struct kl_outcome *o)
{
	struct plain *p = ctx;

	if (kl_rand_below(p->seed, ++p->n))
		return 0;
	assert(o->len <= sizeof(p->state) / sizeof(*p->state));
	memcpy(p->state, o->state, o->len * sizeof(*o->state));
	p->len = o->len;
	memcpy(p->op->res, o->results, p->method->nresults * sizeof(*o->results));
	return 0;
}

static int by_point(const void *a, const void *b)
{
	const struct rop *const *x = a, *const *y = b;

	if ((*x)->point != (*y)->point)
		return (*x)->point < (*y)->point ? -1 : 1;
	/* A thread's operations are laid out one after the other. */
	return *x < *y ? -1 : *x > *y;
}

/* Take effect one by one at their points; what cannot stays without effect. */
static void run_plain(const struct kl_spec *spec, struct rop **order, size_t n, uint64_t *seed)
{
	struct kl_run *run = kl_run_new(spec);
	struct plain p = { .seed = seed };
	const struct kl_val *first;
	size_t i;

	first = kl_run_init(run, true, &p.len);
	memcpy(p.state, first, p.len * sizeof(*first));
	for (i = 0; i < n; i++) {
		struct kl_val before[256];

		memcpy(before, p.state, p.len * sizeof(*before));
		p.op = order[i];
		p.method = kl_spec_method(spec, p.op->method);
		p.n = 0;
		assert(!kl_run_apply(run, before, p.len, p.op->method, p.op->args, NULL,
				     pick_plain, &p));
		p.op->done = p.n;
	}
	kl_run_free(run);
}

/* The oldest entry of @thread leaves at @time; fifo is in the order of execution. */
static bool flush_oldest(struct kl_machine *m, struct rop **fifo, size_t *nf, unsigned int thread,
			 uint64_t time)
{
	size_t k;

	for (k = 0; k < *nf; k++) {
		if (fifo[k]->thread != thread)
			continue;
		fifo[k]->flush = time;
		assert(kl_machine_flush(m, thread));
		memmove(fifo + k, fifo + k + 1, (--*nf - k) * sizeof(*fifo));
		return true;
	}
	return false;
}

/* The same on TSO: between two executions entries leave at random. */
static void run_tso(const struct kl_spec *spec, const struct random_config *c,
		    struct rop **order, size_t n, uint64_t *seed)
{
	struct kl_run *run = kl_run_new(spec);
	struct kl_machine m, before;
	struct rop *fifo[MAX_OPS];
	size_t len, i, nf = 0, k;
	const struct kl_val *first = kl_run_init(run, true, &len);
	struct pick p = { .seed = seed, .m = &m, .before = &before };
	struct kl_val view[64];

	assert(!kl_machine_init(&m, len) && !kl_machine_init(&before, len));
	memcpy(m.mem, first, len * sizeof(*first));
	kl_run_set_raw(run, true);
	for (i = 0; i < n; i++) {
		const struct kl_method *method = kl_spec_method(spec, order[i]->method);

		while (!kl_rand_below(seed, 3))
			flush_oldest(&m, fifo, &nf, kl_rand_below(seed, c->threads),
				     order[i]->point);
		/* What needs an empty buffer mostly gets one. */
		while (method->barrier && kl_rand_below(seed, 8) &&
		       flush_oldest(&m, fifo, &nf, order[i]->thread, order[i]->point))
			;
		assert(!kl_machine_copy(&before, &m));
		kl_machine_view(&before, order[i]->thread, view);
		kl_run_set_fresh(run, kl_machine_next_unknown(&before));
		p.op = order[i];
		p.method = method;
		p.n = 0;
		assert(!kl_run_apply(run, view, len, p.op->method, p.op->args, NULL,
				     pick_outcome, &p));
		p.op->done = p.n;
		if (p.op->done && p.op->wrote)
			fifo[nf++] = p.op;
	}
	for (k = 0; k < nf; k++)
		fifo[k]->flush = KL_TIME_MAX;
	kl_run_free(run);
	kl_machine_free(&m);
	kl_machine_free(&before);
}

/* A thread's operations one after the other, each with its point inside. */
static size_t lay_out(const struct kl_spec *spec, const struct random_config *c, uint64_t *seed,
		      struct rop *ops)
{
	size_t n = 0, max = 1 + kl_rand_below(seed, c->max_ops);
	unsigned int thread, i;

	for (thread = 0; thread < c->threads; thread++) {
		uint64_t t = kl_rand_below(seed, HORIZON / 3);

		while (n < max && t < HORIZON && kl_rand_below(seed, 5)) {
			struct rop *op = &ops[n++];
			const struct kl_method *m;

			memset(op, 0, sizeof(*op));
			op->thread = thread;
			op->method = kl_rand_below(seed, kl_spec_nmethods(spec));
			m = kl_spec_method(spec, op->method);
			for (i = 0; i < m->nparams; i++)
				op->args[i] = kl_word(kl_rand_below(seed, m->params[i].type ==
								    KL_T_BOOL ? 2 : c->values));
			op->call = t;
			op->point = t + kl_rand_below(seed, 5);
			/* Calls of one thread never tie: only their order tells them apart. */
			op->ret = op->point + kl_rand_below(seed, 5);
			if (op->ret == op->call)
				op->ret++;
			t = op->ret + kl_rand_below(seed, 4);
		}
	}
	return n;
}

static void falsify(const struct kl_spec *spec, struct rop *op, const struct random_config *c,
		    uint64_t *seed)
{
	const struct kl_method *m = kl_spec_method(spec, op->method);
	unsigned int k;

	if (!m->nresults)
		return;
	k = kl_rand_below(seed, m->nresults);
	if (m->results[k].type == KL_T_BOOL)
		op->res[k] = kl_word(!op->res[k].v);
	else
		op->res[k] = kl_word(kl_rand_below(seed, c->values));
}

struct kl_history *random_history(const struct kl_spec *spec, const struct random_config *c,
				  uint64_t *seed, bool *falsified)
{
	struct rop ops[MAX_OPS], *order[MAX_OPS];
	struct kl_history *h = kl_history_new();
	size_t n = lay_out(spec, c, seed, ops), i;
	bool lose = c->gaps && !kl_rand_below(seed, 3);

	for (i = 0; i < n; i++)
		order[i] = &ops[i];
	qsort(order, n, sizeof(*order), by_point);
	if (c->tso)
		run_tso(spec, c, order, n, seed);
	else
		run_plain(spec, order, n, seed);
	*falsified = kl_rand_below(seed, 2);
	for (i = 0; *falsified && n && i < 1 + kl_rand_below(seed, 2); i++)
		falsify(spec, &ops[kl_rand_below(seed, n)], c, seed);

	h->error = kl_rand_below(seed, 3) ? 0 : kl_rand_below(seed, 4);
	h->fresh = kl_rand_below(seed, 4);
	for (i = 0; i < n; i++) {
		const struct kl_method *m = kl_spec_method(spec, ops[i].method);
		struct kl_op op = {
			.call = ops[i].call, .ret = ops[i].ret, .point = KL_TIME_MAX,
			.drain = KL_TIME_MAX, .thread = kl_history_thread(h, ops[i].thread),
			.object = kl_history_object(h, 0), .cpu = ops[i].thread,
		};
		const struct kl_shape s = {
			.method = kl_history_method(h, m->name, strlen(m->name)),
			.nargs = m->nparams, .nres = m->nresults,
		};
		unsigned int k;

		if (!ops[i].done || !kl_rand_below(seed, 8)) {
			op.ret = KL_TIME_MAX;
			op.flags = KL_OP_PENDING;
		} else if (lose && !kl_rand_below(seed, 3)) {
			struct kl_gap g = {
				.from = op.call, .to = op.ret, .lost = 1, .cpu = op.cpu,
				.object = KL_ALL_OBJECTS,
			};

			assert(!kl_history_add_gap(h, &g));
			continue;
		} else if (c->tso && ops[i].wrote && ops[i].flush != KL_TIME_MAX &&
			   kl_rand_below(seed, 2)) {
			op.drain = ops[i].flush > op.ret ? ops[i].flush : op.ret;
		}
		for (k = 0; k < m->nresults; k++)
			if (!kl_rand_below(seed, 16) || ops[i].res[k].tag == KL_ANY)
				ops[i].res[k] = kl_special(KL_ANY);
		assert(!kl_history_add(h, &op, &s, ops[i].args, ops[i].res));
	}
	assert(!kl_history_finish(h));
	return h;
}
