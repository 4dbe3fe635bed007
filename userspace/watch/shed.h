/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which objects are checked, when there is more than can be: the busiest are dropped,
 * each as a whole, until half of the operations are left; when there is time again the
 * quietest come back first, and what comes back too soon waits longer the next time.
 */
#ifndef KL_WATCH_SHED_H
#define KL_WATCH_SHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct feed;
struct shed;

/* How it went since the last look. */
struct shed_load {
	uint64_t now;		/* ns */
	double busy;		/* part of the time that was spent on checking, 0 to 1 */
	bool over;		/* it was too much: buffers or memory were full, or it lags */
};

struct shed_stats {
	size_t objects, dropped;	/* known; of these dropped now */
	uint64_t drops, skipped;	/* times that one was dropped; operations not checked */
};

/* What shed_turn() has done, for a log: objects dropped, or come back. */
struct shed_turn {
	size_t dropped, resumed;
	uint64_t object;	/* the first of them */
};

struct shed *shed_new(void);
void shed_free(struct shed *s);

/**
 * shed_op() - an operation has come
 * @s: the shedder
 * @object: its object
 * @ret: time of its return
 * @must: it never returns, or comes too late: it is never skipped
 * @err: 0 or -ENOMEM
 *
 * Return: true when it is not to be checked.
 */
bool shed_op(struct shed *s, uint64_t object, uint64_t ret, bool must, int *err);

/**
 * shed_turn() - drop objects, or take dropped ones back
 * @s: the shedder
 * @l: how it goes; at intervals that are much the same
 * @f: the feed that is told
 * @t: what was done
 *
 * Return: 0 or -ENOMEM.
 */
int shed_turn(struct shed *s, const struct shed_load *l, struct feed *f, struct shed_turn *t);

/* Tell a feed that was begun anew of what is dropped.  0 or -ENOMEM. */
int shed_tell(struct shed *s, struct feed *f);
void shed_stats(const struct shed *s, struct shed_stats *out);

/* feed.c: nothing of @object comes, or it does again; see kl_online_drop(). */
int feed_drop(struct feed *f, uint64_t object, const char *why);
void feed_resume(struct feed *f, uint64_t object, uint64_t until);

#endif
