/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the engine `lifo' share; see lifo.c. */
#ifndef KL_CHECK_LAZY_LIFO_H
#define KL_CHECK_LAZY_LIFO_H

#include "check/lazy/late.h"

/* Lists; see struct late_cell. */
enum {
	R_LIST = L_OWN,		/* additions in the stack whose places have passed */
	R_ZONES,
	R_SEEN,			/* those that a peek saw, the last one in front */
	R_OLD,			/* below all that, see enum late_old */
};

enum late_old {
	LATE_NOTHING,
	LATE_UNKNOWN,		/* what nobody knows, or nothing */
	LATE_KNOWN,		/* from here on: plus a value, with what nobody knows below */
};

#define LATE_END	0u	/* of a list; others are numbers of cells + 1 */
#define LATE_NOWHERE	0u	/* no place: the first one is 1 */

/*
 * Of R_LIST: an addition and its places, lo to hi.  Of R_SEEN: an addition, its place
 * and when it was seen last.  Of R_ZONES: no place between lo and hi.
 */
struct late_cell {
	uint32_t op, lo, hi, next;
	uint32_t canon, depth;	/* see lifo_lists.c */
};

static inline struct late_cell late_cell(const struct late *f, uint32_t list)
{
	const uint64_t *w;
	size_t n;

	++*f->looks;
	if (list == LATE_END)
		return (struct late_cell){ .op = UINT32_MAX };
	w = kl_intern_get(&f->cells, list - 1, &n);
	return (struct late_cell){
		w[0] >> 32, w[1] >> 32, (uint32_t)w[1], (uint32_t)w[0], w[2] >> 32, (uint32_t)w[2],
	};
}

/* The last of the places from @lo to @hi that is in no zone, or LATE_NOWHERE. */
static inline uint32_t late_last_place(const struct late *f, uint32_t zones, uint32_t lo,
				       uint32_t hi)
{
	while (zones != LATE_END) {
		const struct late_cell z = late_cell(f, zones);

		if (hi >= z.hi)
			break;
		if (hi > z.lo)
			hi = z.lo;
		zones = z.next;
	}
	return hi >= lo ? hi : LATE_NOWHERE;
}

/* Put what @c says of addition @c.op into the list of record @r.  0, negative errno. */
int late_insert(struct late *f, uint32_t *r, struct late_cell c);
/* Take addition @op, which is there, out of the list. */
int late_take_out(struct late *f, uint32_t *r, uint32_t op);
/* Put @c in front of those seen. */
int late_put_seen(struct late *f, uint32_t *r, struct late_cell c);
/* There is no place between @lo and @hi any more. */
int late_add_zone(struct late *f, uint32_t *r, uint32_t lo, uint32_t hi);

/* Operation @op sees what is below all that was added; false if it cannot. */
bool late_see_bottom(uint32_t *old, const struct late_op *op);

/* See struct late_discipline. */
void late_lifo_canonical(const struct late *f, const uint32_t *r, uint32_t *key);
int late_lifo_order(struct late *f, uint32_t *out, uint32_t *n);

#endif
