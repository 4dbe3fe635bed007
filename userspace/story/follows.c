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
 * An order begins with the first state, so that if this is known, fewer states may be reached.  If
 * no order of any operations that may be before E reaches a state with E, E was never possible.
 *
 * Other reasons say more of registers, sets and queues, and are tried before.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

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

	for (i = r->nbefore; i < r->n && n < SHOWN; i++) {
		if (is_pure(r->s, r->ops[i]))
			continue;
		n++;
		if (kl_story_cast(story, r->ops[i], "may have come between"))
			return -ENOMEM;
	}
	return 0;
}

/* Are both calls of one method that changes the state, and has a word for a result? */
static bool same_call(const struct kl_scene *s, uint32_t x, uint32_t e)
{
	const struct kl_op *a = &s->h->ops[x], *b = &s->h->ops[e];
	const struct kl_opsig *sig = kl_op_sig(s->h, b);

	return kl_op_method(s->h, a) == sig->method && sig->nres == 1 && !is_pure(s, e) &&
	       kl_op_res(s->h, a)->tag == KL_WORD && kl_op_res(s->h, b)->tag == KL_WORD;
}

/* Is the method one of a set, whose operations name what they add or remove? */
static bool names_key(const struct kl_scene *s, uint32_t op)
{
	const int m = kl_spec_find_method(s->spec, s->h->methods[kl_op_method(s->h,
								 &s->h->ops[op])]);

	return m < 0 || kl_spec_role(s->spec, m) != KL_ROLE_OTHER;
}

/* May @op take effect after @x and before @e? */
static bool may_be_between(const struct kl_scene *s, uint32_t op, uint32_t x, uint32_t e)
{
	return !kl_scene_before(s, op, x) && !kl_scene_before(s, e, op) &&
	       !kl_scene_before(s, e, x);
}

/*
 * Did the two give the same identifier: the state is a set, and nobody between names its value?
 */
static bool gave_again(const struct kl_scene *s, uint32_t x, uint32_t e)
{
	const struct kl_val v = *kl_op_res(s->h, &s->h->ops[e]);
	uint32_t i, k;

	if (s->type.kind != KL_CONTAINER_SET || !same_call(s, x, e) || names_key(s, e) ||
	    !kl_val_eq(*kl_op_res(s->h, &s->h->ops[x]), v) || kl_scene_over(s, s->part->nops))
		return false;
	for (i = 0; i < s->part->nops; i++) {
		const uint32_t op = kl_result_op(s->part, i);
		const struct kl_op *o = &s->h->ops[op];

		if (op == x || op == e ||
		    !(may_be_between(s, op, x, e) || may_be_between(s, op, e, x)))
			continue;
		for (k = 0; k < kl_op_sig(s->h, o)->nargs; k++)
			if (kl_val_eq(kl_op_args(s->h, o)[k], v))
				return false;
	}
	return true;
}

/* Did a clock go back: the state is a word, and the second result is less than the first? */
static bool went_back(const struct kl_scene *s, uint32_t x, uint32_t e)
{
	return s->type.kind == KL_CONTAINER_REGISTER && same_call(s, x, e) &&
	       !kl_op_sig(s->h, &s->h->ops[e])->nargs &&
	       kl_op_res(s->h, &s->h->ops[e])->v < kl_op_res(s->h, &s->h->ops[x])->v;
}

/*
 * Did an allocator of identifiers skip one: the state is a set, and only a smaller one was right?
 * Return: that result, or NULL.
 */
static const char *skipped(const struct kl_scene *s, uint32_t e, const struct kl_story *story)
{
	const struct kl_allowed *a = &story->allowed;
	const struct kl_val *v = kl_op_res(s->h, &s->h->ops[e]);
	char *end;

	if (s->type.kind != KL_CONTAINER_SET || names_key(s, e) || is_pure(s, e) ||
	    kl_op_sig(s->h, &s->h->ops[e])->nres != 1 || v->tag != KL_WORD ||
	    !a->all || !a->exact || a->n != 1)
		return NULL;
	return strtoull(a->results[0], &end, 0) < v->v && end > a->results[0] && !*end ?
	       a->results[0] : NULL;
}

static int tell_skipped(const struct kl_scene *s, uint32_t e, const char *least,
			struct kl_story *story)
{
	story->reason = "skipped";
	return kl_story_headline(story, "%s skipped %s, which was free", kl_name_op(s, e).s, least);
}

