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
	int64_t skew[GEN_CPUS];
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

static uint64_t seen_at(const struct gen *g, const struct thread *t, uint64_t time)
{
	return time + g->skew[t->cpu];
}

/* A lock was released: one of those that wait for it goes on. */
static void wake_one(struct gen *g, uint32_t object, uint64_t when)
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

static int one_op(struct gen *g)
{
	const struct kl_gen_config *c = g->c;
	const struct kl_model_type *type = g->model.type;
	struct kl_val args[KL_MAX_ARGS], res[KL_MAX_ARGS];
	uint32_t i = heap_pop(g);
	struct thread *t = &g->threads[i];
	struct kl_op op = { .point = KL_TIME_MAX, .drain = KL_TIME_MAX };
	bool lock = c->type == KL_GEN_LOCK, pending, effect;
	uint64_t now = t->point, end;
	int ret;

	if (c->points && now <= g->last_point)
		now = g->last_point + 1;
	g->last_point = now;
	pending = c->pending && kl_rand_below(&g->seed, 100) < c->pending;
	/* Nobody could release what a thread holds that is gone. */
	effect = !pending || (lock ? t->method == KL_MODEL_UNLOCK : kl_rand(&g->seed) & 1);
	if (effect || !lock) {
		struct kl_model before;

		ret = type->step(&g->model, t->object, t->method, args, res);
		(void)before;
		if (ret < 0)
			return ret;
		if (ret) {
			g->waiting[g->nwaiting++] = i;
			return 0;
		}
	}
	return -ENOSYS;
}
