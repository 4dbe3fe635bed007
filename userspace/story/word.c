// SPDX-License-Identifier: GPL-2.0
/*
 * Reasons: a register's read, or an operation that depends on its word, saw a word that nobody
 * wrote, or that was certainly overwritten.  A set's key is such a word, too: 1 while it is inside.
 *
 *	w(1) r->2 w(3)	2 was never written
 *	w(1) w(2) r->1	r returned 1 after w(2) had returned
 *
 * Let E see v, and let X, which certainly returned before E was called, leave another word, or see
 * another word without changing it.  If each operation that leaves v returned before X was called,
 * or was called after E returned, then no order has v when E takes effect: after X it needs an
 * operation that leaves v.
 */
#include <errno.h>
#include <stdio.h>

#include "story/reason.h"

/* A pending operation may never take effect. */
static bool sees(const struct kl_scene *s, const struct kl_word_deed *d)
{
	return (d->step.kind == KL_WORD_SEES || d->step.kind == KL_WORD_MOVES) &&
	       !(s->h->ops[d->op].flags & KL_OP_PENDING);
}

/* Is the word certainly not @v after the step? */
static bool excludes(const struct kl_word_step *t, uint64_t v)
{
	return kl_word_leaves(t) ? t->after != v :
	       t->kind == KL_WORD_SEES ? t->before != v :
	       t->kind == KL_WORD_SEES_NOT && t->before == v;
}

/* Did the operation need the word to change it, such as a cas() that returned true? */
static bool succeeded(const struct kl_scene *s, const struct kl_word_deed *d)
{
	const struct kl_op *o = &s->h->ops[d->op];
	const int m = kl_spec_find_method(s->spec, s->h->methods[kl_op_method(s->h, o)]);

	return d->step.kind == KL_WORD_MOVES && m >= 0 &&
	       kl_spec_method(s->spec, m)->nresults == 1 &&
	       kl_spec_method(s->spec, m)->results[0].type == KL_T_BOOL;
}

/* What an operation saw, in words: "saw 1", "succeeded on 1", "did not find 7". */
static struct kl_name saw(const struct kl_scene *s, const struct kl_word_deed *d)
{
	const bool set = s->type.kind == KL_CONTAINER_SET;
	const uint64_t v = d->step.before;
	struct kl_name name;

	snprintf(name.s, sizeof(name.s), "%s %.200s",
		 s->keyed && v == KL_STEP_ABSENT ? "found" :
		 set ? v ? "found" : "did not find" : succeeded(s, d) ? "succeeded on" : "saw",
		 kl_name_step(s, v).s);
	return name;
}

/* What X saw, for "although X had ... by". */
static const char *saw_what(const struct kl_scene *s, const struct kl_word_deed *x)
{
	if (!s->keyed || x->step.kind != KL_WORD_SEES)
		return s->keyed && x->step.before == KL_STEP_ABSENT ? "found a value there" :
								      "seen another value";
	return x->step.before == KL_STEP_ABSENT ? "found nothing" : "seen another value";
}

static int tell_unwritten(const struct kl_scene *s, const struct kl_word_deed *e,
			  struct kl_story *story)
{
	const struct kl_name did = saw(s, e), name = kl_name_op(s, e->op);

	story->reason = "never_written";
	if (kl_story_cast(story, e->op, "%s", did.s))
		return -ENOMEM;
	if (s->type.kind == KL_CONTAINER_SET) {
		if (kl_story_fact(story, "The first state is empty"))
			return -ENOMEM;
		return kl_story_headline(story, "%s %s, which no operation adds", name.s, did.s);
	}
	if (kl_story_first_word(s, story, kl_name_step(s, s->first.v)))
		return -ENOMEM;
	return kl_story_headline(story, "%s %s, which no operation writes", name.s, did.s);
}

/* The headline for the value of a key, where there may be nothing. */
static int tell_key(const struct kl_scene *s, const struct kl_word_deed *e,
		    const struct kl_word_deed *x, struct kl_story *story)
{
	const bool nothing = e->step.before == KL_STEP_ABSENT;
	const struct kl_name name = kl_name_op(s, e->op), other = kl_name_op(s, x->op);
	const unsigned long long ret = s->h->ops[x->op].ret;
	const uint64_t there = kl_word_leaves(&x->step) ? x->step.after : x->step.before;
	const char *seen = saw_what(s, x);

	if (nothing && kl_word_leaves(&x->step))
		return kl_story_headline(story, "%s found nothing, although %s had put %s there by "
					 "%llu", name.s, other.s, kl_name_step(s, there).s, ret);
	if (kl_word_leaves(&x->step))
		return kl_story_headline(story, "%s %s, which %s had %s by %llu", name.s,
					 saw(s, e).s, other.s,
					 there == KL_STEP_ABSENT ? "removed" : "overwritten", ret);
	story->reason = "went_back";
	if (nothing)
		return kl_story_headline(story, "%s found nothing, although %s had %s by %llu",
					 name.s, other.s, seen, ret);
	return kl_story_headline(story, "%s %s, although %s had %s by %llu", name.s, saw(s, e).s,
				 other.s, seen, ret);
}

