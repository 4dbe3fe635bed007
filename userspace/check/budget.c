// SPDX-License-Identifier: GPL-2.0
/* Bounds of a run: work and time. */
#include <errno.h>
#include <stdio.h>

#include "check/engine.h"

#define LOOKS	(1u << 16)	/* looks, see engine.h, between two readings of the clock */

enum kl_bound kl_time_over(const struct kl_limits *lim, char *reason, size_t size)
{
	if (lim->stop && *lim->stop) {
		snprintf(reason, size, "interrupted");
		return KL_BOUND_STOPPED;
	}
	if (lim->beaten && *lim->beaten) {
		snprintf(reason, size, "another engine decided first");
		return KL_BOUND_BEATEN;
	}
	if (!lim->deadline_ns)
		return KL_BOUND_NONE;
	if (kl_now_ns() <= lim->deadline_ns)
		return KL_BOUND_NONE;
	snprintf(reason, size, "time limit reached");
	return KL_BOUND_TIME;
}

uint64_t kl_looks_left(const struct kl_looks *l)
{
	const uint64_t bounds[] = { l->most, l->lim->work, l->lim->cap };
	uint64_t least = 0;
	size_t i;

	for (i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
		if (bounds[i] && (!least || bounds[i] < least))
			least = bounds[i];
	if (!least)
		return 0;
	return l->n < least ? least - l->n : 1;
}

bool kl_looks_over(void *looks)
{
	struct kl_looks *l = looks;

	return kl_time_over(l->lim, l->reason, sizeof(l->reason));
}

int kl_look(struct kl_looks *l, uint64_t more)
{
	const uint64_t before = l->n;

	l->n += more;
	if (l->most && l->n > l->most)
		snprintf(l->reason, sizeof(l->reason), "too many orders for the oracle");
	else if ((l->lim->work && l->n > l->lim->work) || (l->lim->cap && l->n > l->lim->cap))
		snprintf(l->reason, sizeof(l->reason), "work limit reached");
	else if (before / LOOKS == l->n / LOOKS ||
		 !kl_time_over(l->lim, l->reason, sizeof(l->reason)))
		return 0;
	return -E2BIG;
}
