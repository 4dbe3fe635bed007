// SPDX-License-Identifier: GPL-2.0
/*
 * Random histories, see gen.h.
 *
 * The threads whose next operation waits to take effect are in a heap by the
 * time at which it will.  The first one takes effect on the model and returns a
 * little later; its thread calls the next.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "history/gen_model.h"

#define STALL_ONE_IN	1000
#define STALL_DELAYS	500
#define GEN_CPUS	8
#define NOT_HELD	UINT32_MAX

struct thread {
	uint64_t call, point;
	uint32_t index, object, cpu;
	uint32_t holds;		/* the lock it holds, as an object */
	uint8_t method;
};

struct gen {
	const struct kl_gen_config *c;
	struct kl_history *h;
	struct kl_model model;
	struct thread *threads;
	uint32_t *heap, *waiting;	/* threads */
	size_t nheap, nwaiting;
	uint64_t seed, nthreads, total_weight, last_point;
	uint32_t weight[KL_GEN_METHODS];
	uint64_t skew[GEN_CPUS];
};

const char *kl_gen_type_name(enum kl_gen_type t)
{
	return kl_model_types[t].name;
}

const char *kl_gen_spec(enum kl_gen_type t)
{
	return kl_model_types[t].spec;
}

const char *kl_gen_method(enum kl_gen_type t, unsigned int i)
{
	return i < kl_model_types[t].nmethods ? kl_model_types[t].methods[i].name : NULL;
}

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

static unsigned int pick_method(struct gen *g)
{
	uint64_t x = kl_rand_below(&g->seed, g->total_weight);
	unsigned int m = 0;

	while (x >= g->weight[m])
		x -= g->weight[m++];
	return m;
}

/* The thread's next operation, called at @when or later. */
static void call_next(struct gen *g, uint32_t i, uint64_t when)
{
	struct thread *t = &g->threads[i];

	t->call = when + kl_rand_below(&g->seed, (uint64_t)g->c->delay + 1);
	t->point = t->call + delay(g);
	if (t->holds != NOT_HELD) {
		t->object = t->holds;
		t->method = KL_MODEL_UNLOCK;
	} else {
		t->object = kl_rand_below(&g->seed, g->c->objects);
		t->method = pick_method(g);
	}
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
	t->holds = NOT_HELD;
	call_next(g, i, when);
	return 0;
}

/* Its CPU's clock. */
static uint64_t seen(const struct gen *g, const struct thread *t, uint64_t time)
{
	return time + g->skew[t->cpu];
}

/* A lock was released: those that wait for it try again. */
static void wake(struct gen *g, uint32_t object, uint64_t when)
{
	size_t n = 0, i;

	for (i = 0; i < g->nwaiting; i++) {
		uint32_t t = g->waiting[i];

		if (g->threads[t].object == object) {
			g->threads[t].point = when + delay(g);
			heap_push(g, t);
		} else {
			g->waiting[n++] = t;
		}
	}
	g->nwaiting = n;
}

static int add_op(struct gen *g, const struct thread *t, uint64_t point, uint64_t end,
		  const struct kl_val *args, const struct kl_val *res)
{
	const struct kl_model_method *m = &g->model.type->methods[t->method];
	struct kl_op op = {
		.call = seen(g, t, t->call), .ret = end == KL_TIME_MAX ? end : seen(g, t, end),
		.point = point, .drain = KL_TIME_MAX, .thread = t->index, .object = t->object,
		.cpu = t->cpu, .flags = end == KL_TIME_MAX ? KL_OP_PENDING : 0,
	};
	const struct kl_shape s = { .method = t->method, .nargs = m->nargs, .nres = m->nres };

	return kl_history_add(g->h, &op, &s, args, res);
}

