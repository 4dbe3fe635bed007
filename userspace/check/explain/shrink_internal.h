/* SPDX-License-Identifier: GPL-2.0 */
/* The state of shrinking, which the shrink_*.c files share; see shrink.c. */
#ifndef KL_CHECK_EXPLAIN_SHRINK_INTERNAL_H
#define KL_CHECK_EXPLAIN_SHRINK_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "check/explain/omit.h"
#include "check/check.h"

#define KL_MOST_LAST 256 /* last operations of the largest guess, see kl_shrink_guess() */

struct shrink {
	const struct kl_part *p;
	const struct kl_engine *engine;
	/* bounds of a trial; and of a trial that may take more than a share of all looks */
	const struct kl_limits *lim, *whole;
	/* bounded looks; after them the best violation so far is taken */
	struct kl_looks looks;
	bool late;		/* a bound of looks or time was reached */
	bool patient;			/* a trial may take HARD_STEP shares of the looks */
	bool hard;			/* the last trial ended at its bound of work */
	uint32_t *ops;			/* the partition's operations */
	uint32_t nops;
	uint64_t end;			/* return time of the failing operation */
	uint32_t end_ev;
	struct shrink_block {
		uint32_t low;		/* all items before this one returned before this block */
		bool returned;		/* an operation returned before this block */
		uint64_t time;		/* the latest time of such a return */
	} *block;
	/* an event; operations that returned before it are forgotten */
	uint32_t floor;
	/* operations of the last violation that was found, ascending */
	uint32_t *kept;
	size_t nkept;
	bool found;			/* a violation was found */
	int guess;			/* result of kl_shrink_find()'s guess; -1 if it made none */
	bool forgot;		/* operations that returned by @time are forgotten */
	uint64_t time;
	struct kl_history *h;
	struct kl_answer answer;
	struct kl_event fail;		/* the event that nothing explains */
	uint32_t *order;		/* operation of h -> operation of the whole history */
};

/* Count looks. */
void kl_shrink_look(struct shrink *s, uint64_t n);
/* Is a bound of looks or time reached? */
bool kl_shrink_late(struct shrink *s);
/* End the history at event @ev, a return. */
void kl_shrink_end(struct shrink *s, uint32_t ev);
/*
 * Return: the last return event of operations that are open at event @ev.  At @ev, engines have
 * used no results of later ones.
 */
uint32_t kl_shrink_known_at(const struct shrink *s, uint32_t ev);
/*
 * Decide the history of the operations @kept.
 *
 * Return: 1 if it is a violation, which @s then holds; 0 if not; or a negative errno.
 */
int kl_shrink_trial(struct shrink *s, const struct kl_cut *cut, const uint32_t *kept, size_t n);
/*
 * Decide the history up to its end, with operations forgotten that returned before event @from.
 * Return: as kl_shrink_trial().
 */
int kl_shrink_trial_from(struct shrink *s, uint32_t from, uint32_t *buf);

/* kl_may_omit() for the kept operations until the end, with looks counted. */
int kl_shrink_no_trace(struct shrink *s, struct kl_run *run, uint32_t op, const uint32_t *kept,
		       size_t n);

/* Fill the blocks, which other functions need.  Return: 0, or -ENOMEM. */
int kl_shrink_index(struct shrink *s);

/* Keep all operations until the end, without a trial. */
void kl_shrink_keep_all(struct shrink *s);

/*
 * The steps.  Each needs room for all operations in @buf, and returns 0 or a negative errno.
 * kl_shrink_find() returns -EINVAL when the engine does not confirm the violation at @event, and
 * 1 if copies of a word are replaced by a count.
 */
int kl_shrink_find(struct shrink *s, uint32_t event, uint32_t *buf);
/* Look for a violation in windows around @event.  Return: 1, 0 if there is none, negative errno. */
int kl_shrink_near(struct shrink *s, uint32_t event, uint32_t *buf);
int kl_shrink_cut_prefix(struct shrink *s, uint32_t *buf);
/*
 * Guess the operations that matter for the violation at @event, with nothing forgotten, in several
 * guesses with up to @most_last of the last operations.  Return: 1 if a guess is a violation, 0 if
 * not, or a negative errno.
 */
int kl_shrink_guess(struct shrink *s, uint32_t event, size_t most_last, uint32_t *buf);
/*
 * Replace copies of a word by a count, up to a time that is as late as possible.  Return: 1 if that
 * makes the violation smaller, 0 if not, or a negative errno.
 */
int kl_shrink_cut_count(struct shrink *s, uint32_t *buf);
int kl_shrink_drop(struct shrink *s, uint32_t *buf);

#endif
