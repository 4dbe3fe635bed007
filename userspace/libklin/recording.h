/* SPDX-License-Identifier: GPL-2.0 */
/* Structures that the files of the recorder share. */
#ifndef KL_LIBKLIN_RECORDING_H
#define KL_LIBKLIN_RECORDING_H

#include <pthread.h>

#include "libklin/include/klin/record.h"
#include "libklin/internal.h"

#define REC_LINE 64 /* bytes of a cache line */

/* A call or return that no method of the specification has. */
struct rec_misuse {
	const struct klin_lane *lane; /* NULL: there was none */
	int method; /* or -1: it is not known, or a return had no call */
	unsigned int nargs, nresults;
};

struct klin_rec {
	struct klin_spec *spec;
	pthread_key_t key; /* the lane of each thread */
	pthread_mutex_t lock; /* of the list of lanes */
	struct klin_lane **lanes;
	unsigned int nlanes, threads;
	size_t operations;
	uint64_t began;
	char *no_method; /* the first name that klin_rec_method() has not found, or NULL */
	bool undrained; /* operations may end with plain stores, whatever the specification says */
	struct rec_misuse misuse; /* the first one, guarded by @lock */
	struct klin_lane none; /* the lane of threads without a buffer */
	_Alignas(REC_LINE) uint64_t order;
};

/* Report that the specification has no method of this name. */
void rec_no_method(const struct klin_rec *rec, const char *name);

/* Return: @n, rounded up to whole cache lines. */
static inline size_t rec_round_up(size_t n)
{
	return (n + REC_LINE - 1) / REC_LINE * REC_LINE;
}

/* Return: a time, which is read before anything that follows. */
static inline uint64_t rec_time(struct klin_lane *lane)
{
	const uint64_t t = klin_read_call(lane);

	klin_begin_after(lane);
	return t;
}

/* Return: the first slot of a lane, behind the lane itself. */
static inline char *rec_slots(const struct klin_lane *lane)
{
	return (char *)lane + rec_round_up(sizeof(*lane));
}

#endif
