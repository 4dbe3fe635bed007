/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reasons of violations.  A reason is one file: a pattern of operations that no order explains, and
 * its sentence.  Each pattern is argued in its file, and is certain: clock error and operations
 * with unknown results are allowed for.
 */
#ifndef KL_STORY_REASON_H
#define KL_STORY_REASON_H

#include "story/scene.h"
#include "story/story.h"

/**
 * struct kl_reason - a reason of violations
 * @name: its name in JSON; @tell may set a more specific one
 * @rank: reasons of lower rank are tried first; they are the more telling ones
 * @needs: what the scene must have
 * @tso: it also holds for a violation with store buffers
 * @gaps: it also holds where operations may have been lost
 * @any: it explains any violation, and is asked only if no other reason has a story
 * @tell: looks for the pattern.  Return: 1 after the story was told, 0, or -ENOMEM
 */
struct kl_reason {
	const char *name;
	unsigned int rank;
	enum { KL_NEEDS_NOTHING, KL_NEEDS_DEEDS, KL_NEEDS_STEPS } needs;
	bool tso, gaps, any;
	int (*tell)(const struct kl_scene *s, struct kl_story *story);
};

/* Register the reason @symbol.  The Makefile looks for this word, too. */
#define KL_REASON(symbol)								\
	static const struct kl_reason *const kl_registered_##symbol			\
	__attribute__((used, section("kl_reason_list"))) = &symbol

/* All reasons by rank; NULL ends the array. */
const struct kl_reason *const *kl_reasons(void);

/* Set the headline.  Return: 1 or -ENOMEM. */
int kl_story_headline(struct kl_story *story, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The headline of two operations that are impossible after each other.  Return: 1 or -ENOMEM. */
int kl_story_neither(const struct kl_scene *s, uint32_t a, uint32_t b, struct kl_story *story);
/*
 * The headline of an operation that fits into no order; @right: results that were right, or "".
 * Return: 1 or -ENOMEM.
 */
int kl_story_never(const struct kl_scene *s, uint32_t op, const char *right,
		   struct kl_story *story);
/* Add a fact, if there is room.  Return: 0 or -ENOMEM. */
int kl_story_fact(struct kl_story *story, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Add an operation to the cast, if there is room and it is not there.  Return: 0 or -ENOMEM. */
int kl_story_cast(struct kl_story *story, uint32_t op, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Call @look for the proof's deeds of an act, until it returns another number than 0.  Return: that
 * number, or 0.
 */
int kl_story_each(const struct kl_scene *s, enum kl_act act,
		  int (*look)(const struct kl_scene *s, const struct kl_deed *d,
			      struct kl_story *story),
		  struct kl_story *story);

/*
 * Add the additions and removals of a value that was inside during operation @op to the cast, and
 * the fact about its removal.  Return: 0 or -ENOMEM.
 */
int kl_story_inside(const struct kl_scene *s, struct kl_story *story, uint64_t value, uint32_t op);

struct kl_search;
struct kl_search_in;

/*
 * Search the orders of @in, as kl_search() does, with a third of the looks that are left.
 * Return: 0 or -ENOMEM.
 */
int kl_story_search(const struct kl_scene *s, struct kl_search_in *in, uint32_t want,
		    struct kl_search *out);
/*
 * Find out which results operation @op of the counterexample could have had, and say so.
 * Return: 0 or -ENOMEM.
 */
int kl_story_allow(const struct kl_scene *s, struct kl_story *story, uint32_t op);
/* Cast an operation for the word that it left.  Return: 0 or -ENOMEM. */
int kl_story_cast_leaving(const struct kl_scene *s, const struct kl_word_deed *d,
			  struct kl_story *story);
/*
 * Cast operations that may have left a value that the first of the cast saw.  Return: 0 or
 * -ENOMEM.
 */
int kl_story_cast_writers(const struct kl_scene *s, struct kl_story *story);
/*
 * The same; and if one of them is not in the counterexample, which may explain less with it, cast
 * each operation that need not be after operation @e.  Return: 0 or -ENOMEM.
 */
int kl_story_cast_all(const struct kl_scene *s, struct kl_story *story, uint32_t e);
/* Add the longest orders of the counterexample's operations.  Return: 0 or -ENOMEM. */
int kl_story_orders(const struct kl_scene *s, struct kl_story *story);
void kl_story_free_allowed(struct kl_allowed *a);

/* An operation as text, "t1's deq() -> 1". */
struct kl_name {
	char s[288];
};

struct kl_name kl_name_op(const struct kl_scene *s, uint32_t op);
/* The same without its results, "t1's deq()". */
struct kl_name kl_name_call(const struct kl_scene *s, uint32_t op);
/* The value as its writer spelled it. */
struct kl_name kl_name_val(const struct kl_scene *s, struct kl_val v);
/*
 * Add the fact about a register's first word: that of the history's form, or @word, which the
 * specification has.  Return: 0 or -ENOMEM.
 */
int kl_story_first_word(const struct kl_scene *s, struct kl_story *story, struct kl_name word);
/* The slot number @i of a state without containers and arrays, as text: "low = 1". */
struct kl_name kl_name_slot(const struct kl_scene *s, const struct kl_val *state, size_t i);
/* A word of the scene's steps: as its writer spelled it, "nothing", or the key of a set. */
struct kl_name kl_name_step(const struct kl_scene *s, uint64_t v);

#endif