static int tell_after(const struct kl_reach *r, uint32_t x, uint32_t e, struct kl_story *story)
{
	const struct kl_scene *s = r->s;
	const struct kl_name name = kl_name_op(s, e), other = kl_name_op(s, x);
	const unsigned long long ret = s->h->ops[x].ret;
	const char *least;
	char right[256] = "";

	if (kl_story_cast(story, e, "is not possible") ||
	    kl_story_cast(story, x, "came before") ||
	    kl_story_fact(story, "%s returned at %llu, before %s was called at %llu", other.s, ret,
			  name.s, (unsigned long long)s->h->ops[e].call) ||
	    cast_between(r, story) || kl_story_allow(s, story, e))
		return -ENOMEM;
	if (story->allowed.all && story->allowed.exact && story->allowed.n == 1)
		snprintf(right, sizeof(right), "; only %s was right",
			 story->allowed.results[0]);
	if (gave_again(s, x, e)) {
		story->reason = "given_twice";
		return kl_story_headline(story, "%s gave %s a second time; %s had given it by %llu",
					 name.s, kl_name_val(s, *kl_op_res(s->h, &s->h->ops[e])).s,
					 other.s, ret);
	}
	if (went_back(s, x, e)) {
		story->reason = "went_back";
		return kl_story_headline(story, "%s went back: %s had returned at %llu", name.s,
					 other.s, ret);
	}
	least = skipped(s, e, story);
	if (least)
		return tell_skipped(s, e, least, story);
	return kl_story_headline(story, "%s is not possible after %s, which had returned at %llu, "
				 "%s%s",
				 name.s, other.s, ret, r->n > r->nbefore ?
				 "whatever came between" : "with nothing between", right);
}

static int tell_both(const struct kl_reach *r, uint32_t x, uint32_t e, struct kl_story *story)
{
	const struct kl_scene *s = r->s;

	const bool again = gave_again(s, x, e);

	story->reason = again ? "given_twice" : "exclude_each_other";
	if (kl_story_cast(story, e, "is not possible after the other") ||
	    kl_story_cast(story, x, "is not possible after the other") ||
	    cast_between(r, story))
		return -ENOMEM;
	if (again)
		return kl_story_headline(story, "%s and %s both gave %s", kl_name_op(s, x).s,
					 kl_name_op(s, e).s,
					 kl_name_val(s, *kl_op_res(s->h, &s->h->ops[e])).s);
	return kl_story_neither(s, x, e, story);
}

/* No operation before makes @e possible. */
static int tell_never(const struct kl_reach *r, uint32_t e, struct kl_story *story)
{
	const struct kl_scene *s = r->s;
	const unsigned long long ret = s->h->ops[e].ret;
	const char *least;
	size_t i, n = 0;

	story->reason = "never_possible";
	if (kl_story_cast(story, e, "is not possible") || kl_story_allow(s, story, e))
		return -ENOMEM;
	for (i = 0; i < r->n && n < SHOWN; i++) {
		if (is_pure(s, r->ops[i]))
			continue;
		n++;
		if (kl_story_cast(story, r->ops[i], "may have come before"))
			return -ENOMEM;
	}
	least = skipped(s, e, story);
	if (least)
		return tell_skipped(s, e, least, story);
	if (!r->n)
		return kl_story_headline(story, "%s is not possible in the first state, and no "
					 "operation was called before %llu",
					 kl_name_op(s, e).s, ret);
	return kl_story_headline(story, "%s is not possible in any state that the operations "
				 "called before %llu can make", kl_name_op(s, e).s, ret);
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

	if (r->first) {
		ret = kl_reach_excludes(r, KL_NO_OP, e);
		if (ret)
			return ret < 0 ? ret : tell_never(r, e, story);
	}
	for (i = s->nproof; i-- && !ret && !kl_scene_over(s, 1);) {
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
	const uint64_t most = s->looks->most;
	int ret = r.run ? 0 : -ENOMEM, k;
	size_t i;

	/*
	 * The first state is tried last, since its search needs all operations before.  An unknown
	 * state has many outcomes, and leaves a third of the looks to the first one.
	 */
	for (k = 0; k <= s->h->fresh && !ret; k++) {
		r.first = k;
		s->looks->most = !k && s->h->fresh ? most - kl_scene_left(s) / 3 : most;
		if (fails != KL_NO_OP)
			ret = look_at(&r, fails, story);
		for (i = s->nproof; i-- && !ret && !kl_scene_over(s, 1);)
			if (s->proof[i] != fails && !is_pending(s, s->proof[i]))
				ret = look_at(&r, s->proof[i], story);
	}
	kl_reach_free(&r);
	return ret;
}

static const struct kl_reason follows = {
	.name = "cannot_follow", .rank = 500, .needs = KL_NEEDS_NOTHING, .tell = tell,
};
KL_REASON(follows);
