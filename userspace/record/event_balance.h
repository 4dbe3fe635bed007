/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compares, while a recording is followed, the events that were read with the events that the
 * programs wrote.
 *
 * Programs write while buffers are read, so the counts can be compared only after a reading during
 * which nothing was written.  An event that was counted then is in the buffers at the next reading,
 * unless its program was interrupted before the write.  Then its operation is still in a slot.
 */
#ifndef KL_RECORD_EVENT_BALANCE_H
#define KL_RECORD_EVENT_BALANCE_H

#include <stdint.h>

/* One reading of the buffers. */
struct kl_account_look {
	uint64_t before, after; /* number of written events, before and after the reading */
	uint64_t got; /* number of events that were read so far, or counted as lost */
	uint64_t open; /* number of operations in slots, after the reading */
	uint64_t floor; /* lower bound of the calls of later operations */
};

/* The state of the comparison. */
struct kl_account {
	uint64_t written; /* written events, if none was written during the last reading; else 0 */
	uint64_t missing; /* number of missing events that were reported */
	uint64_t floor; /* floor of the last reading at which no event was missing */
};

/**
 * kl_account() - compare the counts
 * @a: the state, all zero at first
 * @l: the reading
 *
 * Return: number of newly missing events; their operations were called at @a->floor or later.
 */
uint64_t kl_account(struct kl_account *a, const struct kl_account_look *l);

#endif
