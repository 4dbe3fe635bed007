/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Classifies methods of specs whose state is one word by their meaning: the word that an operation
 * saw, and the word that it left.
 */
#ifndef KL_SPEC_CLASSIFY_WORD_H
#define KL_SPEC_CLASSIFY_WORD_H

#include <stdbool.h>

#include "spec/spec.h"

#define KL_WORD_PATHS	4

/* A sum: @base + each argument times its @arg + the word before the operation times @before. */
struct kl_word_sum {
	uint64_t base, arg[KL_MAX_ARGS], before;
};

/* A path through a method. */
struct kl_word_path {
	/* the condition of the path: none, or the word before equals @is, or differs from @is */
	enum { KL_WORD_ALWAYS, KL_WORD_IF, KL_WORD_IF_NOT } when;
	struct kl_word_sum is, after, result;
	bool gives; /* the path has a result: @result, or if it is a bool, result.base */
};

struct kl_word_method {
	unsigned int nparams, nresults, npaths;
	bool is_bool; /* the result is a bool */
	struct kl_word_path path[KL_WORD_PATHS];
};

enum kl_word_kind {
	KL_WORD_NEVER, /* no state gives this result */
	KL_WORD_NOTHING,  /* the operation neither shows nor changes the word */
	KL_WORD_SEES, /* the word is @before, and stays */
	KL_WORD_SEES_NOT, /* the word is not @before, and stays */
	KL_WORD_WRITES, /* the word becomes @after, whatever it was */
	KL_WORD_MOVES, /* the word was @before and becomes @after */
	KL_WORD_ADDS, /* @after is added to the word; only for pending operations */
	KL_WORD_OTHER, /* any other effect */
};

struct kl_word_step {
	enum kl_word_kind kind;
	uint64_t before, after;
};

/* Is the word @after when the step has taken effect, whatever the operation found? */
static inline bool kl_word_leaves(const struct kl_word_step *t)
{
	return t->kind == KL_WORD_WRITES || t->kind == KL_WORD_MOVES;
}

/* Classify the methods of a spec, when it is loaded.  Return: 0 or -ENOMEM. */
int kl_infer_words(struct kl_spec *s);

/**
 * kl_word_method() - get the paths of a method on one word
 * @s: a spec that is a register, see kl_spec_container()
 * @method: index of the method
 *
 * Return: its paths, or NULL if they are unknown.  Methods may consist of sums, comparisons of sums
 * by == and !=, and their results; the paths of other methods are unknown.
 */
const struct kl_word_method *kl_word_method(const struct kl_spec *s, unsigned int method);

/**
 * kl_word_step() - get the effect of an operation on the word
 * @m: its method
 * @vals: arguments, then results
 * @pending: the operation did not return; the step is the change that it makes if it takes effect
 *
 * Return: the step.
 */
struct kl_word_step kl_word_step(const struct kl_word_method *m, const struct kl_val *vals,
				 bool pending);

#endif
