/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A rate limit, as of printk_ratelimited(): at most a burst of messages or reports passes in an
 * interval.  The others are counted, and their number is reported once, after the interval.
 */
#ifndef KLIND_RATE_H
#define KLIND_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct rate {
	uint64_t ns;		/* length of the interval, in ns; 0: no limit */
	unsigned int burst;	/* maximal number that passes in an interval */
	unsigned int used;	/* number that has passed in this interval */
	uint64_t from;		/* begin of this interval, in ns */
	uint64_t held;		/* number held back and not reported yet */
};

/* Return: true if one more may pass at @now, in ns; if not, the call is counted as held back. */
bool rate_take(struct rate *r, uint64_t now);
/* Undo the last rate_take() that returned true: the message or report was not made. */
void rate_undo(struct rate *r);
/* Return: the number held back, and reset it; 0 before the interval has ended. */
uint64_t rate_held(struct rate *r, uint64_t now);

#endif