static int tell_overwritten(const struct kl_scene *s, const struct kl_word_deed *e,
			    const struct kl_word_deed *x, const struct kl_word_deed *writer,
			    struct kl_story *story)
{
	const struct kl_op *ops = s->h->ops;
	const struct kl_name did = saw(s, e), name = kl_name_op(s, e->op);
	const struct kl_name other = kl_name_op(s, x->op);
	const unsigned long long ret = ops[x->op].ret;

	if (kl_story_cast(story, e->op, "%s", did.s) ||
	    (kl_word_leaves(&x->step) ? kl_story_cast_leaving(s, x, story) :
	     kl_story_cast(story, x->op, "%s", x->step.kind == KL_WORD_SEES ?
			   saw(s, x).s : "saw another value")) ||
	    (writer && kl_story_cast_leaving(s, writer, story)) ||
	    kl_story_fact(story, "%s returned at %llu, before %s was called at %llu", other.s, ret,
			  name.s, (unsigned long long)ops[e->op].call) ||
	    (writer && kl_story_fact(story, "%s had returned at %llu, before %s was called at %llu",
				     kl_name_op(s, writer->op).s,
				     (unsigned long long)ops[writer->op].ret, other.s,
				     (unsigned long long)ops[x->op].call)))
		return -ENOMEM;
	if (s->type.kind == KL_CONTAINER_SET)
		return kl_story_headline(story, "%s %s, which %s %s by %llu", name.s, did.s,
					 other.s,
					 kl_word_leaves(&x->step) ? x->step.after ? "had added" :
									    "had removed" :
					 e->step.before ? "had not found" : "had found",
					 ret);
	if (s->keyed)
		return tell_key(s, e, x, story);
	if (kl_word_leaves(&x->step))
		return kl_story_headline(story, "%s %s, which %s had overwritten by %llu", name.s,
					 did.s, other.s, ret);
	story->reason = "went_back";
	return kl_story_headline(story, "%s %s, although %s had %s by %llu", name.s, did.s,
				 other.s, saw_what(s, x), ret);
}

/*
 * Find the operation X that excludes @v and returned before @e was called: the one that was called
 * last, since each operation that leaves @v has to be before X.
 */
static const struct kl_word_deed *last_excluding(const struct kl_scene *s,
						 const struct kl_word_deed *e)
{
	const struct kl_word_deed *d;

	for (d = e; d-- > s->steps; )
		if (!d->maybe && excludes(&d->step, e->step.before) &&
		    kl_scene_before(s, d->op, e->op))
			return d;
	return NULL;
}

static int tell_one(const struct kl_scene *s, const struct kl_word_deed *e, struct kl_story *story)
{
	/* With store buffers E may not see yet what X wrote. */
	const struct kl_word_deed *x = s->tso ? NULL : last_excluding(s, e), *d, *writer = NULL;
	bool written = kl_scene_may_begin(s, e->step.before);

	if (kl_scene_over(s, 2 * s->nsteps))
		return 0;
	for (d = s->steps; d < s->steps + s->nsteps; d++) {
		if (!kl_word_leaves(&d->step) || d->step.after != e->step.before || d == e)
			continue;
		written = true;
		if (x && kl_scene_before(s, d->op, x->op))
			writer = d;
		else if (!kl_scene_before(s, e->op, d->op))
			return 0;
	}
	if (!written)
		return tell_unwritten(s, e, story);
	return x ? tell_overwritten(s, e, x, writer, story) : 0;
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < s->nsteps && !ret && !kl_scene_over(s, 1); i++)
		if (sees(s, &s->steps[i]) && kl_scene_proves(s, s->steps[i].op))
			ret = tell_one(s, &s->steps[i], story);
	return ret;
}

static const struct kl_reason word = {
	.name = "overwritten", .rank = 10, .needs = KL_NEEDS_STEPS, .tso = true,
	.tell = tell,
};
KL_REASON(word);
