/* SPDX-License-Identifier: GPL-2.0 */
/* Stable sorting of times that are nearly in order, or in no order at all. */
#ifndef KL_BASE_SORT_H
#define KL_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

struct kl_key {
	uint64_t key;
	uint32_t val;
};

/**
 * kl_sort_keys() - sort by key, stable
 * @k: the array
 * @n: its length
 * @tmp: room for another @n elements
 *
 * What is nearly in order costs one pass; else a least-significant-digit radix
 * sort, in which digits that all keys share cost nothing.
 */
void kl_sort_keys(struct kl_key *k, size_t n, struct kl_key *tmp);
/* By upper halves alone, stable. */
void kl_sort_halves(uint64_t *k, size_t n, uint64_t *tmp);

#endif
