// SPDX-License-Identifier: GPL-2.0
/*
 * Operations that were under way when the probes came.  A trampoline that is put in place
 * under a running function is not on its way out, so nobody sees these return.
 *
 * - Those of interrupts and of idle tasks have ended after a grace period of RCU: they run
 *   with preemption disabled, and each grace period waits for that, on every kernel.
 * - Those of tasks need not have.  With CONFIG_PREEMPT_RCU, which PREEMPT_DYNAMIC brings, a
 *   grace period does not wait for code that may be preempted; without it cond_resched()
 *   ends one in the midst of a function.  So each task has to be seen outside once.
 *
 * A task that is off its CPU is judged by /proc/PID/stack, one that runs by samples, see
 * unwind.h.  A task that was not seen outside may be inside.
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

#define FIRST_PID_NS	0xeffffffcu	/* its inode: PROC_PID_INIT_INO of <linux/proc_ns.h> */

static bool in_first_pid_ns(void)
{
	struct stat st;

	if (!stat("/proc/self/ns/pid", &st))
		return st.st_ino == FIRST_PID_NS;
	/* A kernel without them (CONFIG_PID_NS) has no such file. */
	return errno == ENOENT && !access("/proc/self/status", F_OK);
}

/**
 * kl_settle_check() - are all tasks to be seen, by the numbers that the kernel has for them?
 * @opts: how it is to be recorded
 *
 * Return: 0, or -EPERM after a message.
 */
int kl_settle_check(const struct kl_record_opts *opts)
{
	if ((opts->fresh && !opts->pid) || in_first_pid_ns())
		return 0;
	kl_err("klin is in a PID namespace, or without /proc, and does not see all tasks: who is "
	       "inside a probed function when it is attached would not be known; run it outside "
	       "(containers: with the host's PID namespace)");
	return -EPERM;
}

#define LOOKS	50	/* at tasks that are on a CPU */
#define LOOK_US	10000	/* from one to the next: a task that runs is sampled some times */

/**
 * kl_grace_period() - wait until what ran with preemption disabled when this began has ended
 *
 * membarrier() refuses it where a CPU has no tick; a change of a map of maps waits for a
 * grace period of RCU, too.
 *
 * Return: true, or false when the kernel refuses both, after 100 ms.
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
	/* Long, but no more than that. */
	if (err)
		usleep(100000);
	return !err;
}

/* The stack of a task that came to a CPU meanwhile may break off before the kernel's entry. */
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
 * Is the task asleep where the inlined function is not?  It sleeps in a call out of the
 * function around it, and no compiler moves stores to memory that others see across a call
 * that may read it: an instance that was executed before has ended, and operations that
 * come need not have the call of the function around them.
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
		/* The call is before the address that it returns to. */
		addr = p->site->entry - p->site->offset + strtoull(at + 1, NULL, 16) - 1;
		if (kl_ranges_have(p->site->ranges, p->site->nranges, addr))
			return false;
		seen = true;
	}
	/* The function around it is not there, or has left by a tail call. */
	return seen || !p->site->leaves;
}

/*
 * Is the task inside a probed function?  By enum kl_inside, KL_OUTSIDE also when it is gone;
 * -EAGAIN: not all of its stack is seen, the task is on a CPU; -EPERM: it must not be looked
 * at; -ENOMEM.
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
 * Was the task, since its sampler was opened, once where it is in no probed function?  By
 * enum kl_inside, what is known at the last sample if it never was; -ENOMEM; -EAGAIN: there
 * is no sample.
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
 * Look at a task.  1: it is in a probed function, or may be; 0: in no call that has begun
 * before; -EPERM, -ENOMEM.
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
			/* Without it, as for a task that ends, the stack may tell later. */
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
	/* Who looks at its own stack is seen there, in the kernel. */
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
		if (look(r, &r->blocked[i]))	/* or it cannot be told any more */
			r->blocked[n++] = r->blocked[i];
	r->nblocked = n;
}

/* Tell of the tasks that are left. */
static void warn(const struct kl_recorder *r, int unread)
{
	char why[128] = "";

	if (any_unsure(r) && unread)
		snprintf(why, sizeof(why), ", or may be: the kernel's code cannot be read "
			 "(/proc/kcore, /proc/kallsyms): %s", strerror(-unread));
	else if (any_unsure(r))
		snprintf(why, sizeof(why), ", or may be: their stacks do not tell");
	else if (any_on_cpu(r))
		snprintf(why, sizeof(why), ", or may be");
	kl_warn("%zu tasks are inside a probed function%s; the recording has a gap until they "
		"have left it", r->nblocked, why);
}

/**
 * kl_settle() - wait until what was under way when attaching has ended
 * @r: the recorder, just attached
 *
 * Sets r->settled; operations of tasks that are inside a probed function are
 * looked after by kl_settle_poll().
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
		kl_err("which tasks are inside a probed function is not to be seen "
		       "(/proc/PID/stack): needs root, or CAP_SYS_ADMIN, CAP_SYS_PTRACE and "
		       "CAP_DAC_READ_SEARCH");
	/* A busy kernel has filled the buffers meanwhile. */
	if (!err)
		err = kl_reader_consume(r);
	r->settled = kl_times_last(r);
	kl_take_cuts(r);
	kl_debug("settled after %.0f ms", (kl_now_ns() - r->began) / 1e6);
	if (r->nblocked) {
		warn(r, unread);
		r->blocked_until = r->settled;
	}
	return err;
}

/* Which of them are still there?  To be called now and then, and at the end. */
void kl_settle_poll(struct kl_recorder *r)
{
	if (!r->nblocked)
		return;
	look_again(r);
	kl_debug("%zu tasks are still inside", r->nblocked);
	/* Afterwards: they may have left while they were looked at. */
	r->blocked_until = kl_times_last(r);
}

void kl_settle_close(struct kl_recorder *r)
{
	size_t i;

	for (i = 0; i < r->nblocked; i++)
		kl_sampler_close(r->blocked[i].sampler);
	free(r->blocked);
}
