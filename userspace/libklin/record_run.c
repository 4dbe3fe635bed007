// SPDX-License-Identifier: GPL-2.0
/* Threads that record, see klin_rec_run() in klin/record.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "libklin/recording.h"

/* Workers wait here until all of them have their lanes. */
struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int ready; /* number of workers that wait */
	bool open, cancelled;
};

struct worker {
	struct klin_rec *rec;
	void (*work)(struct klin_rec *rec, struct klin_lane *lane, unsigned int thread);
	struct gate *gate;
	pthread_t thread;
	unsigned int number;
};

/* Let the workers get their lanes in their order, which is that of threads in reports. */
static void await_turn(struct gate *g, unsigned int number)
{
	pthread_mutex_lock(&g->lock);
	while (g->ready < number)
		pthread_cond_wait(&g->changed, &g->lock);
	pthread_mutex_unlock(&g->lock);
}

static bool pass(struct gate *g)
{
	bool go;

	pthread_mutex_lock(&g->lock);
	g->ready++;
	pthread_cond_broadcast(&g->changed);
	while (!g->open)
		pthread_cond_wait(&g->changed, &g->lock);
	go = !g->cancelled;
	pthread_mutex_unlock(&g->lock);
	return go;
}

static void *run(void *arg)
{
	struct worker *w = arg;
	struct klin_lane *lane;

	await_turn(w->gate, w->number);
	lane = klin_rec_thread(w->rec);
	if (pass(w->gate))
		w->work(w->rec, lane, w->number);
	return NULL;
}

/* Let @n workers go when all are ready, or send them home. */
static void open_gate(struct gate *g, unsigned int n, bool cancelled)
{
	pthread_mutex_lock(&g->lock);
	while (g->ready < n)
		pthread_cond_wait(&g->changed, &g->lock);
	g->open = true;
	g->cancelled = cancelled;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

int klin_rec_run(struct klin_rec *rec,
		 void (*work)(struct klin_rec *rec, struct klin_lane *lane, unsigned int thread))
{
	struct gate gate = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
	};
	struct worker *workers;
	unsigned int i, n;
	int err = 0;

	/* klin_error() keeps the reason of klin_rec_open(). */
	if (!rec)
		return -EINVAL;
	lib_begin();
	workers = calloc(rec->threads, sizeof(*workers));
	if (!workers)
		return lib_end(-ENOMEM, "klin_rec_run");
	for (n = 0; n < rec->threads; n++) {
		struct worker *w = &workers[n];

		*w = (struct worker){ .rec = rec, .work = work, .gate = &gate, .number = n };
		err = -pthread_create(&w->thread, NULL, run, w);
		if (err)
			break;
	}
	open_gate(&gate, n, err);
	for (i = 0; i < n; i++)
		pthread_join(workers[i].thread, NULL);
	free(workers);
	return lib_end(err, "klin_rec_run: cannot start all threads");
}
