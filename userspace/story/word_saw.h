/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sentences on words that operations saw, which several reasons use:
 *
 *	t1's read() -> 7 saw 7, which t2's write(8) had overwritten by 30
 */
#ifndef KL_STORY_WORD_SAW_H
#define KL_STORY_WORD_SAW_H

#include "story/reason.h"

/* Does the operation certainly see the word that was before?  A pending one may have no effect. */
static inline bool kl_word_sees(const struct kl_scene *s, const struct kl_word_deed *d)
{
	return (d->step.kind == KL_WORD_SEES || d->step.kind == KL_WORD_MOVES) &&
	       !(s->h->ops[d->op].flags & KL_OP_PENDING);
}

/* Is the word certainly not @v after the operation has taken effect? */
static inline bool kl_word_excludes(const struct kl_word_deed *d, uint64_t v)
{
	const struct kl_word_step *t = &d->step;

	return !d->maybe &&
	       (kl_word_leaves(t)	? t->after != v :
		t->kind == KL_WORD_SEES ? t->before != v :
					  t->kind == KL_WORD_SEES_NOT && t->before == v);
}

/* Return: what an operation saw, as text: "saw 1", "succeeded on 1", "did not find 7". */
struct kl_name kl_word_saw(const struct kl_scene *s, const struct kl_word_deed *d);

/* Cast an operation for what it saw or left, after which the word was another one. */
int kl_word_cast_excluding(const struct kl_scene *s, const struct kl_word_deed *x,
			   struct kl_story *story);

/* A sentence, or a part of one. */
struct kl_word_sentence {
	char s[1024];
};

/**
 * kl_word_gone() - say that an operation saw a word that was gone
 * @s: the scene
 * @e: the operation
 * @x: the operation after which the word was another one
 * @reason: gets the name of the reason
 *
 * Return: the sentence.
 */
struct kl_word_sentence kl_word_gone(const struct kl_scene *s, const struct kl_word_deed *e,
				     const struct kl_word_deed *x, const char **reason);

/**
 * kl_word_may_leave() - may an operation have changed the word to @v between two others?
 * @s: the scene
 * @x: the operation after which the word was not @v; NULL: the first word is not @v
 * @e: the operation that saw @v
 * @d: the operation, which leaves @v
 *
 * An operation that needs a word can only change it if another operation may have left that word
 * after @x, or if @x shows it:
 *
 *	w(1)  cas(3, 4)  r->4		nobody makes it 3
 *
 * Return: false if it certainly did not; true also if the operations between are many.
 */
bool kl_word_may_leave(const struct kl_scene *s, const struct kl_word_deed *x,
		       const struct kl_word_deed *e, const struct kl_word_deed *d);

#endif
