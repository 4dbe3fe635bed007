/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading of decimal numbers that consist of digits only.  strtoull() and sscanf() also accept
 * blanks and a sign, and take "-1" for the largest number.
 */
#ifndef KL_BASE_DIGITS_H
#define KL_BASE_DIGITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Read the number at @s.  Return: its end, or NULL if there is no digit or it exceeds 64 bits. */
static inline const char *kl_digits(const char *s, uint64_t *number)
{
	uint64_t n = 0;

	if (*s < '0' || *s > '9')
		return NULL;
	for (; *s >= '0' && *s <= '9'; s++)
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *s - '0', &n))
			return NULL;
	*number = n;
	return s;
}

/* Read @word and the number behind it.  Return: as kl_digits(); NULL also without @word. */
static inline const char *kl_digits_after(const char *s, const char *word, uint64_t *number)
{
	const size_t len = strlen(word);

	return strncmp(s, word, len) ? NULL : kl_digits(s + len, number);
}

#endif
