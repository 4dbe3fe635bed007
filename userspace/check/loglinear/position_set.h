/* SPDX-License-Identifier: GPL-2.0 */
/* A set of slots, as a tree of 64-bit words: next, previous and removal take log64 n steps. */
#ifndef KL_CHECK_LOGLINEAR_POSITION_SET_H
#define KL_CHECK_LOGLINEAR_POSITION_SET_H

#include <stdbool.h>
#include <stdint.h>

struct position_set {
	uint64_t *word[6];
	unsigned int levels;
	uint32_t n;
};

int position_set_init(struct position_set *b, uint32_t n, bool full);
void position_set_free(struct position_set *b);
void position_set_set(struct position_set *b, uint32_t i);
/* The first member from @i on, and the last one up to @i; or LL_NONE. */
uint32_t position_set_next(const struct position_set *b, uint32_t i);
uint32_t position_set_prev(const struct position_set *b, uint32_t i);
/* Remove all members of @from .. @to. */
void position_set_clear(struct position_set *b, uint32_t from, uint32_t to);

#endif
