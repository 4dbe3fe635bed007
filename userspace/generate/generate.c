// SPDX-License-Identifier: GPL-2.0
/*
 * Random histories, see generate.h.
 *
 * The threads whose next operation waits to take effect are in a heap by the
 * time at which it will.  The first one takes effect and returns a little later;
 * its thread calls the next.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "generate/world.h"
#include "spec/classify/container.h"

#define STALL_ONE_IN	1000
#define STALL_DELAYS	500
#define GEN_CPUS	8
#define TRIES		16	/* operations in the place of one that cannot be */

struct thread {
	uint64_t call, point;
	uint32_t index, cpu;
	bool chosen;		/* its operation is: it could not take effect before */
	struct kl_gen_op op;
};

struct gen {
	const struct kl_gen_config *c;
	struct kl_history *h;
	struct kl_gen_world world;
	struct thread *threads;
	uint32_t *heap, *waiting;	/* threads */
	size_t nheap, nwaiting;
	uint64_t seed, nthreads, last_point;
	uint64_t skew[GEN_CPUS];
};

static bool sooner(const struct gen *g, uint32_t a, uint32_t b)
{
	return g->threads[a].point < g->threads[b].point;
}

static void heap_push(struct gen *g, uint32_t t)
{
	size_t i = g->nheap++;

	for (; i && sooner(g, t, g->heap[(i - 1) / 2]); i = (i - 1) / 2)
		g->heap[i] = g->heap[(i - 1) / 2];
	g->heap[i] = t;
}

static uint32_t heap_pop(struct gen *g)
{
	uint32_t first = g->heap[0], t = g->heap[--g->nheap];
	size_t i = 0, child;

	for (; (child = 2 * i + 1) < g->nheap; i = child) {
		if (child + 1 < g->nheap && sooner(g, g->heap[child + 1], g->heap[child]))
			child++;
		if (!sooner(g, g->heap[child], t))
			break;
		g->heap[i] = g->heap[child];
	}
	g->heap[i] = t;
	return first;
}

static uint64_t delay(struct gen *g)
{
	uint64_t d = kl_rand_below(&g->seed, (uint64_t)g->c->delay + 1);

	if (g->c->stall && !kl_rand_below(&g->seed, STALL_ONE_IN))
		d += (uint64_t)g->c->delay * STALL_DELAYS;
	return d;
}

/* The thread's next operation, called at @when or later. */
static void call_next(struct gen *g, uint32_t i, uint64_t when)
{
	struct thread *t = &g->threads[i];

	t->call = when + kl_rand_below(&g->seed, (uint64_t)g->c->delay + 1);
	t->point = t->call + delay(g);
	t->op.object = kl_rand_below(&g->seed, g->c->objects);
	t->op.side = !g->c->producers ? KL_GEN_BOTH :
		     i < g->c->producers ? KL_GEN_ADDS : KL_GEN_OTHERS;
	t->chosen = false;
	heap_push(g, i);
}

/* A thread takes its place, at first and after an operation whose return is not seen. */
static int start_thread(struct gen *g, uint32_t i, uint64_t when)
{
	struct thread *t = &g->threads[i];
	int64_t index = kl_history_thread(g->h, g->nthreads);

	if (index < 0)
		return index;
	t->index = index;
	t->cpu = g->nthreads++ % GEN_CPUS;
	call_next(g, i, when);
	return 0;
}

/* Its CPU's clock. */
static uint64_t seen(const struct gen *g, const struct thread *t, uint64_t time)
{
	return time + g->skew[t->cpu];
}

/* Those that wait for the object try again. */
static void wake(struct gen *g, uint32_t object, uint64_t when)
{
	size_t n = 0, i;

	for (i = 0; i < g->nwaiting; i++) {
		uint32_t t = g->waiting[i];

		if (g->threads[t].op.object == object) {
			g->threads[t].point = when + delay(g);
			heap_push(g, t);
		} else {
			g->waiting[n++] = t;
		}
	}
	g->nwaiting = n;
}

