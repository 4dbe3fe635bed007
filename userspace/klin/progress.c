// SPDX-License-Identifier: GPL-2.0
/* The progress line, see progress.h. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "klin/progress.h"

struct progress_line {
	const struct kl_progress *p;
	uint64_t total;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t stop;
	bool stopped;
};

static void *show(void *arg)
{
	struct progress_line *l = arg;
	unsigned int seconds = 0;
	struct timespec ts;

	pthread_mutex_lock(&l->lock);
	clock_gettime(CLOCK_REALTIME, &ts);
	for (;;) {
		uint64_t done;

		ts.tv_sec++;
		while (!l->stopped && !pthread_cond_timedwait(&l->stop, &l->lock, &ts))
			;
		if (l->stopped)
			break;
		done = l->p->done + l->p->now;
		if (done > l->total)
			done = l->total;
		fprintf(stderr, "\rchecked %3.0f%% of %llu operations, %u s\033[K",
			l->total ? 100.0 * done / l->total : 100.0, (unsigned long long)l->total,
			++seconds);
	}
	if (seconds)
		fputs("\r\033[K", stderr);
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

struct progress_line *progress_start(const struct kl_progress *p, uint64_t total)
{
	struct progress_line *l;

	if (!isatty(STDERR_FILENO))
		return NULL;
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	l->p = p;
	l->total = total;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->stop, NULL);
	if (pthread_create(&l->thread, NULL, show, l)) {
		free(l);
		return NULL;
	}
	return l;
}

void progress_stop(struct progress_line *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	l->stopped = true;
	pthread_cond_signal(&l->stop);
	pthread_mutex_unlock(&l->lock);
	pthread_join(l->thread, NULL);
	free(l);
}
