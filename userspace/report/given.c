// SPDX-License-Identifier: GPL-2.0
/* Numbers of operations that the source has, see given.h. */
#include "history/source.h"
#include "report/given.h"

size_t kl_given_ops(const struct kl_history *h)
{
	size_t n = h->nops, i;

	for (i = 0; h->source && h->places && i < h->nops; i++)
		n -= kl_source_is_first(h, i);
	return n;
}

size_t kl_given_threads(const struct kl_history *h)
{
	/* The writes of the first state have a thread of their own. */
	return h->nthreads - (kl_given_ops(h) < h->nops);
}

uint32_t kl_given_part(const struct kl_history *h, const struct kl_part_result *p)
{
	uint32_t n = p->nops, i;

	for (i = 0; h->source && h->places && i < p->nops; i++)
		n -= kl_source_is_first(h, kl_result_op(p, i));
	return n;
}
