// SPDX-License-Identifier: GPL-2.0
/*
 * Operations that were under way when the probes came.  A trampoline that is
 * put in place under a running function is not on its way out, so nobody sees
 * these return.  Those that do not sleep have ended after a grace period of RCU;
 * those that sleep are seen on their tasks' stacks.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "probe/recorder.h"

/*
 * Is a probed function on the task's kernel stack?  Lines are "[<0>] name+0x1/0x2".
 * 1: yes; 0: no, or the task is gone; -EPERM: it must not be looked at.
 */
static int inside(const struct kl_recorder *r, pid_t tid)
{
	char path[64], *data, *at;
	bool found = false;
	unsigned int i;
	size_t len;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/stack", tid);
	err = kl_read_file(path, &data, &len);
	if (err)
		return err == -EACCES || err == -EPERM ? -EPERM : 0;
	for (i = 0; !found && i < r->nclauses; i++) {
		const char *name = r->clauses[i].found.func.name;

		if (r->clauses[i].tracepoint)
			continue;
		for (at = data; !found && (at = strstr(at, name)); at++)
			found = at > data && at[-1] == ' ' && at[strlen(name)] == '+';
	}
	free(data);
	return found;
}

static int look_at(struct kl_recorder *r, pid_t tid)
{
	int err = inside(r, tid);

	if (err <= 0)
		return err;
	err = kl_grow(r->blocked, r->cblocked, r->nblocked + 1);
	if (!err)
		r->blocked[r->nblocked++] = tid;
	return err;
}

/* Every number in a directory of /proc. */
static int each_number(struct kl_recorder *r, const char *dir,
		       int (*fn)(struct kl_recorder *r, pid_t n))
{
	struct dirent *e;
	int err = 0;
	DIR *d = opendir(dir);

	if (!d)
		return 0;	/* the task is gone */
	while (!err && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			err = fn(r, atoi(e->d_name));
	closedir(d);
	return err;
}

static int look_at_process(struct kl_recorder *r, pid_t pid)
{
	char dir[64];

	snprintf(dir, sizeof(dir), "/proc/%d/task", pid);
	return each_number(r, dir, look_at);
}

/**
 * kl_settle() - wait until what was under way when attaching has ended
 * @r: the recorder, just attached
 *
 * Sets r->settled; operations of tasks that sleep inside a probed function are
 * looked after by kl_settle_poll().
 *
 * Return: 0 or a negative errno.
 */
int kl_settle(struct kl_recorder *r)
{
	int err;

	if (r->opts.fresh)
		return 0;
	/* A grace period of RCU. */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		usleep(100000);
	err = each_number(r, "/proc", look_at_process);
	if (err == -EPERM)
		kl_err("which tasks are inside a probed function is not to be seen (/proc/PID/stack): "
		       "needs root, or CAP_SYS_ADMIN, CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH");
	/* A busy kernel has filled the buffers meanwhile. */
	if (!err)
		err = kl_reader_consume(r);
	r->settled = kl_times_last(r);
	kl_take_cuts(r);
	kl_debug("settled after %.0f ms", (kl_now() - r->began) / 1e6);
	if (r->nblocked) {
		kl_warn("%zu tasks are asleep in a probed function; the recording has a gap until "
			"they have left it", r->nblocked);
		r->blocked_until = r->settled;
	}
	return err;
}

/* Which of them are still there?  To be called now and then, and at the end. */
void kl_settle_poll(struct kl_recorder *r)
{
	uint64_t now = kl_times_last(r);
	size_t i, n = 0;

	if (!r->nblocked)
		return;
	for (i = 0; i < r->nblocked; i++)
		if (inside(r, r->blocked[i]))	/* or it cannot be told any more */
			r->blocked[n++] = r->blocked[i];
	r->nblocked = n;
	r->blocked_until = now;
}
