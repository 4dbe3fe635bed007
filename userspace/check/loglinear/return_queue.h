/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations that are open, by return, then as they were called: an array of returns and
 * one of events.  Of the OPEN_NEAR before the first none is later than one that is to
 * come; the OPEN_NEAR behind the last are never.  What comes next is chance, so few
 * of them are looked at together, without branches that could be guessed.
 */
#ifndef KL_CHECK_LOGLINEAR_RETURN_QUEUE_H
#define KL_CHECK_LOGLINEAR_RETURN_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#define OPEN_NEAR	4

/* How many of the OPEN_NEAR at @wait are before @time?  They are in order. */
static inline uint32_t open_before(const uint64_t *wait, uint64_t time)
{
	uint32_t n = 0, i;

#pragma GCC unroll 4
	for (i = 0; i < OPEN_NEAR; i++)
		n += wait[i] < time;
	return n;
}

/* The first of them. */
static inline void open_copy(uint32_t *to, const uint32_t *event)
{
	unsigned int i;

#pragma GCC unroll 4
	for (i = 0; i < OPEN_NEAR; i++)
		to[i] = event[i];
}

/* Up by one: they, or fewer and some that are never. */
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
 * It waits: the new end of those that do.  Its place among the last of them is found,
 * and room made for it, without branches: which it is, is chance.
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
