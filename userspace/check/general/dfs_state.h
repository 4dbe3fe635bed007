/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What depth-first searches walk: the calls and returns of what is not linearized yet,
 * as one list, and the stack of what is.  See wgl.c and dfs.c.
 */
#ifndef KL_CHECK_GENERAL_DFS_STATE_H
#define KL_CHECK_GENERAL_DFS_STATE_H

#include "check/general/spec_stepper.h"
#include "check/general/wgl_cache.h"

struct depth_frame {
	uint32_t item, outcome, state;	/* which of its outcomes; the state before */
	uint32_t pass;			/* dfs.c */
};

struct depth {
	const struct kl_part *p;
	struct kl_sim sim;
	struct kl_budget budget;
	struct kl_cache cache;
	uint32_t *next, *prev;		/* entries: event + 1, 0 is the head and the end */
	uint64_t *linearized;		/* bitset of items, and room for one word */
	size_t setlen;			/* its words */
	struct depth_frame *stack;
	uint32_t height, left;		/* of the stack; returns that are left */
	struct kl_step *best;		/* longest order so far */
	uint32_t nbest, low;		/* of it, what the stack still shares */
	uint32_t best_ev;
	bool lost;			/* an order ended in a state that is, see kl_state_lost() */
	uint64_t lost_at;		/* budget.work then */
};

/* 0 or -ENOMEM; the cache is the caller's to make.  depth_free() it in any case. */
int depth_init(struct depth *d, const struct kl_part *p, const struct kl_limits *lim);
void depth_free(struct depth *d);

/* Horn & Kroening's Algorithm 2: linearize @f's item. */
void depth_push(struct depth *d, struct depth_frame f);
/* And take the last one back; the stack must not be empty. */
struct depth_frame depth_pop(struct depth *d);

/* The stack ran into the return event @ev: keep it if no order came further. */
void depth_note_failure(struct depth *d, uint32_t ev);

/* Is all linearized that @item has to wait for? */
bool depth_preds_linearized(const struct depth *d, uint32_t item);

/* Are the bounds kept?  0 or -EDQUOT. */
int depth_check(struct depth *d);

/* All is linearized, and this is the state: is that an answer? */
bool depth_is_sure(struct depth *d, uint32_t state);

/* What became of it: @ret is 1 (linearizable), 0 (not) or a negative errno.  0, -errno. */
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
