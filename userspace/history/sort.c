// SPDX-License-Identifier: GPL-2.0
/* The order of a history's operations, see history.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "history/internal.h"

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

/* ops[i] = old ops[k[i].val], cycle by cycle so that only the keys need room beside. */
static void permute(struct kl_history *h, struct kl_key *k, uint32_t *tags)
{
	size_t i, at, from;

	for (i = 0; i < h->nops; i++) {
		const struct kl_op op = h->ops[i];
		const uint64_t point = h->points ? h->points[i] : KL_TIME_MAX;
		const uint64_t drain = h->drains ? h->drains[i] : KL_TIME_MAX;
		const uint32_t tag = tags ? tags[i] : 0;

		for (at = i; (from = k[at].val) != i; at = from) {
			kl_history_move(h, at, from);
			if (tags)
				tags[at] = tags[from];
			k[at].val = at;
		}
		h->ops[at] = op;
		if (h->points)
			h->points[at] = point;
		if (h->drains)
			h->drains[at] = drain;
		if (tags)
			tags[at] = tag;
		k[at].val = at;
	}
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

int kl_history_sort(struct kl_history *h, uint32_t *tags)
{
	struct kl_key *k;
	size_t i;

	if (h->ngaps)
		qsort(h->gaps, h->ngaps, sizeof(*h->gaps), gap_order);
	if (in_order(h))
		return 0;
	k = calloc(h->nops, 2 * sizeof(*k));
	if (!k)
		return -ENOMEM;
	for (i = 0; i < h->nops; i++)
		k[i] = (struct kl_key){ .key = h->ops[i].ret, .val = i };
	kl_sort_keys(k, h->nops, k + h->nops);
	for (i = 0; i < h->nops; i++)
		k[i].key = h->ops[k[i].val].call;
	kl_sort_keys(k, h->nops, k + h->nops);
	permute(h, k, tags);
	free(k);
	return 0;
}

int kl_history_finish(struct kl_history *h)
{
	return kl_history_sort(h, NULL);
}

/*
 * The open operations of each thread form a stack.  Those of equal call time
 * come outermost first (they are sorted by return), so that one pass decides.
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
