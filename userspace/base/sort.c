// SPDX-License-Identifier: GPL-2.0
/* Radix sort, see sort.h. */
#include <string.h>

#include "base/sort.h"

#define BITS	11
#define BUCKETS	(1u << BITS)

void kl_sort_keys(struct kl_key *k, size_t n, struct kl_key *tmp)
{
	uint64_t all_or = 0, all_and = UINT64_MAX;
	struct kl_key *src = k, *dst = tmp;
	size_t count[BUCKETS], i, sum, c;
	int sorted = 1;
	unsigned int shift;

	for (i = 0; i < n; i++) {
		all_or |= k[i].key;
		all_and &= k[i].key;
		sorted &= !i || k[i - 1].key <= k[i].key;
	}
	if (sorted)
		return;
	for (shift = 0; shift < 64; shift += BITS) {
		struct kl_key *swap;

		if (!(((all_or ^ all_and) >> shift) & (BUCKETS - 1)))
			continue;
		memset(count, 0, sizeof(count));
		for (i = 0; i < n; i++)
			count[(src[i].key >> shift) & (BUCKETS - 1)]++;
		for (i = 0, sum = 0; i < BUCKETS; i++) {
			c = count[i];
			count[i] = sum;
			sum += c;
		}
		for (i = 0; i < n; i++)
			dst[count[(src[i].key >> shift) & (BUCKETS - 1)]++] = src[i];
		swap = src;
		src = dst;
		dst = swap;
	}
	if (src != k)
		memcpy(k, src, n * sizeof(*k));
}
