/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A history that is handed on piece by piece, into the online check.
 *
 * Objects can be dropped, when there is more than can be checked: whole ones, for then
 * what is told of the others stays certain.  All that is kept has a bound: when the check
 * holds more than that, it is begun anew, from unknown states.
 */
#ifndef KL_WATCH_FEED_H
#define KL_WATCH_FEED_H

#include "check/online/online.h"

struct shed;

struct feed_opts {
	bool classical;			/* see kl_options */
	unsigned int show;		/* violations that come with a counterexample */
	bool histories;			/* they come with their operations, see online.h */
	uint64_t bytes;			/* bound of the memory for states */
	const volatile int *stop;
	void (*violation)(void *ctx, const struct kl_online_violation *v);
	void *ctx;
	struct shed *shed;		/* asked which objects are dropped; NULL: none are */
};

struct feed;

/**
 * feed_new() - begin
 * @spec: the specification
 * @h: clock, error and first state
 * @opts: how; copied
 *
 * Return: NULL when out of memory.
 */
struct feed *feed_new(const struct kl_spec *spec, const struct kl_history *h,
		      const struct feed_opts *opts);
void feed_free(struct feed *f);

/*
 * Hand the operations and gaps of @h on.  0; -EINVAL after a message when they are none
 * of the specification; -ENOMEM.
 */
int feed_add(struct feed *f, const struct kl_history *h);
/* All that is still to come is called at @floor or later.  0 or -ENOMEM. */
int feed_floor(struct feed *f, uint64_t floor);
/* Nothing more comes; after a floor of KL_TIME_MAX nothing is missing.  0 or -ENOMEM. */
int feed_end(struct feed *f);
/* The latest time that an operation returned. */
uint64_t feed_newest(const struct feed *f);

/**
 * feed_renew() - forget everything, and begin anew
 * @f: the feed
 *
 * Not after the last floor.  What was counted so far stays counted.  All states are
 * unknown, and nothing is concluded of operations that were under way.
 *
 * Return: 0 or -ENOMEM.
 */
int feed_renew(struct feed *f);

/* What was counted since the beginning; partitions and bytes are those of now. */
void feed_stats(const struct feed *f, struct kl_online_stats *s);

#endif
