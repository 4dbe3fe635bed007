/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decides which objects are checked under too much load.  The busiest objects are dropped, each as
 * a whole, until half of the operations are left.  When the load is low again, the objects with the
 * fewest operations come back first.  If they come back too soon, the next wait is longer.
 */
#ifndef KL_WATCH_SHED_H
#define KL_WATCH_SHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct feed;
struct shed;

/* The load since the last turn. */
struct shed_load {
	uint64_t now;		/* ns */
	double busy;		/* part of the time that the check was busy, 0 to 1 */
	bool over;		/* buffers or memory were full, or the check lags behind */
};

struct shed_stats {
	size_t objects, dropped; /* numbers of known objects, and of objects dropped now */
	/* number of times that an object was dropped; operations that were not checked */
	uint64_t drops, skipped;
};

/* Result of shed_turn(), for a log: objects that were dropped, or came back. */
struct shed_turn {
	size_t dropped, resumed;
	uint64_t object; /* the first object that was dropped or came back */
};

struct shed *shed_new(void);
void shed_free(struct shed *s);

/**
 * shed_op() - decide if an operation is checked
 * @s: the shedder
 * @object: its object
 * @ret: time of its return
 * @must: the operation is pending, or comes too late, so it must not be skipped
 * @err: gets 0 or -ENOMEM
 *
 * Return: true if it is skipped.
 */
bool shed_op(struct shed *s, uint64_t object, uint64_t ret, bool must, int *err);

/**
 * shed_turn() - drop objects, or take dropped ones back
 * @s: the shedder
 * @l: the load since the last turn; turns come at similar intervals
 * @f: the feed, which drops or resumes the objects
 * @t: gets what was done
 *
 * Return: 0 or -ENOMEM.
 */
int shed_turn(struct shed *s, const struct shed_load *l, struct feed *f, struct shed_turn *t);

/* Drop all dropped objects again, in a check that was started anew.  Return: 0 or -ENOMEM. */
int shed_drop_again(struct shed *s, struct feed *f);
void shed_stats(const struct shed *s, struct shed_stats *out);

/* feed.c: drop or resume the operations of @object; see kl_online_drop(). */
int feed_drop(struct feed *f, uint64_t object, const char *why);
void feed_resume(struct feed *f, uint64_t object, uint64_t until);

#endif
