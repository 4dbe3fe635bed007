/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Passes a history in pieces to the online check.
 *
 * Under too much load, whole objects are dropped, so that verdicts on the other objects stay
 * certain.  feed_renew() bounds the memory: it starts the check anew from unknown states.
 */
#ifndef KL_WATCH_FEED_H
#define KL_WATCH_FEED_H

#include "check/online/online.h"

struct shed;

struct feed_opts {
	bool classical;			/* see kl_options */
	unsigned int show;		/* maximal number of violations with a counterexample */
	bool histories;			/* violations come with their operations, see online.h */
	uint64_t bytes;			/* bound of the memory for states */
	const volatile int *stop;
	void (*violation)(void *ctx, const struct kl_online_violation *v);
	void *ctx;
	struct shed *shed;		/* decides which objects are dropped; NULL: none */
};

struct feed;

/**
 * feed_new() - start an online check
 * @spec: the specification
 * @h: a history with the clock, its error and the first state
 * @opts: options, which are copied
 *
 * Return: NULL when out of memory.
 */
struct feed *feed_new(const struct kl_spec *spec, const struct kl_history *h,
		      const struct feed_opts *opts);
void feed_free(struct feed *f);

/*
 * Pass on the operations and gaps of @h.  Return: 0; -EINVAL after a message if they do not fit the
 * specification; -ENOMEM.
 */
int feed_add(struct feed *f, const struct kl_history *h);
/* Let go of the spellings of @h until the next feed_add(), so that @h can change them. */
void feed_release(struct feed *f);
/* Note that all later operations are called at @floor or later.  Return: 0 or -ENOMEM. */
int feed_floor(struct feed *f, uint64_t floor);
/* Forget objects that no later operation has, see kl_online_over().  Return: 0 or -ENOMEM. */
int feed_over(struct feed *f, const uint64_t *objects, size_t n);
/* End the history, which is complete if the last floor is KL_TIME_MAX.  Return: 0 or -ENOMEM. */
int feed_end(struct feed *f);
/* Return: the time of the latest return that was added. */
uint64_t feed_newest(const struct feed *f);

/**
 * feed_renew() - forget all states and start the check anew
 * @f: the feed, whose history has not ended
 *
 * Counts so far stay.  All states become unknown, and nothing is concluded from operations that
 * were open.
 *
 * Return: 0 or -ENOMEM.
 */
int feed_renew(struct feed *f);

/* Get the counts since the start; partitions and bytes are the current ones. */
void feed_stats(const struct feed *f, struct kl_online_stats *s);

#endif
