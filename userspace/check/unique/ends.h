/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine `ends': queues, stacks and deques, also those with room for so many values
 * only, where each value is pushed once.
 *
 * An order is made from the first event to the last: nothing takes effect until an operation
 * returns that has not yet, and then as little as lets it.  What saves the search is that of
 * each value it is known when it is seen and leaves, and at which end: two values have no
 * future of which the one nearer to an end is there certainly longer than until the other is
 * seen at that end, nor have two that each leave where the other is in the way.  Of several
 * pushes that may as well come first that does whose value leaves later at this end, or
 * earlier at the other.  So nearly each step is right.  Where none is the search tries all
 * others, depth first, and remembers which places lead nowhere.  When that does not help soon
 * it jumps back, a little at first, then further, and from there does some things earlier than
 * it has to, by chance; how often depends on the work that it may do, so that other engines
 * have their turns.
 *
 * An order that is found is an order.  When none is found there may be one: then, and before it
 * jumps for long, some of the operations around the place are asked about, see core.c.
 */
#ifndef KL_CHECK_UNIQUE_ENDS_H
#define KL_CHECK_UNIQUE_ENDS_H

#include "check/general/spec_stepper.h"
#include "spec/classify/ends.h"

#define ENDS_NONE	UINT32_MAX

enum ends_kind {
	ENDS_PUSH, ENDS_POP,
	ENDS_MAYBE,	/* a push that returned, and its result is not known: perhaps it was full */
	ENDS_WILD,	/* pending, it may pop something */
	ENDS_HIDDEN,	/* it returned, and its result is not known: a value, or it was empty */
	ENDS_LOOK, ENDS_EMPTY, ENDS_FULL,
	ENDS_FREE,	/* changes nothing, and what it saw is not known */
	ENDS_NOTHING,	/* pending, it changes nothing; or it is no operation */
	ENDS_ODD,	/* its results are known, and still none that any state gives */
};

static inline bool ends_changes(enum ends_kind k)
{
	return k <= ENDS_HIDDEN;
}

struct ends_op {
	uint8_t kind;
	bool back;
	bool some;	/* of a hidden or free one: it found a value */
	bool full;	/* of one that may be a push: it was none, when it has taken effect */
	/* Of a wild or hidden one: what it popped, when it has taken effect; or ENDS_NONE. */
	uint32_t value;
};

/* Where a value leaves. */
enum ends_leaves { ENDS_FRONT, ENDS_BACK, ENDS_STAYS };

struct ends_value {
	uint32_t push, pop;	/* items, or ENDS_NONE */
	uint32_t hi;		/* event: the last call of what sees or pops it; ENDS_NONE: it stays */
	uint32_t lo;		/* event: the first return of all of its operations: it is in by then */
	uint32_t rank;		/* event: the first return of what sees it, or hi if that is earlier */
	uint32_t look, nlooks;	/* those that see it, in ends_ops.look, by call */
	uint32_t looks;		/* of these that have not taken effect, as they have to before */
	uint8_t leaves;
};

struct ends_ops {
	const struct kl_part *p;
	struct ends_op *op;	/* of each item */
	struct ends_value *v;
	uint32_t *look;
	uint32_t nvalues, nwild;	/* the hidden ones are wild, too */
	uint32_t nhidden;
	uint32_t nmaybe;	/* pushes whose results do not tell whether there was room */
	uint64_t capacity;	/* UINT64_MAX: there is always room */
	bool may_differ;	/* it is an argument how much room there is */
	uint32_t wrong;		/* a value that has no order by itself, or ENDS_NONE */
	uint32_t nodd;		/* items whose results no state gives */
};

/**
 * ends_read() - what the operations of a partition do
 * @o: with the partition; the rest is filled in
 * @why: why they are not for this engine
 *
 * Return: 1; 0 and @why; -ENOMEM.
 */
int ends_read(struct ends_ops *o, const char **why);
void ends_free(struct ends_ops *o);

/**
 * ends_core() - operations that have no order by themselves
 * @o: the operations
 * @at: the event that no order was found to go beyond
 * @times: look for so many times as long as the shortest
 * @lim: bounds
 * @a: the answer, filled in if there are such
 *
 * Return: 1, 0, -ENOMEM.
 */
int ends_core(const struct ends_ops *o, uint32_t at, unsigned int times,
	      const struct kl_limits *lim, struct kl_answer *a);

#endif
