/* SPDX-License-Identifier: GPL-2.0 */
/*
 * So many of a kind in an interval, as printk_ratelimited() has it: the rest are counted, and
 * their number is told once the interval has ended.
 */
#ifndef KLIND_RATE_H
#define KLIND_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct rate {
	uint64_t ns;		/* the interval; 0: all are let through */
	unsigned int burst;	/* let through in each */
	unsigned int used;
	uint64_t from;		/* when the first one was let through */
	uint64_t held;		/* held back and not told yet */
};

/* May one be let through now?  If not, it is counted. */
bool rate_take(struct rate *r, uint64_t now);
/* The one that was let through last came to nothing: it does not hold back the next. */
void rate_undo(struct rate *r);
/* How many were held back, once; 0 before the interval has ended. */
uint64_t rate_held(struct rate *r, uint64_t now);

#endif
