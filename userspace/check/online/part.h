/* SPDX-License-Identifier: GPL-2.0 */
/* A partition that is followed, from within. */
#ifndef KL_CHECK_ONLINE_PART_H
#define KL_CHECK_ONLINE_PART_H

#include "check/online/lifetimes.h"

/* part.c: what follows it, and to begin anew in an unknown state. */
const struct on_monitor *part_monitor(const struct kl_online *o);
void part_drop_monitors(struct kl_online *o, struct on_part *p);
void part_drop_front(struct kl_online *o, struct on_part *p);
void part_drop(struct kl_online *o, struct on_part *p);
int part_restart(struct kl_online *o, struct on_part *p);

/* partition_failure.c: what returned @ret, other than 0: a monitor or (@front) the frontier. */
int part_trouble(struct kl_online *o, struct on_part *p, int ret, uint64_t time, bool front);
/* It cannot be followed any further. */
int part_quit(struct kl_online *o, struct on_part *p, const char *why);
/* Do monitors say all there is to say? */
bool part_monitors_tell(const struct kl_online *o, const struct on_part *p);

enum part_when { PART_WHILE, PART_OVER, PART_END };

/* Check what is kept; PART_OVER: it will not be all there is any longer. */
int part_look(struct kl_online *o, struct on_part *p, uint64_t time, enum part_when when);

/* What returns now may have seen what is called now, or was lost from now on. */
static inline uint64_t part_before_now(const struct kl_online *o)
{
	return o->now ? o->now - 1 : 0;
}

#endif
