/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the methods of a specification do whose state is one word, told by their meaning:
 * which word an operation saw, and which one it left.
 */
#ifndef KL_SPEC_CLASSIFY_WORD_H
#define KL_SPEC_CLASSIFY_WORD_H

#include <stdbool.h>

#include "spec/spec.h"

#define KL_WORD_PATHS	4

/* A sum: so many words, each argument so often, and the word before so often. */
struct kl_word_sum {
	uint64_t base, arg[KL_MAX_ARGS], before;
};

/* A way through a method. */
struct kl_word_path {
	enum { KL_WORD_ALWAYS, KL_WORD_IF, KL_WORD_IF_NOT } when;	/* the word before is @is */
	struct kl_word_sum is, after, result;
	bool gives;		/* it has a result: @result, or the bool in its base */
};

struct kl_word_method {
	unsigned int nparams, nresults, npaths;
	bool is_bool;		/* its result */
	struct kl_word_path path[KL_WORD_PATHS];
};

enum kl_word_kind {
	KL_WORD_NEVER,		/* no state gives that result */
	KL_WORD_NOTHING,	/* it sees nothing and changes nothing */
	KL_WORD_SEES,		/* @before is there, and stays */
	KL_WORD_SEES_NOT,	/* @before is not there; what is there stays */
	KL_WORD_WRITES,		/* @after is there then, whatever was before */
	KL_WORD_MOVES,		/* @before was there, then @after is */
	KL_WORD_ADDS,		/* @after is added to what was there; only of what is pending */
	KL_WORD_OTHER,		/* none of these */
};

struct kl_word_step {
	enum kl_word_kind kind;
	uint64_t before, after;
};

/* What is to be known of methods is inferred when the specification is read.  0 or -ENOMEM. */
int kl_infer_words(struct kl_spec *s);

/**
 * kl_word_method() - what a method does to the one word
 * @s: a specification that is a register, see kl_spec_container()
 * @method: index of the method
 *
 * Return: its ways, or NULL: they are not known.  Sums, comparisons with them by == and !=
 * and what comes of those are; other methods are not, which is no defect of theirs.
 */
const struct kl_word_method *kl_word_method(const struct kl_spec *s, unsigned int method);

/**
 * kl_word_step() - what an operation did to the word
 * @m: its method
 * @vals: arguments, then results
 * @pending: it has no results, and what it does is what it did if it took effect and
 *	that was a change
 *
 * Return: the step.
 */
struct kl_word_step kl_word_step(const struct kl_word_method *m, const struct kl_val *vals,
				 bool pending);

#endif
