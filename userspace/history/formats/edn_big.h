/* SPDX-License-Identifier: GPL-2.0 */
/* Large natural numbers of EDN, below 2^KL_BIG_BITS. */
#ifndef KL_HISTORY_FORMATS_EDN_BIG_H
#define KL_HISTORY_FORMATS_EDN_BIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KL_BIG_BITS	1024
#define KL_BIG_TEXT	320	/* size of a buffer for the decimal digits and a zero byte */

struct kl_big {
	/* the lowest limb comes first; the last limb is 0 except inside edn_big.c */
	uint32_t limb[KL_BIG_BITS / 32 + 1];
};

/* Append a digit, @b = @b * @radix + @digit.  Return: false if the number is too large. */
bool kl_big_append(struct kl_big *b, unsigned int radix, unsigned int digit);
bool kl_big_is(const struct kl_big *b, uint32_t v);
/* Divide @a and @b by their greatest common divisor; @b is not 0. */
void kl_big_reduce(struct kl_big *a, struct kl_big *b);
/* Print the number in decimal.  Return: the number of digits. */
size_t kl_big_print(const struct kl_big *b, char text[KL_BIG_TEXT]);

#endif
