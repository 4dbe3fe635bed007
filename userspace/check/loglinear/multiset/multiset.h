/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Multisets, decided whole (multiset.c), as sets are (set.h), but each key has a count in place of
 * a bit.  While operations of a key overlap, struct multiset_sim has the possible configurations
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
	uint32_t seen;		/* the count that it saw, if SEES_OUT (0) or SEES_COUNT */
	bool first;		/* its return comes before calls at the same time */
};

/* A configuration; @done has a bit for each open operation that took effect. */
struct multiset_config {
	uint64_t done;
	uint32_t count;		/* the count, or with @any the least possible count */
	bool any;		/* the first count is unknown, so the count may be higher */
	uint32_t used[2];	/* numbers of pending operations that took effect: down, up */
	uint32_t head;		/* index of the last step, or LL_NONE */
};

struct multiset_list {
	struct multiset_config *c;
	size_t n, cap;
};

/*
 * A step of a configuration: an operation took effect, and not at its call.  @before: index of the
 * step before, or LL_NONE; @item and @place as in struct set_late.
 */
struct multiset_step {
	uint32_t before, item, place;
};

/* The open operations of a group, and its possible configurations. */
struct multiset_sim {
	struct multiset_open *open;	/* in order of return */
	uint64_t mask[SEES_COUNT + 1];	/* masks of open operations of each kind */
	/* the configurations; those after the return that is being processed */
	struct multiset_list list, next;
	struct multiset_step *step;
	uint32_t *pending[2];		/* pending items: down, up */
	size_t copen, nopen, cstep, nstep, most_steps, cpending[2], npending[2];
	uint32_t first;			/* the first item of the group */
	uint32_t free;			/* the next in the list set_part.free_sim */
};

/* Flags of a key's state, set_key.multi; 0 for a new key. */
#define MULTISET_SEEN	1u
#define MULTISET_ANY	2u	/* the first count is unknown, so the count may be higher */
#define MULTISET_SEVERAL	4u	/* set_key.last is the number of a struct multiset_sim */
#define MULTISET_COUNT	3	/* shift of the count, which is at most twice MULTISET_MOST */

extern const struct set_kind multiset_kind;

/*
 * multiset_core.c: confirm a violation with a large a->core, whose operation @op is wrong.  Only
 * operations around @op are kept, and a count in place of all before.  Return: 1 if it is confirmed
 * in @a, 0 if not, or -ENOMEM.
 */
int multiset_confirm(const struct set *t, uint32_t op, struct kl_answer *a);

/* Return: the count that an operation saw. */
uint64_t multiset_seen(const struct set *t, uint32_t op);

/*
 * multiset_sim.c: begin a group whose first item is @first, with the count @count; @any: the count
 * may be higher.  Return: 1, or -ENOMEM.
 */
int multiset_begin(struct multiset_sim *sim, uint32_t count, bool any, uint32_t first);
/*
 * Process the call of @op, and the returns before.  Return: 1; 0 if no configuration explains the
 * return of set_part.bad_item; -EAGAIN if it is too much; -ENOMEM.
 */
int multiset_call(struct set_part *part, struct multiset_sim *sim, const struct set_op *op);
/* Process the returns before @time, or all of them; return as above. */
int multiset_return_by(struct set_part *part, struct multiset_sim *sim, uint64_t time);
int multiset_return_all(struct set_part *part, struct multiset_sim *sim);
void multiset_sim_free(struct multiset_sim *sim);

/* multiset_steps.c: @item took effect in @c: append a step.  Return: 0, -EAGAIN, -ENOMEM. */
int multiset_step(struct set_part *part, struct multiset_sim *sim, struct multiset_config *c,
		  uint32_t item, uint32_t place);
/* Add the steps of the first configuration to set_part.late.  Return: 0, or -ENOMEM. */
int multiset_tell(struct set_part *part, struct multiset_sim *sim);
/* If there are many steps, drop those that led to no configuration.  Return: 0, or -ENOMEM. */
int multiset_tidy(struct set_part *part, struct multiset_sim *sim);

#endif
