// SPDX-License-Identifier: GPL-2.0
/*
 * Reason: a word came back more often than operations can have brought it back.
 *
 *	w(1) r->1 r->2 r->1		and one other w(1), which never returned: who saw 1 last?
 *
 * Let B1, S1, B2, S2 ... be operations such that each certainly takes effect before the next, or
 * Si and B(i+1) are one operation.  After each B the word is not v, and each S sees v.  So between
 * each B and its S some operation leaves v, and it is another one for each of these visits.  An
 * operation leaves v at most once.  If the visits have fewer operations than they are, there is no
 * order.
 *
 * The chain of visits that ends with E is found backwards: the next visit is the one whose B was
 * called last.  Hall's theorem names visits without enough operations, if there are any.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "story/word_saw.h"

#define MAX_VISITS 16
#define MAX_WRITERS 64
#define MAX_PROOF 128 /* largest number of operations that a chain is made of */

/* A visit: the word is not v after @b, or if that is NULL at first; and @s sees it. */
struct visit {
	const struct kl_word_deed *b, *s;
	bool seen; /* by the present search */
	bool served[MAX_WRITERS]; /* by which operations */
};

struct chain {
	const struct kl_scene *s;
	uint64_t v;
	const struct kl_word_deed *proof[MAX_PROOF];
	size_t nproof;
	struct visit visits[MAX_VISITS]; /* the last one first */
	size_t nvisits;
	const struct kl_word_deed *writers[MAX_WRITERS];
	size_t owner[MAX_WRITERS]; /* the visit that has the writer, or SIZE_MAX */
	size_t nwriters;
};

/* Find B of @seen, the operation that was called last.  Return: false if there is none. */
static bool find_before(const struct chain *c, const struct kl_word_deed *seen,
			const struct kl_word_deed **b)
{
	size_t i;

	for (i = c->nproof; i--;) {
		*b = c->proof[i];
		if (*b < seen && kl_word_excludes(*b, c->v) &&
		    kl_scene_before(c->s, (*b)->op, seen->op))
			return true;
	}
	*b = NULL;
	return !kl_scene_may_begin(c->s, c->v);
}

/* Find the visit whose B was called last, and which certainly ends when @next->b begins. */
static bool find_visit(const struct chain *c, const struct visit *next, struct visit *best)
{
	const struct kl_op *ops = c->s->h->ops;
	bool found = false;
	size_t i;

	for (i = 0; i < c->nproof; i++) {
		struct visit v = { .s = c->proof[i] };

		if (!kl_word_sees(c->s, v.s) || v.s->step.before != c->v || v.s->maybe ||
		    (v.s != next->b && !kl_scene_before(c->s, v.s->op, next->b->op)) ||
		    !find_before(c, v.s, &v.b))
			continue;
		if (found && (v.b ? v.b < best->b : best->b != NULL))
			continue;
		if (!found || v.b != best->b || ops[v.s->op].ret < ops[best->s->op].ret)
			*best = v;
		found = true;
	}
	return found;
}

/* May the writer take effect in the visit? */
static bool may_serve(const struct chain *c, const struct kl_word_deed *w, const struct visit *v)
{
	return w != v->s && !(v->b && kl_scene_before(c->s, w->op, v->b->op)) &&
	       !kl_scene_before(c->s, v->s->op, w->op) && kl_word_may_leave(c->s, v->b, v->s, w);
}

/* Begin a visit.  Return: false if the looks have come to their bound. */
static bool add_visit(struct chain *c, const struct visit *next)
{
	struct visit *v = &c->visits[c->nvisits++];
	size_t i;

	*v = *next;
	for (i = 0; i < c->nwriters; i++)
		v->served[i] = may_serve(c, c->writers[i], v);
	for (i = 0; i < c->nvisits; i++)
		c->visits[i].seen = false;
	return !kl_scene_over(c->s, c->nvisits * c->nwriters);
}

/*
 * Give visit @at a writer; the visit that has it may have to take another one.  Return: false if
 * none is left.
 */
