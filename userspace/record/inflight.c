// SPDX-License-Identifier: GPL-2.0
/*
 * Operations that were open when the probes were attached.  A running function does not return
 * through a trampoline that was attached later, so no probe sees these operations return.
 *
 * - Operations in interrupts and idle tasks have ended after a grace period of RCU.  They run with
 *   preemption disabled, and each grace period waits for such code, on every kernel.
 * - Operations of other tasks may last longer.  With CONFIG_PREEMPT_RCU, which PREEMPT_DYNAMIC
 *   selects, a grace period does not wait for code that may be preempted.  Without it,
 *   cond_resched() ends a grace period inside a function.  So klin must see each task outside of
 *   the function once.
 *
 * /proc/PID/stack shows where a sleeping task is, samples show where a running task is, see
 * unwind.h.  A task that klin has not seen outside may be inside.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "record/unwind.h"
#include "record/recorder.h"
#include "record/sampler.h"
#include "record/tasks.h"

/* inode of the first PID namespace: PROC_PID_INIT_INO of <linux/proc_ns.h> */
#define FIRST_PID_NS	0xeffffffcu

static bool in_first_pid_ns(void)
{
	struct stat st;

	if (!stat("/proc/self/ns/pid", &st))
		return st.st_ino == FIRST_PID_NS;
	/* A kernel without PID namespaces (CONFIG_PID_NS) has no such file. */
	return errno == ENOENT && !access("/proc/self/status", F_OK);
}

/**
 * kl_settle_check() - check that klin sees all tasks, under the kernel's own numbers
 * @opts: options of the recording
 *
 * Return: 0, or -EPERM after a message.
 */
int kl_settle_check(const struct kl_record_opts *opts)
{
	if ((opts->fresh && !opts->pid) || in_first_pid_ns())
		return 0;
	kl_err("klin runs in a PID namespace or without /proc, so it cannot find the tasks that "
	       "are inside a probed function: run klin outside (in a container: with the host's "
	       "PID namespace)");
	return -EPERM;
}

#define LOOKS	50	/* maximal number of looks at running tasks */
/* microseconds between two looks, in which a running task is sampled several times */
#define LOOK_US	10000

/**
 * kl_grace_period() - wait until all code that now runs with preemption disabled has ended
 *
 * The function uses membarrier(), which fails if a CPU has no tick.  Then it changes a map of maps,
 * which waits for a grace period of RCU, too.
 *
 * Return: true, or false after 100 ms if the kernel refuses both ways.
 */
bool kl_grace_period(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	int inner, outer = -1, zero = 0, err = -1;

	if (!syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		return true;
	inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "klin_inner", 4, 4, 1, NULL);
	opts.inner_map_fd = inner;
	if (inner >= 0)
		outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "klin_outer", 4, 4, 1, &opts);
	if (outer >= 0)
		err = bpf_map_update_elem(outer, &zero, &inner, BPF_ANY);
	if (inner >= 0)
		close(inner);
	if (outer >= 0)
		close(outer);
	/* Code with preemption disabled seldom runs for 100 ms, but that is no proof. */
	if (err)
		usleep(100000);
	return !err;
}

/*
 * Return: true if the stack reaches the kernel's entry.  The stack may end before if the task began
 * to run while its stack was read.
 */
static bool is_whole(const char *stack, size_t len)
{
	static const char *const entries[] = { "] entry_", "] ret_from_fork", "] asm_" };
	const char *last;
	unsigned int i;

	if (!len)
		return false;
	for (last = stack + len - 1; last > stack && last[-1] != '\n'; last--)
		;
	for (i = 0; i < 3; i++)
		if (strstr(last, entries[i]))
			return true;
	return false;
}

/*
 * Return: true if @c is at an inlined function, and the task sleeps outside of the inlined code,
 * perhaps in the function around it.  The task sleeps in a call, and compilers do not move stores
 * to shared memory across a call that may read them.  So earlier executions of the inlined code
 * have ended, and later executions are recorded as a whole.
 */
