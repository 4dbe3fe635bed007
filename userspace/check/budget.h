/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bounds of a run that have nothing to do with what it does.  Of the explorer, the verifier
 * and the litmus tests only the deadline and the wish to stop are looked at.
 */
#ifndef KL_CHECK_BUDGET_H
#define KL_CHECK_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/now.h"

struct kl_progress;

/* Bounds of one run of one engine; all may be 0: none. */
struct kl_limits {
	uint64_t bytes;			/* of memory for configurations and states */
	uint64_t deadline_ns;		/* of kl_now_ns() */
	uint64_t work;			/* looks, see KL_CONFIG_LOOKS, */
	uint64_t each;			/* and more of them for each operation that was placed; */
	uint64_t cap;			/* but never more looks than these */
	const volatile int *stop;	/* set from elsewhere to end the run, */
	const volatile int *beaten;	/* or since another engine has an answer; or NULL */
	bool no_witness;		/* kl_answer.steps may stay empty: less memory */
	uint32_t cache;			/* configurations that `wgl' remembers, 0: all */
	unsigned int threads;		/* that may work on one partition; 0 as 1 */
	struct kl_progress *progress;	/* or NULL */
};

/* Is it to end, or its time over?  Then @reason says which. */
bool kl_time_over(const struct kl_limits *lim, char *reason, size_t size);

#endif
