/* SPDX-License-Identifier: GPL-2.0 */
/* What the engines that decide late see of a partition. */
#ifndef KL_CHECK_LAZY_SIDES_H
#define KL_CHECK_LAZY_SIDES_H

#include "check/part.h"
#include "spec/classify/container.h"

#define LATE_NEVER	UINT32_MAX
#define LATE_EMPTY	UINT32_MAX	/* no value's number */
#define LATE_ANYTHING	(UINT32_MAX - 1)

/*
 * Time is counted in events: the event of index e is at e + 1.  An operation may
 * have the places p with call <= p < ret, and must have one if must is not NEVER.
 */
struct late_op {
	uint32_t item;
	uint32_t call, ret;
	uint32_t must;		/* ret, or LATE_NEVER if it need not take effect here */
	uint32_t value;
	bool removes;
};

/* Operations of one side in order of call. */
struct late_side {
	struct late_op *op;
	uint32_t *least;	/* of must, from each on */
	uint32_t n, open;	/* open: most at a time */
};

enum { LATE_ADDS, LATE_TAKES, LATE_SIDES };

struct late_ops {
	const struct kl_part *p;
	uint32_t *value;	/* of each item: number of what it adds or what it saw */
	uint32_t end;		/* events from here on have not happened */
	uint32_t from;		/* where a gap at the beginning ends, or 0 */
	struct late_side side[LATE_SIDES];
};

/**
 * late_find_values() - what each operation adds or saw
 * @f: with room for a value for each item
 * @roles: of the methods
 * @why: why it is not for this engine
 *
 * Return: 0; 1 and @why; -ENOMEM.
 */
int late_find_values(struct late_ops *f, const enum kl_role *roles, const char **why);

/* Where a gap at the beginning ends.  0, or 1 when there are others. */
int late_find_gap(struct late_ops *f);

/* The sides as they are before the event f->end, into room for all items.  0, -ENOMEM. */
int late_make_sides(struct late_ops *f, const enum kl_role *roles);

#endif
