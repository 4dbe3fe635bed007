/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The number of critical intervals that cover each slot, while intervals are removed.  It is a tree
 * with blocks of 64 counters.  Removing an interval that spans whole blocks changes one counter for
 * each of them, on a higher level.  The sum of the numbers of the intervals that cover a slot is
 * kept, too: it names the interval of a slot that only one covers.
 */
#ifndef KL_CHECK_LOGLINEAR_INTERVAL_COVER_H
#define KL_CHECK_LOGLINEAR_INTERVAL_COVER_H

#include <stdbool.h>
#include <stdint.h>

#define COVER_BLOCK	64
#define COVER_LEVELS	6
#define COVER_NEVER	(INT32_MAX / 2)	/* a counter that cover_find() must not find again */

struct cover {
	/* number of counters on each level, a multiple of COVER_BLOCK */
	uint32_t n[COVER_LEVELS];
	/* level 0: intervals at each slot; else minima of blocks of the level below, + @owed */
	int32_t *count[COVER_LEVELS];
	/* what must be added to the counters of a block of the level below; it is not positive */
	int32_t *owed[COVER_LEVELS];
	uint32_t *ids[COVER_LEVELS];	/* sums of interval numbers for each level, or NULL */
	unsigned int levels;
	int32_t level;			/* cover_find() finds counters up to this value */
};

/* Make @n counters of 0; @ids: keep sums of interval numbers, too.  Return: 0, or -ENOMEM. */
int cover_init(struct cover *c, uint32_t n, bool ids);
void cover_free(struct cover *c);
/* Complete the tree after the counters of level 0 were filled in. */
void cover_build(struct cover *c);
/* Remove the interval with the number @id, which covers the slots @from .. @to. */
void cover_take(struct cover *c, uint32_t from, uint32_t to, uint32_t id);
/*
 * Find the first block of @block .. @last with a counter of at most c->level; *owed becomes what
 * must be added to the block's counters.  Return: the block, or UINT32_MAX if there is none.
 */
uint32_t cover_find(const struct cover *c, uint32_t block, uint32_t last, int32_t *owed);
/* Return: a mask of the block's counters that are at most c->level after @owed is added. */
uint64_t cover_low(const struct cover *c, uint32_t block, int32_t owed);
/* Return: the sum of the numbers of the intervals that cover a slot. */
uint32_t cover_id(const struct cover *c, uint32_t gap);
/* Update the tree after counters of a block changed. */
void cover_update(struct cover *c, uint32_t block);

#endif
