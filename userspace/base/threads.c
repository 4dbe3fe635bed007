// SPDX-License-Identifier: GPL-2.0
/* Running work in several threads, see threads.h. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/threads.h"

struct job {
	void (*run)(void *ctx);
	void *ctx;
};

struct items {
	void (*each)(void *ctx, size_t item);
	void *ctx;
	size_t n, taken;
};

unsigned int kl_threads_most(void)
{
	cpu_set_t cpus;
	long n;

	if (!sched_getaffinity(0, sizeof(cpus), &cpus))
		return CPU_COUNT(&cpus);
	n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 1 ? n : 1;
}

static void *begin(void *arg)
{
	const struct job *j = arg;

	j->run(j->ctx);
	return NULL;
}

void kl_threads_run(unsigned int n, void (*run)(void *ctx), void *ctx)
{
	pthread_t *thread = n > 1 ? malloc((n - 1) * sizeof(*thread)) : NULL;
	struct job j = { .run = run, .ctx = ctx };
	unsigned int begun = 0;

	while (thread && begun < n - 1 && !pthread_create(&thread[begun], NULL, begin, &j))
		begun++;
	run(ctx);
	while (begun)
		pthread_join(thread[--begun], NULL);
	free(thread);
}

static void take_items(void *arg)
{
	struct items *t = arg;
	size_t i;

	while ((i = __atomic_fetch_add(&t->taken, 1, __ATOMIC_RELAXED)) < t->n)
		t->each(t->ctx, i);
}

void kl_threads_each(unsigned int n, size_t items, void (*each)(void *ctx, size_t item),
		     void *ctx)
{
	struct items t = { .each = each, .ctx = ctx, .n = items };

	kl_threads_run(n < items ? n : items, take_items, &t);
}
