// SPDX-License-Identifier: GPL-2.0
/* Sentences on words that operations saw, see word_saw.h. */
#include <errno.h>
#include <stdio.h>

#include "story/word_saw.h"

#define MAX_WORDS 32 /* largest number of words that the state can have between */

/* Did the operation need the word to change it, such as a cas() that returned true? */
static bool succeeded(const struct kl_scene *s, const struct kl_word_deed *d)
{
	const struct kl_op *o = &s->h->ops[d->op];
	const int m = kl_spec_find_method(s->spec, s->h->methods[kl_op_method(s->h, o)]);

	return d->step.kind == KL_WORD_MOVES && m >= 0 &&
	       kl_spec_method(s->spec, m)->nresults == 1 &&
	       kl_spec_method(s->spec, m)->results[0].type == KL_T_BOOL;
}

struct kl_name kl_word_saw(const struct kl_scene *s, const struct kl_word_deed *d)
{
	const bool set = s->type.kind == KL_CONTAINER_SET;
	const uint64_t v = d->step.before;
	struct kl_name name;

	snprintf(name.s, sizeof(name.s), "%s %.200s",
		 s->keyed && v == KL_STEP_ABSENT ? "found" :
		 set				 ? v ? "found" : "did not find" :
		 succeeded(s, d)		 ? "succeeded on" :
						   "saw",
		 kl_name_step(s, v).s);
	return name;
}

/* Return: the words on what X saw, for "although X had ... by". */
static const char *saw_what(const struct kl_scene *s, const struct kl_word_deed *x)
{
	if (!s->keyed || x->step.kind != KL_WORD_SEES)
		return s->keyed && x->step.before == KL_STEP_ABSENT ? "found a value there" :
								      "seen another value";
	return x->step.before == KL_STEP_ABSENT ? "found nothing" : "seen another value";
}

int kl_word_cast_excluding(const struct kl_scene *s, const struct kl_word_deed *x,
			   struct kl_story *story)
{
	if (kl_word_leaves(&x->step))
		return kl_story_cast_leaving(s, x, story);
	return kl_story_cast(story, x->op, "%s",
			     x->step.kind == KL_WORD_SEES ? kl_word_saw(s, x).s :
							    "saw another value");
}

/* The word of a set: its key is inside, or not. */
static const char *set_what(const struct kl_word_deed *e, const struct kl_word_deed *x)
{
	if (kl_word_leaves(&x->step))
		return x->step.after ? "had added" : "had removed";
	return e->step.before ? "had not found" : "had found";
}

struct kl_word_sentence kl_word_gone(const struct kl_scene *s, const struct kl_word_deed *e,
				     const struct kl_word_deed *x, const char **reason)
{
	const struct kl_name did = kl_word_saw(s, e), name = kl_name_op(s, e->op);
	const struct kl_name other = kl_name_op(s, x->op);
	const unsigned long long ret = s->h->ops[x->op].ret;
	const bool leaves = kl_word_leaves(&x->step), set = s->type.kind == KL_CONTAINER_SET;
	const uint64_t there = leaves ? x->step.after : x->step.before;
	const bool nothing = s->keyed && e->step.before == KL_STEP_ABSENT;
	struct kl_word_sentence text;

	*reason = leaves || set ? "overwritten" : "went_back";
	if (set)
		snprintf(text.s, sizeof(text.s), "%s %s, which %s %s by %llu", name.s, did.s,
			 other.s, set_what(e, x), ret);
	else if (nothing && leaves)
		snprintf(text.s, sizeof(text.s),
			 "%s found nothing, although %s had put %s there by %llu", name.s, other.s,
			 kl_name_step(s, there).s, ret);
	else if (leaves)
		snprintf(text.s, sizeof(text.s), "%s %s, which %s had %s by %llu", name.s, did.s,
			 other.s, s->keyed && there == KL_STEP_ABSENT ? "removed" : "overwritten",
			 ret);
	else
		snprintf(text.s, sizeof(text.s), "%s %s, although %s had %s by %llu", name.s, did.s,
			 other.s, saw_what(s, x), ret);
	return text;
}

/* Words that the state can have between two operations. */
struct words {
	uint64_t v[MAX_WORDS];
	size_t n;
};

static bool has(const struct words *w, uint64_t v)
{
	size_t i;

	for (i = 0; i < w->n && w->v[i] != v; i++)
		;
	return i < w->n;
}

bool kl_word_may_leave(const struct kl_scene *s, const struct kl_word_deed *x,
		       const struct kl_word_deed *e, const struct kl_word_deed *d)
{
	const struct kl_word_deed *t, *end = s->steps + s->nsteps;
	struct words w = { .n = 1 };
	size_t had = 0;

	if (d->maybe || d->step.kind != KL_WORD_MOVES)
		return true;
	if (d->step.before == e->step.before)
		return false;
	/* X may only show which word the state did not have. */
	if (x && x->step.kind == KL_WORD_SEES_NOT)
		return true;
	w.v[0] = !x ? s->first.v : kl_word_leaves(&x->step) ? x->step.after : x->step.before;
	/* Each round adds words that those of the round before make possible. */
	while (had < w.n && !has(&w, d->step.before)) {
		had = w.n;
		if (kl_scene_over(s, s->nsteps))
			return true;
		for (t = s->steps; t < end; t++) {
			if (t == x || t == e || !kl_word_leaves(&t->step) ||
			    t->step.after == e->step.before || has(&w, t->step.after) ||
			    (!t->maybe && t->step.kind == KL_WORD_MOVES &&
			     !has(&w, t->step.before)) ||
			    (x && kl_scene_before(s, t->op, x->op)) ||
			    kl_scene_before(s, e->op, t->op))
				continue;
			if (w.n == MAX_WORDS)
				return true;
			w.v[w.n++] = t->step.after;
		}
	}
	return has(&w, d->step.before);
}
