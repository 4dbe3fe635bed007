/* SPDX-License-Identifier: GPL-2.0 */
/* The state of the search of the engine `ends', see unique.h. */
#ifndef KL_CHECK_UNIQUE_STATE_H
#define KL_CHECK_UNIQUE_STATE_H

#include "check/unique/unique.h"

/* Rings of open operations: changing ones that return, changing ones that are pending, readers. */
enum unique_ring { UNIQUE_CHANGERS, UNIQUE_NEVER_RETURN, UNIQUE_READERS, UNIQUE_RINGS };

struct unique_state {
	struct unique_ops o;
	uint32_t *deque, head, tail;	/* values inside: deque[head] .. deque[tail - 1] */
	uint32_t leaving[3];	/* number of values inside, by enum unique_leaves */
	uint8_t *done;		/* 1 for each item that has taken effect */
	uint32_t *step, nsteps;	/* items in the order in which they took effect */
	uint64_t hash;		/* hash of the items that took effect and of the values inside */
	/* Rings of open operations in order of call; the heads of the rings follow all items. */
	uint32_t *next, *prev;
	uint32_t now;		/* number of events that have happened */
	/* event -> the next one at which an operation is open that found the container full */
	uint32_t *full_at;
	uint32_t tries;		/* steps for the current event */
	uint32_t lost;		/* before this event steps are random */
	bool orderly;		/* a push waits for those that better_first() prefers */
	uint64_t seed;
};

static inline uint32_t unique_size(const struct unique_state *s)
{
	return s->tail - s->head;
}

static inline uint32_t unique_at_end(const struct unique_state *s, bool back)
{
	return back ? s->deque[s->tail - 1] : s->deque[s->head];
}

/* Has an operation that took effect pushed its value? */
static inline bool unique_pushes(const struct unique_op *op)
{
	return op->kind == UNIQUE_PUSH || (op->kind == UNIQUE_MAYBE && !op->full);
}

/* Allocate the state for s->o.  Return: 0, or -ENOMEM. */
int unique_state_init(struct unique_state *s);
void unique_state_free(struct unique_state *s);

/* Enter an operation at its call; leave at its return, or when the search goes back. */
void unique_enter(struct unique_state *s, uint32_t item);
void unique_leave(struct unique_state *s, uint32_t item);

/* Return: a value inside that contradicts pushing @v at that end now, or UNIQUE_NONE. */
uint32_t unique_against_inside(const struct unique_state *s, const struct unique_value *v,
			       bool back);
/*
 * Return: an open push other than @item that must take effect while @v is inside, but cannot; or
 * UNIQUE_NONE.
 */
uint32_t unique_against_open(const struct unique_state *s, uint32_t item,
			     const struct unique_value *v);
/*
 * Return: true if @v, pushed at that end, and the values inside leave without blocking each other.
 */
bool unique_leaves_in_turn(const struct unique_state *s, const struct unique_value *v, bool back);

/* Can the item take effect now, and can the search go on after that? */
bool unique_may(const struct unique_state *s, uint32_t item);
void unique_take_effect(struct unique_state *s, uint32_t item);
/* Undo all steps but the first @nsteps. */
void unique_undo(struct unique_state *s, uint32_t nsteps);
/* Let operations take effect for which that is never worse. */
void unique_settle(struct unique_state *s);

/* moves.c: find few steps so that @goal takes effect.  Return: false if there are none. */
bool unique_go_on(struct unique_state *s, uint32_t goal);

#endif
