/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations of a stack by the blocks of gaps that they have part in: a window is
 * listed with the blocks at its two ends, what is between them with those of the
 * next level, and so on; twice on each level at most.
 */
#ifndef KL_CHECK_MONO_PIECES_H
#define KL_CHECK_MONO_PIECES_H

#include "check/mono/cover.h"
#include "check/mono/places.h"

struct pieces {
	uint64_t *piece;	/* item, and the bits of the block that its window has */
	uint32_t *from, *n;	/* where those of each block are, and how many are left */
	uint32_t base[COVER_LEVELS + 1];	/* number of the first block of each level */
};

/* List all operations.  0 or -ENOMEM. */
int pieces_init(struct pieces *p, struct mono *m);
void pieces_free(struct pieces *p);

static inline uint64_t piece_make(uint32_t item, uint32_t from, uint32_t to)
{
	return (uint64_t)item << 12 | (uint64_t)(from % COVER_BLOCK) << 6 | to % COVER_BLOCK;
}

static inline uint32_t piece_item(uint64_t piece)
{
	return piece >> 12;
}

static inline uint64_t piece_mask(uint64_t piece)
{
	return (~0ull << (piece >> 6 & 63)) & (~0ull >> (63 - (piece & 63)));
}

#endif
