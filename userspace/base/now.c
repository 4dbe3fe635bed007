// SPDX-License-Identifier: GPL-2.0
/* The monotonic clock, see now.h. */
#include <time.h>

#include "base/now.h"

uint64_t kl_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}
