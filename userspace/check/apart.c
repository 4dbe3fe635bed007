// SPDX-License-Identifier: GPL-2.0
/* Reads and writes that have no object in common, see apart.h. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "check/apart.h"

#define READ	1	/* an operation only read the object */
#define WRITTEN	2	/* another operation may have written it */

int kl_reads_apart(const struct kl_spec *spec, const struct kl_history *h)
{
	uint8_t *uses = calloc(h->nobjects + 1, 1), all = 0;
	bool both = kl_spec_partition(spec) == KL_PART_NONE;
	size_t i;
	int m;

	if (!uses)
		return -ENOMEM;
	for (i = 0; i < h->nops && !both; i++) {
		const struct kl_op *op = &h->ops[i];

		m = kl_spec_find_method(spec, h->methods[kl_op_method(h, op)]);
		if (m < 0)
			continue;
		uses[op->object] |= kl_spec_method(spec, m)->pure ? READ : WRITTEN;
		all |= uses[op->object];
		both = uses[op->object] == (READ | WRITTEN);
	}
	free(uses);
	return !both && all == (READ | WRITTEN);
}
