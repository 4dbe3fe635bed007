// SPDX-License-Identifier: GPL-2.0
/* What has to come before what, see before.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "check/before.h"

int kl_before_list(struct kl_before *b, const struct kl_part *p,
		   bool (*before)(const struct kl_part *p, uint32_t a, uint32_t b, bool flush),
		   bool flushes)
{
	const uint32_t n = p->nitems;
	uint32_t i, j;
	size_t len = 0;
	int ret;

	b->at = malloc(((size_t)n + 1) * sizeof(*b->at));
	if (!b->at)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		b->at[i] = len;
		ret = kl_grow(b->point, b->cap, len + 2 * (size_t)n);
		if (ret)
			return ret;
		for (j = n; j--; ) {
			if (i != j && before(p, j, i, false))
				b->point[len++] = j;
			if (i != j && flushes && before(p, j, i, true))
				b->point[len++] = n + j;
		}
	}
	b->at[n] = len;
	return 0;
}

void kl_before_free(struct kl_before *b)
{
	free(b->point);
	free(b->at);
}
