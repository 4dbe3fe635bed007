/* SPDX-License-Identifier: GPL-2.0 */
/* The clock for time limits, progress reports and the recorder. */
#ifndef KL_BASE_NOW_H
#define KL_BASE_NOW_H

#include <stdint.h>

/* Return: CLOCK_MONOTONIC in nanoseconds. */
uint64_t kl_now_ns(void);

#endif
