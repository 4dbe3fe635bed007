/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Gaps of a stack and a priority queue, and in which each operation takes effect.
 *
 * Only where a critical interval begins or ends does it matter where in time a
 * gap is, so gaps are numbered by those ends.
 */
#ifndef KL_CHECK_MONO_GAPS_H
#define KL_CHECK_MONO_GAPS_H

#include "check/mono/mono.h"

/* A set of gaps, as a tree of words of bits: next, previous and removal in log64 n. */
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

struct mono_gaps {
	uint32_t n;
	/* First and last gap of each operation, as tightened. */
	struct mono_window { uint32_t from, to; } *op;
	/*
	 * The last gap in which a value can be added, or -1, and the first in which
	 * it can be removed, n if never; its critical interval is what lies between.
	 */
	struct mono_edges { int32_t lo, hi; } *v;
	uint32_t *begin;	/* times at which they begin; n + 1 of them */
	/* For the order: the gap of each operation, the rank of each value. */
	uint32_t *at, *rank;
};

/* Make m->gaps.  0 or -ENOMEM. */
int mono_gaps_init(struct mono *m);
void mono_gaps_free(struct mono_gaps *g);

/*
 * The order, when each operation has a gap.  Values of higher rank are those that
 * are inside only while no operation of a lower one takes effect (on a stack they
 * are above it, in a priority queue before it), so in a gap: first what ends
 * there, higher ranks first, then what stays, what found it empty, and last what
 * begins there, lower ranks first.
 */
int mono_gaps_order(struct mono *m);

#endif
