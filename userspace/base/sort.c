// SPDX-License-Identifier: GPL-2.0
/* Radix sort, see sort.h. */
#include <string.h>

#include "base/sort.h"

#define BITS	11
#define BUCKETS	(1u << BITS)
#define FEW	64	/* up to this number of elements, insertion sort takes less time */

/*
 * Sort by insertion, with a limited number of moves.  The limit suffices if the elements are few
 * or nearly in order.
 *
 * Return: 1 if the array is sorted, 0 if the limit was reached.  Equal keys keep their order
 * in both cases.
 */
static int insert_keys(struct kl_key *k, size_t n)
{
	size_t i, at, left = n <= FEW ? FEW * FEW : 8 * n;

	for (i = 1; i < n; i++) {
		const struct kl_key key = k[i];

		for (at = i; at && k[at - 1].key > key.key && left; at--, left--)
			k[at] = k[at - 1];
		k[at] = key;
		if (!left)
			return 0;
	}
	return 1;
}

/* Replace the number of elements in each bucket by the index of the bucket's first element. */
static void find_starts(size_t *count)
{
	size_t i, sum = 0, n;

	for (i = 0; i < BUCKETS; i++) {
		n = count[i];
		count[i] = sum;
		sum += n;
	}
}

void kl_sort_keys(struct kl_key *k, size_t n, struct kl_key *tmp)
{
	uint64_t all_or = 0, all_and = UINT64_MAX;
	struct kl_key *src = k, *dst = tmp;
	size_t count[BUCKETS], i;
	unsigned int shift;

	if (insert_keys(k, n))
		return;
	for (i = 0; i < n; i++) {
		all_or |= k[i].key;
		all_and &= k[i].key;
	}
	for (shift = 0; shift < 64; shift += BITS) {
		struct kl_key *swap;

		if (!(((all_or ^ all_and) >> shift) & (BUCKETS - 1)))
			continue;
		memset(count, 0, sizeof(count));
		for (i = 0; i < n; i++)
			count[(src[i].key >> shift) & (BUCKETS - 1)]++;
		find_starts(count);
		for (i = 0; i < n; i++)
			dst[count[(src[i].key >> shift) & (BUCKETS - 1)]++] = src[i];
		swap = src;
		src = dst;
		dst = swap;
	}
	if (src != k)
		memcpy(k, src, n * sizeof(*k));
}

void kl_sort_halves(uint64_t *k, size_t n, uint64_t *tmp)
{
	uint64_t *src = k, *dst = tmp, *swap;
	size_t count[BUCKETS], i;
	unsigned int shift;

	for (shift = 32; shift < 64; shift += BITS) {
		memset(count, 0, sizeof(count));
		for (i = 0; i < n; i++)
			count[(src[i] >> shift) & (BUCKETS - 1)]++;
		/* All elements have the same digit. */
		if (n && count[(src[0] >> shift) & (BUCKETS - 1)] == n)
			continue;
		find_starts(count);
		for (i = 0; i < n; i++)
			dst[count[(src[i] >> shift) & (BUCKETS - 1)]++] = src[i];
		swap = src;
		src = dst;
		dst = swap;
	}
	if (src != k)
		memcpy(k, src, n * sizeof(*k));
}