static bool assign(struct chain *c, size_t at)
{
	struct visit *v = &c->visits[at];
	size_t i;

	v->seen = true;
	for (i = 0; i < c->nwriters; i++) {
		if (!v->served[i] || (c->owner[i] != SIZE_MAX && c->visits[c->owner[i]].seen))
			continue;
		if (c->owner[i] == SIZE_MAX || assign(c, c->owner[i])) {
			c->owner[i] = at;
			return true;
		}
	}
	return false;
}

/* Find the operations that leave the word.  Return: false if they are too many. */
static bool find_writers(struct chain *c, const struct kl_word_deed *e)
{
	const struct kl_word_deed *d, *end = c->s->steps + c->s->nsteps;

	c->nwriters = 0;
	if (kl_scene_over(c->s, c->s->nsteps))
		return false;
	for (d = c->s->steps; d < end; d++) {
		/* A deed that leaves the word as it was brings nothing back. */
		if (!kl_word_leaves(&d->step) || d->step.after != c->v ||
		    kl_scene_before(c->s, e->op, d->op) ||
		    (d->step.kind == KL_WORD_MOVES && d->step.before == c->v))
			continue;
		if (c->nwriters == MAX_WRITERS)
			return false;
		c->owner[c->nwriters] = SIZE_MAX;
		c->writers[c->nwriters++] = d;
	}
	return true;
}

/* ---- the story ---- */

/* The operations that can have left the word in a visit, as text: "t1's w(1) or t2's w(1)". */
static struct kl_word_sentence name_writers(const struct chain *c, const struct visit *v)
{
	struct kl_word_sentence text = { "" };
	size_t n = 0, len = 0, k = 0, i;

	for (i = 0; i < c->nwriters; i++)
		n += v->served[i];
	for (i = 0; i < c->nwriters && len < sizeof(text.s); i++) {
		if (!v->served[i])
			continue;
		len += snprintf(text.s + len, sizeof(text.s) - len, "%s%s",
				!k	  ? "" :
				k + 1 < n ? ", " :
					    " or ",
				kl_name_op(c->s, c->writers[i]->op).s);
		k++;
	}
	return text;
}

/* Return: the verb for operations that leave the word. */
static const char *left(const struct chain *c)
{
	return c->s->type.kind != KL_CONTAINER_SET ? "left" : c->v ? "added" : "removed";
}

/* Cast the operations of a visit.  Return: 0 or -ENOMEM. */
static int cast_visit(const struct chain *c, const struct visit *v, struct kl_story *story)
{
	if (kl_story_cast(story, v->s->op, "%s", kl_word_saw(c->s, v->s).s))
		return -ENOMEM;
	return v->b ? kl_word_cast_excluding(c->s, v->b, story) : 0;
}

/* Say who can have left the word of a visit.  Return: 0 or -ENOMEM. */
static int tell_visit(const struct chain *c, const struct visit *v, struct kl_story *story)
{
	const struct kl_scene *s = c->s;
	const struct kl_name seen = kl_name_op(s, v->s->op), word = kl_name_step(s, c->v);
	const unsigned long long at = s->h->ops[v->s->op].call;

	if (!v->b)
		return kl_story_fact(story, "Before %s, called at %llu, only %s can have %s %s",
				     seen.s, at, name_writers(c, v).s, left(c), word.s);
	return kl_story_fact(story,
			     "Between %s, called at %llu, and %s, called at %llu, only %s "
			     "can have %s %s",
			     kl_name_op(s, v->b->op).s,
			     (unsigned long long)s->h->ops[v->b->op].call, seen.s, at,
			     name_writers(c, v).s, left(c), word.s);
}

/* Does an operation serve any of the searched visits? */
static bool serves(const struct chain *c, size_t writer)
{
	size_t i;

	for (i = 0; i < c->nvisits; i++)
		if (c->visits[i].seen && c->visits[i].served[writer])
			return true;
	return false;
}

