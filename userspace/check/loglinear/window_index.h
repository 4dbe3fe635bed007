/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An index of a stack's operations by blocks of slots.  A window is listed with the two blocks at
 * its ends; the part between them is listed with blocks of the next level, and so on.  So it is
 * listed at most twice on each level.  On a higher level the slots of a block are the blocks of the
 * level below.
 */
#ifndef KL_CHECK_LOGLINEAR_WINDOW_INDEX_H
#define KL_CHECK_LOGLINEAR_WINDOW_INDEX_H

#include <emmintrin.h>

#include "check/loglinear/interval_cover.h"
#include "check/loglinear/positions.h"

struct pieces {
	uint32_t *item;		/* the listed operations, block by block */
	/* the slots of the block that the operation's window has, see pieces_gaps() */
	uint16_t *gaps;
	uint32_t *from;		/* index in @item of the first operation of each block */
	uint32_t *left;		/* number of operations of each block that are not removed */
	uint32_t base[COVER_LEVELS + 1];	/* number of the first block of each level */
};

/* operations that are compared together; @gaps has as many entries after the last operation */
#define PIECES_TOGETHER	64
#define PIECES_GONE	UINT16_MAX	/* entry of @gaps of an operation that is removed */

/* Make an index of all peeks.  Return: 0, or -ENOMEM. */
int pieces_of_peeks(struct pieces *p, const struct loglinear *m);
/* Make an index of all additions and removals.  Return: 0, or -ENOMEM. */
int pieces_of_others(struct pieces *p, const struct loglinear *m);
void pieces_free(struct pieces *p);

/* Pack the slots @from .. @to of a block into two bytes, for a fast test of overlap. */
static inline uint16_t pieces_gaps(uint32_t from, uint32_t to)
{
	return from | (COVER_BLOCK - 1 - to) << 8;
}

/* Return: the packed slots as a mask of the block. */
static inline uint64_t pieces_mask(uint16_t gaps)
{
	return (~0ull << (gaps & 0xff)) & (~0ull >> (gaps >> 8));
}

/*
 * Return: a mask of the PIECES_TOGETHER operations from index @at on.  A bit is set if the
 * operation has a slot between the first and the last bit of @found.  SSE2 is always there.
 */
static inline uint64_t pieces_near(const struct pieces *p, uint32_t at, uint64_t found)
{
	const __m128i *v = (const __m128i *)(p->gaps + at);
	const __m128i most = _mm_set1_epi16(pieces_gaps(63 - __builtin_clzll(found),
							__builtin_ctzll(found)));
	uint64_t near = 0;
	unsigned int i;

#pragma GCC unroll 4
	for (i = 0; i < PIECES_TOGETHER / 16; i++, v += 2) {
		const __m128i a = _mm_loadu_si128(v), b = _mm_loadu_si128(v + 1);
		const __m128i near_a = _mm_cmpeq_epi16(_mm_min_epu8(a, most), a);
		const __m128i near_b = _mm_cmpeq_epi16(_mm_min_epu8(b, most), b);

		near |= (uint64_t)_mm_movemask_epi8(_mm_packs_epi16(near_a, near_b)) << 16 * i;
	}
	return near;
}

#endif
