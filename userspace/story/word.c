// SPDX-License-Identifier: GPL-2.0
/*
 * Reasons: a register's read, or an operation that depends on its word, saw a word that nobody
 * wrote, or that was certainly overwritten.  A set's key is such a word, too: 1 while it is inside.
 *
 *	w(1) r->2 w(3)	2 was never written
 *	w(1) r->2 w(2)	2 was written later
 *	w(1) w(2) r->1	r returned 1 after w(2) had returned
 *
 * Let E see v, and let X, which certainly returned before E was called, leave another word, or see
 * another word without changing it.  If each operation that leaves v returned before X was called,
 * or was called after E returned, then no order has v when E takes effect: after X it needs an
 * operation that leaves v.
 *
 * An operation that leaves v, and may take effect between X and E, does not matter if it needs a
 * word that the state cannot have there, see kl_word_may_leave():
 *
 *	w(4) w(1) cas(3, 4) r->4	cas(3, 4) did not find 3 after w(1)
 */
#include <errno.h>

#include "story/word_saw.h"

#define TRIES 8 /* largest number of operations X that are tried */
#define BARRED 2 /* operations that did not find their word which the cast shows */

/* Operations that would leave v, but did not find the word that they need. */
struct barred {
	const struct kl_word_deed *d[BARRED];
	size_t n;
};

/* Cast the operations that did not find their word, and say so.  Return: 0 or -ENOMEM. */
static int tell_barred(const struct kl_scene *s, const struct barred *b, const char *where,
		       struct kl_story *story)
{
	size_t i;

	for (i = 0; i < b->n && i < BARRED; i++) {
		const struct kl_name needs = kl_name_step(s, b->d[i]->step.before);

		if (kl_story_cast(story, b->d[i]->op, "needs %s first", needs.s) ||
		    kl_story_fact(story, "%s needs %s, which the value cannot have been %s",
				  kl_name_op(s, b->d[i]->op).s, needs.s, where))
			return -ENOMEM;
	}
	return 0;
}

static int tell_unwritten(const struct kl_scene *s, const struct kl_word_deed *e,
			  const struct barred *b, struct kl_story *story)
{
	const struct kl_name did = kl_word_saw(s, e), name = kl_name_op(s, e->op);

	story->reason = "never_written";
	if (kl_story_cast(story, e->op, "%s", did.s))
		return -ENOMEM;
	if (s->type.kind == KL_CONTAINER_SET) {
		if (kl_story_fact(story, "The first state is empty"))
			return -ENOMEM;
		return kl_story_headline(story, "%s %s, which no operation adds", name.s, did.s);
	}
	if (kl_story_first_word(s, story, kl_name_step(s, s->first.v)) ||
	    tell_barred(s, b, "before", story))
		return -ENOMEM;
	return kl_story_headline(story, "%s %s, which no operation %s", name.s, did.s,
				 b->n ? "can have written" : "writes");
}

/* @writer, the first operation that leaves the word, was called after @e had returned. */
static int tell_later(const struct kl_scene *s, const struct kl_word_deed *e,
		      const struct kl_word_deed *writer, struct kl_story *story)
{
	const struct kl_name word = kl_name_step(s, s->first.v);

	story->reason = "written_later";
	if (kl_story_cast(story, e->op, "%s", kl_word_saw(s, e).s) ||
	    kl_story_cast_leaving(s, writer, story) ||
	    (s->type.kind == KL_CONTAINER_SET ? kl_story_fact(story, "The first state is empty") :
						kl_story_first_word(s, story, word)))
		return -ENOMEM;
	return kl_story_headline(story, "%s %s and returned at %llu, before %s was called at %llu",
				 kl_name_op(s, e->op).s, kl_word_saw(s, e).s,
				 (unsigned long long)s->h->ops[e->op].ret,
				 kl_name_op(s, writer->op).s,
				 (unsigned long long)s->h->ops[writer->op].call);
}

