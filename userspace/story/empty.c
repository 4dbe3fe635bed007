// SPDX-License-Identifier: GPL-2.0
/*
 * Reasons: an operation found the container empty, or did not find a value, while a value was
 * inside all the time, as kl_scene_inside() argues.
 */
#include <errno.h>

#include "story/reason.h"

static int tell_value(const struct kl_scene *s, uint32_t op, uint64_t value, uint32_t last,
		      bool missed, struct kl_story *story)
{
	const struct kl_op *ops = s->h->ops;
	const struct kl_name v = kl_name_val(s, kl_word(value)), name = kl_name_op(s, op);

	if (kl_story_cast(story, op, missed ? "did not find %s" : "found nothing", v.s) ||
	    kl_story_fact(story, "%s returned at %llu, before %s was called at %llu",
			  kl_name_op(s, last).s, (unsigned long long)ops[last].ret, name.s,
			  (unsigned long long)ops[op].call) ||
	    kl_story_inside(s, story, value, op))
		return -ENOMEM;
	if (missed) {
		story->reason = "missed_while_inside";
		return kl_story_headline(story, "%s did not find %s, which was inside from %llu "
					 "to %llu", name.s, v.s,
					 (unsigned long long)ops[last].ret,
					 (unsigned long long)ops[op].ret);
	}
	return kl_story_headline(story, "%s found nothing, while %s was inside from %llu to %llu",
				 name.s, v.s, (unsigned long long)ops[last].ret,
				 (unsigned long long)ops[op].ret);
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	const struct kl_deed *e, *adds;
	size_t i, k, n, same, nadds;
	uint32_t last;

	e = kl_scene_all(s, KL_ACT_MISS, &n);
	for (i = 0; i < n; i++)
		if (kl_scene_proves(s, e[i].op) && kl_scene_inside(s, e[i].v, e[i].op, &last))
			return tell_value(s, e[i].op, e[i].v, last, true, story);
	e = kl_scene_all(s, KL_ACT_EMPTY, &n);
	adds = kl_scene_all(s, KL_ACT_ADD, &nadds);
	for (i = 0; i < n; i++) {
		if (!kl_scene_proves(s, e[i].op))
			continue;
		for (k = 0; k < nadds && !kl_scene_over(s, 1); k += same) {
			kl_scene_deeds(s, KL_ACT_ADD, adds[k].v, &same);
			if (kl_scene_inside(s, adds[k].v, e[i].op, &last))
				return tell_value(s, e[i].op, adds[k].v, last, false, story);
		}
	}
	return 0;
}

static const struct kl_reason empty = {
	.name = "empty_while_inside", .rank = 30, .needs = KL_NEEDS_DEEDS, .tell = tell,
};
KL_REASON(empty);
