// SPDX-License-Identifier: GPL-2.0
/*
 * Reason: values left a queue or a stack in an order that its discipline forbids.
 *
 * Values a and b were added once each, a certainly before b, and the first state is empty.  A queue
 * gives b only after a has left, so a must not be inside when b is taken or seen.  A stack gives a
 * only when b is not inside.  A priority queue gives no value while a more urgent one is inside,
 * however often values were added, and whatever the first state is.
 */
#include <errno.h>

#include "story/reason.h"

/* The one addition of a value, or NULL if it was not added once. */
static const struct kl_deed *only_addition(const struct kl_scene *s, uint64_t v)
{
	const struct kl_deed *d;
	size_t n;

	d = kl_scene_deeds(s, KL_ACT_ADD, v, &n);
	return n == 1 ? d : NULL;
}

/* Does an addition of the value inside forbid that @left leaves, added by @add? */
static bool forbids(const struct kl_scene *s, const struct kl_deed *inside,
		    const struct kl_deed *add, const struct kl_deed *left)
{
	switch (s->type.kind) {
	case KL_CONTAINER_QUEUE:
		return kl_scene_before(s, inside->op, add->op);
	case KL_CONTAINER_STACK:
		return kl_scene_before(s, add->op, inside->op);
	case KL_CONTAINER_PQUEUE:
		return s->type.max ? inside->v > left->v : inside->v < left->v;
	default:
		return false;
	}
}

static int tell_inverted(const struct kl_scene *s, const struct kl_deed *left,
			 const struct kl_deed *add, uint64_t value, uint32_t last,
			 struct kl_story *story)
{
	const struct kl_op *ops = s->h->ops;
	const struct kl_name v = kl_name_val(s, kl_word(left->v));
	const struct kl_name w = kl_name_val(s, kl_word(value));
	const char *did = left->act == KL_ACT_REMOVE ? "took" : "saw", *how;

	const struct kl_deed *adds;
	size_t i, n;

	if (kl_story_cast(story, left->op, "%s %s", did, v.s))
		return -ENOMEM;
	/* Equal values of a priority queue may have been added several times. */
	adds = kl_scene_deeds(s, KL_ACT_ADD, left->v, &n);
	for (i = 0; i < n && i < KL_STORY_CAST / 4; i++)
		if (kl_story_cast(story, adds[i].op, "added %s", v.s))
			return -ENOMEM;
	if (s->type.kind == KL_CONTAINER_PQUEUE) {
		how = s->type.max || s->h->view.complements ? "greater" : "smaller";
	} else {
		const bool first = s->type.kind == KL_CONTAINER_QUEUE;
		const uint32_t a = first ? last : add->op, b = first ? add->op : last;

		how = first ? "added earlier" : "added later";
		if (kl_story_fact(story, "%s returned at %llu, before %s was called at %llu",
				  kl_name_op(s, a).s, (unsigned long long)ops[a].ret,
				  kl_name_op(s, b).s, (unsigned long long)ops[b].call))
			return -ENOMEM;
	}
	if (kl_story_inside(s, story, value, left->op))
		return -ENOMEM;
	return kl_story_headline(story, "%s %s %s while %s, which is %s, was inside",
				 kl_name_op(s, left->op).s, did, v.s, w.s, how);
}

/* Look for a value inside that forbids @left. */
static int tell_left(const struct kl_scene *s, const struct kl_deed *left, struct kl_story *story)
{
	const bool once = s->type.kind != KL_CONTAINER_PQUEUE;
	const struct kl_deed *add = only_addition(s, left->v), *others;
	size_t i, n, same;
	uint32_t last;

	if (once && (!add || !s->fresh))
		return 0;
	others = kl_scene_all(s, KL_ACT_ADD, &n);
	for (i = 0; i < n && !kl_scene_over(s, 1); i += same) {
		kl_scene_deeds(s, KL_ACT_ADD, others[i].v, &same);
		if (others[i].v == left->v || (once && same > 1))
			continue;
		if (forbids(s, &others[i], add, left) &&
		    kl_scene_inside(s, others[i].v, left->op, &last))
			return tell_inverted(s, left, add, others[i].v, last, story);
	}
	return 0;
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	size_t n;

	/* An addition of an unknown value may have put the value that left. */
	kl_scene_all(s, KL_ACT_VAGUE_ADD, &n);
	return n ? 0 : kl_story_each(s, KL_ACT_REMOVE, tell_left, story) ?:
		       kl_story_each(s, KL_ACT_LOOK, tell_left, story);
}

static const struct kl_reason order = {
	.name = "order_inverted", .rank = 40, .needs = KL_NEEDS_DEEDS, .tell = tell,
};
KL_REASON(order);