static int tell_overwritten(const struct kl_scene *s, const struct kl_word_deed *e,
			    const struct kl_word_deed *x, const struct kl_word_deed *writer,
			    const struct barred *b, struct kl_story *story)
{
	const struct kl_op *ops = s->h->ops;
	const struct kl_name name = kl_name_op(s, e->op), other = kl_name_op(s, x->op);

	if (kl_story_cast(story, e->op, "%s", kl_word_saw(s, e).s) ||
	    kl_word_cast_excluding(s, x, story) ||
	    (writer && kl_story_cast_leaving(s, writer, story)) ||
	    kl_story_fact(story, "%s returned at %llu, before %s was called at %llu", other.s,
			  (unsigned long long)ops[x->op].ret, name.s,
			  (unsigned long long)ops[e->op].call) ||
	    (writer &&
	     kl_story_fact(story, "%s had returned at %llu, before %s was called at %llu",
			   kl_name_op(s, writer->op).s, (unsigned long long)ops[writer->op].ret,
			   other.s, (unsigned long long)ops[x->op].call)) ||
	    tell_barred(s, b, "between them", story))
		return -ENOMEM;
	return kl_story_headline(story, "%s", kl_word_gone(s, e, x, &story->reason).s);
}

/*
 * Find the operation X that excludes the word which @e saw, and returned before @e was called: the
 * one that was called last before @from.
 */
static const struct kl_word_deed *last_excluding(const struct kl_scene *s,
						 const struct kl_word_deed *e,
						 const struct kl_word_deed *from)
{
	while (from-- > s->steps)
		if (kl_word_excludes(from, e->step.before) && kl_scene_before(s, from->op, e->op))
			return from;
	return NULL;
}

/* Is the word certainly gone after @x, or if that is NULL, never there? */
static int look_at(const struct kl_scene *s, const struct kl_word_deed *e,
		   const struct kl_word_deed *x, struct kl_story *story)
{
	const bool first = kl_scene_may_begin(s, e->step.before);
	const struct kl_word_deed *d, *writer = NULL, *later = NULL;
	struct barred b = { .n = 0 };
	bool written = first;

	if (kl_scene_over(s, 2 * s->nsteps))
		return 0;
	for (d = s->steps; d < s->steps + s->nsteps; d++) {
		if (!kl_word_leaves(&d->step) || d->step.after != e->step.before || d == e)
			continue;
		written = true;
		if (x && kl_scene_before(s, d->op, x->op)) {
			writer = d;
		} else if (!kl_scene_before(s, e->op, d->op)) {
			if (s->tso || (!x && first) || kl_word_may_leave(s, x, e, d))
				return 0;
			if (b.n < BARRED)
				b.d[b.n] = d;
			b.n++;
		} else if (!later) {
			later = d;
		}
	}
	if (!written || (!x && b.n))
		return tell_unwritten(s, e, &b, story);
	if (!x && !first)
		return tell_later(s, e, later, story);
	return x ? tell_overwritten(s, e, x, writer, &b, story) : 0;
}

/*
 * Try no X, and then operations X, the last one first: each operation that leaves the word has to
 * be before X, or not find the word that it needs.
 */
static int tell_one(const struct kl_scene *s, const struct kl_word_deed *e, struct kl_story *story)
{
	const struct kl_word_deed *x = e;
	int ret = look_at(s, e, NULL, story), i;

	/* With store buffers E may not see yet what X wrote. */
	for (i = 0; i < TRIES && !s->tso && !ret; i++) {
		x = last_excluding(s, e, x);
		if (!x)
			return 0;
		ret = look_at(s, e, x, story);
	}
	return ret;
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < s->nsteps && !ret && !kl_scene_over(s, 1); i++)
		if (kl_word_sees(s, &s->steps[i]) && kl_scene_proves(s, s->steps[i].op))
			ret = tell_one(s, &s->steps[i], story);
	return ret;
}

static const struct kl_reason word = {
	.name = "overwritten", .rank = 10, .needs = KL_NEEDS_STEPS, .tso = true,
	.tell = tell,
};
KL_REASON(word);
