/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A queue of open operations by return; equal returns are in order of call.  It has an array of
 * return times and one of events.  OPEN_NEAR entries before the first are early enough for any
 * comparison, and OPEN_NEAR entries after the last have a time that never comes.  The number of
 * operations that return next cannot be predicted, so OPEN_NEAR entries are processed together,
 * without branches.
 */
#ifndef KL_CHECK_LOGLINEAR_RETURN_QUEUE_H
#define KL_CHECK_LOGLINEAR_RETURN_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#define OPEN_NEAR	4

/* Return: how many of the OPEN_NEAR entries from @wait on are before @time; they are sorted. */
static inline uint32_t open_before(const uint64_t *wait, uint64_t time)
{
	uint32_t n = 0, i;

#pragma GCC unroll 4
	for (i = 0; i < OPEN_NEAR; i++)
		n += wait[i] < time;
	return n;
}

/* Copy OPEN_NEAR events, of which the caller counts those that it wants. */
static inline void open_copy(uint32_t *to, const uint32_t *event)
{
	unsigned int i;

#pragma GCC unroll 4
	for (i = 0; i < OPEN_NEAR; i++)
		to[i] = event[i];
}

/* Shift the OPEN_NEAR entries up by one. */
static inline void open_move(uint64_t *wait, uint32_t *event)
{
	unsigned int i;

#pragma GCC unroll 4
	for (i = OPEN_NEAR; i; i--)
		wait[i] = wait[i - 1];
#pragma GCC unroll 4
	for (i = OPEN_NEAR; i; i--)
		event[i] = event[i - 1];
}

/*
 * Insert a return into the queue, which ends at index @tail.  Its place among the last entries
 * cannot be predicted, so it is found without branches.  *moves grows by the number of entries that
 * moved.  Return: the new end of the queue.
 */
static inline size_t open_add(uint64_t *wait, uint32_t *events, size_t tail, uint64_t ret,
			      uint32_t event, uint64_t *moves)
{
	const uint64_t *last = wait + tail - OPEN_NEAR;
	size_t at = tail, i;
	uint32_t later = 0;

#pragma GCC unroll 4
	for (i = 0; i < OPEN_NEAR; i++)
		later += last[i] > ret;
	if (later < OPEN_NEAR) {
		at -= later;
		open_move(wait + at, events + at);
	} else {
		for (; wait[at - 1] > ret; at--) {
			wait[at] = wait[at - 1];
			events[at] = events[at - 1];
		}
	}
	*moves += tail - at;
	wait[at] = ret;
	events[at] = event;
	return tail + 1;
}

#endif
