/* SPDX-License-Identifier: GPL-2.0 */
/* Internal interfaces of partitions. */
#ifndef KL_CHECK_ONLINE_PART_H
#define KL_CHECK_ONLINE_PART_H

#include "check/online/lifetimes.h"

/* part.c.  Return: the functions of the monitors of all partitions. */
const struct on_monitor *part_monitor(const struct kl_online *o);
/* Free the monitors; stop the frontier; do both. */
void part_drop_monitors(struct kl_online *o, struct on_part *p);
void part_drop_front(struct kl_online *o, struct on_part *p);
void part_drop(struct kl_online *o, struct on_part *p);
/* Begin the partition again in an unknown state.  Return: 0, or -ENOMEM. */
int part_restart(struct kl_online *o, struct on_part *p);

/* partition_failure.c: handle @ret, other than 0, of a monitor or (@front) of the frontier. */
int part_trouble(struct kl_online *o, struct on_part *p, int ret, uint64_t time, bool front);
/* Stop following a partition, for the reason @why. */
int part_quit(struct kl_online *o, struct on_part *p, const char *why);
/* Return: true if the monitors can decide the partition without the frontier. */
bool part_monitors_tell(const struct kl_online *o, const struct on_part *p);

enum part_when {
	PART_WHILE,	/* the partition goes on to be PART_KEPT */
	PART_OVER,	/* the window is about to lose operations, or a gap begins */
	PART_END	/* the whole check ends */
};

/* Check the kept operations that were called by @time offline.  Return: 0, or -ENOMEM. */
int part_look(struct kl_online *o, struct on_part *p, uint64_t time, enum part_when when);

/* Return: the latest time of which all events have certainly been followed. */
static inline uint64_t part_before_now(const struct kl_online *o)
{
	return o->now ? o->now - 1 : 0;
}

#endif
