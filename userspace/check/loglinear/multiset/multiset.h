/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Multisets, whole, see multiset.c: the keys of sets (set.h), but of each there are so many.
 * What configurations there are of a key while operations of it overlap is in a struct
 * multi_sim (multiset_sim.c), and how they came about in its steps (multiset_steps.c).
 */
#ifndef KL_CHECK_LOGLINEAR_MULTISET_MULTISET_H
#define KL_CHECK_LOGLINEAR_MULTISET_MULTISET_H

#include "check/loglinear/set/set.h"

#define MULTI_OPEN	64	/* at most, of a key at a time: bits of a mask */
#define MULTI_MOST	((1u << 28) - 1)	/* that are seen of a key */

/* One that was called and has not returned, nor took effect in all configurations. */
struct multi_open {
	uint64_t ret;
	uint32_t op;		/* as in struct set_op */
	uint32_t seen;		/* SEES_OUT, SEES_COUNT: so many */
	bool first;		/* its return is before calls of the same time */
};

/* What may have happened by now, @done a bit for each open one. */
struct multi_config {
	uint64_t done;
	uint32_t count;		/* how many there are, */
	bool any;		/* or more: the first ones are not known yet */
	uint32_t used[2];	/* of those that never return, so many went down, and up */
	uint32_t head;		/* its last step, or MONO_NONE */
};

struct multi_list {
	struct multi_config *c;
	size_t n, cap;
};

/* It took effect, and not at its call; @place as in struct set_late. */
struct multi_step {
	uint32_t before, item, place;
};

struct multi_sim {
	struct multi_open *open;	/* by return */
	uint64_t mask[SEES_COUNT + 1];	/* which of them do what */
	struct multi_list list, next;
	struct multi_step *step;
	uint32_t *pending[2];		/* items that never return, down and up */
	size_t copen, nopen, cstep, nstep, most_steps, cpending[2], npending[2];
	uint32_t first;			/* item */
	uint32_t free;			/* the next one that is not in use */
};

/* The state of a key, set_key.multi: 0: not seen yet. */
#define MULTI_SEEN	1u
#define MULTI_ANY	2u	/* or more */
#define MULTI_SEVERAL	4u	/* last is the number of a struct multi_sim */
#define MULTI_COUNT	3	/* shift: how many, up to twice MULTI_MOST */

/* multiset.c, as set_add() and set_end_group() of set_group.c; and forget all. */
int multi_add(struct set_part *part, const struct set_op *op, uint32_t n);
int multi_end_key(struct set_part *part, struct set_key *k);
void multi_free(struct set_part *part);

/*
 * multiset_core.c: where @a->core is large, @op of which is wrong, ask about what is around it,
 * of all before the number alone.  1: a violation, @a says so; 0: not known; -ENOMEM.
 */
int multi_confirm(const struct set *t, uint32_t op, struct kl_answer *a);

/* How many an operation saw. */
uint64_t multi_seen(const struct set *t, uint32_t op);

/* multiset_sim.c: nothing is open, and there are @count, or more. */
int multi_begin(struct multi_sim *sim, uint32_t count, bool any, uint32_t first);
/*
 * The next call; the return of all that returned before @time; and of all.  1; 0: nothing
 * explains a return, see set_part.bad_item; -EAGAIN, -ENOMEM.
 */
int multi_call(struct set_part *part, struct multi_sim *sim, const struct set_op *op);
int multi_return_by(struct set_part *part, struct multi_sim *sim, uint64_t time);
int multi_return_all(struct set_part *part, struct multi_sim *sim);
void multi_sim_free(struct multi_sim *sim);

/* multiset_steps.c: one more step of @c; 0, -EAGAIN, -ENOMEM. */
int multi_step(struct set_part *part, struct multi_sim *sim, struct multi_config *c,
	       uint32_t item, uint32_t place);
/* The steps of the first configuration are those of the order. */
int multi_tell(struct set_part *part, struct multi_sim *sim);
/* Now and then: forget what no configuration came about by. */
int multi_tidy(struct set_part *part, struct multi_sim *sim);

#endif
