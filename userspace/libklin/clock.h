/* SPDX-License-Identifier: GPL-2.0 */
/* The clocks of recordings: which one, its error between CPUs, and its unit. */
#ifndef KL_LIBKLIN_CLOCK_H
#define KL_LIBKLIN_CLOCK_H

#include "libklin/include/klin/record.h"

/* Return: the clock of lanes that stands for the clock that the caller chose. */
enum klin_lane_clock lib_clock(enum klin_clock clock);

/* The unit and the error of times, from the comparison of the CPUs. */
struct lib_scale {
	uint64_t error; /* in nanoseconds, or in steps of the counter */
	uint64_t ns, ticks; /* so many nanoseconds are so many units of the clock */
};

/**
 * lib_clock_scale() - get the error and the unit of a clock
 * @clock: the clock
 * @scale: gets them
 *
 * The first call for a clock of the CPU compares the CPUs, in a thread of its own, for a fifth of a
 * second or longer on a busy machine.
 *
 * Return: 0 or a negative errno after a message.
 */
int lib_clock_scale(enum klin_lane_clock clock, struct lib_scale *scale);

/*
 * Return: the time @t after @began, in the unit of the history: nanoseconds, or steps.  A later
 * time never becomes an earlier one.
 */
uint64_t lib_clock_since(const struct lib_scale *scale, uint64_t began, uint64_t t);

#endif