static bool asleep_elsewhere(const struct kl_clause *c, const char *stack)
{
	const struct kl_kplace *p = kl_found_place(&c->found);
	const size_t len = p ? strlen(p->symbol) : 0;
	const char *at = stack;
	bool seen = false;
	uint64_t addr;

	if (!p || !p->site || !c->conf.alone || strcmp(p->symbol, p->owner))
		return false;
	while ((at = strstr(at, p->symbol))) {
		const bool begins = at > stack && at[-1] == ' ';

		at += len;
		if (begins && *at == '.')
			return false;
		if (!begins || strncmp(at, "+0x", 3))
			continue;
		/* The call instruction is just before its return address. */
		addr = p->site->entry - p->site->offset + strtoull(at + 1, NULL, 16) - 1;
		if (kl_ranges_have(p->site->ranges, p->site->nranges, addr))
			return false;
		seen = true;
	}
	/* If the function around the code is not on the stack, it may have left by a tail call. */
	return seen || !p->site->may_jump_out;
}

/*
 * Decide if the task is inside a probed function.  Return: an enum kl_inside, KL_OUTSIDE also for a
 * task that ended; -EAGAIN if the stack is incomplete, since the task runs; -EPERM without the
 * privilege to read it; -ENOMEM.
 */
static int inside(const struct kl_recorder *r, pid_t tid)
{
	int ret = KL_OUTSIDE, one = 0, err;
	char path[64], *data;
	unsigned int i;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/stack", tid);
	err = kl_read_file(path, &data, &len);
	if (err)
		return err == -EACCES || err == -EPERM ? -EPERM : KL_OUTSIDE;
	for (i = 0; one >= 0 && ret != KL_INSIDE && i < r->nclauses; i++) {
		const struct kl_func *f = &r->clauses[i].found.func;

		if (r->clauses[i].tracepoint || asleep_elsewhere(&r->clauses[i], data))
			continue;
		one = r->callees ? kl_callees_inside(r->callees, f, data) :
		      kl_callees_by_name(f->name, data);
		if (one > ret)
			ret = one;
	}
	if (one < 0)
		ret = one;
	else if (ret != KL_INSIDE && !is_whole(data, len))
		ret = -EAGAIN;
	free(data);
	return ret;
}

/*
 * Decide from samples if the task was outside of all probed functions at least once.  Return:
 * KL_OUTSIDE if so, else the enum kl_inside of the last sample; -EAGAIN without a sample; -ENOMEM.
 */
static int sampled(const struct kl_recorder *r, const struct kl_blocked *b)
{
	struct kl_sample s;
	int ret = -EAGAIN;
	unsigned int i;

	while (ret != KL_OUTSIDE && kl_sampler_next(b->sampler, &s)) {
		ret = KL_OUTSIDE;
		for (i = 0; !s.user && i < r->nclauses; i++) {
			const struct kl_func *f = &r->clauses[i].found.func;
			int one = KL_OUTSIDE;

			if (!r->clauses[i].tracepoint)
				one = r->callees ? kl_callees_running(r->callees, f, s.ips, s.n) :
				      KL_MAYBE_INSIDE;
			if (one < 0)
				return one;
			if (one > ret)
				ret = one;
		}
	}
	return ret;
}

/*
 * Look at a task.  Return: 1 if it is, or may be, inside a probed function since before the probes
 * were attached, 0 if not; -EPERM or -ENOMEM.
 */
static int look(const struct kl_recorder *r, struct kl_blocked *b)
{
	int err = b->sampler ? sampled(r, b) : -EAGAIN, now;

	if (err == -EAGAIN || err > KL_OUTSIDE) {
		now = inside(r, b->tid);
		b->on_cpu = now == -EAGAIN;
		if (!b->on_cpu)
			err = now;
		else if (!b->sampler)
			/* If this fails, as for a task that ends, the stack may decide later. */
			kl_sampler_open(b->tid, &b->sampler);
		b->unsure = err == KL_MAYBE_INSIDE;
		if (err == -EAGAIN || err > KL_OUTSIDE)
			return 1;
	}
	kl_sampler_close(b->sampler);
	b->sampler = NULL;
	return err;
}

static int look_at(void *ctx, pid_t pid, pid_t tid)
{
	struct kl_recorder *r = ctx;
	struct kl_blocked b = { .tid = tid };
	/* klin's own thread reads its stack inside the kernel, not inside a probed function. */
	int err = tid == gettid() ? 0 : look(r, &b);

	if (err <= 0)
		return err;
	err = kl_grow(r->blocked, r->cblocked, r->nblocked + 1);
	if (err)
		kl_sampler_close(b.sampler);
	else
		r->blocked[r->nblocked++] = b;
	return err;
}

