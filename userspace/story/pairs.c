// SPDX-License-Identifier: GPL-2.0
/*
 * Reason with store buffers: two operations overlap, and neither is possible after the other.
 *
 *	t1 |-- write_lock() --|
 *	   t2 |-- read_lock() --|
 *
 * One of them takes effect first.  For each of both orders ranges.h finds the words that the state
 * can have when the second one takes effect.  follows.c is for histories without store buffers.
 */
#include <errno.h>

#include "story/ranges.h"

/* Is each of the two impossible after the other?  Return: 1 if so, 0 if not, -ENOMEM. */
static int exclude_each_other(const struct kl_scene *s, uint32_t a, uint32_t b)
{
	int ret;

	if (kl_scene_before(s, a, b) || kl_scene_before(s, b, a) ||
	    (s->h->ops[a].flags | s->h->ops[b].flags) & KL_OP_PENDING)
		return 0;
	ret = kl_ranges_exclude(s, a, b, NULL);
	return ret > 0 ? kl_ranges_exclude(s, b, a, NULL) : ret;
}

static int tell_pair(const struct kl_scene *s, uint32_t a, uint32_t b, struct kl_story *story)
{
	if (kl_story_cast(story, b, "is not possible after the other") ||
	    kl_story_cast(story, a, "is not possible after the other") ||
	    kl_ranges_exclude(s, a, b, story) < 0 || kl_ranges_exclude(s, b, a, story) < 0)
		return -ENOMEM;
	return kl_story_neither(s, a, b, story);
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	size_t i, k;
	int ret = 0;

	for (i = s->nproof; s->tso && i-- && !ret; )
		for (k = i; k-- && !ret && !kl_scene_over(s, 1);) {
			ret = exclude_each_other(s, s->proof[k], s->proof[i]);
			if (ret > 0)
				ret = tell_pair(s, s->proof[k], s->proof[i], story);
		}
	return ret;
}

static const struct kl_reason pairs = {
	.name = "exclude_each_other", .rank = 60, .needs = KL_NEEDS_NOTHING, .tso = true,
	.tell = tell,
};
KL_REASON(pairs);
