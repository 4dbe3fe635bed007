// SPDX-License-Identifier: GPL-2.0
/*
 * Reads many numbers of a column of .klh, see klh_numbers.h.  The ends of numbers are found for 64
 * bytes at a time, so that finding a number does not wait for the previous number.
 */
#include <emmintrin.h>

#include "base/compiler.h"
#include "history/klh_numbers.h"

#define TOGETHER	128

/* Return: a mask with a bit for each of the 64 bytes at @p that is the last byte of a number. */
static inline uint64_t find_last(const uint8_t *p)
{
	uint64_t more = 0;
	unsigned int i;

#pragma GCC unroll 4
	for (i = 0; i < 64; i += 16)
		more |= (uint64_t)_mm_movemask_epi8(_mm_loadu_si128((const __m128i *)(p + i))) << i;
	return ~more;
}

KL_VECTORIZED
static void widen(uint64_t *v, const uint8_t *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		v[i] = p[i];
}

/* Join the seven low bits of each byte, in each of @n words. */
KL_VECTORIZED
static void squeeze(uint64_t *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t w = v[i];

		w = (w & 0x7f007f007f007f00) >> 1 | (w & 0x007f007f007f007f);
		w = (w & 0xffff0000ffff0000) >> 2 | (w & 0x0000ffff0000ffff);
		v[i] = w >> 32 << 28 | (uint32_t)w;
	}
}

/*
 * Read @n numbers of at most eight bytes, one into each word, without joining their bits.
 * Return: false if a number is longer or missing.
 */
static bool split(struct klh_cursor *c, uint64_t *out, size_t n)
{
	const uint64_t *end = out + n;
	const uint8_t *p = c->p, *from;
	size_t longest = 0;	/* bitwise or of all lengths - 1, so not less than any of them */

	for (from = p; out < end && from < c->end; from += 64) {
		uint64_t last = find_last(from), w;

		if (c->end - from < 64)
			last &= (1ull << (c->end - from)) - 1;
		for (; last && out < end; last &= last - 1) {
			const uint8_t *at = from + (size_t)__builtin_ctzll(last);
			const size_t more = at - p;

			memcpy(&w, p, sizeof(w));
			*out++ = le64toh(w) & ~0ull >> (~more * 8 & 63);
			longest |= more;
			p = at + 1;
		}
	}
	if (out < end || longest > 7)
		return false;
	c->p = p;
	return true;
}

static bool next_few(struct klh_cursor *c, uint64_t *out, size_t n)
{
	size_t i;

	if (klh_bytes(c, n)) {
		widen(out, c->p, n);
		c->p += n;
		return true;
	}
	if (split(c, out, n)) {
		squeeze(out, n);
		return true;
	}
	for (i = 0; i < n; i++)
		if (!klh_next(c, &out[i]))
			return false;
	return true;
}

bool klh_next_some(struct klh_cursor *c, uint64_t *out, size_t n)
{
	struct klh_cursor at = *c;
	size_t few;

	for (; n; n -= few, out += few) {
		few = n < TOGETHER ? n : TOGETHER;
		if (!next_few(&at, out, few))
			return false;
	}
	*c = at;
	return true;
}
