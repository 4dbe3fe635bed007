// SPDX-License-Identifier: GPL-2.0
/*
 * Says once what attaching waits for when it takes long: the kernel may wait for a task that
 * runs in a probed function.  A thread of its own looks for that task.
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
#include "base/file.h"
#include "base/mem.h"
#include "record/unwind.h"
#include "record/recorder.h"
#include "record/sampler.h"
#include "record/tasks.h"

#define SAMPLED_US	50000

struct runner {
	pid_t tid;
	struct kl_sampler *sampler;
};

struct kl_slow {
	const struct kl_recorder *r;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool over;
	struct kl_callees *callees;	/* its own: they keep what they have read */
	struct runner *runners;		/* tasks that run, or would */
	size_t nrunners, crunners;
};

/* Does the task run, or would it?  Its stat says so after the name, which may be any text. */
static bool runs(pid_t pid, pid_t tid)
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

/* Sample a task that runs. */
static int take_runner(void *ctx, pid_t pid, pid_t tid)
{
	struct kl_slow *w = ctx;
	struct runner *to;
	int err;

	/* Whoever attaches is in the kernel, too. */
	if (pid == getpid() || !runs(pid, tid))
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

/* The probed function that the last sample of a task is inside of, or NULL. */
static const char *function_of(struct kl_slow *w, struct runner *t)
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

static bool say(const struct runner *t, const char *function)
{
	char path[64], *comm;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/comm", t->tid);
	if (kl_read_file(path, &comm, &len))
		return false;
	comm[strcspn(comm, "\n")] = '\0';
	kl_warn("attaching takes long: task %d (%s) runs in %s(), and the kernel may wait until it "
		"has left", t->tid, comm, function);
	free(comm);
	return true;
}

/* Find such a task and name it; false if there is none just now. */
static bool name_one(struct kl_slow *w)
{
	const char *function;
	bool said = false;
	size_t i;

	/* Without memory for all of them some are enough. */
	kl_tasks_each(take_runner, w);
	usleep(SAMPLED_US);
	for (i = 0; i < w->nrunners; i++) {
		function = said ? NULL : function_of(w, &w->runners[i]);
		if (function)
			said = say(&w->runners[i], function);
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
	while (!w->over && !said) {
		until.tv_sec++;
		while (!w->over && !pthread_cond_timedwait(&w->cond, &w->lock, &until))
			;
		if (w->over)
			break;
		pthread_mutex_unlock(&w->lock);
		if (!w->callees && kl_callees_open(w->r->kernel, "/proc/kcore", &w->callees))
			said = true;	/* nobody can be named */
		else
			said = name_one(w);
		pthread_mutex_lock(&w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/**
 * kl_slow_start() - from now on say what is waited for
 * @r: the recorder, its clauses not changed until kl_slow_stop()
 *
 * Return: to be stopped, or NULL: then nothing is said.
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
	w->over = true;
	pthread_cond_signal(&w->cond);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	kl_callees_free(w->callees);
	free(w->runners);
	free(w);
}
