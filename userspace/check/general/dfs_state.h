/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of a depth-first search: a list of calls and returns of operations that are not
 * linearized, and a stack of those that are.  See wgl.c and dfs.c.
 */
#ifndef KL_CHECK_GENERAL_DFS_STATE_H
#define KL_CHECK_GENERAL_DFS_STATE_H

#include "check/general/spec_stepper.h"
#include "check/general/wgl_cache.h"

/* A step: the linearized item, the number of the outcome that it had, and the state before. */
struct depth_frame {
	uint32_t item, outcome, state;
	uint32_t pass;			/* enum pass of dfs.c */
};

struct depth {
	const struct kl_part *p;
	struct kl_stepper sim;
	struct kl_budget budget;
	struct kl_cache cache;
	uint32_t *next, *prev;		/* links of entries: event + 1; 0 is the head and the end */
	uint64_t *linearized;		/* bit set of items, and room for one word more */
	size_t setlen;			/* number of words of that bit set */
	struct depth_frame *stack;
	uint32_t height, left;		/* height of the stack; number of returns that are left */
	struct kl_step *best;		/* longest order so far */
	uint32_t nbest, low;		/* length of @best; its first steps that the stack has */
	uint32_t best_ev;		/* the return event that @best could not pass */
	bool lost;			/* an order ended in a lost state, see kl_state_lost() */
	uint64_t lost_at;		/* budget.work at that time */
};

/*
 * Make the list and an empty stack.  The caller makes the cache, and calls depth_free() in any
 * case.  Return: 0 or -ENOMEM.
 */
int depth_init(struct depth *d, const struct kl_part *p, const struct kl_limits *lim);
void depth_free(struct depth *d);

/* Horn & Kroening's Algorithm 2: linearize @f's item. */
void depth_push(struct depth *d, struct depth_frame f);
/* Undo the last depth_push(); the stack must not be empty. */
struct depth_frame depth_pop(struct depth *d);

/* The search is stuck at the return event @ev: keep its order if it is the longest. */
void depth_note_failure(struct depth *d, uint32_t ev);

/* Are all predecessors of @item linearized? */
bool depth_preds_linearized(const struct depth *d, uint32_t item);

/* Check the bounds.  Return: 0, or -EDQUOT. */
int depth_check(struct depth *d);

/*
 * All completed operations are linearized, and lead to @state.  Return: true if that is certainly
 * an order, and false if @state is lost, see kl_state_lost().
 */
bool depth_is_sure(struct depth *d, uint32_t state);

/* Fill the answer; @ret is 1 (linearizable), 0 (not) or an errno.  Return: 0 or an errno. */
int depth_answer(struct depth *d, int ret, struct kl_answer *a);

static inline bool depth_is_call(const struct depth *d, uint32_t entry)
{
	return entry && d->p->events[entry - 1].kind == KL_EV_CALL;
}

static inline uint32_t depth_item(const struct depth *d, uint32_t entry)
{
	return d->p->events[entry - 1].item;
}

static inline bool depth_is_linearized(const struct depth *d, uint32_t item)
{
	return d->linearized[item / 64] >> item % 64 & 1;
}

#endif
