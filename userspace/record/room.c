// SPDX-License-Identifier: GPL-2.0
/*
 * Makes room for recording on many CPUs: limits of file descriptors and locked memory, and the
 * default size of the buffers.
 */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "record/recorder.h"

#define PAGES_MAX	1024	/* 4 MiB a CPU */
#define PAGES_MIN	16
#define SHARE 8 /* all buffers together have at most 1/SHARE of the memory */

/* file descriptors per CPU: a perf buffer, its epoll instance, a tick's event and its link */
#define FDS_CPU		4
/* per clause: its maps, programs and links, and its object's copies of the shared maps */
#define FDS_CLAUSE	24
#define FDS_OTHER	128

/* The original limits, for commands that klin starts. */
static struct rlimit fds_before;

uint64_t kl_room_fds(unsigned int ncpus, unsigned int nclauses)
{
	return FDS_CPU * (uint64_t)ncpus + FDS_CLAUSE * (uint64_t)nclauses + FDS_OTHER;
}

unsigned int kl_room_pages(unsigned int ncpus, uint64_t memory)
{
	unsigned int pages = PAGES_MAX;

	while (pages > PAGES_MIN && (uint64_t)pages * ncpus > memory / SHARE)
		pages /= 2;
	return pages;
}

/* Return: the greatest power of two that leaves half of the memory, in pages, to others. */
static unsigned int most_pages(unsigned int ncpus, uint64_t memory)
{
	unsigned int pages = 1;

	while (2ull * pages * ncpus <= memory / 2)
		pages *= 2;
	return pages;
}

static int raise_fds(const struct kl_recorder *r)
{
	const rlim_t need = kl_room_fds(r->ncpus, r->nclauses);
	struct rlimit now, more;

	if (getrlimit(RLIMIT_NOFILE, &now) || now.rlim_cur >= need)
		return 0;
	more = now;
	more.rlim_cur = need;
	/* CAP_SYS_RESOURCE may raise the hard limit as well. */
	if (more.rlim_max < need)
		more.rlim_max = need;
	if (setrlimit(RLIMIT_NOFILE, &more)) {
		kl_err("recording %u clauses on %d CPUs needs up to %llu file descriptors, but the "
		       "limit is %llu: raise it with `ulimit -n %llu'", r->nclauses, r->ncpus,
		       (unsigned long long)need, (unsigned long long)now.rlim_max,
		       (unsigned long long)need);
		return -EPERM;
	}
	if (!fds_before.rlim_cur)
		fds_before = now;
	return 0;
}

/* Without CAP_IPC_LOCK the kernel counts perf buffers as locked memory. */
static void raise_locked(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_MEMLOCK, &l))
		return;
	l.rlim_cur = l.rlim_max = RLIM_INFINITY;
	if (setrlimit(RLIMIT_MEMLOCK, &l) && !getrlimit(RLIMIT_MEMLOCK, &l)) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_MEMLOCK, &l);
	}
}

/**
 * kl_room_make() - raise the limits that recording on many CPUs would exceed
 * @r: the recorder, its CPUs and clauses counted
 *
 * If the options give no size of the buffers, the function chooses 4 MiB for each CPU, or less if
 * all buffers would take more than an eighth of the memory.  Buffers of a given size that would
 * take more than half are refused: the kernel would kill klin, or others, for them.
 *
 * Return: 0, -EINVAL or -EPERM after a message.
 */
int kl_room_make(struct kl_recorder *r)
{
	const uint64_t memory = sysconf(_SC_PHYS_PAGES);

	if (!r->opts.pages) {
		r->opts.pages = kl_room_pages(r->ncpus, memory);
	} else if ((uint64_t)r->opts.pages * r->ncpus > memory / 2) {
		kl_err("--buffer=%u: buffers of %u pages for each of %d CPUs need more than half "
		       "of the memory; use --buffer=%u or less",
		       r->opts.pages, r->opts.pages, r->ncpus, most_pages(r->ncpus, memory));
		return -EINVAL;
	}
	if (!r->opts.plain && KLIN_ALL_SLOTS((uint64_t)r->opts.slots) * sizeof(struct klin_slot) >
				      memory / 2 * sysconf(_SC_PAGESIZE)) {
		kl_err("--slots=%u: so many slots need more than half of the memory; use a smaller "
		       "--slots",
		       r->opts.slots);
		return -EINVAL;
	}
	raise_locked();
	return raise_fds(r);
}

/**
 * kl_room_restore() - restore the limits that klin was started with
 *
 * A child of klin calls this function before it executes a command.
 */
void kl_room_restore(void)
{
	if (fds_before.rlim_cur)
		setrlimit(RLIMIT_NOFILE, &fds_before);
}
