// SPDX-License-Identifier: GPL-2.0
/* The progress line, see progress.h. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "klin/progress.h"

struct progress_line {
	progress_print print;
	const void *arg;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t stop;
	bool stopped;		/* protected by @lock */
};

static void *show(void *arg)
{
	struct progress_line *l = arg;
	unsigned int seconds = 0;
	struct timespec ts;

	pthread_mutex_lock(&l->lock);
	clock_gettime(CLOCK_REALTIME, &ts);
	for (;;) {
		ts.tv_sec++;
		while (!l->stopped && !pthread_cond_timedwait(&l->stop, &l->lock, &ts))
			;
		if (l->stopped)
			break;
		fputc('\r', stderr);
		l->print(stderr, l->arg);
		fprintf(stderr, ", %u s\033[K", ++seconds);
	}
	if (seconds)
		fputs("\r\033[K", stderr);
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

struct progress_line *progress_start(progress_print print, const void *arg)
{
	struct progress_line *l;

	if (!isatty(STDERR_FILENO))
		return NULL;
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	l->print = print;
	l->arg = arg;
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
