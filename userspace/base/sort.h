/* SPDX-License-Identifier: GPL-2.0 */
/* Stable sorting of times, which are often nearly in order. */
#ifndef KL_BASE_SORT_H
#define KL_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

struct kl_key {
	uint64_t key;
	uint32_t val;
};

/**
 * kl_sort_keys() - sort an array by key, stably
 * @k: the array
 * @n: its length
 * @tmp: room for another @n elements
 *
 * An array that is nearly in order takes one pass.  Otherwise a least-significant-digit radix
 * sort runs, which skips digits that are equal in all keys.
 */
void kl_sort_keys(struct kl_key *k, size_t n, struct kl_key *tmp);
/* Sort @n words stably by their upper 32 bits alone; @tmp has room for @n elements. */
void kl_sort_halves(uint64_t *k, size_t n, uint64_t *tmp);

#endif
