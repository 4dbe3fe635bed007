// SPDX-License-Identifier: GPL-2.0
/* The order of a history's operations, see history.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "history/internal.h"

#define AHEAD	16 /* an element is prefetched this number of copies before its own */

static bool in_order(const struct kl_history *h)
{
	const struct kl_op *op = h->ops;
	size_t i;

	for (i = 1; i < h->nops; i++)
		if (op[i].call < op[i - 1].call ||
		    (op[i].call == op[i - 1].call && op[i].ret < op[i - 1].ret))
			return false;
	return true;
}

/* Sort operations that have the same call by return; @k has a key of each operation, by call. */
static void sort_ties(const struct kl_history *h, struct kl_key *k)
{
	struct kl_key *tmp = k + h->nops;
	size_t from, to, i;

	for (from = 0; from < h->nops; from = to) {
		for (to = from + 1; to < h->nops && k[to].key == k[from].key; to++)
			;
		if (to == from + 1)
			continue;
		for (i = from; i < to; i++)
			k[i].key = h->ops[k[i].val].ret;
		kl_sort_keys(k + from, to - from, tmp);
	}
}

/* Return: the old index of each operation, in the sorted order; NULL without memory. */
static uint32_t *find_order(const struct kl_history *h)
{
	struct kl_key *k = kl_big_alloc(2 * h->nops * sizeof(*k));
	uint32_t *from = (uint32_t *)k;
	size_t i;

	if (!k)
		return NULL;
	for (i = 0; i < h->nops; i++)
		k[i] = (struct kl_key){ .key = h->ops[i].call, .val = i };
	kl_sort_keys(k, h->nops, k + h->nops);
	sort_ties(h, k);
	/* The keys are freed before the columns are copied, to save memory. */
	for (i = 0; i < h->nops; i++)
		from[i] = k[i].val;
	from = realloc(k, h->nops * sizeof(*from));
	return from ? from : (uint32_t *)k;
}

/* Return: a new array with new[i] = old[from[i]]; NULL without memory. */
static inline void *gather(const void *old, size_t size, const uint32_t *from, size_t n)
{
	char *new = kl_big_alloc(n * size);
	size_t i;

	if (!new)
		return NULL;
	for (i = 0; i < n; i++) {
		if (i + AHEAD < n)
			__builtin_prefetch((const char *)old + from[i + AHEAD] * size);
		memcpy(new + i * size, (const char *)old + from[i] * size, size);
	}
	return new;
}

/* Reorder a column, if it exists, into a new array. */
static inline int permute_column(void **column, size_t *cap, size_t size, const uint32_t *from,
				 size_t n)
{
	void *new = *column ? gather(*column, size, from, n) : NULL;

	if (!new)
		return *column ? -ENOMEM : 0;
	free(*column);
	*column = new;
	*cap = n;
	return 0;
}

static int permute(struct kl_history *h, const uint32_t *from)
{
	const size_t n = h->nops;

	return permute_column((void **)&h->ops, &h->cops, sizeof(*h->ops), from, n) ?:
	       permute_column((void **)&h->points, &h->cpoints, sizeof(*h->points), from, n) ?:
	       permute_column((void **)&h->drains, &h->cdrains, sizeof(*h->drains), from, n) ?:
	       permute_column((void **)&h->places, &h->cplaces, sizeof(*h->places), from, n) ?:
	       permute_column((void **)&h->stacks, &h->cstacks, sizeof(*h->stacks), from, n);
}

static int gap_order(const void *a, const void *b)
{
	const struct kl_gap *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->object < y->object ? -1 : x->object > y->object;
}

int kl_history_finish(struct kl_history *h)
{
	uint32_t *from;
	int ret;

	if (h->ngaps)
		qsort(h->gaps, h->ngaps, sizeof(*h->gaps), gap_order);
	if (in_order(h))
		return 0;
	from = find_order(h);
	if (!from)
		return -ENOMEM;
	ret = permute(h, from);
	free(from);
	return ret;
}

/*
 * The open operations of each thread form a stack.  Operations with the same call are pushed in
 * descending order of return, so that each is nested in the one below.  So one pass suffices.
 */
int kl_history_overlap(const struct kl_history *h, size_t *outer, size_t *inner)
{
	uint32_t *top = NULL, *below = NULL, *t;
	size_t i, j, end;
	int ret = -ENOMEM;

	if (!h->nops)
		return 0;
	top = malloc(h->nthreads * sizeof(*top));
	below = kl_big_alloc(h->nops * sizeof(*below));
	if (!top || !below)
		goto out;
	for (i = 0; i < h->nthreads; i++)
		top[i] = KL_NO_OP;
	ret = 0;
	for (i = 0; i < h->nops; i = end) {
		for (end = i + 1; end < h->nops && h->ops[end].call == h->ops[i].call; end++)
			;
		for (j = end; j-- > i;) {
			const struct kl_op *op = &h->ops[j];

			if (op->flags & (KL_OP_PENDING | KL_OP_NOCALL))
				continue;
			for (t = &top[op->thread]; *t != KL_NO_OP; *t = below[*t]) {
				uint64_t open = h->ops[*t].ret;

				if (open <= op->call)
					continue;
				if (op->ret <= open)
					break;
				if (open - op->call > h->error) {
					*outer = *t;
					*inner = j;
					ret = 1;
					goto out;
				}
			}
			below[j] = *t;
			*t = j;
		}
	}
out:
	free(top);
	free(below);
	return ret;
}
