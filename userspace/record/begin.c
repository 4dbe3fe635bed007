// SPDX-License-Identifier: GPL-2.0
/*
 * The begin of a recording of existing objects.  When everything is attached and the operations
 * in flight have ended, the history can begin with an unknown state: operations that returned
 * before are dropped, and operations across the begin may have taken effect on either side.
 *
 * A write in a store buffer crosses the begin, too: the write of a dropped operation may become
 * visible after the begin.  So the history begins when all CPUs have drained their store buffers,
 * if possible at a time when no operation wrote.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "record/recorder.h"

#define PAUSE_US 500 /* pause between two cuts, in us */
#define STILL_CUTS 2 /* the last cuts, in which klin does not move to other CPUs */

/*
 * Drain all CPUs by switching to each in turn, since a task switch drains the store buffer.  Quiet
 * CPUs must not be disturbed, and klin's cpuset may lack others; these drain in a grace period of
 * RCU, which takes longer.
 */
static bool drain_cpus(const struct kl_recorder *r, cpu_set_t *set, size_t size)
{
	bool all = true, left = false;
	int i;

	/* A spec may say that klin's own sched_setaffinity() writes. */
	if (r->ncuts >= KL_CUTS - STILL_CUTS)
		return kl_grace_period();
	for (i = 0; i < r->ncpus; i++) {
		if (kl_quiet_is(r, i)) {
			left = true;
			continue;
		}
		CPU_ZERO_S(size, set);
		CPU_SET_S(i, size, set);
		/* EINVAL means that the CPU is offline, or that klin may not run there. */
		if (!sched_setaffinity(0, size, set))
			continue;
		left |= errno == EINVAL;
		all &= errno == EINVAL;
	}
	return all && (!left || kl_grace_period());
}

/**
 * kl_take_cuts() - drain all CPUs a few times, and note the times
 * @r: the recorder, just attached
 *
 * If all writing methods flush the store buffer, no store waits in one, and any time is a cut.
 */
void kl_take_cuts(struct kl_recorder *r)
{
	size_t size = CPU_ALLOC_SIZE(r->ncpus);
	struct sched_param fifo = { .sched_priority = 1 }, other = { 0 };
	cpu_set_t *old = CPU_ALLOC(r->ncpus), *set = CPU_ALLOC(r->ncpus);
	bool all = old && set && !sched_getaffinity(0, size, old);
	bool raised = !sched_setscheduler(0, SCHED_FIFO, &fifo);

	while (all && r->ncuts < KL_CUTS) {
		struct kl_cut *cut = &r->cuts[r->ncuts];

		cut->from = kl_times_first(r);
		all = kl_spec_flushes(r->opts.spec) || drain_cpus(r, set, size);
		cut->to = kl_times_last(r);
		r->ncuts += all;
		usleep(PAUSE_US);
	}
	if (raised)
		sched_setscheduler(0, SCHED_OTHER, &other);
	if (old && set)
		sched_setaffinity(0, size, old);
	CPU_FREE(old);
	CPU_FREE(set);
}

/* Let the history begin at @at: drop earlier operations; operations across @at become pending. */
static int start_at(struct kl_recorder *r, uint64_t at)
{
	struct kl_history *h = r->h;
	size_t i, n = 0;
	int ret = 0;

	r->start = at;
	for (i = 0; i < h->nops && !ret; i++) {
		struct kl_op op = h->ops[i];

		/*
		 * If the operation returned before @at by less than the clock's error, it may be
		 * after an operation that is kept, so it is kept, too.
		 */
		if (op.ret < at && at - op.ret > h->error)
			continue;
		if (op.call < at) {
			/* An operation without an effect may be before the begin; drop it. */
			if (!kl_op_writes(r, &op))
				continue;
			ret = kl_op_make_pending(h, &op);
		}
		h->ops[i] = op;
		kl_history_move(h, n++, i);
	}
	h->nops = n;
	return ret;
}

/* Without a sound begin, drop operations that returned by @until, and make a gap until then. */
static int doubt(struct kl_recorder *r, uint64_t until)
{
	struct kl_history *h = r->h;
	size_t i, n = 0;
	struct kl_gap gap = {
		.from = KL_TIME_MIN, .to = until, .object = KL_ALL_OBJECTS, .cpu = KL_NO_CPU,
		.reason = KL_GAP_MISSED,
	};

	for (i = 0; i < h->nops; i++)
		if (h->ops[i].ret > until)
			kl_history_move(h, n++, i);
	h->nops = n;
	r->start = until;
	return kl_history_add_gap(h, &gap);
}

/**
 * kl_begin() - find the begin of the history
 * @r: the recorder, with all operations, not sorted yet
 *
 * The function sets r->start, and drops operations that ended before that time.
 *
 * Return: 0 or -ENOMEM.
 */
int kl_begin(struct kl_recorder *r)
{
	uint64_t last = r->settled;
	unsigned int i;

	r->start = r->begin;
	if (r->opts.fresh)
		return 0;
	if (r->blocked_until)
		return doubt(r, r->nblocked ? r->end : r->blocked_until);
	for (i = 0; i < r->ncuts; i++) {
		last = r->cuts[i].to;
		if (kl_quiet(r, &r->cuts[i]))
			return start_at(r, kl_time_add(last, r->h->error));
	}
	if (!kl_spec_flushes(r->opts.spec)) {
		kl_warn("the history begins with a gap: klin found no time at which all CPUs drained "
			"their store buffers and no operation wrote");
		return doubt(r, last);
	}
	return start_at(r, kl_time_add(last, r->h->error));
}
