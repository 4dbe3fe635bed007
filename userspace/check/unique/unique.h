/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine `ends': queues, stacks and deques, bounded ones too, where each value is pushed once.
 *
 * The search makes an order from the first event to the last.  No operation takes effect until one
 * returns that has not taken effect; then as few operations as possible do.  The search knows when
 * each value is seen and leaves, and at which end.  So it can reject a state early if:
 *
 * - a value is nearer to an end than another value, and stays until the other is seen at that end;
 * - or two values each leave at an end where the other is in the way.
 *
 * Of several possible pushes, the one goes first whose value leaves later at this end, or earlier
 * at the other.  So nearly every step is right.  Where no step fits, the search tries all others,
 * depth first, and remembers dead ends.  If that does not help soon, it jumps back, a little at
 * first and then further, and takes some random steps early.  The number of jumps depends on the
 * bound of work, so that other engines have their turns.
 *
 * An order that is found is right.  If none is found, there may be one.  Then, and before many
 * jumps, a general engine decides some operations around the failure, see core.c.
 */
#ifndef KL_CHECK_UNIQUE_UNIQUE_H
#define KL_CHECK_UNIQUE_UNIQUE_H

#include "check/general/spec_stepper.h"
#include "spec/classify/ends.h"

#define UNIQUE_NONE	UINT32_MAX

enum unique_kind {
	UNIQUE_PUSH,
	UNIQUE_POP,
	UNIQUE_MAYBE,	/* a push with an unknown result; the container may have been full */
	UNIQUE_WILD,	/* a pending pop */
	UNIQUE_HIDDEN,	/* a pop with an unknown result; the container may have been empty */
	UNIQUE_LOOK,	/* a look that saw the value at an end */
	UNIQUE_EMPTY,	/* a pop or look that found the container empty */
	UNIQUE_FULL,	/* a push that found the container full */
	UNIQUE_FREE,	/* a look with an unknown result */
	UNIQUE_NOTHING,	/* a pending look, or not an operation */
	UNIQUE_ODD,	/* an operation with results that no state gives */
};

static inline bool unique_changes(enum unique_kind k)
{
	return k <= UNIQUE_HIDDEN;
}

struct unique_op {
	uint8_t kind;
	bool back;
	bool some;	/* a hidden or free operation certainly found a value */
	bool full;	/* a MAYBE took effect and found the container full */
	/*
	 * The number of the value that the operation pushes, pops or sees, or UNIQUE_NONE.  A wild
	 * or hidden pop gets it when it takes effect.
	 */
	uint32_t value;
};

/* The end at which a value leaves. */
enum unique_leaves { UNIQUE_FRONT, UNIQUE_BACK, UNIQUE_STAYS };

struct unique_value {
	uint32_t push, pop;	/* items, or UNIQUE_NONE */
	uint32_t last_call;	/* event: last call of looks and pop; UNIQUE_NONE if it stays */
	/* event: first return of all its operations; the push has taken effect by then */
	uint32_t first_ret;
	/* event: first return of looks and pop, or last_call if that is earlier */
	uint32_t rank;
	uint32_t look, nlooks;	/* its looks in unique_ops.look, by call */
	uint32_t looks;		/* looks that have not taken effect, and must before the pop */
	uint8_t leaves;
};

struct unique_ops {
	const struct kl_part *p;
	struct unique_op *op;	/* one for each item */
	struct unique_value *v;
	uint32_t *look;		/* looks of all values, see unique_value.look */
	uint32_t nvalues, nwild;	/* @nwild counts hidden pops, too */
	uint32_t nhidden;
	/* number of pushes whose results do not show whether there was room */
	uint32_t nmaybe;
	uint64_t capacity;	/* maximal number of values, or UINT64_MAX */
	bool may_differ;	/* the capacity is an argument of the push */
	uint32_t wrong;		/* a value that has no order by itself, or UNIQUE_NONE */
	uint32_t nodd;		/* number of items with results that no state gives */
};

/**
 * unique_read() - read the operations of a partition as pushes and pops
 * @o: has the partition; the rest is filled in
 * @why: gets the reason why this engine cannot decide the partition
 *
 * Return: 1, 0 with @why, or -ENOMEM.
 */
int unique_read(struct unique_ops *o, const char **why);
void unique_free(struct unique_ops *o);

/**
 * unique_core() - find operations that have no order by themselves
 * @o: the operations
 * @at: the event at which the search failed
 * @times: factor of the bound of work
 * @lim: bounds
 * @a: gets the answer if such operations are found
 *
 * Return: 1 if they are found, 0 if not, -ENOMEM.
 */
int unique_core(const struct unique_ops *o, uint32_t at, unsigned int times,
		const struct kl_limits *lim, struct kl_answer *a);

#endif