/* The thread whose turn it is takes effect, returns, and calls its next operation. */
static int one_op(struct gen *g)
{
	struct kl_val args[KL_MAX_ARGS], res[KL_MAX_ARGS];
	bool lock = g->c->type == KL_GEN_LOCK, pending, effect;
	uint32_t i = heap_pop(g);
	struct thread *t = &g->threads[i];
	uint64_t now = t->point, end;
	int ret = 0;

	if (g->c->points && now <= g->last_point)
		now = g->last_point + 1;
	g->last_point = now;
	pending = g->c->pending && kl_rand_below(&g->seed, 100) < g->c->pending;
	/* Nobody could release what a thread holds that is gone. */
	effect = !pending || (lock ? t->method == KL_MODEL_UNLOCK : kl_rand(&g->seed) & 1);
	g->model.type->args(&g->model, t->object, t->method, args);
	if (effect)
		ret = g->model.type->step(&g->model, t->object, t->method, args, res);
	if (ret < 0)
		return ret;
	if (ret) {
		g->waiting[g->nwaiting++] = i;
		return 0;
	}
	end = now + delay(g);
	ret = add_op(g, t, g->c->points && effect ? now : KL_TIME_MAX, pending ? KL_TIME_MAX : end,
		     args, res);
	if (ret)
		return ret;
	if (lock && effect) {
		if (t->method == KL_MODEL_UNLOCK) {
			t->holds = NOT_HELD;
			wake(g, t->object, now);
		} else if (t->method == KL_MODEL_LOCK || res[0].v) {
			t->holds = t->object;
		}
	}
	if (pending)
		return start_thread(g, i, end);
	call_next(g, i, end + 1);
	return 0;
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

	while (left && tries-- && g->h->nops) {
		struct kl_op *op = &g->h->ops[kl_rand_below(&g->seed, g->h->nops)];
		const struct kl_shape s = *kl_op_shape(g->h, op);
		struct kl_val v[2 * KL_MAX_ARGS];
		int64_t shape;

		if (!s.nres || (op->flags & KL_OP_PENDING))
			continue;
		memcpy(v, kl_op_args(g->h, op), (s.nargs + s.nres) * sizeof(*v));
		change(g, v + s.nargs + kl_rand_below(&g->seed, s.nres),
		       g->model.type->methods[s.method].returns_bool);
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
	if (c->type >= KL_GEN_TYPES || !c->threads || !c->objects || c->threads > 1u << 20 ||
	    c->objects > 1u << 24 || c->pending > 100 || c->delay > 1u << 30 ||
	    c->error > 1ULL << 40 || (c->points && c->error))
		return -EINVAL;
	return 0;
}

static int setup(struct gen *g)
{
	const struct kl_gen_config *c = g->c;
	const struct kl_model_type *t = &kl_model_types[c->type];
	struct kl_history *h = g->h;
	int64_t ret = 0;
	uint32_t i;

	for (i = 0; i < t->nmethods && ret >= 0; i++) {
		g->weight[i] = c->weighted ? c->weight[i] : t->methods[i].weight;
		/* Only a holder unlocks. */
		if (c->type == KL_GEN_LOCK && i == KL_MODEL_UNLOCK)
			g->weight[i] = 0;
		g->total_weight += g->weight[i];
		ret = kl_history_method(h, t->methods[i].name, strlen(t->methods[i].name));
	}
	if (ret >= 0 && !g->total_weight)
		ret = -EINVAL;
	for (i = 0; i < c->objects && ret >= 0; i++)
		ret = kl_history_object(h, i + 1);
	for (i = 0; i < GEN_CPUS; i++)
		g->skew[i] = kl_rand_below(&g->seed, c->error + 1);
	for (i = 0; i < c->threads && ret >= 0; i++)
		ret = start_thread(g, i, 0);
	h->clock = KL_CLOCK_MONO;
	h->error = c->error;
	h->fresh = !c->any;
	h->ncpus = GEN_CPUS;
	return ret < 0 ? ret : 0;
}

int kl_gen(const struct kl_gen_config *c, struct kl_history **out)
{
	struct gen g = { .c = c, .seed = c->seed };
	int ret = check_config(c);

	if (!ret)
		ret = kl_model_init(&g.model, c);
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
	kl_model_free(&g.model);
	free(g.threads);
	free(g.heap);
	free(g.waiting);
	if (ret)
		kl_history_free(g.h);
	else
		*out = g.h;
	return ret;
}
