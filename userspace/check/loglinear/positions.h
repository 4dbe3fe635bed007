/* SPDX-License-Identifier: GPL-2.0 */
/* The slots in which operations of stacks and priority queues can take effect, and do. */
#ifndef KL_CHECK_LOGLINEAR_POSITIONS_H
#define KL_CHECK_LOGLINEAR_POSITIONS_H

#include "check/loglinear/loglinear.h"

struct ll_positions {
	uint32_t *at;		/* the slot in which each operation takes effect */
	uint32_t *rank;		/* the rank of each value, see ll_positions_order() */
};

/*
 * The slots of an operation after tightening (section 5): none is before the value's addition or
 * after its removal.
 */
struct ll_window {
	uint32_t from, to;
};

static inline struct ll_window ll_add_window(const struct ll_value *v)
{
	return (struct ll_window){ v->call, v->first_ret - 1 };
}

static inline struct ll_window ll_remove_window(const struct ll_value *v)
{
	return (struct ll_window){ v->last_call, v->remove_ret - 1 };
}

static inline struct ll_window ll_peek_window(const struct loglinear *m, const struct ll_value *v,
					      uint32_t peek)
{
	const struct ll_peek_times *t = &m->peek_times;
	struct ll_window w = {
		*ll_peek_time(t, peek, false),
		*ll_peek_time(t, peek, true) - 1,
	};

	if (v->add != LL_NONE && w.from < v->call)
		w.from = v->call;
	if (v->remove != LL_NONE && w.to >= v->remove_ret)
		w.to = v->remove_ret - 1;
	return w;
}

/* Make m->places, and times if there are peeks.  Return: 0, or -ENOMEM. */
int ll_positions_init(struct loglinear *m);
void ll_positions_free(struct ll_positions *p);

/*
 * Make the order when each operation has a slot.  A value with a higher rank is inside only while
 * no operation of a lower rank takes effect.  (On a stack it lies above, in a priority queue it has
 * priority.)  So a slot has: values that end there, higher ranks first; peeks of values that stay;
 * operations that found the container empty; values that begin there, lower ranks first.
 */
int ll_positions_order(struct loglinear *m);

#endif
