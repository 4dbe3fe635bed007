// SPDX-License-Identifier: GPL-2.0
/* Bounds of a run that have nothing to do with what it does. */
#include <stdio.h>
#include <time.h>

#include "check/check.h"

bool kl_time_over(const struct kl_limits *lim, char *reason, size_t size)
{
	struct timespec ts;

	if (lim->stop && *lim->stop) {
		snprintf(reason, size, "interrupted");
		return true;
	}
	if (!lim->deadline_ns)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	if ((uint64_t)ts.tv_sec * 1000000000ull + ts.tv_nsec <= lim->deadline_ns)
		return false;
	snprintf(reason, size, "time bound reached");
	return true;
}
