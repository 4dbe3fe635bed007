/* SPDX-License-Identifier: GPL-2.0 */
/*
 * splitmix64 (Steele, Lea, Flood 2014): one generator for each thread of a load, so that a
 * seed determines the operations of each thread.
 */
#ifndef KLIN_RNG_H
#define KLIN_RNG_H

#include <linux/types.h>

static inline u64 klin_rng_next(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Return: a random number below @n, n > 0. */
static inline u32 klin_rng_below(u64 *state, u32 n)
{
	return ((klin_rng_next(state) >> 32) * n) >> 32;
}

static inline u64 klin_rng_seed(u64 seed, unsigned int thread)
{
	u64 state = seed ^ ((u64)(thread + 1) << 48);

	return klin_rng_next(&state);
}

#endif
