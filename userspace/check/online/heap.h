/* SPDX-License-Identifier: GPL-2.0 */
/* A heap of future times, the earliest first, each with a number. */
#ifndef KL_CHECK_ONLINE_HEAP_H
#define KL_CHECK_ONLINE_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "history/history.h"

struct on_time {
	uint64_t key;
	uint32_t what;
};

struct on_heap {
	struct on_time *e;
	size_t n, cap;
};

/* Return: the earliest time, or KL_TIME_MAX if there is none. */
static inline uint64_t on_heap_first(const struct on_heap *h)
{
	return h->n ? h->e[0].key : KL_TIME_MAX;
}

/* Make room for @n entries, and one after them with the time KL_TIME_MAX.  0, or -ENOMEM. */
static inline int on_heap_room(struct on_heap *h, size_t n)
{
	return kl_grow(h->e, h->cap, n + 1);
}

static inline int on_heap_push(struct on_heap *h, uint64_t key, uint32_t what)
{
	size_t at = h->n, up;
	int ret = on_heap_room(h, at + 1);
	struct on_time *e = h->e;

	if (ret)
		return ret;
	e[++h->n].key = KL_TIME_MAX;
	for (; at; at = up) {
		up = (at - 1) / 2;
		if (e[up].key <= key)
			break;
		e[at] = e[up];
	}
	e[at] = (struct on_time){ .key = key, .what = what };
	return 0;
}

static inline uint32_t on_heap_pop(struct on_heap *h)
{
	struct on_time *e = h->e;
	const uint32_t what = e[0].what;
	const size_t n = --h->n;
	const struct on_time last = e[n];
	size_t at = 0, down;

	e[n].key = KL_TIME_MAX;
	for (; (down = 2 * at + 1) < n; at = down) {
		down += e[down + 1].key < e[down].key;
		if (e[down].key >= last.key)
			break;
		e[at] = e[down];
	}
	e[at] = last;
	return what;
}

#endif
