// SPDX-License-Identifier: GPL-2.0
/* Large natural numbers, see edn_big.h.  They are rare, so the code is simple rather than fast. */
#include <stdio.h>

#include "history/formats/edn_big.h"

#define LIMBS	(KL_BIG_BITS / 32 + 1)

bool kl_big_append(struct kl_big *b, unsigned int radix, unsigned int digit)
{
	uint64_t carry = digit;
	unsigned int i;

	for (i = 0; i < LIMBS; i++) {
		carry += (uint64_t)b->limb[i] * radix;
		b->limb[i] = carry;
		carry >>= 32;
	}
	return !b->limb[LIMBS - 1];
}

bool kl_big_is(const struct kl_big *b, uint32_t v)
{
	unsigned int i;

	for (i = 1; i < LIMBS; i++)
		if (b->limb[i])
			return false;
	return b->limb[0] == v;
}

/* Return: the number of bits without leading zeros. */
static unsigned int count_bits(const struct kl_big *b)
{
	unsigned int i = LIMBS;

	while (i && !b->limb[i - 1])
		i--;
	return i ? 32 * i - __builtin_clz(b->limb[i - 1]) : 0;
}

static bool is_less(const struct kl_big *a, const struct kl_big *b)
{
	unsigned int i;

	for (i = LIMBS; i-- > 0;)
		if (a->limb[i] != b->limb[i])
			return a->limb[i] < b->limb[i];
	return false;
}

/* Subtract @b from @a, which is not less. */
static void subtract(struct kl_big *a, const struct kl_big *b)
{
	unsigned int i, borrow = 0;

	for (i = 0; i < LIMBS; i++) {
		const uint64_t diff = (uint64_t)a->limb[i] - b->limb[i] - borrow;

		a->limb[i] = diff;
		borrow = diff >> 63;
	}
}

/* Return: @a without its @n lowest bits. */
static struct kl_big without_low(const struct kl_big *a, unsigned int n)
{
	const unsigned int limbs = n / 32, bits = n % 32;
	struct kl_big r = { 0 };
	unsigned int i;

	for (i = limbs; i < LIMBS; i++) {
		const uint32_t next = i + 1 < LIMBS ? a->limb[i + 1] : 0;

		r.limb[i - limbs] = ((uint64_t)next << 32 | a->limb[i]) >> bits;
	}
	return r;
}

/* Divide @a by @b, which is not 0.  The quotient goes to @q; @a becomes the remainder. */
static void divide(struct kl_big *a, const struct kl_big *b, struct kl_big *q)
{
	const unsigned int na = count_bits(a), nb = count_bits(b);
	unsigned int i = na < nb ? 0 : na - nb + 1;
	struct kl_big r = without_low(a, i);

	*q = (struct kl_big){ 0 };
	while (i-- > 0) {
		/* @r is less than @b, so the last limb has room for the bit. */
		kl_big_append(&r, 2, a->limb[i / 32] >> i % 32 & 1);
		if (is_less(&r, b))
			continue;
		subtract(&r, b);
		q->limb[i / 32] |= 1u << i % 32;
	}
	*a = r;
}

void kl_big_reduce(struct kl_big *a, struct kl_big *b)
{
	struct kl_big x = *a, y = *b, q, rest;

	while (!kl_big_is(&y, 0)) {
		rest = x;
		divide(&rest, &y, &q);
		x = y;
		y = rest;
	}
	divide(a, &x, &q);
	*a = q;
	divide(b, &x, &q);
	*b = q;
}

size_t kl_big_print(const struct kl_big *b, char text[KL_BIG_TEXT])
{
	const uint32_t billion = 1000000000;
	struct kl_big rest = *b;
	uint32_t part[KL_BIG_TEXT / 9];
	unsigned int n = 0, i;
	size_t len;

	do {
		uint64_t carry = 0;

		for (i = LIMBS; i-- > 0;) {
			carry = carry << 32 | rest.limb[i];
			rest.limb[i] = carry / billion;
			carry %= billion;
		}
		part[n++] = carry;
	} while (!kl_big_is(&rest, 0));
	len = sprintf(text, "%u", part[--n]);
	while (n)
		len += sprintf(text + len, "%09u", part[--n]);
	return len;
}
