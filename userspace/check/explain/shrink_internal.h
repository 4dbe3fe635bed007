/* SPDX-License-Identifier: GPL-2.0 */
/* What the files that make a violation small share; see shrink.c. */
#ifndef KL_CHECK_EXPLAIN_SHRINK_INTERNAL_H
#define KL_CHECK_EXPLAIN_SHRINK_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "check/explain/omit.h"
#include "check/check.h"

struct shrink {
	const struct kl_part *p;
	const struct kl_engine *engine;
	const struct kl_limits *lim, *whole;	/* of a trial; and of all that is done */
	struct kl_looks looks;		/* after so many be content with what there is */
	bool late;			/* there were, or the time is over */
	bool patient;			/* a trial may take HARD_STEP shares of the looks */
	bool hard;			/* did the last trial end at its bound of work? */
	uint32_t *ops;			/* the partition's operations */
	uint32_t nops;
	uint64_t end;			/* return time of the failing operation */
	uint32_t end_ev;
	struct shrink_block {
		uint32_t low;		/* no item before it is open from here on */
		bool returned;		/* did any operation return before? */
		uint64_t time;		/* and the last of these when? */
	} *block;
	uint32_t floor;			/* event: all that returned before it is forgotten */
	uint32_t *kept;			/* operations, ascending; of the last violation found */
	size_t nkept;
	bool found;			/* is there one? */
	int guess;			/* what kl_shrink_find() got of one; -1: it asked for none */
	bool forgot;			/* and its cut */
	uint64_t time;
	struct kl_history *h;
	struct kl_answer answer;
	struct kl_event fail;		/* what nothing explains in it */
	uint32_t *order;		/* operation of h -> of the whole history */
};

/* Count looks. */
void kl_shrink_look(struct shrink *s, uint64_t n);
/* Is it enough? */
bool kl_shrink_late(struct shrink *s);
/* End the history at event @ev, a return. */
void kl_shrink_end(struct shrink *s, uint32_t ev);
/* The last return of what is open at event @ev: no engine knew more there. */
uint32_t kl_shrink_known_at(const struct shrink *s, uint32_t ev);
/* Is what is kept a violation?  1, and keep the trial; 0; negative errno. */
int kl_shrink_trial(struct shrink *s, const struct kl_cut *cut, const uint32_t *kept, size_t n);
/* The same of what is kept when all that returned before event @from is forgotten. */
int kl_shrink_trial_from(struct shrink *s, uint32_t from, uint32_t *buf);

/* kl_leaves_no_trace() in what is kept of the history until its end, counted. */
int kl_shrink_no_trace(struct shrink *s, struct kl_run *run, uint32_t op, const uint32_t *kept,
		       size_t n);

/* Fills what is known of blocks of events, for all that follows.  0 or -ENOMEM. */
int kl_shrink_index(struct shrink *s);

/* Nothing is forgotten, and all is kept until the end, whether that is a violation or not. */
void kl_shrink_keep_all(struct shrink *s);

/*
 * The steps; each needs room for all operations in @buf and returns 0 or a negative errno,
 * and the first -EINVAL when the engine does not confirm the violation at @event; 1 if
 * copies of a word are left out.
 */
int kl_shrink_find(struct shrink *s, uint32_t event, uint32_t *buf);
/* Is there a violation at @event that not much before it is needed for?  1, 0. */
int kl_shrink_near(struct shrink *s, uint32_t event, uint32_t *buf);
int kl_shrink_cut_prefix(struct shrink *s, uint32_t *buf);
/*
 * Guess what explains the violation at @event, with nothing forgotten.  1: what is kept then
 * is one; 0; negative errno.
 */
int kl_shrink_guess(struct shrink *s, uint32_t event, uint32_t *buf);
/* Leave out copies of a word as late as they can be.  1; 0 if there are none. */
int kl_shrink_cut_count(struct shrink *s, uint32_t *buf);
int kl_shrink_drop(struct shrink *s, uint32_t *buf);

#endif
