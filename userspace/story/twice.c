// SPDX-License-Identifier: GPL-2.0
/*
 * Reason: the word was changed from v more often than it can have become v, such as two
 * successful cas(0, 1) without a write of 0 between them, or two add(3) -> true of a set.
 *
 * Each completed change from v to another word needs v before it.  The word is v at first, or
 * becomes v by an operation that leaves v; each time serves one change.  Between two such changes
 * an operation that leaves v must take effect.
 */
#include <errno.h>

#include "story/reason.h"

#define MAX_FROM	64	/* largest number of words that are looked at */
#define MAX_CHANGES 32 /* largest number of changes of which pairs are tried */

static bool changes(const struct kl_scene *s, const struct kl_word_deed *d, uint64_t v)
{
	return d->step.kind == KL_WORD_MOVES && d->step.before == v && d->step.after != v &&
	       !(s->h->ops[d->op].flags & KL_OP_PENDING);
}

static bool becomes(const struct kl_word_deed *d, uint64_t v)
{
	return d->step.after == v && (d->step.kind == KL_WORD_WRITES ||
				      (d->step.kind == KL_WORD_MOVES && d->step.before != v));
}

/* May the operation not have taken effect, or have left another word? */
static bool may_not(const struct kl_scene *s, const struct kl_word_deed *d)
{
	return d->maybe || s->h->ops[d->op].flags & KL_OP_PENDING;
}

/* Return: the verb for a change from @v. */
static const char *changed(const struct kl_scene *s, uint64_t v)
{
	if (s->keyed && v == KL_STEP_ABSENT)
		return "found";
	return s->type.kind != KL_CONTAINER_SET ? "changed" : v ? "removed" : "added";
}

/* Two changes from @v, without one back between them, or if @once, at all. */
static int tell_two(const struct kl_scene *s, uint32_t a, uint32_t b, uint64_t v, bool once,
		    struct kl_story *story)
{
	const bool set = s->type.kind == KL_CONTAINER_SET;
	const struct kl_name word = kl_name_step(s, v);
	const char *back = v ? "adds" : "removes";

	if (s->keyed && v == KL_STEP_ABSENT && !once &&
	    kl_story_fact(story, "No operation removes it between them"))
		return -ENOMEM;
	if (s->keyed && v == KL_STEP_ABSENT)
		return kl_story_headline(story, "%s and %s both put a value where there was none",
					 kl_name_op(s, a).s, kl_name_op(s, b).s);
	if (set && kl_story_fact(story, "No operation %s %s between them", back, word.s))
		return -ENOMEM;
	if (set)
		return kl_story_headline(story, "%s and %s both %s %s", kl_name_op(s, a).s,
					 kl_name_op(s, b).s, v ? "removed" : "added", word.s);
	if (kl_story_fact(story,
			  once ? "The value can have been %s only once" :
				 "No operation makes it %s between them",
			  word.s))
		return -ENOMEM;
	return kl_story_headline(story, "%s and %s both changed the value from %s",
				 kl_name_op(s, a).s, kl_name_op(s, b).s, word.s);
}

static int tell_from(const struct kl_scene *s, uint64_t v, struct kl_story *story)
{
	const bool set = s->type.kind == KL_CONTAINER_SET;
	size_t most = kl_scene_may_begin(s, v);
	const struct kl_word_deed *d, *end = s->steps + s->nsteps;
	const struct kl_name word = kl_name_step(s, v);
	size_t n = 0, i = 0;
	uint32_t two[2] = { 0 };

	if (kl_scene_over(s, s->nsteps))
		return 0;
	for (d = s->steps; d < end; d++) {
		n += changes(s, d, v);
		most += becomes(d, v);
	}
	/* A reader cannot follow many changes. */
	if (n <= most || n + most > KL_STORY_CAST)
		return 0;
	for (d = s->steps; d < end; d++) {
		if (changes(s, d, v) && i <= most) {
			if (i < 2)
				two[i] = d->op;
			i++;
			if (kl_story_cast(story, d->op, "%s %s", changed(s, v), word.s))
				return -ENOMEM;
		}
	}
	for (d = s->steps; d < end; d++)
		if (becomes(d, v) && kl_story_cast(story, d->op, "%s %s",
						   may_not(s, d) ? "may have left" : v == KL_STEP_ABSENT && s->keyed ? "left" :
						   !set ? "wrote" : v ? "added" : "removed",
						   word.s))
			return -ENOMEM;
	if (n == 2 && most == 1)
		return tell_two(s, two[0], two[1], v, true, story);
	if (set)
		return kl_story_headline(story,
					 "%zu operations %s %s, which can have been %s %zu times",
					 n, v ? "removed" : "added", word.s,
					 v ? "inside" : "absent", most);
	if (s->keyed && v == KL_STEP_ABSENT)
		return kl_story_headline(story, "%zu operations put a value where there was none, "
					 "which can have been so %zu times", n, most);
	return kl_story_headline(story,
				 "%zu operations changed the value from %s, which it can have been "
				 "%zu times", n, word.s, most);
}

/* May an operation leave @v between the two, whichever comes first?  True beyond the bound. */
static bool may_return(const struct kl_scene *s, uint32_t a, uint32_t b, uint64_t v)
{
	const struct kl_word_deed *d, *end = s->steps + s->nsteps;

	if (kl_scene_over(s, s->nsteps))
		return true;
	for (d = s->steps; d < end; d++)
		if (d->op != a && d->op != b && becomes(d, v) &&
		    !(kl_scene_before(s, d->op, a) && kl_scene_before(s, d->op, b)) &&
		    !(kl_scene_before(s, a, d->op) && kl_scene_before(s, b, d->op)))
			return true;
	return false;
}

/* Look for two changes from @v without an operation that can have left it between them. */
static int tell_pair(const struct kl_scene *s, uint64_t v, struct kl_story *story)
{
	const struct kl_name word = kl_name_step(s, v);
	const struct kl_word_deed *d, *end = s->steps + s->nsteps;
	uint32_t ops[MAX_CHANGES];
	size_t n = 0, i, k;

	for (d = s->steps; d < end && n < MAX_CHANGES; d++)
		if (changes(s, d, v) && kl_scene_proves(s, d->op))
			ops[n++] = d->op;
	for (i = 1; i < n; i++)
		for (k = 0; k < i; k++) {
			if (may_return(s, ops[k], ops[i], v))
				continue;
			if (kl_story_cast(story, ops[k], "%s %s", changed(s, v), word.s) ||
			    kl_story_cast(story, ops[i], "%s %s", changed(s, v), word.s))
				return -ENOMEM;
			return tell_two(s, ops[k], ops[i], v, false, story);
		}
	return 0;
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	uint64_t looked[MAX_FROM];
	size_t nlooked = 0, i, k;
	int ret = 0;

	for (i = 0; i < s->nsteps && !ret && nlooked < MAX_FROM; i++) {
		const struct kl_word_deed *d = &s->steps[i];

		if (!changes(s, d, d->step.before) || !kl_scene_proves(s, d->op))
			continue;
		for (k = 0; k < nlooked && looked[k] != d->step.before; k++)
			;
		if (k < nlooked)
			continue;
		looked[nlooked++] = d->step.before;
		ret = tell_from(s, d->step.before, story) ?: tell_pair(s, d->step.before, story);
	}
	return ret;
}

static const struct kl_reason twice = {
	.name = "changed_twice", .rank = 20, .needs = KL_NEEDS_STEPS, .tell = tell,
};
KL_REASON(twice);
