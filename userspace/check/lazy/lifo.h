/* SPDX-License-Identifier: GPL-2.0 */
/* Records and lists of the engine `lifo', which its files share; see lifo.c. */
#ifndef KL_CHECK_LAZY_LIFO_H
#define KL_CHECK_LAZY_LIFO_H

#include "check/lazy/lazy.h"

/* Lists; see struct lazy_cell. */
enum {
	R_LIST = L_OWN,		/* additions that have returned, and that no operation has seen */
	R_ZONES,		/* zones, the latest in front */
	R_SEEN,			/* additions that a peek saw, the last one in front */
	R_OLD,			/* the bottom of the stack, see enum lazy_old */
};

enum lazy_old {
	LAZY_NOTHING,		/* no unknown values */
	LAZY_UNKNOWN,		/* any number of unknown values, possibly none */
	LAZY_KNOWN,		/* + a value: that value, and unknown values below it */
};

#define LAZY_END	0u	/* the end of a list; other links are numbers of cells + 1 */
#define LAZY_NOWHERE	0u	/* no place: the first one is 1 */

/*
 * A cell of R_LIST: an addition, and its first and last place.  Of R_SEEN: an addition, its place
 * (first_place), and the place of the last peek (last_place).  Of R_ZONES: a zone, with no place
 * between first_place and last_place.
 */
struct lazy_cell {
	uint32_t op, first_place, last_place, next;
	uint32_t canon, depth;	/* canonical number of the list, see lifo_lists.c; its length */
};

static inline struct lazy_cell lazy_cell(const struct lazy *f, uint32_t list)
{
	const uint64_t *w;
	size_t n;

	++*f->looks;
	if (list == LAZY_END)
		return (struct lazy_cell){ .op = UINT32_MAX };
	w = kl_intern_get(&f->cells, list - 1, &n);
	return (struct lazy_cell){
		w[0] >> 32, w[1] >> 32, (uint32_t)w[1], (uint32_t)w[0], w[2] >> 32, (uint32_t)w[2],
	};
}

/* Return: the last place of @first .. @last outside all zones, or LAZY_NOWHERE. */
static inline uint32_t lazy_last_place(const struct lazy *f, uint32_t zones, uint32_t first,
				       uint32_t last)
{
	while (zones != LAZY_END) {
		const struct lazy_cell z = lazy_cell(f, zones);

		if (last >= z.last_place)
			break;
		if (last > z.first_place)
			last = z.first_place;
		zones = z.next;
	}
	return last >= first ? last : LAZY_NOWHERE;
}

/* Insert the addition @c.op into R_LIST of record @r.  Return: 0, or a negative errno. */
int lazy_insert(struct lazy *f, uint32_t *r, struct lazy_cell c);
/* Remove the addition @op from R_LIST, which contains it. */
int lazy_take_out(struct lazy *f, uint32_t *r, uint32_t op);
/* Put @c in front of R_SEEN. */
int lazy_put_seen(struct lazy *f, uint32_t *r, struct lazy_cell c);
/* Add the zone between the places @from and @to.  Return: 0, or a negative errno. */
int lazy_add_zone(struct lazy *f, uint32_t *r, uint32_t from, uint32_t to);

/* Let @op see the bottom of the stack, below all additions.  Return: false if it cannot. */
bool lazy_see_bottom(uint32_t *old, const struct lazy_op *op);

/* See struct lazy_discipline. */
void lazy_lifo_canonical(const struct lazy *f, const uint32_t *r, uint32_t *key);
int lazy_lifo_order(struct lazy *f, uint32_t *out, uint32_t *n);

#endif
