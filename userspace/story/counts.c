// SPDX-License-Identifier: GPL-2.0
/*
 * Reason: an operation needs another count than there can have been: of readers, permits,
 * references, or of holders, which a bool counts, too.  ranges.h argues it.
 */
#include <errno.h>

#include "story/ranges.h"

static int look(struct kl_ranges *r, struct kl_story *story)
{
	char text[1024];

	kl_ranges_name(r, text, sizeof(text));
	if (kl_story_cast(story, r->op, "needs another state") || kl_ranges_cast(r, story))
		return -ENOMEM;
	return kl_story_headline(story, "%s is wrong, since %s while it ran",
				 kl_name_op(r->s, r->op).s, text);
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	return s->steps || s->deeds ? 0 : kl_ranges_each(s, false, look, story);
}

static const struct kl_reason counts = {
	.name = "wrong_count", .rank = 400, .needs = KL_NEEDS_NOTHING, .tso = true,
	.tell = tell,
};
KL_REASON(counts);
