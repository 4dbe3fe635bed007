/* SPDX-License-Identifier: GPL-2.0 */
/* In which gaps operations of stacks and priority queues can take effect, and do. */
#ifndef KL_CHECK_LOGLINEAR_POSITIONS_H
#define KL_CHECK_LOGLINEAR_POSITIONS_H

#include "check/loglinear/loglinear.h"

struct mono_places {
	uint32_t *at;		/* the gap of each operation */
	uint32_t *rank;		/* of each value */
};

/*
 * The gaps of an operation, as tightened (section 5): none before the addition or behind the
 * removal.
 */
struct mono_window {
	uint32_t from, to;
};

static inline struct mono_window mono_add_window(const struct mono_value *v)
{
	return (struct mono_window){ v->call, v->lo - 1 };
}

static inline struct mono_window mono_remove_window(const struct mono_value *v)
{
	return (struct mono_window){ v->hi, v->rret - 1 };
}

static inline struct mono_window mono_peek_window(const struct mono *m, const struct mono_value *v,
						  uint32_t peek)
{
	const struct mono_peek_times *t = &m->peek_times;
	struct mono_window w = {
		*mono_peek_time(t, peek, false), *mono_peek_time(t, peek, true) - 1,
	};

	if (v->add != MONO_NONE && w.from < v->call)
		w.from = v->call;
	if (v->remove != MONO_NONE && w.to >= v->rret)
		w.to = v->rret - 1;
	return w;
}

/* Make m->places, and times if there are peeks.  0 or -ENOMEM. */
int mono_places_init(struct mono *m);
void mono_places_free(struct mono_places *p);

/*
 * The order, when each operation has a gap.  Values of higher rank are those that
 * are inside only while no operation of a lower one takes effect (on a stack they
 * are above it, in a priority queue before it), so in a gap: first what ends
 * there, higher ranks first, then what stays, what found it empty, and last what
 * begins there, lower ranks first.
 */
int mono_places_order(struct mono *m);

#endif
