/* SPDX-License-Identifier: GPL-2.0 */
/* Hashing of words and bytes, and a small random generator for tests and loads. */
#ifndef KL_BASE_HASH_H
#define KL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Return: a hash of two words.  The factors are mixed in again after the product, because a
 * product with 0 loses the other factor.
 */
static inline uint64_t kl_mix(uint64_t a, uint64_t b)
{
	__uint128_t m;

	a ^= 0x9e3779b97f4a7c15ULL;
	b ^= 0xe7037ed1a0b428dbULL;
	m = (__uint128_t)a * b;
	return a ^ (b << 32 | b >> 32) ^ (uint64_t)m ^ (uint64_t)(m >> 64);
}

/* Return: a hash of @n 64-bit words. */
static inline uint64_t kl_hash_words(const uint64_t *w, size_t n, uint64_t seed)
{
	uint64_t h = seed ^ n;
	size_t i;

	for (i = 0; i + 1 < n; i += 2)
		h = kl_mix(w[i] ^ h, w[i + 1]);
	if (i < n)
		h = kl_mix(w[i] ^ h, 0x8ebc6af09c88c6e3ULL);
	return kl_mix(h, 0x589965cc75374cc3ULL);
}

/* Return: a hash of @len bytes. */
static inline uint64_t kl_hash_bytes(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t h = len, w;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&w, p, 8);
		h = kl_mix(h, w);
	}
	for (w = 0; len; len--)
		w = w << 8 | *p++;
	return kl_mix(h, w);
}

/* splitmix64, good enough for loads and random tests.  Return: the next number of the seed @s. */
static inline uint64_t kl_rand(uint64_t *s)
{
	uint64_t z = (*s += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Return: a random number below @n, n > 0. */
static inline uint64_t kl_rand_below(uint64_t *s, uint64_t n)
{
	return (uint64_t)(((__uint128_t)kl_rand(s) * n) >> 64);
}

#endif
