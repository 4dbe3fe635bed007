/* SPDX-License-Identifier: GPL-2.0 */
/* What the engine `fifo' sees of a partition. */
#ifndef KL_CHECK_FIFO_H
#define KL_CHECK_FIFO_H

#include "check/part.h"
#include "spec/container.h"

#define FIFO_NEVER	UINT32_MAX
#define FIFO_EMPTY	UINT32_MAX	/* no value's number */
#define FIFO_ANYTHING	(UINT32_MAX - 1)

/*
 * Time is counted in events: the event of index e is at e + 1.  An operation may
 * have the places p with call <= p < ret, and must have one if must is not NEVER.
 */
struct fifo_op {
	uint32_t item;
	uint32_t call, ret;
	uint32_t must;		/* ret, or FIFO_NEVER if it need not take effect here */
	uint32_t value;
	bool removes;
};

/* Operations of one side in order of call. */
struct fifo_side {
	struct fifo_op *op;
	uint32_t *least;	/* of must, from each on */
	uint32_t n, open;	/* open: most at a time */
};

enum { FIFO_ADDS, FIFO_TAKES, FIFO_SIDES };

struct fifo_ops {
	const struct kl_part *p;
	uint32_t *value;	/* of each item: number of what it adds or what it saw */
	uint32_t end;		/* events from here on have not happened */
	uint32_t from;		/* where a gap at the beginning ends, or 0 */
	struct fifo_side side[FIFO_SIDES];
};

/**
 * fifo_find_values() - what each operation adds or saw
 * @f: with room for a value for each item
 * @roles: of the methods
 * @why: why it is not for this engine
 *
 * Return: 0; 1 and @why; -ENOMEM.
 */
int fifo_find_values(struct fifo_ops *f, const enum kl_role *roles, const char **why);

/* Where a gap at the beginning ends.  0, or 1 when there are others. */
int fifo_find_gap(struct fifo_ops *f);

/* The sides as they are before the event f->end, into room for all items.  0, -ENOMEM. */
int fifo_make_sides(struct fifo_ops *f, const enum kl_role *roles);

#endif
