// SPDX-License-Identifier: GPL-2.0
/*
 * Loads from user space, see load_user.h.
 *
 * The load's process is made before the probes are attached, and waits.  It makes its structure
 * when the recording has begun, so that the structure is in its first state.  Only this process
 * uses the structure, so the operations of other tasks are not recorded.
 *
 * A load does not run far ahead of its reader, so that few events are lost.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "record/load/load_user.h"
#include "record/record.h"

#define BATCH 16 /* a thread compares the counts of all threads after so many steps */

/* Shared by the process of the load and klin. */
struct shared {
	_Atomic bool go, stop;
	_Atomic uint64_t acked;
	_Atomic int err;
	_Atomic uint64_t ops[KL_USER_TASKS];
};

struct user_load {
	struct kl_load load;
	const struct kl_user_kind *kind;
	uint64_t tasks, seconds, ops, seed, ahead;
	uint64_t number[KL_USER_NUMBERS];
	uint64_t until, started, ended;
	struct shared *shared;
	pid_t pid;
	bool kept;
};

struct member {
	pthread_t thread;
	const struct user_load *l;
	struct kl_user_task task;
};

static uint64_t done_ops(const struct user_load *l)
{
	uint64_t sum = 0, i;

	for (i = 0; i < l->tasks; i++)
		sum += atomic_load_explicit(&l->shared->ops[i], memory_order_relaxed);
	return sum;
}

static bool stopped(const struct user_load *l)
{
	return atomic_load_explicit(&l->shared->stop, memory_order_relaxed);
}

/*
 * Wait until the reader is near.  The wait is bounded, because the reader's count is not exact: it
 * lacks lost operations, and it may include operations of other tasks.
 */
static void wait_for_reader(const struct user_load *l)
{
	unsigned int i;

	for (i = 0; i < 500 && !stopped(l); i++) {
		if (atomic_load_explicit(&l->shared->acked, memory_order_relaxed) + l->ahead >=
		    done_ops(l))
			return;
		usleep(200);
	}
}

static void *run(void *arg)
{
	struct member *m = arg;
	const struct user_load *l = m->l;
	uint64_t steps = 0;
	int n = 0;

	while (!stopped(l)) {
		n = l->kind->step(&m->task);
		if (n < 0)
			break;
		m->task.ops += n;
		atomic_store_explicit(&l->shared->ops[m->task.index], m->task.ops,
				      memory_order_relaxed);
		if (++steps % BATCH)
			continue;
		if (l->ops && done_ops(l) >= l->ops)
			break;
		if (l->ahead)
			wait_for_reader(l);
	}
	if (n < 0) {
		atomic_store(&l->shared->err, n);
		atomic_store(&l->shared->stop, true);
	}
	return NULL;
}

static int run_threads(const struct user_load *l, void *priv)
{
	struct member *m = calloc(l->tasks, sizeof(*m));
	unsigned int i, n;
	int err = 0;

	if (!m)
		return -ENOMEM;
	for (n = 0; !err && n < l->tasks; n++) {
		m[n].l = l;
		m[n].task = (struct kl_user_task){
			.index = n, .ntasks = l->tasks, .number = l->number, .priv = priv,
			.rng = l->seed * 0x9e3779b97f4a7c15ULL + n,
		};
		err = -pthread_create(&m[n].thread, NULL, run, &m[n]);
		if (err) {
			atomic_store(&l->shared->stop, true);
			break;
		}
	}
	for (i = 0; i < n; i++)
		pthread_join(m[i].thread, NULL);
	free(m);
	return err ? err : atomic_load(&l->shared->err);
}

