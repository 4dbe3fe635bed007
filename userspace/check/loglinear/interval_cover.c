// SPDX-License-Identifier: GPL-2.0
/* Counts the intervals that cover each slot, see interval_cover.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "check/loglinear/interval_cover.h"

#define NEAR	2	/* neighbouring blocks that are tried before the levels above */

static size_t ids_bytes(const struct cover *c, unsigned int level)
{
	return c->n[level] * sizeof(*c->ids[level]);
}

int cover_init(struct cover *c, uint32_t n, bool ids)
{
	uint32_t size = n, i, l;

	memset(c, 0, sizeof(*c));
	do {
		const uint32_t used = size;

		size = (size + COVER_BLOCK) / COVER_BLOCK * COVER_BLOCK;
		l = c->levels++;
		c->n[l] = size;
		c->count[l] = kl_big_alloc(size * sizeof(*c->count[l]));
		c->owed[l] = l ? calloc(size, sizeof(*c->owed[l])) : NULL;
		c->ids[l] = ids ? kl_zero_map(ids_bytes(c, l), ids_bytes(c, l)) : NULL;
		if (!c->count[l] || (l && !c->owed[l]) || (ids && !c->ids[l]))
			return -ENOMEM;
		for (i = 0; i < size; i++)
			c->count[l][i] = i < used ? 0 : COVER_NEVER;
		size /= COVER_BLOCK;
	} while (size > 1 && c->levels < COVER_LEVELS);
	return 0;
}

void cover_free(struct cover *c)
{
	unsigned int l;

	for (l = 0; l < c->levels; l++) {
		free(c->count[l]);
		free(c->owed[l]);
		kl_zero_unmap(c->ids[l], ids_bytes(c, l));
	}
	memset(c, 0, sizeof(*c));
}

KL_VECTORIZED
static int32_t least(const int32_t *v)
{
	int32_t min = v[0];
	int i;

	for (i = 0; i < COVER_BLOCK; i++)
		min = v[i] < min ? v[i] : min;
	return min;
}

KL_VECTORIZED
uint64_t cover_low(const struct cover *c, uint32_t block, int32_t owed)
{
	const int32_t *v = c->count[0] + (size_t)block * COVER_BLOCK, most = c->level - owed;
	uint64_t low = 0;
	uint8_t is[COVER_BLOCK];
	int i;

	for (i = 0; i < COVER_BLOCK; i++)
		is[i] = v[i] <= most;
	for (i = 0; i < COVER_BLOCK; i += 8) {
		uint64_t eight;

		memcpy(&eight, is + i, 8);
		/* Pack eight bytes of 0 or 1 into bits; the partial products do not overlap. */
		low |= (eight * 0x0102040810204080ull >> 56) << i;
	}
	return low;
}

/* Subtract @what from the counters @from .. @to of a block. */
KL_VECTORIZED
static void subtract(uint32_t *v, int from, int to, uint32_t what)
{
	int i;

	for (i = 0; i < COVER_BLOCK; i++)
		v[i] -= i >= from && i <= to ? what : 0;
}

/* Subtract 1 from the counters @from .. @to of a block.  Return: the block's minimum. */
KL_VECTORIZED
static int32_t take_one(int32_t *v, int from, int to)
{
	int32_t min = INT32_MAX;
	int i;

	for (i = 0; i < COVER_BLOCK; i++) {
		v[i] -= i >= from && i <= to;
		min = v[i] < min ? v[i] : min;
	}
	return min;
}

/*
 * Update a block's counter on the level above; @min is the block's minimum.  Return: true if the
 * counter changed.
 */
static bool pull_least(struct cover *c, unsigned int l, uint32_t block, int32_t min)
{
	min += c->owed[l + 1][block];
	if (c->count[l + 1][block] == min)
		return false;
	c->count[l + 1][block] = min;
	return true;
}

static bool pull(struct cover *c, unsigned int l, uint32_t block)
{
	return l + 1 < c->levels &&
	       pull_least(c, l, block, least(c->count[l] + (size_t)block * COVER_BLOCK));
}

void cover_build(struct cover *c)
{
	uint32_t i;
	unsigned int l;

	for (l = 0; l + 1 < c->levels; l++)
		for (i = 0; i < c->n[l] / COVER_BLOCK; i++)
			pull(c, l, i);
}

/* A block whose counters were just changed, and its minimum. */
struct taken {
	uint32_t block;
	int32_t min;
};

/* Remove the interval @id from the counters @from .. @to of level @l, which are in one block. */
static struct taken take(struct cover *c, unsigned int l, uint32_t from, uint32_t to, uint32_t id)
{
	const uint32_t block = from / COVER_BLOCK, base = block * COVER_BLOCK;

	if (l)
		subtract((uint32_t *)c->owed[l] + base, from - base, to - base, 1);
	if (c->ids[0])
		subtract(c->ids[l] + base, from - base, to - base, id);
	return (struct taken){ block, take_one(c->count[l] + base, from - base, to - base) };
}

