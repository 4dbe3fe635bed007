// SPDX-License-Identifier: GPL-2.0
/* Columns that few histories have: linearization points, drains, and stacks of operations. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "history/internal.h"

/* Set the times of operations @from .. @to - 1 to unknown. */
static void forget(uint64_t *times, size_t from, size_t to)
{
	_Static_assert(KL_TIME_MAX == UINT64_MAX, "all bytes are 0xff");
	if (to > from)
		memset(times + from, 0xff, (to - from) * sizeof(*times));
}

int kl_history_no_points(struct kl_history *h, size_t n)
{
	int ret = 0;

	if (h->points)
		ret = kl_grow(h->points, h->cpoints, h->nops + n);
	if (!ret && h->drains)
		ret = kl_grow(h->drains, h->cdrains, h->nops + n);
	if (!ret && h->stacks)
		ret = kl_grow(h->stacks, h->cstacks, h->nops + n);
	if (!ret && h->points)
		forget(h->points, h->nops, h->nops + n);
	if (!ret && h->drains)
		forget(h->drains, h->nops, h->nops + n);
	if (!ret && h->stacks)
		memset(h->stacks + h->nops, 0, n * sizeof(*h->stacks));
	return ret;
}

/*
 * Set the time of operation @i in an array for @n operations.  Few histories need the array, so it
 * is allocated for the first known time.
 */
static int set_time(uint64_t **times, size_t *cap, size_t n, size_t i, uint64_t time)
{
	int ret;

	if (!*times) {
		if (time == KL_TIME_MAX)
			return 0;
		ret = kl_grow(*times, *cap, n);
		if (ret)
			return ret;
		forget(*times, 0, n);
	}
	(*times)[i] = time;
	return 0;
}

int kl_history_set_points(struct kl_history *h, size_t i, uint64_t point, uint64_t drain)
{
	struct kl_op *op = &h->ops[i];
	const bool drained = drain == op->ret && drain != KL_TIME_MAX;

	op->flags = drained ? op->flags | KL_OP_DRAINED : op->flags & ~KL_OP_DRAINED;
	return set_time(&h->points, &h->cpoints, h->nops, i, point) ?:
	       set_time(&h->drains, &h->cdrains, h->nops, i, drained ? KL_TIME_MAX : drain);
}

int kl_history_set_stack(struct kl_history *h, size_t i, uint32_t stack)
{
	if (!h->stacks) {
		if (!stack)
			return 0;
		h->stacks = calloc(h->nops, sizeof(*h->stacks));
		if (!h->stacks)
			return -ENOMEM;
		h->cstacks = h->nops;
	}
	h->stacks[i] = stack;
	return 0;
}

static void swap_numbers(uint32_t *numbers, size_t a, size_t b)
{
	const uint32_t n = numbers[a];

	numbers[a] = numbers[b];
	numbers[b] = n;
}

static void swap(uint64_t *times, size_t a, size_t b)
{
	const uint64_t t = times[a];

	times[a] = times[b];
	times[b] = t;
}

void kl_history_swap(struct kl_history *h, size_t a, size_t b)
{
	const struct kl_op op = h->ops[a];

	h->ops[a] = h->ops[b];
	h->ops[b] = op;
	if (h->points)
		swap(h->points, a, b);
	if (h->drains)
		swap(h->drains, a, b);
	if (h->places)
		swap_numbers(h->places, a, b);
	if (h->stacks)
		swap_numbers(h->stacks, a, b);
}

void kl_history_drop(struct kl_history *h, size_t n)
{
	if (!n)
		return;
	h->nops -= n;
	memmove(h->ops, h->ops + n, h->nops * sizeof(*h->ops));
	if (h->points)
		memmove(h->points, h->points + n, h->nops * sizeof(*h->points));
	if (h->drains)
		memmove(h->drains, h->drains + n, h->nops * sizeof(*h->drains));
	if (h->places)
		memmove(h->places, h->places + n, h->nops * sizeof(*h->places));
	if (h->stacks)
		memmove(h->stacks, h->stacks + n, h->nops * sizeof(*h->stacks));
}
