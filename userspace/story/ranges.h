/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The words that the state can have had while an operation ran.
 *
 *	read_lock()  write_lock()		readers = 1
 *	down()  try_down() -> 1			n = 0
 *	up()  try_down() -> 0			n = 1 while it ran
 *	unlock()				held = false
 *
 * The state has a few words, and the first state is known.  The interpreter finds, from a state of
 * unknown words, by how much each operation changes each word.  When E takes effect, the word is
 * the first one, and the changes of all operations that took effect before.  Those that certainly
 * returned before E was called did, those that were certainly called after E returned did not, and
 * any of the others may have.  So the word is in a range.  If E is impossible for each choice of
 * words from their ranges, there is no order.
 *
 * An operation X that certainly returned before E was called, and leaves a word that its own result
 * tells, takes the place of the first state.  Then only operations count that need not be before X.
 *
 * With store buffers this holds for a word to which only locked instructions store, since these
 * stores are in memory at once, and each operation sees the word in memory.  sight.h finds the
 * range of any other word.
 *
 * The range has no word below 0 if each operation that may take 1 away does not do so at 0, and
 * none above 1 if each operation that may add 1 does not do so at 1.
 */
#ifndef KL_STORY_RANGES_H
#define KL_STORY_RANGES_H

#include "story/sight.h"
#include "story/views.h"

#define KL_RANGES	4	/* largest number of words of a state */

/* By how much an operation changes each word, and which word it leaves. */
struct kl_effect {
	int64_t low[KL_RANGES], high[KL_RANGES], left[KL_RANGES];
	bool vague[KL_RANGES], leaves[KL_RANGES];
	size_t outcomes;
};

struct kl_range {
	int64_t low, high;
	bool known;
};

struct kl_ranges {
	const struct kl_scene *s;
	struct kl_run *run;
	struct kl_val first[KL_RANGES];
	bool is_bool[KL_RANGES];
	size_t len;
	struct kl_effect *effects;	/* of the partition's operations */
	/* for each word: no operation makes it less than 0, or more than 1 */
	bool floor[KL_RANGES], ceiling[KL_RANGES];
	bool vague[KL_RANGES];	/* some change of the word is not known */
	struct kl_stores *stores;	/* NULL without store buffers */
	bool waits[KL_RANGES];		/* a store to the word may wait in the buffer */
	struct kl_sight sight[KL_RANGES];	/* of the excluded operation, if @waits */
	int found;		/* result of finding the effects */
	/* of the operation that is excluded: what it changes, and the words that forbid it */
	uint32_t op;
	struct kl_effect effect;
	struct kl_range r[KL_RANGES];
	uint32_t from[KL_RANGES];	/* KL_NO_OP where the range begins with the first state */
	uint32_t at; /* the operation, as an index in the partition */
	bool exact; /* the ranges are those of all orders, see views.h */
	/* of the call of the interpreter: */
	const struct kl_val *before;
	struct kl_effect now;
};

/* With which result an operation is tried. */
enum kl_result { KL_ITS_RESULT, KL_ANY_RESULT, KL_RESULT_TRUE };

/**
 * kl_ranges_each() - find an operation of the proof that is impossible for all words in the ranges
 * @s: the scene
 * @exact: find the ranges by all orders, which costs more and finds smaller ones
 * @look: called for each such operation, until it returns another number than 0; r->r has the
 *	words that matter, and @story nothing
 * @story: passed to @look
 *
 * Return: the result of @look, 0 if there is no such operation, or -ENOMEM.
 */
int kl_ranges_each(const struct kl_scene *s, bool exact,
		   int (*look)(struct kl_ranges *r, struct kl_story *story),
		   struct kl_story *story);

/*
 * Is operation @x impossible for all words in the ranges, if @first takes effect before it?  With
 * @story, cast the operations that the ranges count.  Return: 1, 0 if not or not known, or -ENOMEM.
 */
int kl_ranges_exclude(const struct kl_scene *s, uint32_t first, uint32_t x,
		      struct kl_story *story);
void kl_ranges_free(struct kl_ranges *r);

/**
 * kl_ranges_try() - try the excluded operation for each choice of words from the ranges
 * @r: the ranges, in a call of kl_ranges_each()
 * @result: the result that it has
 * @change: ask whether it always changes a word, instead of whether it changes none
 *
 * Return: 1 if so for each choice, 0 if not or not known, or -ENOMEM.  An operation that is not
 * possible changes none.
 */
int kl_ranges_try(struct kl_ranges *r, enum kl_result result, bool change);

/*
 * Does a method without parameters take away from word @k?  Return: 1, 0 if none does or it is not
 * known, or -ENOMEM.
 */
int kl_ranges_lowered(struct kl_ranges *r, size_t k);

/* "readers = 1 to 3 and writer = false" */
void kl_ranges_name(const struct kl_ranges *r, char *text, size_t size);

/*
 * Cast the operations that changed one of the words in the ranges before the excluded one, or may
 * have.  Return: 0 or -ENOMEM.
 */
int kl_ranges_cast(const struct kl_ranges *r, struct kl_story *story);

#endif
