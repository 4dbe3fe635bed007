// SPDX-License-Identifier: GPL-2.0
/* Deciding a whole history by one engine. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"

int kl_decide_history(const struct kl_spec *spec, const struct kl_history *h,
		      const struct kl_engine *e, const struct kl_limits *lim,
		      struct kl_answer *a, struct kl_event *fail)
{
	uint32_t *ops = malloc((h->nops + 1) * sizeof(*ops));
	int *map = malloc((h->nmethods + 1) * sizeof(*map));
	struct kl_part p = { 0 };
	size_t i;
	int ret = -ENOMEM;

	*a = (struct kl_answer){ .verdict = KL_UNKNOWN };
	if (!ops || !map)
		goto out;
	for (i = 0; i < h->nops; i++)
		ops[i] = i;
	for (i = 0; i < h->nmethods; i++)
		map[i] = kl_spec_find_method(spec, h->methods[i]);
	if (e->decide_ops) {
		const struct kl_slice s = {
			.spec = spec, .h = h, .methods = map, .nops = h->nops,
			.object = KL_ALL_OBJECTS, .ngaps = h->ngaps,
		};

		ret = e->decide_ops(&s, lim, a);
		goto out;
	}
	ret = kl_part_build(spec, h, map, ops, h->nops, KL_ALL_OBJECTS, e->tso, &p);
	if (!ret)
		ret = e->decide(&p, lim, a);
	if (!ret && a->verdict == KL_VIOLATION && fail)
		*fail = p.events[a->fail_event];
out:
	kl_part_free(&p);
	free(ops);
	free(map);
	return ret;
}
