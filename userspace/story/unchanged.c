// SPDX-License-Identifier: GPL-2.0
/*
 * Reason: an operation found that the word was not v, although it was v all the time.
 *
 *	write(1)  cas(1, 2) -> 0	failed on the right word
 *	remove(3) -> 7  has(3) -> 1	found a word where there was none
 *
 * Let E find that the word is not v, and let X, which certainly returned before E was called, leave
 * v or see v.  If each operation that may leave another word returned before X was called, or was
 * called after E returned, then the word is v from X on until E takes effect.  Without X the first
 * word must be v, and each such operation must be called after E returned.  An operation that needs
 * another word than v is not the first to change it:
 *
 *	write(1)  cas(2, 3)  cas(1, 2) -> 0	cas(2, 3) never returned, and does not matter
 */
#include <errno.h>

#include "story/reason.h"

/* May the operation change the word from @v to another one? */
static bool changes(const struct kl_word_deed *d, uint64_t v)
{
	return kl_word_leaves(&d->step) && d->step.after != v &&
	       (d->maybe || d->step.kind != KL_WORD_MOVES || d->step.before == v);
}

/* Is the word certainly @v after the operation, which returned? */
static bool shows(const struct kl_word_deed *d, uint64_t v)
{
	return !d->maybe && (kl_word_leaves(&d->step) ? d->step.after == v :
			     d->step.kind == KL_WORD_SEES && d->step.before == v);
}

static int tell_one(const struct kl_scene *s, const struct kl_word_deed *e,
		    const struct kl_word_deed *x, struct kl_story *story)
{
	const bool nothing = s->keyed && e->is_not == KL_STEP_ABSENT;
	const struct kl_name name = kl_name_op(s, e->op), word = kl_name_step(s, e->is_not);
	const char *was = nothing ? "nothing was there" : "the value was ";
	const unsigned long long ret = s->h->ops[e->op].ret;
	const char *what = nothing ? "" : word.s;

	if (kl_story_cast(story, e->op, nothing ? "found a value%s" : "found another value than %s",
			  what))
		return -ENOMEM;
	if (!x) {
		if (kl_story_fact(story, "The first value is %s", word.s) ||
		    kl_story_fact(story, "No operation changes it before"))
			return -ENOMEM;
		return kl_story_headline(story, "%s is wrong, since %s%s until %llu", name.s, was,
					 what, ret);
	}
	if (kl_story_cast(story, x->op, "%s %s", !kl_word_leaves(&x->step) ?
			  nothing ? "found" : "saw" : nothing ? "left" : "wrote", word.s) ||
	    kl_story_fact(story, "%s returned at %llu, before %s was called at %llu",
			  kl_name_op(s, x->op).s, (unsigned long long)s->h->ops[x->op].ret, name.s,
			  (unsigned long long)s->h->ops[e->op].call) ||
	    kl_story_fact(story, "No operation changes it between them"))
		return -ENOMEM;
	return kl_story_headline(story, "%s is wrong, since %s%s from %llu to %llu", name.s, was,
				 what, (unsigned long long)s->h->ops[x->op].ret, ret);
}

/* Look for X of @e: the last one that was called. */
static int look_at(const struct kl_scene *s, const struct kl_word_deed *e, struct kl_story *story)
{
	const struct kl_word_deed *x = NULL, *d, *end = s->steps + s->nsteps;

	if (kl_scene_over(s, 2 * s->nsteps))
		return 0;
	for (d = s->steps; d < end; d++)
		if (d->op != e->op && shows(d, e->is_not) && kl_scene_before(s, d->op, e->op))
			x = d;
	if (!x && !kl_val_eq(s->first, kl_word(e->is_not)))
		return 0;
	for (d = s->steps; d < end; d++)
		if (d->op != e->op && changes(d, e->is_not) &&
		    !(x && kl_scene_before(s, d->op, x->op)) && !kl_scene_before(s, e->op, d->op))
			return 0;
	return tell_one(s, e, x, story);
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < s->nsteps && !ret && !kl_scene_over(s, 1); i++)
		if (s->steps[i].denies && kl_scene_proves(s, s->steps[i].op))
			ret = look_at(s, &s->steps[i], story);
	return ret;
}

static const struct kl_reason unchanged = {
	.name = "unchanged", .rank = 15, .needs = KL_NEEDS_STEPS, .tell = tell,
};
KL_REASON(unchanged);
