/* SPDX-License-Identifier: GPL-2.0 */
/* A binary heap of numbers by a key, such as threads by time: the least key comes first. */
#ifndef KL_BASE_HEAP_H
#define KL_BASE_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

struct kl_heap_entry {
	uint64_t key;
	uint32_t value;
};

/* A heap; all zero at first, and free() its entries at the end. */
struct kl_heap {
	struct kl_heap_entry *entry;	/* the first has the least key, if @n > 0 */
	size_t n, cap;
};

/* Add an entry.  Return: 0, -EOVERFLOW or -ENOMEM. */
static inline int kl_heap_push(struct kl_heap *h, uint64_t key, uint32_t value)
{
	const int ret = kl_grow(h->entry, h->cap, h->n + 1);
	size_t i = h->n;

	if (ret)
		return ret;
	for (h->n++; i && key < h->entry[(i - 1) / 2].key; i = (i - 1) / 2)
		h->entry[i] = h->entry[(i - 1) / 2];
	h->entry[i] = (struct kl_heap_entry){ .key = key, .value = value };
	return 0;
}

/*
 * Replace the key and value of the first entry of a heap that is not empty, and restore the order.
 * Members are copied one by one, because a copy of a whole entry would wait for the stores of its
 * members.
 */
static inline void kl_heap_replace(struct kl_heap *h, uint64_t key, uint32_t value)
{
	struct kl_heap_entry *e = h->entry;
	size_t i = 0, child;

	for (; (child = 2 * i + 1) < h->n; i = child) {
		if (child + 1 < h->n && e[child + 1].key < e[child].key)
			child++;
		if (e[child].key >= key)
			break;
		e[i].key = e[child].key;
		e[i].value = e[child].value;
	}
	e[i].key = key;
	e[i].value = value;
}

/* Remove the first entry of a heap that is not empty.  Return: the value of that entry. */
static inline uint32_t kl_heap_pop(struct kl_heap *h)
{
	const uint32_t first = h->entry[0].value;
	const struct kl_heap_entry last = h->entry[--h->n];

	if (h->n)
		kl_heap_replace(h, last.key, last.value);
	return first;
}

#endif
