// SPDX-License-Identifier: GPL-2.0
/*
 * Reasons: an addition found no room although there was room, or found room although there was
 * none.
 *
 * The first state is empty, and an addition by E fits if fewer than @room values are inside.  When
 * E takes effect, no more can have been added than by all additions that were not certainly called
 * after E returned, and each removal that certainly returned before E was called has taken one.  If
 * fewer than @room are left, there was room.
 *
 * The additions that certainly returned before E was called have added one each, and no more can
 * have been taken than by all removals, also vague ones, that were not certainly called after E
 * returned.  If @room or more are left, there was none.  All additions must have the same @room:
 * where another one may put more values inside, the specification may compare by equality.
 */
#include <errno.h>

#include "story/reason.h"

/* The deeds of an act that certainly were before @op, or may have been. */
static size_t count(const struct kl_scene *s, enum kl_act act, uint32_t op, bool certainly)
{
	const struct kl_deed *d;
	size_t n, i, counted = 0;

	d = kl_scene_all(s, act, &n);
	for (i = 0; i < n; i++)
		counted += d[i].op != op && (certainly ? kl_scene_before(s, d[i].op, op) :
					     !kl_scene_before(s, op, d[i].op));
	return counted;
}

/* Has each addition of an act this room? */
static bool all_have_room(const struct kl_scene *s, enum kl_act act, uint64_t room)
{
	const struct kl_deed *d;
	size_t n, i;

	d = kl_scene_all(s, act, &n);
	for (i = 0; i < n && d[i].room == room; i++)
		;
	return i == n;
}

/*
 * Do the only addition of a value and its only removal cancel each other out when @e counts?  Such
 * a value was not inside, or is not counted as inside.
 */
static bool cancels(const struct kl_scene *s, const struct kl_deed *e, uint64_t v)
{
	const bool full = e->act == KL_ACT_FULL;
	const struct kl_deed *add, *take;
	size_t nadded, ntaken, nvague;

	/* An operation that adds a value may take another one, and must be seen for that. */
	kl_scene_all(s, KL_ACT_VAGUE_REMOVE, &nvague);
	if (nvague)
		return false;
	add = kl_scene_deeds(s, KL_ACT_ADD, v, &nadded);
	take = kl_scene_deeds(s, KL_ACT_REMOVE, v, &ntaken);
	return nadded == 1 && ntaken == 1 &&
	       (full ? kl_scene_before(s, take->op, e->op) && !kl_scene_before(s, e->op, add->op) :
		kl_scene_before(s, add->op, e->op) && !kl_scene_before(s, e->op, take->op));
}

/* Cast the deeds of an act that may have been before @e, and that count. */
static int cast(const struct kl_scene *s, struct kl_story *story, enum kl_act act,
		const struct kl_deed *e)
{
	const bool takes = act == KL_ACT_REMOVE || act == KL_ACT_VAGUE_REMOVE;
	const bool known = act == KL_ACT_ADD || act == KL_ACT_REMOVE;
	const struct kl_deed *d;
	size_t n, i;

	d = kl_scene_all(s, act, &n);
	for (i = 0; i < n; i++)
		if (!kl_scene_before(s, e->op, d[i].op) && !(known && cancels(s, e, d[i].v)) &&
		    kl_story_cast(story, d[i].op, "%s a value",
				  kl_scene_before(s, d[i].op, e->op) ? takes ? "took" : "added" :
				  takes ? "may have taken" : "may have added"))
			return -ENOMEM;
	return 0;
}

static int cast_all(const struct kl_scene *s, struct kl_story *story, const struct kl_deed *e)
{
	const char *did = e->act == KL_ACT_FULL ? "was refused" : "was accepted";

	if (kl_story_cast(story, e->op, "%s", did) ||
	    cast(s, story, KL_ACT_ADD, e) || cast(s, story, KL_ACT_VAGUE_ADD, e) ||
	    cast(s, story, KL_ACT_REMOVE, e) || cast(s, story, KL_ACT_VAGUE_REMOVE, e))
		return -ENOMEM;
	return 0;
}

static int look_at(const struct kl_scene *s, const struct kl_deed *e, struct kl_story *story)
{
	const bool full = e->act == KL_ACT_FULL;
	size_t added, taken;

	if (e->room == UINT64_MAX || kl_scene_over(s, s->ndeeds) ||
	    s->h->ops[e->op].flags & KL_OP_PENDING)
		return 0;
	added = count(s, KL_ACT_ADD, e->op, !full);
	taken = count(s, KL_ACT_REMOVE, e->op, full);
	/* Vague ones may have added or taken a value, or not. */
	if (full)
		added += count(s, KL_ACT_VAGUE_ADD, e->op, false);
	else
		taken += count(s, KL_ACT_VAGUE_REMOVE, e->op, false);
	/* Where more are taken than were added, a removal is wrong. */
	if (added < taken || (full ? added - taken >= e->room : added - taken < e->room))
		return 0;
	if (!full && !(all_have_room(s, KL_ACT_ADD, e->room) &&
		       all_have_room(s, KL_ACT_VAGUE_ADD, e->room)))
		return 0;
	if (cast_all(s, story, e))
		return -ENOMEM;
	if (full)
		return kl_story_headline(story, "%s found no room, while at most %zu of %llu "
					 "values were inside", kl_name_op(s, e->op).s,
					 added - taken, (unsigned long long)e->room);
	story->reason = "room_while_full";
	return kl_story_headline(story, "%s found room, while at least %zu of %llu values were "
				 "inside", kl_name_op(s, e->op).s, added - taken,
				 (unsigned long long)e->room);
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	return !s->fresh ? 0 : kl_story_each(s, KL_ACT_FULL, look_at, story) ?:
			       kl_story_each(s, KL_ACT_ADD, look_at, story);
}

static const struct kl_reason full = {
	.name = "full_with_room", .rank = 35, .needs = KL_NEEDS_DEEDS, .tell = tell,
};
KL_REASON(full);