/* Say how the word was gone after the last of the searched visits.  Return: 1 or -ENOMEM. */
static int tell_headline(const struct chain *c, const struct visit *last,
			 const struct visit *before, struct kl_story *story)
{
	const struct kl_scene *s = c->s;
	const struct kl_word_deed *writer = NULL;
	const bool set = s->type.kind == KL_CONTAINER_SET;
	size_t nvisits = 0, nwriters = 0, i;
	struct kl_word_sentence gone;

	for (i = 0; i < c->nvisits; i++)
		nvisits += c->visits[i].seen;
	for (i = 0; i < c->nwriters; i++) {
		if (serves(c, i))
			writer = c->writers[i];
		nwriters += serves(c, i);
	}
	gone = kl_word_gone(s, last->s, last->b, &story->reason);
	story->reason = "came_back";
	if (nwriters == 1)
		return kl_story_headline(story,
					 "%s; %s had taken effect before, since %s %s by %llu",
					 gone.s, kl_name_op(s, writer->op).s,
					 kl_name_op(s, before->s->op).s,
					 kl_word_saw(s, before->s).s,
					 (unsigned long long)s->h->ops[before->s->op].ret);
	return kl_story_headline(story,
				 "%s; it was %s %zu times after %s, but only %zu operations can "
				 "have %s it in time",
				 gone.s,
				 !set ? "seen" :
				 c->v ? "found" :
					"missed",
				 nvisits,
				 !set ? "other values" :
				 c->v ? "it was absent" :
					"it was inside",
				 nwriters, left(c));
}

/* Cast those who can have left the word, and whom a reader looks for.  Return: 0 or -ENOMEM. */
static int cast_writers(const struct chain *c, struct kl_story *story)
{
	size_t i;

	for (i = 0; i < c->nwriters; i++)
		if (serves(c, i) && kl_story_cast_leaving(c->s, c->writers[i], story))
			return -ENOMEM;
	return kl_story_cast_writers(c->s, story);
}

/* The searched visits have too few writers.  Return: 1, 0 if it is one visit, or -ENOMEM. */
static int tell_chain(const struct chain *c, struct kl_story *story)
{
	const struct visit *last = NULL, *before = NULL;
	size_t i;

	for (i = 0; i < c->nvisits && !before; i++) {
		if (c->visits[i].seen && last)
			before = &c->visits[i];
		else if (c->visits[i].seen)
			last = &c->visits[i];
	}
	/* A word that nobody left was overwritten, which is another reason. */
	if (!before)
		return 0;
	/* The cast may have no room for all visits. */
	if (cast_visit(c, last, story) || cast_writers(c, story))
		return -ENOMEM;
	for (i = 0; i < c->nvisits; i++)
		if (c->visits[i].seen &&
		    (cast_visit(c, &c->visits[i], story) || tell_visit(c, &c->visits[i], story)))
			return -ENOMEM;
	return tell_headline(c, last, before, story);
}

static int tell_one(struct chain *c, const struct kl_word_deed *e, struct kl_story *story)
{
	struct visit next = { .s = e };

	c->v = e->step.before;
	c->nvisits = 0;
	if (kl_scene_over(c->s, c->nproof) || !find_before(c, e, &next.b) || !find_writers(c, e))
		return 0;
	for (;;) {
		if (!add_visit(c, &next))
			return 0;
		if (!assign(c, c->nvisits - 1))
			return tell_chain(c, story);
		if (c->nvisits == MAX_VISITS || !next.b ||
		    kl_scene_over(c->s, c->nproof * c->nproof) ||
		    !find_visit(c, &c->visits[c->nvisits - 1], &next))
			return 0;
	}
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	struct chain c = { .s = s };
	size_t i;
	int ret = 0;

	for (i = 0; i < s->nsteps; i++) {
		if (!kl_scene_proves(s, s->steps[i].op))
			continue;
		if (c.nproof == MAX_PROOF)
			return 0;
		c.proof[c.nproof++] = &s->steps[i];
	}
	for (i = 0; i < c.nproof && !ret; i++)
		if (kl_word_sees(s, c.proof[i]) && !c.proof[i]->maybe)
			ret = tell_one(&c, c.proof[i], story);
	return ret;
}

static const struct kl_reason came_back = {
	.name = "came_back",
	.rank = 30,
	.needs = KL_NEEDS_STEPS,
	.tell = tell,
};
KL_REASON(came_back);
