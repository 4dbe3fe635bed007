// SPDX-License-Identifier: GPL-2.0
/*
 * Reason: an operation saw or took a value that had been taken before.
 *
 * The first state is empty.  Let E see or take v.  Each removal of v that certainly returned before
 * E was called has taken one v.  No more can have been added before E than by all additions of v or
 * of an unknown value that were not certainly called after E returned.  If these are not more, no v
 * is inside when E takes effect.
 */
#include <errno.h>

#include "story/reason.h"

static int look_at(const struct kl_scene *s, const struct kl_deed *e, struct kl_story *story)
{
	const struct kl_name v = kl_name_val(s, kl_word(e->v)), name = kl_name_op(s, e->op);
	const char *did = e->act == KL_ACT_REMOVE ? "took" : "saw";
	const struct kl_deed *adds, *vague, *removes, *last = NULL;
	const struct kl_op *ops = s->h->ops;
	size_t nadds, nvague, nremoves, taken = 0, i;

	adds = kl_scene_deeds(s, KL_ACT_ADD, e->v, &nadds);
	removes = kl_scene_deeds(s, KL_ACT_REMOVE, e->v, &nremoves);
	vague = kl_scene_all(s, KL_ACT_VAGUE_ADD, &nvague);
	if (kl_scene_over(s, nadds + nremoves + nvague + 1))
		return 0;
	for (i = 0; i < nremoves; i++) {
		if (!kl_scene_before(s, removes[i].op, e->op))
			continue;
		taken++;
		if (!last || ops[removes[i].op].ret > ops[last->op].ret)
			last = &removes[i];
	}
	if (!last || kl_scene_count_possible(s, adds, nadds, e->op) +
			     kl_scene_count_possible(s, vague, nvague, e->op) > taken)
		return 0;
	if (kl_story_cast(story, e->op, "%s %s", did, v.s))
		return -ENOMEM;
	for (i = 0; i < nremoves; i++)
		if (kl_scene_before(s, removes[i].op, e->op) &&
		    kl_story_cast(story, removes[i].op, "took %s", v.s))
			return -ENOMEM;
	for (i = 0; i < nadds; i++)
		if (!kl_scene_before(s, e->op, adds[i].op) &&
		    kl_story_cast(story, adds[i].op, "added %s", v.s))
			return -ENOMEM;
	return kl_story_headline(story, "%s %s %s, which was gone: %s had taken it by %llu", name.s,
				 did, v.s, kl_name_op(s, last->op).s,
				 (unsigned long long)ops[last->op].ret);
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	return !s->fresh ? 0 : kl_story_each(s, KL_ACT_LOOK, look_at, story) ?:
			       kl_story_each(s, KL_ACT_REMOVE, look_at, story);
}

static const struct kl_reason gone = {
	.name = "gone", .rank = 25, .needs = KL_NEEDS_DEEDS, .tell = tell,
};
KL_REASON(gone);
