/* SPDX-License-Identifier: GPL-2.0 */
/* A set of gaps, as a tree of words of bits: next, previous and removal in log64 n. */
#ifndef KL_CHECK_LOGLINEAR_POSITION_SET_H
#define KL_CHECK_LOGLINEAR_POSITION_SET_H

#include <stdbool.h>
#include <stdint.h>

struct mono_bits {
	uint64_t *word[6];
	unsigned int levels;
	uint32_t n;
};

int mono_bits_init(struct mono_bits *b, uint32_t n, bool full);
void mono_bits_free(struct mono_bits *b);
void mono_bits_set(struct mono_bits *b, uint32_t i);
/* The first member from @i on, or MONO_NONE; the last up to @i. */
uint32_t mono_bits_next(const struct mono_bits *b, uint32_t i);
uint32_t mono_bits_prev(const struct mono_bits *b, uint32_t i);
/* Remove all members of @from .. @to. */
void mono_bits_clear(struct mono_bits *b, uint32_t from, uint32_t to);

#endif