static int add_op(struct gen *g, const struct thread *t, uint64_t point, uint64_t end)
{
	const struct kl_method *m = kl_spec_method(g->c->spec, t->op.method);
	struct kl_op op = {
		.call = seen(g, t, t->call), .ret = end == KL_TIME_MAX ? end : seen(g, t, end),
		.thread = t->index, .object = t->op.object,
		.cpu = t->cpu, .flags = end == KL_TIME_MAX ? KL_OP_PENDING : 0,
	};
	const struct kl_shape s = {
		.method = t->op.method, .nargs = m->nparams, .nres = m->nresults,
	};
	const int ret = kl_history_add(g->h, &op, &s, t->op.args, t->op.res);

	return ret ?: kl_history_tell(g->h, g->h->nops - 1, point, KL_TIME_MAX);
}

/*
 * The thread's operation takes effect, or another one if it cannot.  Return: 1; 0 if none can,
 * or it waits for the first, as every second does that may; a negative errno.
 */
static int take_effect(struct gen *g, struct thread *t, bool may_wait)
{
	unsigned int tries;
	int ret;

	for (tries = 0; tries < TRIES; tries++) {
		if (!t->chosen)
			kl_gen_choose_op(&g->world, &t->op);
		t->chosen = false;
		/* The last one may be of those that fill a container. */
		ret = kl_gen_apply(&g->world, &t->op, tries + 1 < TRIES);
		/* A producer has nothing else to do, so it waits. */
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

/* Everybody waits: somebody does something else.  Return: its place among them, or an errno. */
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

/* What took effect at t->point, or never, is added; its thread goes on. */
static int end_op(struct gen *g, uint32_t i, bool pending, bool effect)
{
	struct thread *t = &g->threads[i];
	uint64_t now = t->point, end = now + delay(g);
	int ret;

	ret = add_op(g, t, g->c->points && effect ? now : KL_TIME_MAX,
		     pending ? KL_TIME_MAX : end);
	if (ret)
		return ret;
	if (effect && g->nwaiting)
		wake(g, t->op.object, now);
	if (pending)
		return start_thread(g, i, end);
	call_next(g, i, end + 1);
	return 0;
}

/* The thread whose turn it is takes effect, returns, and calls its next operation. */
static int one_op(struct gen *g)
{
	bool pending, effect;
	struct thread *t;
	int64_t ret = 1;
	uint32_t i;

	if (!g->nheap) {
		ret = resolve(g);
		if (ret < 0)
			return ret;
		i = g->waiting[ret];
		g->waiting[ret] = g->waiting[--g->nwaiting];
		return end_op(g, i, false, true);
	}
	i = heap_pop(g);
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

/* Another result in its place: the other bool, a value that another operation has, ... */
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

/* Some draws meet an operation without a result: hence a bound, not a promise. */
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
		const struct kl_shape s = *kl_op_shape(g->h, op);
		struct kl_val v[2 * KL_MAX_ARGS];
		unsigned int k;
		int64_t shape;

		if (!s.nres || (op->flags & KL_OP_PENDING))
			continue;
		k = kl_rand_below(&g->seed, s.nres);
		memcpy(v, kl_op_args(g->h, op), (s.nargs + s.nres) * sizeof(*v));
		change(g, v + s.nargs + k,
		       kl_spec_method(g->c->spec, s.method)->results[k].type == KL_T_BOOL);
		shape = kl_history_shape(g->h, &s, v, v + s.nargs);
		if (shape < 0)
			return shape;
		op->shape = shape;
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
	g.heap = calloc(c->threads, sizeof(*g.heap));
	g.waiting = calloc(c->threads, sizeof(*g.waiting));
	if (g.h && g.threads && g.heap && g.waiting)
		ret = setup(&g);
	while (!ret && g.h->nops < c->ops)
		ret = one_op(&g);
	if (!ret)
		ret = mutate(&g);
	if (!ret)
		ret = kl_history_finish(g.h);
	kl_gen_world_free(&g.world);
	free(g.threads);
	free(g.heap);
	free(g.waiting);
	if (ret)
		kl_history_free(g.h);
	else
		*out = g.h;
	return ret;
}
