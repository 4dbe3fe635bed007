/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Multisets, decided whole (multiset.c), as sets are (set.h), with a count in place of a bit.
 * While operations of a key overlap, struct multiset_sim has the possible configurations
 * (multiset_sim.c) and the steps that led to each (multiset_steps.c).
 */
#ifndef KL_CHECK_LOGLINEAR_MULTISET_MULTISET_H
#define KL_CHECK_LOGLINEAR_MULTISET_MULTISET_H

#include "check/loglinear/set/set.h"

#define MULTISET_OPEN	64	/* maximal number of a key's open operations: bits of a mask */
#define MULTISET_MOST	((1u << 28) - 1)	/* largest count that an operation may have seen */

/* An open operation that has not taken effect in every configuration. */
struct multiset_open {
	uint64_t ret;
	uint32_t op;		/* as in struct set_op */
	uint32_t seen;		/* the count that it saw, for SEES_OUT and SEES_COUNT */
	bool first;		/* its return comes before calls at the same time */
};

/* A configuration; @done has a bit for each open operation that took effect. */
struct multiset_config {
	uint64_t done;
	uint32_t count;		/* the count, or with @any the least possible count */
	bool any;		/* the first count is unknown, so the count may be higher */
	uint32_t used[2];	/* numbers of pending operations that took effect: down, up */
	uint32_t head;		/* the last step, or LL_NONE */
};

struct multiset_list {
	struct multiset_config *c;
	size_t n, cap;
};

/* An operation took effect, and not at its call; @place as in struct set_late. */
struct multiset_step {
	uint32_t before, item, place;
};

struct multiset_sim {
	struct multiset_open *open;	/* in order of return */
	uint64_t mask[SEES_COUNT + 1];	/* open operations of each kind */
	struct multiset_list list, next;
	struct multiset_step *step;
	uint32_t *pending[2];		/* pending items: down, up */
	size_t copen, nopen, cstep, nstep, most_steps, cpending[2], npending[2];
	uint32_t first;			/* the first item of the group */
	uint32_t free;			/* the next unused struct in the list of free ones */
};

/* Flags of a key's state, set_key.multi; 0 for a new key. */
#define MULTISET_SEEN	1u
#define MULTISET_ANY	2u	/* the count may be higher */
#define MULTISET_SEVERAL	4u	/* set_key.last is the number of a struct multiset_sim */
#define MULTISET_COUNT	3	/* shift of the count, which is at most twice MULTISET_MOST */

extern const struct set_kind multiset_kind;

/*
 * multiset_core.c: confirm a violation with a large a->core, whose operation @op is wrong.  Only
 * operations around @op are kept, and a count of all before.  Return: 1 for a violation, in @a; 0
 * if it is not confirmed; -ENOMEM.
 */
int multiset_confirm(const struct set *t, uint32_t op, struct kl_answer *a);

/* The count that an operation saw. */
uint64_t multiset_seen(const struct set *t, uint32_t op);

/* multiset_sim.c: begin with no open operation and the count @count, or more with @any. */
int multiset_begin(struct multiset_sim *sim, uint32_t count, bool any, uint32_t first);
/*
 * The next call; the returns before @time; all other returns.  Return: 1; 0 if no configuration
 * explains the return of set_part.bad_item; -EAGAIN; -ENOMEM.
 */
int multiset_call(struct set_part *part, struct multiset_sim *sim, const struct set_op *op);
int multiset_return_by(struct set_part *part, struct multiset_sim *sim, uint64_t time);
int multiset_return_all(struct set_part *part, struct multiset_sim *sim);
void multiset_sim_free(struct multiset_sim *sim);

/* multiset_steps.c: append a step to @c.  Return: 0, -EAGAIN, -ENOMEM. */
int multiset_step(struct set_part *part, struct multiset_sim *sim, struct multiset_config *c,
		  uint32_t item, uint32_t place);
/* Add the steps of the first configuration to the order. */
int multiset_tell(struct set_part *part, struct multiset_sim *sim);
/* Call this now and then: it drops steps that led to no configuration. */
int multiset_tidy(struct set_part *part, struct multiset_sim *sim);

#endif
