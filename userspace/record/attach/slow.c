// SPDX-License-Identifier: GPL-2.0
/*
 * Warns once if attaching takes long.  The kernel may wait for a task that runs in a probed
 * function.  A separate thread searches for this task, and names it in the warning.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "record/unwind.h"
#include "record/recorder.h"
#include "record/sampler.h"
#include "record/tasks.h"

#define SAMPLED_US	50000

/* A task that runs, and the sampler of its stack. */
struct runner {
	pid_t tid;
	struct kl_sampler *sampler;
};

struct kl_slow {
	const struct kl_recorder *r;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool stop;
	struct kl_callees *callees; /* the thread's own, since reading them changes their cache */
	struct runner *runners;		/* tasks that run or are ready to run */
	size_t nrunners, crunners;
};

/*
 * Return: true if the task runs or is ready to run.  In /proc/PID/task/TID/stat, the state follows
 * the name, which may have parentheses.
 */
static bool is_runnable(pid_t pid, pid_t tid)
{
	char path[64], *data, *at;
	bool ret = false;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	if (kl_read_file(path, &data, &len))
		return false;
	at = strrchr(data, ')');
	if (at && at[1] == ' ')
		ret = at[2] == 'R';
	free(data);
	return ret;
}

/* Start to sample a task, if it runs. */
static int sample_task(void *ctx, pid_t pid, pid_t tid)
{
	struct kl_slow *w = ctx;
	struct runner *to;
	int err;

	/* The thread that attaches probes runs in the kernel, too. */
	if (pid == getpid() || !is_runnable(pid, tid))
		return 0;
	err = kl_grow(w->runners, w->crunners, w->nrunners + 1);
	if (err)
		return err;
	to = &w->runners[w->nrunners];
	to->tid = tid;
	if (!kl_sampler_open(tid, &to->sampler))
		w->nrunners++;
	return 0;
}

/* Return: the probed function that a task was inside of at its last sample, or NULL. */
static const char *probed_function(struct kl_slow *w, struct runner *t)
{
	const struct kl_recorder *r = w->r;
	const char *name = NULL;
	struct kl_sample s;
	unsigned int i;

	while (kl_sampler_next(t->sampler, &s)) {
		name = NULL;
		for (i = 0; !s.user && i < r->nclauses; i++) {
			const struct kl_func *f = &r->clauses[i].found.func;

			if (!r->clauses[i].tracepoint &&
			    kl_callees_running(w->callees, f, s.ips, s.n) == KL_INSIDE)
				name = f->name;
		}
	}
	return name;
}

/* Print the warning.  Return: false if the task has ended. */
static bool print_warning(const struct runner *t, const char *function)
{
	char comm[KL_COMM_MAX];

	if (!kl_task_comm(t->tid, comm))
		return false;
	kl_warn("attaching takes long: task %d (%s) runs in %s(), and the kernel may wait until it "
		"has left the function", t->tid, comm, function);
	return true;
}

/* Search for a task inside a probed function, and warn.  Return: false if there is none now. */
static bool warn_once(struct kl_slow *w)
{
	const char *function;
	bool said = false;
	size_t i;

	/* If memory does not suffice for all tasks, try the tasks found so far. */
	kl_tasks_each(sample_task, w);
	usleep(SAMPLED_US);
	for (i = 0; i < w->nrunners; i++) {
		function = said ? NULL : probed_function(w, &w->runners[i]);
		if (function)
			said = print_warning(&w->runners[i], function);
		kl_sampler_close(w->runners[i].sampler);
	}
	w->nrunners = 0;
	return said;
}

static void *watch(void *arg)
{
	struct kl_slow *w = arg;
	struct timespec until;
	bool said = false;

	clock_gettime(CLOCK_REALTIME, &until);
	pthread_mutex_lock(&w->lock);
	while (!w->stop && !said) {
		until.tv_sec++;
		while (!w->stop && !pthread_cond_timedwait(&w->cond, &w->lock, &until))
			;
		if (w->stop)
			break;
		pthread_mutex_unlock(&w->lock);
		if (!w->callees && kl_callees_open(w->r->kernel, "/proc/kcore", &w->callees))
			said = true; /* no stack can be understood; give up */
		else
			said = warn_once(w);
		pthread_mutex_lock(&w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/**
 * kl_slow_start() - start the thread that warns if attaching takes long
 * @r: the recorder; its clauses must not change before kl_slow_stop()
 *
 * Return: an object for kl_slow_stop(), or NULL if no thread could be started.
 */
struct kl_slow *kl_slow_start(const struct kl_recorder *r)
{
	struct kl_slow *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->r = r;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->cond, NULL);
	if (!pthread_create(&w->thread, NULL, watch, w))
		return w;
	free(w);
	return NULL;
}

void kl_slow_stop(struct kl_slow *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_signal(&w->cond);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	kl_callees_free(w->callees);
	free(w->runners);
	free(w);
}
