/* SPDX-License-Identifier: GPL-2.0 */
/* Conversion of numbers to decimal, for loops in which printf() would take most of the time. */
#ifndef KL_BASE_DEC_H
#define KL_BASE_DEC_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define KL_DEC	20	/* maximum number of digits */

/*
 * Return: the eight digits of @v < 10^8, one in each byte, the first digit in the lowest byte.
 * The function splits @v into two groups of four digits, then groups of two, then digits.
 */
static inline uint64_t kl_dec_digits(uint32_t v)
{
	const uint64_t fours = v / 10000 | (uint64_t)(v % 10000) << 32;
	const uint64_t hundreds = fours * 5243 >> 19 & 0x0000007f0000007f;
	const uint64_t twos = hundreds | (fours - hundreds * 100) << 16;
	const uint64_t tens = twos * 103 >> 10 & 0x000f000f000f000f;

	return tens | (twos - tens * 10) << 8;
}

/*
 * Write the eight digits of kl_dec_digits() to @p, without the first @skip digits.  The function
 * always writes eight bytes.
 *
 * Return: the end of the number.
 */
static inline char *kl_dec_put(char *p, uint64_t digits, unsigned int skip)
{
	digits = htole64((digits | 0x3030303030303030) >> 8 * skip);
	memcpy(p, &digits, sizeof(digits));
	return p + 8 - skip;
}

/* Like kl_put_dec(), but for @v < 10^8. */
static inline char *kl_put_short_dec(char *p, uint32_t v)
{
	const uint64_t digits = kl_dec_digits(v);

	/* The last digit is always written. */
	return kl_dec_put(p, digits, __builtin_ctzll(digits | 1ull << 56) / 8);
}

/* Write @v to @p, which has room for KL_DEC bytes, without a NUL.  Return: the end. */
static inline char *kl_put_dec(char *p, uint64_t v)
{
	const uint64_t some = 100000000;

	if (v < some)
		return kl_put_short_dec(p, v);
	if (v < some * some)
		p = kl_put_short_dec(p, v / some);
	else
		p = kl_dec_put(kl_put_short_dec(p, v / some / some),
			       kl_dec_digits(v / some % some), 0);
	return kl_dec_put(p, kl_dec_digits(v % some), 0);
}

#endif
