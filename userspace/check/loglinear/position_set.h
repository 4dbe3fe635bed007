/* SPDX-License-Identifier: GPL-2.0 */
/* A set of slots, as a tree of 64-bit words; to find and remove members takes log64 n steps. */
#ifndef KL_CHECK_LOGLINEAR_POSITION_SET_H
#define KL_CHECK_LOGLINEAR_POSITION_SET_H

#include <stdbool.h>
#include <stdint.h>

struct position_set {
	/* level 0: a bit for each slot; else a bit for each word of the level below, if not 0 */
	uint64_t *word[6];
	unsigned int levels;
	uint32_t n;		/* members are less than this */
};

/* Make a set that is empty or, with @full, has all slots below @n.  Return: 0, or -ENOMEM. */
int position_set_init(struct position_set *b, uint32_t n, bool full);
void position_set_free(struct position_set *b);
/* Add the slot @i. */
void position_set_set(struct position_set *b, uint32_t i);
/* Return: the first member from @i on, or LL_NONE. */
uint32_t position_set_next(const struct position_set *b, uint32_t i);
/* Return: the last member up to @i, or LL_NONE. */
uint32_t position_set_prev(const struct position_set *b, uint32_t i);
/* Remove all members of @from .. @to. */
void position_set_clear(struct position_set *b, uint32_t from, uint32_t to);

#endif
