// SPDX-License-Identifier: GPL-2.0
/*
 * Reasons: an operation is not possible after another one, whatever took effect between them.
 *
 *	t1 |-- write_lock() --|  t2 |-- read_lock() --|		and nobody unlocks between
 *	t1 |-- push(1) -> 1 --|
 *	    t2 |-- push(2) -> 1 --|				impossible in either order
 *
 * Let X and E be operations that returned.  If X certainly returned before E was called, then each
 * order has X before E, and between them only operations that need not be before X or after E.
 * reach.h searches the states between.  If the two overlap, one of both orders must be possible.
 *
 * Other reasons say more of registers, sets and queues, and are tried before.
 */
#include <errno.h>
#include <stdio.h>

#include "story/reach.h"
#include "story/reason.h"

#define SHOWN	3	/* operations between that the cast shows */

static bool is_pure(const struct kl_scene *s, uint32_t op)
{
	const int m = kl_spec_find_method(s->spec, s->h->methods[kl_op_method(s->h,
								 &s->h->ops[op])]);

	return m >= 0 && kl_spec_method(s->spec, m)->pure;
}

/* Cast the operations between, which do not help. */
static int cast_between(const struct kl_reach *r, struct kl_story *story)
{
	size_t i, n = 0;

	for (i = 0; i < r->nbetween && n < SHOWN; i++) {
		if (is_pure(r->s, r->between[i]))
			continue;
		n++;
		if (kl_story_cast(story, r->between[i], "may have come between"))
			return -ENOMEM;
	}
	return 0;
}

static int tell_after(const struct kl_reach *r, uint32_t x, uint32_t e, struct kl_story *story)
{
	const struct kl_scene *s = r->s;
	const struct kl_name name = kl_name_op(s, e), other = kl_name_op(s, x);
	const unsigned long long ret = s->h->ops[x].ret;
	char right[256] = "";

	if (kl_story_cast(story, e, "is not possible") ||
	    kl_story_cast(story, x, "came before") ||
	    kl_story_fact(story, "%s returned at %llu, before %s was called at %llu", other.s, ret,
			  name.s, (unsigned long long)s->h->ops[e].call) ||
	    cast_between(r, story) || kl_story_allow(s, story, e))
		return -ENOMEM;
	if (story->allowed.all && story->allowed.exact && story->allowed.n == 1)
		snprintf(right, sizeof(right), ", where only %s was right",
			 story->allowed.results[0]);
	return kl_story_headline(story, "%s cannot follow %s, which had returned at %llu, %s%s",
				 name.s, other.s, ret, r->nbetween ? "whatever came between" :
				 "with nothing between", right);
}

static int tell_both(const struct kl_reach *r, uint32_t x, uint32_t e, struct kl_story *story)
{
	const struct kl_scene *s = r->s;

	story->reason = "exclude_each_other";
	if (kl_story_cast(story, e, "is not possible after the other") ||
	    kl_story_cast(story, x, "is not possible after the other") ||
	    cast_between(r, story))
		return -ENOMEM;
	return kl_story_headline(story, "%s and %s cannot both be right: neither can follow the "
				 "other, whatever came between", kl_name_op(s, x).s,
				 kl_name_op(s, e).s);
}

static bool is_pending(const struct kl_scene *s, uint32_t op)
{
	return s->h->ops[op].flags & KL_OP_PENDING;
}

/* Look for an operation that forbids @e: the one that was called last. */
static int look_at(struct kl_reach *r, uint32_t e, struct kl_story *story)
{
	const struct kl_scene *s = r->s;
	size_t i;
	int ret = 0;

	for (i = s->nproof; i-- && !ret;) {
		const uint32_t x = s->proof[i];

		if (x == e || is_pending(s, x) || kl_scene_before(s, e, x))
			continue;
		ret = kl_reach_excludes(r, x, e);
		if (ret > 0 && kl_scene_before(s, x, e))
			return tell_after(r, x, e, story);
		if (ret > 0)
			ret = kl_reach_excludes(r, e, x);
		if (ret > 0)
			return tell_both(r, x, e, story);
	}
	return ret;
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	struct kl_reach r = { .s = s, .run = kl_run_new(s->spec) };
	const uint32_t fails = kl_story_failing(s->part->cex);
	int ret = r.run ? 0 : -ENOMEM;
	size_t i;

	if (!ret && fails != KL_NO_OP)
		ret = look_at(&r, fails, story);
	for (i = s->nproof; i-- && !ret;)
		if (s->proof[i] != fails && !is_pending(s, s->proof[i]))
			ret = look_at(&r, s->proof[i], story);
	kl_run_free(r.run);
	return ret;
}

static const struct kl_reason follows = {
	.name = "cannot_follow", .rank = 500, .needs = KL_NEEDS_NOTHING, .tell = tell,
};
KL_REASON(follows);
