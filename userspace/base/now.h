/* SPDX-License-Identifier: GPL-2.0 */
/* The clock that limits of time, progress and the recorder go by. */
#ifndef KL_BASE_NOW_H
#define KL_BASE_NOW_H

#include <stdint.h>

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t kl_now_ns(void);

#endif
