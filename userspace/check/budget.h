/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bounds of a run: memory, time, work, and the wish to stop.  The explorer, the verifier and the
 * litmus tests use only the deadline and the wish to stop.
 */
#ifndef KL_CHECK_BUDGET_H
#define KL_CHECK_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/now.h"

struct kl_progress;

/* The bound that ended a run without an answer. */
enum kl_bound {
	KL_BOUND_NONE,
	KL_BOUND_WORK,
	KL_BOUND_TIME,
	KL_BOUND_MEMORY,
	KL_BOUND_SIZE,		/* the partition does not fit the engines' numbers */
	KL_BOUND_STOPPED,	/* kl_limits.stop */
	KL_BOUND_BEATEN,	/* kl_limits.beaten */
};

/* Bounds of one run of one engine; 0 means no bound. */
struct kl_limits {
	uint64_t bytes;			/* bytes of memory for configurations and states */
	uint64_t deadline_ns;		/* time of kl_now_ns() */
	uint64_t work;			/* looks, see KL_CONFIG_LOOKS */
	uint64_t each;			/* looks that each placed operation adds to @work */
	uint64_t cap;			/* looks, a further bound, which @each does not raise */
	const volatile int *stop;	/* another thread or a signal sets this to end the run */
	const volatile int *beaten;	/* set when another engine has an answer; or NULL */
	bool no_witness;		/* kl_answer.steps may stay empty, which saves memory */
	uint32_t cache;			/* number of configurations that `wgl' remembers; 0: all */
	unsigned int threads;		/* threads that may work on one partition; 0 means 1 */
	struct kl_progress *progress;	/* or NULL */
};

/*
 * Return: KL_BOUND_NONE, or what ends the run: @stop, @beaten or the deadline; then @reason gets it
 * in words.
 */
enum kl_bound kl_time_over(const struct kl_limits *lim, char *reason, size_t size);

#endif
