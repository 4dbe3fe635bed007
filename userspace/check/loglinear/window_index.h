/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations of a stack by the blocks of gaps that they have part in: a window is
 * listed with the blocks at its two ends, what is between them with those of the
 * next level, and so on; twice on each level at most.  On a higher level the gaps
 * of a block are blocks of the level below.
 */
#ifndef KL_CHECK_LOGLINEAR_WINDOW_INDEX_H
#define KL_CHECK_LOGLINEAR_WINDOW_INDEX_H

#include <emmintrin.h>

#include "check/loglinear/interval_cover.h"
#include "check/loglinear/positions.h"

struct pieces {
	uint32_t *item;
	uint16_t *gaps;		/* those of the block that its window has, see pieces_gaps() */
	uint32_t *from;		/* where those of each block are, up to the next one's */
	uint32_t *left;		/* how many of them were not taken away */
	uint32_t base[COVER_LEVELS + 1];	/* number of the first block of each level */
};

#define PIECES_TOGETHER	64	/* so many are looked at together, behind the last ones too */
#define PIECES_GONE	UINT16_MAX

/* List all peeks, or all others.  0 or -ENOMEM. */
int pieces_of_peeks(struct pieces *p, const struct mono *m);
int pieces_of_others(struct pieces *p, const struct mono *m);
void pieces_free(struct pieces *p);

/* Two bytes that are at most those of another if two windows have gaps in common. */
static inline uint16_t pieces_gaps(uint32_t from, uint32_t to)
{
	return from | (COVER_BLOCK - 1 - to) << 8;
}

static inline uint64_t pieces_mask(uint16_t gaps)
{
	return (~0ull << (gaps & 0xff)) & (~0ull >> (gaps >> 8));
}

/*
 * Which of PIECES_TOGETHER from @at on have gaps between the first and the last bit of
 * @found?  SSE2, which all have.
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
