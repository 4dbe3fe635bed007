/* SPDX-License-Identifier: GPL-2.0 */
/*
 * While a recording is followed: has all come that the programs say they wrote?
 *
 * Buffers are read while others write, so the counts can be compared only at a look during
 * which nothing was written.  What is on its way then has come by the next one, but for
 * that of operations that are still in their slots (a program that does not get on).
 */
#ifndef KL_RECORD_EVENT_BALANCE_H
#define KL_RECORD_EVENT_BALANCE_H

#include <stdint.h>

/* One look. */
struct kl_account_look {
	uint64_t before, after;	/* written, counted before and after reading */
	uint64_t got;		/* events read by then, or counted as lost */
	uint64_t open;		/* operations in slots, seen last */
	uint64_t floor;		/* all that is still to come was called then or later */
};

struct kl_account {
	uint64_t written;	/* at the last look that could tell, or 0 */
	uint64_t missing;	/* told so far */
	uint64_t floor;		/* of the last look at which all had come */
};

/**
 * kl_account() - compare the counts
 * @a: what is known, all zero at first
 * @l: the look
 *
 * Return: events that are missing and have not been told before; their operations were called
 * at @a->floor or later.
 */
uint64_t kl_account(struct kl_account *a, const struct kl_account_look *l);

#endif
