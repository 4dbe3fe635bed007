// SPDX-License-Identifier: GPL-2.0
/*
 * Random histories, see generate.h.
 *
 * A heap orders the running threads by the time at which their operation takes effect.  In each
 * step the first of these operations takes effect.  It returns a little later, and then its thread
 * calls another operation.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/heap.h"
#include "base/mem.h"
#include "generate/world.h"
#include "spec/classify/container.h"

#define STALL_ONE_IN	1000
#define STALL_DELAYS	500
#define GEN_CPUS	8
#define TRIES		16 /* operations that are tried if one cannot take effect */

struct thread {
	uint64_t call, point;
	uint32_t index, cpu;
	bool chosen; /* the operation has been chosen, and waits to take effect */
	struct kl_gen_op op;
};

struct gen {
	const struct kl_gen_config *c;
	struct kl_history *h;
	struct kl_gen_world world;
	struct thread *threads;
	struct kl_heap running;	/* threads by the time when they take effect */
	uint32_t *waiting; /* indices of the threads whose operation cannot take effect now */
	size_t nwaiting;
	uint64_t seed, nthreads, last_point;
	uint64_t skew[GEN_CPUS];
};

static uint64_t delay(struct gen *g)
{
	uint64_t d = kl_rand_below(&g->seed, (uint64_t)g->c->delay + 1);

	if (g->c->stall && !kl_rand_below(&g->seed, STALL_ONE_IN))
		d += (uint64_t)g->c->delay * STALL_DELAYS;
	return d;
}

/* Let a thread call its next operation, at @when or later. */
static int call_next(struct gen *g, uint32_t i, uint64_t when)
{
	struct thread *t = &g->threads[i];

	t->call = when + kl_rand_below(&g->seed, (uint64_t)g->c->delay + 1);
	t->point = t->call + delay(g);
	t->op.object = kl_rand_below(&g->seed, g->c->objects);
	t->op.side = !g->c->producers ? KL_GEN_BOTH :
		     i < g->c->producers ? KL_GEN_ADDS : KL_GEN_OTHERS;
	t->chosen = false;
	return kl_heap_push(&g->running, t->point, i);
}

/* Start a thread, at first and after an operation without a return. */
static int start_thread(struct gen *g, uint32_t i, uint64_t when)
{
	struct thread *t = &g->threads[i];
	int64_t index = kl_history_thread(g->h, g->nthreads);

	if (index < 0)
		return index;
	t->index = index;
	t->cpu = g->nthreads++ % GEN_CPUS;
	return call_next(g, i, when);
}

/* Return: the time that the clock of the thread's CPU shows at @time. */
static uint64_t seen(const struct gen *g, const struct thread *t, uint64_t time)
{
	return time + g->skew[t->cpu];
}

/* Let the threads that wait for the object try again. */
static int wake(struct gen *g, uint32_t object, uint64_t when)
{
	size_t n = 0, i;
	int ret = 0;

	for (i = 0; i < g->nwaiting && !ret; i++) {
		uint32_t t = g->waiting[i];

		if (g->threads[t].op.object == object) {
			g->threads[t].point = when + delay(g);
			ret = kl_heap_push(&g->running, g->threads[t].point, t);
		} else {
			g->waiting[n++] = t;
		}
	}
	g->nwaiting = n;
	return ret;
}

static int add_op(struct gen *g, const struct thread *t, uint64_t point, uint64_t end)
{
	const struct kl_method *m = kl_spec_method(g->c->spec, t->op.method);
	struct kl_op op = {
		.call = seen(g, t, t->call), .ret = end == KL_TIME_MAX ? end : seen(g, t, end),
		.thread = t->index, .object = t->op.object,
		.cpu = t->cpu, .flags = end == KL_TIME_MAX ? KL_OP_PENDING : 0,
	};
	const struct kl_opsig s = {
		.method = t->op.method,
		.nargs = m->nparams,
		.nres = m->nresults,
	};
	const int ret = kl_history_add(g->h, &op, &s, t->op.args, t->op.res);

	return ret ?: kl_history_set_points(g->h, g->h->nops - 1, point, KL_TIME_MAX);
}

