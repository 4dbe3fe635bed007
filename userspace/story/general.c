// SPDX-License-Identifier: GPL-2.0
/*
 * The reason of a violation that no other reason explains: how far the longest orders of the
 * counterexample's operations come, and which operation cannot come next in each.
 *
 *	t2's read_trylock() -> 0 fits into no order of these 3 operations
 *	  after t1's read_lock(), readers = 1, t2's read_trylock() could only return 1
 */
#include <errno.h>
#include <stdio.h>

#include "story/reason.h"

/* Cast the failing operation, and the last operations of the counterexample beside it. */
static int cast_proof(const struct kl_scene *s, struct kl_story *story, uint32_t op)
{
	size_t i;

	if (kl_story_cast(story, op, "fits into no order") || kl_story_cast_writers(s, story))
		return -ENOMEM;
	for (i = s->nproof; i--;) {
		const uint32_t other = s->proof[i];

		if (kl_story_cast(story, other, "%s", kl_scene_before(s, other, op) ?
				  "returned before" : kl_scene_before(s, op, other) ?
				  "was called later" : "overlaps"))
			return -ENOMEM;
	}
	return 0;
}

/*
 * Say which value the failing operation needs, as the end of a headline: ", since the value cannot
 * be 3 then".  Empty if its step is not known.
 */
static struct kl_name tell_need(const struct kl_scene *s, uint32_t op)
{
	struct kl_name text = { "" };
	const struct kl_word_deed *d, *end;

	/* The presence of a set's key is no value. */
	if (!s->steps || s->type.kind == KL_CONTAINER_SET || kl_scene_over(s, s->nsteps))
		return text;
	end = s->steps + s->nsteps;
	for (d = s->steps; d < end && d->op != op; d++)
		;
	if (d == end || d->maybe)
		return text;
	if (d->step.kind == KL_WORD_SEES || d->step.kind == KL_WORD_MOVES)
		snprintf(text.s, sizeof(text.s), ", since the value cannot be %.200s there",
			 kl_name_step(s, d->step.before).s);
	else if (d->denies)
		snprintf(text.s, sizeof(text.s), ", since the value must be %.200s there",
			 kl_name_step(s, d->is_not).s);
	return text;
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	char right[256] = "";
	uint32_t op, other;
	int ret;

	op = kl_story_failing(s->part->cex);
	if (op == KL_NO_OP)
		return 0;
	if (cast_proof(s, story, op) || kl_story_orders(s, story))
		return -ENOMEM;
	ret = kl_story_allow(s, story, op);
	if (ret)
		return ret;
	if (story->allowed.all && story->allowed.exact && story->allowed.n == 1)
		snprintf(right, sizeof(right), "; only %s was right", story->allowed.results[0]);
	if (s->nproof == 1)
		return kl_story_headline(story, "%s is not possible%s", kl_name_op(s, op).s, right);
	other = s->proof[s->proof[0] == op];
	if (s->nproof == 2 && kl_scene_before(s, other, op))
		return kl_story_headline(story, "%s is not possible after %s, which had returned at "
					 "%llu%s", kl_name_op(s, op).s, kl_name_op(s, other).s,
					 (unsigned long long)s->h->ops[other].ret, right);
	return kl_story_headline(story, "%s fits into no order of %s %zu operations%s%s",
				 kl_name_op(s, op).s,
				 s->nproof > KL_STORY_CAST ? "the last" : "these", s->nproof,
				 tell_need(s, op).s, right);
}

static const struct kl_reason general = {
	.name = "no_order",
	.rank = 1000,
	.needs = KL_NEEDS_NOTHING,
	.tso = true,
	.gaps = true,
	.any = true,
	.tell = tell,
};
KL_REASON(general);
