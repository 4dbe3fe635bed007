/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers in decimal, where printf() would take most of the time. */
#ifndef KL_BASE_DEC_H
#define KL_BASE_DEC_H

#include <stdint.h>

/* Write @v at @p, without a NUL, at most 20 characters.  Return: the end. */
static inline char *kl_put_dec(char *p, uint64_t v)
{
	uint64_t next = 10;
	unsigned int n;
	char *end;

	for (n = 1; n < 20 && v >= next; n++)
		next *= 10;
	end = p + n;
	/* Two at a time: half as many divisions. */
	for (p = end; v >= 100; v /= 100) {
		const unsigned int two = v % 100;

		*--p = '0' + two % 10;
		*--p = '0' + two / 10;
	}
	*--p = '0' + v % 10;
	if (v >= 10)
		*--p = '0' + v / 10;
	return end;
}

#endif