/* Do as pull(), with the minimum from @last if the block is one of these two. */
static bool pull_taken(struct cover *c, unsigned int l, uint32_t block, const struct taken *last)
{
	unsigned int k;

	for (k = 0; k < 2 && l + 1 < c->levels; k++)
		if (last[k].block == block)
			return pull_least(c, l, block, last[k].min);
	return pull(c, l, block);
}

void cover_take(struct cover *c, uint32_t from, uint32_t to, uint32_t id)
{
	/* Blocks to update: at the ends of the interval, and of what the level below removed. */
	uint32_t outer[2] = { from, to }, inner[2] = { from, to };
	struct taken last[2] = { { UINT32_MAX, 0 }, { UINT32_MAX, 0 } };
	unsigned int l, k;
	bool more = true, changed;

	for (l = 0; l < c->levels; l++) {
		changed = false;
		for (k = 0; l && k < 2; k++) {
			outer[k] /= COVER_BLOCK;
			inner[k] /= COVER_BLOCK;
			if (!k || outer[1] != outer[0])
				changed |= pull_taken(c, l - 1, outer[k], last);
			if (inner[k] != outer[k])
				changed |= pull_taken(c, l - 1, inner[k], last);
		}
		last[0].block = last[1].block = UINT32_MAX;
		if (!more) {
			/* Most often the minimum does not change. */
			if (!changed)
				break;
			continue;
		}
		inner[0] = from;
		inner[1] = to;
		if (from / COVER_BLOCK == to / COVER_BLOCK) {
			last[0] = take(c, l, from, to, id);
			more = false;
		} else {
			last[0] = take(c, l, from, from | (COVER_BLOCK - 1), id);
			last[1] = take(c, l, to & ~(uint32_t)(COVER_BLOCK - 1), to, id);
			from = from / COVER_BLOCK + 1;
			to = to / COVER_BLOCK;
			more = from < to--;
		}
	}
}

/* Find a block as cover_find() does, at @block or anywhere after it, by the levels above. */
static uint32_t find_far(const struct cover *c, uint32_t block, int32_t *owed)
{
	const unsigned int top = c->levels - 1;
	int32_t sum[COVER_LEVELS] = { 0 };
	unsigned int l = top;
	uint32_t i = block, at;

	/* Go up from the block's counter on level 1 until a counter fits, then down. */
	for (l = top, at = 0; ; ) {
		/* Counters of block `at' on level l; sum[l] must be added to them. */
		const uint32_t end = (at + 1) * COVER_BLOCK < c->n[l] ? (at + 1) * COVER_BLOCK :
			c->n[l];
		uint32_t first = at * COVER_BLOCK, shift = 6 * (l - 1);

		i = block >> shift;
		if (i < first)
			i = first;
		while (i < end && c->count[l][i] + sum[l] > c->level)
			i++;
		if (i < end) {
			if (i > block >> shift)
				block = i << shift;
			if (l == 1) {
				*owed = sum[1] + c->owed[1][i];
				return i;
			}
			sum[l - 1] = sum[l] + c->owed[l][i];
			at = i;
			l--;
			continue;
		}
		if (l == top)
			return UINT32_MAX;
		/* No counter from `block' on fits: go on after this block. */
		at = (at + 1);
		block = at << (6 * l);
		l = top;
		at = 0;
		if (block >= c->n[0] / COVER_BLOCK)
			return UINT32_MAX;
	}
}

/* Return: what the levels from 2 on add to the level 1 counter of @block. */
static inline int32_t owed_above(const struct cover *c, uint32_t block)
{
	int32_t sum = 0;
	unsigned int l;

	for (l = 2; l < c->levels; l++) {
		block /= COVER_BLOCK;
		sum += c->owed[l][block];
	}
	return sum;
}

uint32_t cover_find(const struct cover *c, uint32_t block, uint32_t last, int32_t *owed)
{
	const uint32_t near = last - block < NEAR ? last : block + NEAR;

	if (c->levels == 1) {
		*owed = 0;
		return block || least(c->count[0]) > c->level ? UINT32_MAX : 0;
	}
	for (; block <= near; block++) {
		const int32_t above = owed_above(c, block);

		if (c->count[1][block] + above > c->level)
			continue;
		*owed = above + c->owed[1][block];
		return block;
	}
	if (block > last)
		return UINT32_MAX;
	block = find_far(c, block, owed);
	return block > last ? UINT32_MAX : block;
}

uint32_t cover_id(const struct cover *c, uint32_t gap)
{
	uint32_t id = 0;
	unsigned int l;

	for (l = 0; l < c->levels; l++, gap /= COVER_BLOCK)
		id += c->ids[l][gap];
	return id;
}

void cover_update(struct cover *c, uint32_t block)
{
	unsigned int l;

	for (l = 0; l + 1 < c->levels && pull(c, l, block); l++)
		block /= COVER_BLOCK;
}
