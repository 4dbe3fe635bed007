// SPDX-License-Identifier: GPL-2.0
/* The gaps of a partition, see gaps.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "check/gaps.h"

/*
 * Return: the time until which a lost operation's stores may be in the buffer of the gap's CPU.  It
 * is the first known drain after the gap, or the end of a later operation that always executes on
 * an empty buffer.
 */
static uint64_t drained(const struct kl_spec *spec, const struct kl_history *h,
			const int *methods, const uint32_t *ops, size_t nops,
			const struct kl_gap *g)
{
	uint64_t end = KL_TIME_MAX;
	size_t i;

	for (i = 0; i < nops && g->cpu != KL_NO_CPU; i++) {
		const struct kl_op *op = &h->ops[ops ? ops[i] : i];
		uint64_t drain = kl_op_empty(h, op);

		if (op->cpu != g->cpu || op->ret == KL_TIME_MAX)
			continue;
		if (op->ret >= g->to && drain < end)
			end = drain;
		if (op->call >= g->to && op->ret < end &&
		    kl_spec_method(spec, methods[kl_op_method(h, op)])->barrier_always)
			end = op->ret;
	}
	return end;
}

static int by_from(const void *a, const void *b)
{
	const struct kl_gap *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

int kl_gaps_collect(const struct kl_spec *spec, const struct kl_history *h, const int *methods,
		    const uint32_t *ops, size_t nops, uint32_t object, bool tso,
		    struct kl_gap **out, size_t *count)
{
	struct kl_gap *g = NULL;
	size_t n = 0, cap = 0, i, k;
	int ret;

	for (i = 0; i < h->ngaps; i++) {
		if (object != KL_ALL_OBJECTS && h->gaps[i].object != KL_ALL_OBJECTS &&
		    h->gaps[i].object != object)
			continue;
		ret = kl_grow(g, cap, n + 1);
		if (ret) {
			free(g);
			return ret;
		}
		g[n] = h->gaps[i];
		/* Operations that flush leave nothing in the buffer. */
		if (tso && g[n].reason != KL_GAP_CUT && !kl_spec_flushes(spec))
			g[n].to = drained(spec, h, methods, ops, nops, &g[n]);
		n++;
	}
	if (n)
		qsort(g, n, sizeof(*g), by_from);
	for (i = 0, k = 0; i < n; i++) {
		if (k && g[i].from <= kl_time_add(g[k - 1].to, h->error)) {
			if (g[i].to > g[k - 1].to)
				g[k - 1].to = g[i].to;
		} else {
			g[k++] = g[i];
		}
	}
	*out = g;
	*count = k;
	return 0;
}
