// SPDX-License-Identifier: GPL-2.0
/*
 * Reasons: a value was taken or seen that was never added, or before its addition was called.
 *
 * The first state is empty.  So an operation with value v in its results takes effect after an
 * addition of v, which it cannot do if it returned before each addition of v was called.  An
 * addition of an unknown value may be of v.
 */
#include <errno.h>

#include "story/reason.h"

static int tell_unknown_value(const struct kl_scene *s, const struct kl_deed *d,
			      struct kl_story *story)
{
	const struct kl_name v = kl_name_val(s, kl_word(d->v));
	const char *did = d->act == KL_ACT_REMOVE ? "took" : "saw";

	if (kl_story_cast(story, d->op, "%s %s", did, v.s) ||
	    kl_story_fact(story, "No operation adds %s, and the first state is empty", v.s))
		return -ENOMEM;
	return kl_story_headline(story, "%s %s %s, which was never added",
				 kl_name_op(s, d->op).s, did, v.s);
}

static int tell_early(const struct kl_scene *s, const struct kl_deed *d, const struct kl_deed *add,
		      size_t n, struct kl_story *story)
{
	const struct kl_name v = kl_name_val(s, kl_word(d->v)), a = kl_name_op(s, add->op);
	const char *did = d->act == KL_ACT_REMOVE ? "took" : "saw";
	const unsigned long long ret = s->h->ops[d->op].ret, call = s->h->ops[add->op].call;

	story->reason = "added_later";
	if (kl_story_cast(story, d->op, "%s %s", did, v.s) ||
	    kl_story_cast(story, add->op, "added %s", v.s) ||
	    kl_story_fact(story, "%s returned at %llu", kl_name_op(s, d->op).s, ret) ||
	    kl_story_fact(story, "%s, the %s addition of %s, was called at %llu", a.s,
			  n > 1 ? "first" : "only", v.s, call))
		return -ENOMEM;
	return kl_story_headline(story,
				 "%s %s %s and returned at %llu, before %s was called at %llu",
				 kl_name_op(s, d->op).s, did, v.s, ret, a.s, call);
}

static int look_at(const struct kl_scene *s, const struct kl_deed *d, struct kl_story *story)
{
	const struct kl_deed *add;
	size_t i, n;

	add = kl_scene_deeds(s, KL_ACT_ADD, d->v, &n);
	if (!n)
		return tell_unknown_value(s, d, story);
	for (i = 0; i < n && kl_scene_before(s, d->op, add[i].op); i++)
		;
	return !kl_scene_over(s, i + 1) && i == n ? tell_early(s, d, add, n, story) : 0;
}

/* Look at deeds of operations that are not in the proof. */
static int look_at_all(const struct kl_scene *s, enum kl_act act, struct kl_story *story)
{
	const struct kl_deed *d;
	size_t i, n;
	int ret = 0;

	d = kl_scene_all(s, act, &n);
	for (i = 0; i < n && !ret && !kl_scene_over(s, 0); i++)
		ret = look_at(s, &d[i], story);
	return ret;
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	size_t n;

	kl_scene_all(s, KL_ACT_VAGUE_ADD, &n);
	if (!s->fresh || n)
		return 0;
	return kl_story_each(s, KL_ACT_REMOVE, look_at, story)	     ?:
		       kl_story_each(s, KL_ACT_LOOK, look_at, story) ?:
		       look_at_all(s, KL_ACT_REMOVE, story)	     ?:
		       look_at_all(s, KL_ACT_LOOK, story);
}

static const struct kl_reason never_added = {
	.name = "never_added", .rank = 10, .needs = KL_NEEDS_DEEDS, .tell = tell,
};
KL_REASON(never_added);