static bool any_unsure(const struct kl_recorder *r)
{
	size_t i;

	for (i = 0; i < r->nblocked; i++)
		if (r->blocked[i].unsure)
			return true;
	return false;
}

static bool any_on_cpu(const struct kl_recorder *r)
{
	size_t i;

	for (i = 0; i < r->nblocked; i++)
		if (r->blocked[i].on_cpu)
			return true;
	return false;
}

static void look_again(struct kl_recorder *r)
{
	size_t i, n = 0;

	for (i = 0; i < r->nblocked; i++)
		if (look(r, &r->blocked[i]))	/* an error counts as inside */
			r->blocked[n++] = r->blocked[i];
	r->nblocked = n;
}

/* Warn of the tasks that are still inside a probed function. */
static void warn(const struct kl_recorder *r, int unread)
{
	char why[160] = "", comm[KL_COMM_MAX];
	size_t i;

	if (any_unsure(r) && unread)
		snprintf(why, sizeof(why), " (uncertain for some: cannot read the kernel's code in "
			 "/proc/kcore and /proc/kallsyms: %s)", strerror(-unread));
	else if (any_unsure(r))
		snprintf(why, sizeof(why), " (uncertain for some: their stacks do not show it)");
	else if (any_on_cpu(r))
		snprintf(why, sizeof(why), " (uncertain for some: they are running)");
	kl_warn("%zu tasks are inside a probed function%s: the history has a gap until they leave "
		"it", r->nblocked, why);
	for (i = 0; i < r->nblocked; i++) {
		kl_task_comm(r->blocked[i].tid, comm);
		kl_debug("task %d (%s) is inside a probed function%s", r->blocked[i].tid, comm,
			 r->blocked[i].unsure || r->blocked[i].on_cpu ? " (uncertain)" : "");
	}
}

/**
 * kl_settle() - wait until operations that were open when the probes were attached have ended
 * @r: the recorder, just attached
 *
 * The function sets r->settled.  kl_settle_poll() watches tasks that are still inside a probed
 * function.
 *
 * Return: 0 or a negative errno.
 */
int kl_settle(struct kl_recorder *r)
{
	unsigned int i;
	int err, unread;

	if (r->opts.fresh)
		return 0;
	unread = kl_callees_open(r->kernel, "/proc/kcore", &r->callees);
	if (unread == -ENOMEM)
		return unread;
	kl_grace_period();
	err = kl_tasks_each(look_at, r);
	for (i = 0; !err && any_on_cpu(r) && i < LOOKS; i++) {
		usleep(LOOK_US);
		look_again(r);
		err = kl_reader_consume(r);
	}
	if (err == -EPERM)
		kl_err("cannot read /proc/PID/stack to find the tasks inside a probed function: "
		       "run klin as root, or with CAP_SYS_ADMIN, CAP_SYS_PTRACE and "
		       "CAP_DAC_READ_SEARCH");
	/* A busy kernel may have filled the buffers meanwhile. */
	if (!err)
		err = kl_reader_consume(r);
	r->settled = kl_times_last(r);
	kl_take_cuts(r);
	kl_debug("searched all tasks for open operations after %.0f ms",
		 (kl_now_ns() - r->began) / 1e6);
	if (r->nblocked) {
		warn(r, unread);
		r->blocked_until = r->settled;
	}
	return err;
}

/* Look again at tasks that were inside a probed function; called often, and at the end. */
void kl_settle_poll(struct kl_recorder *r)
{
	if (!r->nblocked)
		return;
	look_again(r);
	kl_debug("%zu tasks are still inside a probed function", r->nblocked);
	/* The time is taken after the looks, since a task may have left the function meanwhile. */
	r->blocked_until = kl_times_last(r);
}

bool kl_recorder_settled(const struct kl_recorder *r)
{
	return !r->nblocked;
}

void kl_settle_close(struct kl_recorder *r)
{
	size_t i;

	for (i = 0; i < r->nblocked; i++)
		kl_sampler_close(r->blocked[i].sampler);
	free(r->blocked);
}
