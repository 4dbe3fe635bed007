// SPDX-License-Identifier: GPL-2.0
/* Sets of slots, see position_set.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/loglinear/position_set.h"
#include "check/loglinear/loglinear.h"

#define WORDS(n)	(((size_t)(n) + 63) / 64)

int position_set_init(struct position_set *b, uint32_t n, bool full)
{
	size_t size = n;

	memset(b, 0, sizeof(*b));
	b->n = n;
	do {
		const size_t words = WORDS(size);
		uint64_t *w = calloc(words + 1, sizeof(*w));

		if (!w)
			return -ENOMEM;
		b->word[b->levels++] = w;
		if (full && words)
			memset(w, 0xff, words * sizeof(*w));
		if (full && size % 64)
			w[words - 1] = (1ull << size % 64) - 1;
		size = words;
	} while (size > 1);
	return 0;
}

void position_set_free(struct position_set *b)
{
	unsigned int l;

	for (l = 0; l < b->levels; l++)
		free(b->word[l]);
	memset(b, 0, sizeof(*b));
}

void position_set_set(struct position_set *b, uint32_t i)
{
	unsigned int l;

	for (l = 0; l < b->levels; l++, i /= 64)
		b->word[l][i / 64] |= 1ull << i % 64;
}

uint32_t position_set_next(const struct position_set *b, uint32_t i)
{
	unsigned int l;

	if (i >= b->n)
		return LL_NONE;
	for (l = 0; l < b->levels; l++) {
		const uint64_t w = b->word[l][i / 64] >> i % 64;

		if (w) {
			i += __builtin_ctzll(w);
			while (l--)
				i = i * 64 + __builtin_ctzll(b->word[l][i]);
			return i;
		}
		i = i / 64 + 1;		/* each level ends with a word of zeros */
	}
	return LL_NONE;
}

uint32_t position_set_prev(const struct position_set *b, uint32_t i)
{
	unsigned int l;

	if (i >= b->n)
		i = b->n - 1;
	for (l = 0; l < b->levels; l++) {
		const uint64_t w = b->word[l][i / 64] << (63 - i % 64);

		if (w) {
			i -= __builtin_clzll(w);
			while (l--)
				i = i * 64 + 63 - __builtin_clzll(b->word[l][i]);
			return i;
		}
		if (i < 64)
			return LL_NONE;
		i = i / 64 - 1;
	}
	return LL_NONE;
}

/* Clear the bits of a word of level 0, and of the words above it, that have become 0. */
static void emptied(struct position_set *b, uint32_t word)
{
	unsigned int l;

	for (l = 1; l < b->levels && !b->word[l - 1][word]; l++, word /= 64)
		b->word[l][word / 64] &= ~(1ull << word % 64);
}

void position_set_clear(struct position_set *b, uint32_t from, uint32_t to)
{
	uint32_t i;

	for (i = position_set_next(b, from); i <= to && i != LL_NONE;
	     i = position_set_next(b, (i | 63) + 1)) {
		uint64_t mask = ~0ull << i % 64;

		if (to / 64 == i / 64)
			mask &= ~0ull >> (63 - to % 64);
		b->word[0][i / 64] &= ~mask;
		emptied(b, i / 64);
	}
}
