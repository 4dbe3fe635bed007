/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an operation did to the value of its key, in a spec that keeps one value for each key:
 *
 *	put(3, 7)		writes 7
 *	cas(3, 7, 8) -> 1	moves from 7 to 8
 *	get(3) -> absent	sees that nothing is there
 *	insert(3, 7) -> 0	sees that something is there
 */
#ifndef KL_STORY_KEY_STEP_H
#define KL_STORY_KEY_STEP_H

#include "history/history.h"
#include "spec/classify/container.h"
#include "spec/classify/word.h"

/* The word that stands for no value in steps.  An operation that uses this word has no step. */
#define KL_STEP_ABSENT	0x9e3779b97f4a7c15ull

struct kl_key_steps;

/**
 * kl_key_steps_new() - make a finder of steps
 * @s: a spec that kl_spec_keyed() knows
 * @key: the key
 *
 * Return: the finder, or NULL without memory.
 */
struct kl_key_steps *kl_key_steps_new(const struct kl_spec *s, uint64_t key);
void kl_key_steps_free(struct kl_key_steps *k);

/* Return: the first value of the key; KL_ANY if the specification does not name it. */
struct kl_val kl_key_first(const struct kl_key_steps *k);

/**
 * kl_key_step() - find out what an operation did to the value of its key
 * @k: the finder
 * @method: its method
 * @args: its arguments, which name the key
 * @res: its results; NULL if it did not return
 * @step: gets the step; its kind is KL_WORD_OTHER if it is not known
 * @is_not: gets a value that was certainly not there before; KL_ANY if there is none
 *
 * Return: 0 or -ENOMEM.
 */
int kl_key_step(struct kl_key_steps *k, unsigned int method, const struct kl_val *args,
		const struct kl_val *res, struct kl_word_step *step, struct kl_val *is_not);

/* The largest number of values that kl_key_step_leaves() gives. */
#define KL_STEP_LEAVES	8

/**
 * kl_key_step_leaves() - get the values that the operation may have left
 * @k: the finder, after kl_key_step() found KL_WORD_OTHER
 * @to: gets the values as words of steps, besides the value that was there before
 *
 * Return: their number, or -1 if they are not known.
 */
int kl_key_step_leaves(const struct kl_key_steps *k, uint64_t to[KL_STEP_LEAVES]);

#endif
