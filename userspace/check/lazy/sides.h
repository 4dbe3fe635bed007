/* SPDX-License-Identifier: GPL-2.0 */
/* A partition as two sides, for the lazy engines: additions, and all other operations. */
#ifndef KL_CHECK_LAZY_SIDES_H
#define KL_CHECK_LAZY_SIDES_H

#include "check/part.h"
#include "spec/classify/container.h"

#define LAZY_NEVER	UINT32_MAX
/* In place of a value's number: the container was empty; the value is not known. */
#define LAZY_EMPTY	UINT32_MAX
#define LAZY_ANYTHING	(UINT32_MAX - 1)

/*
 * Time counts events: the event with index e is at e + 1.  An operation may have the places p with
 * call <= p < ret, and must have one unless @must is LAZY_NEVER.
 */
struct lazy_op {
	uint32_t item;
	uint32_t call, ret;
	uint32_t must;		/* ret, or LAZY_NEVER if the operation need not take effect */
	uint32_t value;		/* a value's number, LAZY_EMPTY or LAZY_ANYTHING */
	bool removes;
};

/* Operations of one side in order of call. */
struct lazy_side {
	struct lazy_op *op;
	uint32_t *least;	/* minimum of @must from each operation on */
	uint32_t n;
	uint32_t open;		/* maximal number of operations that are open together */
};

enum { LAZY_ADDS, LAZY_TAKES, LAZY_SIDES };

struct lazy_ops {
	const struct kl_part *p;
	uint32_t *value;	/* number of the value that each item adds or saw */
	uint32_t end;		/* events from this one on are ignored */
	uint32_t from;		/* the end of a gap at the beginning, or 0 */
	struct lazy_side side[LAZY_SIDES];
};

/**
 * lazy_find_values() - number the value that each operation adds or saw
 * @f: has room for a value for each item
 * @roles: the role of each method
 * @why: gets the reason why this engine cannot decide the partition
 *
 * Return: 0, 1 with @why, or -ENOMEM.
 */
int lazy_find_values(struct lazy_ops *f, const enum kl_role *roles, const char **why);

/* Find the end of a gap at the beginning.  Return: 0, or 1 if there are other gaps. */
int lazy_find_gap(struct lazy_ops *f);

/* Make the sides as they are before the event f->end.  Return: 0, or -ENOMEM. */
int lazy_make_sides(struct lazy_ops *f, const enum kl_role *roles);

#endif
