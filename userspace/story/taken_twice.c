// SPDX-License-Identifier: GPL-2.0
/*
 * Reason: a value was taken more often than it was added.
 *
 * The first state is empty, and each completed removal of v takes one v away, which an addition of
 * v has put there.  Pending additions count, an addition of an unknown value may be of v.
 */
#include <errno.h>

#include "story/reason.h"

/* Two removals took the value of one addition. */
static int tell_both(const struct kl_scene *s, const struct kl_deed *removes, const char *v,
		     struct kl_story *story)
{
	const struct kl_op *ops = s->h->ops;
	/* The later return comes last. */
	const int late = ops[removes[1].op].ret >= ops[removes[0].op].ret;
	const uint32_t first = removes[!late].op, second = removes[late].op;
	const struct kl_name a = kl_name_op(s, first), b = kl_name_op(s, second);

	if (kl_scene_before(s, first, second)) {
		if (kl_story_fact(story, "%s was called at %llu, after %s had returned at %llu",
				  b.s, (unsigned long long)ops[second].call, a.s,
				  (unsigned long long)ops[first].ret))
			return -ENOMEM;
		return kl_story_headline(story, "%s took %s a second time; %s had taken it by %llu",
					 b.s, v, a.s, (unsigned long long)ops[first].ret);
	}
	return kl_story_headline(story, "%s and %s both took %s, which was added once", a.s, b.s,
				 v);
}

/* Return: 1 + the index of the last of @n removals that the proof has; 0 if it has none. */
static size_t find_proved(const struct kl_scene *s, const struct kl_deed *removes, size_t n)
{
	while (n && !kl_scene_proves(s, removes[n - 1].op))
		n--;
	return n;
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	const struct kl_deed *r, *d = NULL, *adds;
	size_t i, k, n, same, nadds, proved = 0, taken = 0;
	struct kl_name v;

	kl_scene_all(s, KL_ACT_VAGUE_ADD, &n);
	if (!s->fresh || n)
		return 0;
	/* Of several such values, the story tells of one that the proof has. */
	r = kl_scene_all(s, KL_ACT_REMOVE, &n);
	for (i = 0; i < n && !proved; i += same) {
		kl_scene_deeds(s, KL_ACT_REMOVE, r[i].v, &same);
		kl_scene_deeds(s, KL_ACT_ADD, r[i].v, &nadds);
		if (same <= nadds)
			continue;
		proved = find_proved(s, r + i, same);
		if (d && !proved)
			continue;
		d = r + i;
		taken = same;
	}
	if (!d)
		return 0;
	adds = kl_scene_deeds(s, KL_ACT_ADD, d->v, &nadds);
	/* The cast has no more removals than prove it, if it has room for so many. */
	if (proved > nadds)
		d += proved - 1 - nadds;
	v = kl_name_val(s, kl_word(d->v));
	for (k = 0; k <= nadds; k++)
		if (kl_story_cast(story, d[nadds - k].op, "took %s", v.s))
			return -ENOMEM;
	for (k = 0; k < nadds; k++)
		if (kl_story_cast(story, adds[k].op, "added %s", v.s))
			return -ENOMEM;
	if (kl_story_fact(story, "%s was added %s", v.s,
			  nadds == 1 ? "once" : "less often than it was taken"))
		return -ENOMEM;
	if (nadds == 1)
		return tell_both(s, d, v.s, story);
	return kl_story_headline(story, "%s took %s, which was taken %zu times but added %zu times",
				 kl_name_op(s, d[nadds].op).s, v.s, taken, nadds);
}

static const struct kl_reason taken_twice = {
	.name = "taken_twice", .rank = 20, .needs = KL_NEEDS_DEEDS, .tell = tell,
};
KL_REASON(taken_twice);