/*
 * Let an operation of the thread take effect, at first the chosen one, if any.  If an operation
 * cannot take effect, the thread waits with it in every second case (@may_wait), or tries another.
 * Return: 1, 0 if none took effect, or a negative errno.
 */
static int take_effect(struct gen *g, struct thread *t, bool may_wait)
{
	unsigned int tries;
	int ret;

	for (tries = 0; tries < TRIES; tries++) {
		if (!t->chosen)
			kl_gen_choose_op(&g->world, &t->op);
		t->chosen = false;
		/* Only the last try may make a large container larger. */
		ret = kl_gen_apply(&g->world, &t->op, tries + 1 < TRIES);
		/* A producer has no other operations, so it waits. */
		if (ret == KL_GEN_LARGER && t->op.side == KL_GEN_ADDS && may_wait) {
			t->chosen = true;
			break;
		}
		if (ret == KL_GEN_LARGER)
			continue;
		if (ret)
			return ret;
		if (may_wait && kl_rand_below(&g->seed, 2)) {
			t->chosen = true;
			break;
		}
	}
	return 0;
}

/*
 * If all threads wait, let one of them do another operation.
 * Return: the thread's index in g->waiting, or a negative errno.
 */
static int64_t resolve(struct gen *g)
{
	size_t i;
	int ret;

	for (i = 0; i < g->nwaiting; i++) {
		struct thread *t = &g->threads[g->waiting[i]];

		t->chosen = false;
		ret = take_effect(g, t, false);
		if (ret < 0)
			return ret;
		if (!ret)
			continue;
		t->point = t->point > g->last_point ? t->point : g->last_point + 1;
		g->last_point = t->point;
		return i;
	}
	return -EDEADLK;
}

/*
 * Add the operation of thread @i to the history, and let the thread call the next one.  The
 * operation took effect at t->point if @effect, else never.
 */
static int end_op(struct gen *g, uint32_t i, bool pending, bool effect)
{
	struct thread *t = &g->threads[i];
	uint64_t now = t->point, end = now + delay(g);
	int ret;

	ret = add_op(g, t, g->c->points && effect ? now : KL_TIME_MAX,
		     pending ? KL_TIME_MAX : end);
	if (!ret && effect && g->nwaiting)
		ret = wake(g, t->op.object, now);
	if (ret)
		return ret;
	if (pending)
		return start_thread(g, i, end);
	return call_next(g, i, end + 1);
}

/* Let the operation of the first running thread take effect and return, or let the thread wait. */
static int one_op(struct gen *g)
{
	bool pending, effect;
	struct thread *t;
	int64_t ret = 1;
	uint32_t i;

	if (!g->running.n) {
		ret = resolve(g);
		if (ret < 0)
			return ret;
		i = g->waiting[ret];
		g->waiting[ret] = g->waiting[--g->nwaiting];
		return end_op(g, i, false, true);
	}
	i = kl_heap_pop(&g->running);
	t = &g->threads[i];
	if (t->point <= g->last_point)
		t->point = g->last_point + g->c->points;
	g->last_point = t->point;
	pending = g->c->pending && kl_rand_below(&g->seed, 100) < g->c->pending;
	effect = !pending || kl_rand(&g->seed) & 1;
	if (effect)
		ret = take_effect(g, t, true);
	else if (!t->chosen)
		kl_gen_choose_op(&g->world, &t->op);
	if (ret < 0)
		return ret;
	if (!ret) {
		g->waiting[g->nwaiting++] = i;
		return 0;
	}
	return end_op(g, i, pending, effect);
}

/* Change a result: to the other bool, or to a value of another operation. */
static void change(struct gen *g, struct kl_val *v, bool is_bool)
{
	struct kl_val old = *v;
	unsigned int tries;

	if (is_bool) {
		v->v ^= 1;
		return;
	}
	for (tries = 0; tries < 8; tries++) {
		*v = g->h->vals[kl_rand_below(&g->seed, g->h->nvals)];
		if (v->tag != KL_ANY && !kl_val_eq(*v, old))
			return;
	}
	*v = old.tag == KL_WORD ? kl_word(old.v + 1) : kl_word(0);
}

