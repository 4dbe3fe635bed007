/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many critical intervals cover each gap, as they are taken away: a tree of
 * blocks of 64 counters, in which an interval that spans whole blocks is taken
 * from these.  It also tells the one interval that is left, by a sum of numbers.
 */
#ifndef KL_CHECK_LOGLINEAR_INTERVAL_COVER_H
#define KL_CHECK_LOGLINEAR_INTERVAL_COVER_H

#include <stdbool.h>
#include <stdint.h>

#define COVER_BLOCK	64
#define COVER_LEVELS	6
#define COVER_NEVER	(INT32_MAX / 2)	/* a counter that is not to be found any more */

struct cover {
	uint32_t n[COVER_LEVELS];	/* counters on each level, a multiple of COVER_BLOCK */
	int32_t *count[COVER_LEVELS];	/* of the level below: the least, and what it owes */
	int32_t *owed[COVER_LEVELS];	/* taken from whole blocks */
	uint32_t *ids[COVER_LEVELS];	/* sums, apart for each level; NULL if not wanted */
	unsigned int levels;
	int32_t level;			/* counters up to here are found */
};

/* @n counters, all 0.  @ids: keep sums.  0 or -ENOMEM. */
int cover_init(struct cover *c, uint32_t n, bool ids);
void cover_free(struct cover *c);
/* After the counters on level 0 were filled in. */
void cover_build(struct cover *c);
/* Take interval number @id away from @from .. @to. */
void cover_take(struct cover *c, uint32_t from, uint32_t to, uint32_t id);
/*
 * The first block of @block .. @last with a counter that is at most c->level, or
 * UINT32_MAX; @owed: what is to be added to its counters.
 */
uint32_t cover_find(const struct cover *c, uint32_t block, uint32_t last, int32_t *owed);
/* Which counters of a block are at most c->level, when @owed is added. */
uint64_t cover_low(const struct cover *c, uint32_t block, int32_t owed);
/* The sum of the numbers of the intervals that cover a gap. */
uint32_t cover_id(const struct cover *c, uint32_t gap);
/* Counters of a block were changed. */
void cover_update(struct cover *c, uint32_t block);

#endif
