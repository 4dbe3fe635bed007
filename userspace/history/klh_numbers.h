/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The numbers of a column of .klh, see klh_format.h: a byte holds seven bits, and its highest bit
 * is clear in the last byte of a number.
 */
#ifndef KL_HISTORY_KLH_NUMBERS_H
#define KL_HISTORY_KLH_NUMBERS_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct klh_cursor {
	const uint8_t *p, *end;
};

/* Get the next number.  Return: false if the column ends, or the number has more than 64 bits. */
static inline bool klh_next(struct klh_cursor *c, uint64_t *out)
{
	unsigned int shift = 0;
	uint64_t v = 0;
	uint8_t b;

	do {
		if (c->p == c->end || shift > 63)
			return false;
		b = *c->p++;
		if (shift == 63 && b > 1)
			return false;
		v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80);
	*out = v;
	return true;
}

/* Return: the union (bitwise or) of the next @n bytes, or 0xff if there are fewer bytes. */
static inline uint8_t klh_all_bits(const struct klh_cursor *c, size_t n)
{
	uint64_t all = 0, w;
	size_t i;

	if ((size_t)(c->end - c->p) < n)
		return 0xff;
	for (i = 0; i + 8 <= n; i += 8) {
		memcpy(&w, c->p + i, sizeof(w));
		all |= w;
	}
	for (; i < n; i++)
		all |= c->p[i];
	all |= all >> 32;
	all |= all >> 16;
	return all | all >> 8;
}

/* Return: true if each of the next @n numbers has one byte. */
static inline bool klh_bytes(const struct klh_cursor *c, size_t n)
{
	return klh_all_bits(c, n) < 0x80;
}

/* Return: true if each of the next @n numbers is 0. */
static inline bool klh_zeros(const struct klh_cursor *c, size_t n)
{
	return !klh_all_bits(c, n);
}

#define KLH_BEHIND	64 /* number of readable bytes after a column, of any value */

/* Get the next @n numbers, as by klh_next().  Return: false, with @c unchanged, if one is wrong. */
bool klh_next_some(struct klh_cursor *c, uint64_t *out, size_t n);

#endif