/* Change c->mutate results.  The tries are bounded, because some operations have no result. */
static int mutate(struct gen *g)
{
	uint64_t left = g->c->mutate, tries = 64 * (left + 1);
	uint64_t n = g->h->nops, part = (n + 9) / 10, from = 0;

	if (g->c->where == KL_GEN_LATE)
		from = n - part;
	if (g->c->where != KL_GEN_ANYWHERE)
		n = part;
	while (left && tries-- && n) {
		struct kl_op *op = &g->h->ops[from + kl_rand_below(&g->seed, n)];
		const struct kl_opsig s = *kl_op_sig(g->h, op);
		struct kl_val v[2 * KL_MAX_ARGS];
		unsigned int k;
		int64_t sig;

		if (!s.nres || (op->flags & KL_OP_PENDING))
			continue;
		k = kl_rand_below(&g->seed, s.nres);
		memcpy(v, kl_op_args(g->h, op), (s.nargs + s.nres) * sizeof(*v));
		change(g, v + s.nargs + k,
		       kl_spec_method(g->c->spec, s.method)->results[k].type == KL_T_BOOL);
		sig = kl_history_sig(g->h, &s, v, v + s.nargs);
		if (sig < 0)
			return sig;
		op->sig = sig;
		left--;
	}
	return 0;
}

static int check_config(const struct kl_gen_config *c)
{
	struct kl_container container;

	kl_spec_container(c->spec, &container);
	if (c->producers && (c->producers >= c->threads || container.kind == KL_CONTAINER_NONE))
		return -EINVAL;
	if (!c->threads || !c->objects || c->threads > 1u << 20 ||
	    c->objects > 1u << 24 || c->pending > 100 || c->delay > 1u << 30 ||
	    c->error > 1ULL << 40 || (c->points && c->error))
		return -EINVAL;
	return 0;
}

static int setup(struct gen *g)
{
	const struct kl_gen_config *c = g->c;
	struct kl_history *h = g->h;
	int64_t ret = 0;
	uint32_t i;

	for (i = 0; i < kl_spec_nmethods(c->spec) && ret >= 0; i++) {
		const char *name = kl_spec_method(c->spec, i)->name;

		ret = kl_history_method(h, name, strlen(name));
	}
	for (i = 0; i < c->objects && ret >= 0; i++)
		ret = kl_history_object(h, i + 1);
	for (i = 0; i < GEN_CPUS; i++)
		g->skew[i] = kl_rand_below(&g->seed, c->error + 1);
	for (i = 0; i < c->threads && ret >= 0; i++)
		ret = start_thread(g, i, 0);
	h->clock = KL_CLOCK_MONO;
	h->error = c->error;
	h->fresh = !c->any;
	h->memory = (struct kl_memory){ .sc = !c->tso, .told = true };
	h->ncpus = GEN_CPUS;
	return ret < 0 ? ret : 0;
}

int kl_gen(const struct kl_gen_config *c, struct kl_history **out)
{
	struct gen g = { .c = c, .seed = c->seed };
	int ret = check_config(c);

	if (!ret)
		ret = kl_gen_world_init(&g.world, c);
	if (ret)
		return ret;
	ret = -ENOMEM;
	g.h = kl_history_new();
	g.threads = calloc(c->threads, sizeof(*g.threads));
	g.waiting = calloc(c->threads, sizeof(*g.waiting));
	if (g.h && g.threads && g.waiting)
		ret = setup(&g);
	while (!ret && g.h->nops < c->ops)
		ret = one_op(&g);
	if (!ret)
		ret = mutate(&g);
	if (!ret)
		ret = kl_history_finish(g.h);
	kl_gen_world_free(&g.world);
	free(g.threads);
	free(g.running.entry);
	free(g.waiting);
	if (ret)
		kl_history_free(g.h);
	else
		*out = g.h;
	return ret;
}