static void child(const struct user_load *l)
{
	struct shared *s = l->shared;
	void *priv = NULL;
	int err;

	/* If klin is killed, its load ends, too. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	err = l->kind->prepare ? l->kind->prepare(l->number) : 0;
	while (!err && !atomic_load_explicit(&s->go, memory_order_acquire) && !stopped(l))
		usleep(1000);
	if (!err && !stopped(l))
		err = l->kind->setup(l->number, &priv);
	if (!err && !stopped(l))
		err = run_threads(l, priv);
	if (priv && l->kind->teardown)
		l->kind->teardown(priv);
	_exit(-err);
}

int kl_user_start(struct kl_load *load)
{
	struct user_load *l = (struct user_load *)load;

	l->started = kl_now_ns();
	l->until = l->started + l->seconds * 1000000000ULL;
	atomic_store_explicit(&l->shared->go, true, memory_order_release);
	return 0;
}

/* Note that the load's process has ended with @status. */
static int ended(struct user_load *l, int status)
{
	l->pid = 0;
	l->ended = kl_now_ns();
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	kl_err("user:%s: the process of the load failed: %s", l->kind->name, WIFEXITED(status) ?
	       strerror(WEXITSTATUS(status)) : "it was killed");
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

int kl_user_done(struct kl_load *load)
{
	struct user_load *l = (struct user_load *)load;
	int status, err;

	if (l->pid > 0 && waitpid(l->pid, &status, WNOHANG) == l->pid) {
		err = ended(l, status);
		return err ? err : 1;
	}
	return !l->pid || kl_now_ns() >= l->until;
}

void kl_user_ack(struct kl_load *load, uint64_t ops)
{
	struct user_load *l = (struct user_load *)load;

	atomic_store_explicit(&l->shared->acked, ops, memory_order_relaxed);
}

int kl_user_stop(struct kl_load *load)
{
	struct user_load *l = (struct user_load *)load;
	int status, err = 0, undo;

	atomic_store(&l->shared->stop, true);
	if (l->pid > 0) {
		while (waitpid(l->pid, &status, 0) < 0)
			if (errno != EINTR)
				break;
		err = ended(l, status);
	}
	if (l->kept && l->kind->undo) {
		undo = l->kind->undo();
		if (undo)
			kl_err("user:%s: cannot restore what the load changed: %s", l->kind->name,
			       strerror(-undo));
		err = err ? err : undo;
	}
	l->kept = false;
	return err;
}

void kl_user_report(struct kl_load *load, FILE *f)
{
	struct user_load *l = (struct user_load *)load;
	double seconds = (l->ended - l->started) / 1e9;
	uint64_t ops = done_ops(l);

	fprintf(f, "%s: %llu operations in %.2f s (%.0f/s) by %llu tasks\n", l->kind->name,
		(unsigned long long)ops, seconds, seconds > 0 ? ops / seconds : 0.0,
		(unsigned long long)l->tasks);
}

void kl_user_free(struct kl_load *load)
{
	struct user_load *l = (struct user_load *)load;

	if (l->shared) {
		kl_user_stop(load);
		munmap(l->shared, sizeof(*l->shared));
	}
	free(l);
}

static int parse(struct user_load *l, const char *settings)
{
	const char *names[KL_USER_NUMBERS + 6] = { "tasks", "seconds", "ops", "seed", "ahead" };
	unsigned int i, n;
	int err;

	for (n = 0; n < KL_USER_NUMBERS && l->kind->numbers[n].name; n++)
		names[n + 5] = l->kind->numbers[n].name;
	l->tasks = l->kind->tasks;
	l->seconds = 60;
	l->seed = 1;
	l->ahead = 8192;
	err = kl_load_check(settings, names);
	if (!err)
		err = kl_load_number(settings, "tasks", 1, KL_USER_TASKS, &l->tasks);
	if (!err)
		err = kl_load_number(settings, "seconds", 1, 86400, &l->seconds);
	if (!err)
		err = kl_load_number(settings, "ops", 1, 1ULL << 40, &l->ops);
	if (!err)
		err = kl_load_number(settings, "seed", 0, UINT64_MAX, &l->seed);
	if (!err)
		err = kl_load_number(settings, "ahead", 0, 1ULL << 40, &l->ahead);
	for (i = 0; !err && i < n; i++) {
		const struct kl_user_number *s = &l->kind->numbers[i];

		l->number[i] = s->value;
		err = kl_load_number(settings, s->name, s->min, s->max, &l->number[i]);
	}
	return err;
}

int kl_user_open(const struct kl_load_ops *ops, const struct kl_user_kind *kind,
		 const char *settings, struct kl_load **out)
{
	struct user_load *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	l->load.ops = ops;
	l->kind = kind;
	err = parse(l, settings);
	if (!err && kind->keep) {
		err = kind->keep();
		if (err)
			kl_err("user:%s: cannot prepare the load: %s", kind->name, strerror(-err));
		l->kept = !err;
	}
	if (err)
		goto err;
	l->shared = mmap(NULL, sizeof(*l->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (l->shared == MAP_FAILED) {
		l->shared = NULL;
		err = -ENOMEM;
		goto err;
	}
	l->pid = fork();
	if (l->pid < 0) {
		err = -errno;
		l->pid = 0;
		kl_err("user:%s: cannot create a process: %s", kind->name, strerror(-err));
		goto err;
	}
	if (!l->pid)
		child(l);
	l->load.fresh = !kind->shared;
	l->load.pid = kind->shared ? 0 : l->pid;
	*out = &l->load;
	return 0;
err:
	kl_user_free(&l->load);
	return err;
}
