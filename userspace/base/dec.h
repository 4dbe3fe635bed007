/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers in decimal, where printf() would take most of the time. */
#ifndef KL_BASE_DEC_H
#define KL_BASE_DEC_H

#include <stdint.h>

/* Write @v at @p, without a NUL, at most 20 characters.  Return: the end. */
static inline char *kl_put_dec(char *p, uint64_t v)
{
	char tmp[20];
	unsigned int n = 0;

	do {
		tmp[n++] = '0' + v % 10;
		v /= 10;
	} while (v);
	while (n)
		*p++ = tmp[--n];
	return p;
}

#endif
