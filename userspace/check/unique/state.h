/* SPDX-License-Identifier: GPL-2.0 */
/* How far the search of the engine `ends' has come, see ends.h. */
#ifndef KL_CHECK_UNIQUE_STATE_H
#define KL_CHECK_UNIQUE_STATE_H

#include "check/unique/ends.h"

/* Open operations: that change something, and return or not; that change nothing. */
enum ends_ring { ENDS_CHANGERS, ENDS_NEVER_RETURN, ENDS_READERS, ENDS_RINGS };

struct ends_state {
	struct ends_ops o;
	uint32_t *deque, head, tail;	/* what is inside: deque[head] .. deque[tail - 1] */
	uint32_t leaving[3];	/* how many of these, by where they leave */
	uint8_t *done;		/* of each item: it has taken effect */
	uint32_t *step, nsteps;
	uint64_t hash;		/* of what is done, and of what is inside and where */
	/* Open operations in order of call, as rings: behind all items one's begin for each. */
	uint32_t *next, *prev;
	uint32_t now;		/* events that have happened */
	uint32_t *full_at;	/* from each event on, until when nothing finds it full */
	uint32_t tries;		/* steps for the event at hand */
	uint32_t lost;		/* before that event chance has a say */
	bool orderly;		/* what had better be first is */
	uint64_t seed;
};

static inline uint32_t ends_size(const struct ends_state *s)
{
	return s->tail - s->head;
}

static inline uint32_t ends_at_end(const struct ends_state *s, bool back)
{
	return back ? s->deque[s->tail - 1] : s->deque[s->head];
}

/* Of one that has taken effect: has it pushed its value? */
static inline bool ends_pushes(const struct ends_op *op)
{
	return op->kind == ENDS_PUSH || (op->kind == ENDS_MAYBE && !op->full);
}

/* Room for what o holds.  0 or -ENOMEM. */
int ends_state_init(struct ends_state *s);
void ends_state_free(struct ends_state *s);

/* An operation is called; or returns, or was not called yet when the search goes back. */
void ends_enter(struct ends_state *s, uint32_t item);
void ends_leave(struct ends_state *s, uint32_t item);

/* A value that does not agree with one that is pushed at that end now, or ENDS_NONE. */
uint32_t ends_against_inside(const struct ends_state *s, const struct ends_value *v, bool back);
/* A push that has to come while it is certainly inside, and cannot; or ENDS_NONE. */
uint32_t ends_against_open(const struct ends_state *s, uint32_t item, const struct ends_value *v);
/* Does it leave at an end where nothing is in its way that does not, nor it in others'? */
bool ends_leaves_in_turn(const struct ends_state *s, const struct ends_value *v, bool back);

/* Can it take effect now, and does that leave a future? */
bool ends_may(const struct ends_state *s, uint32_t item);
void ends_take_effect(struct ends_state *s, uint32_t item);
/* Only the first @nsteps stay. */
void ends_undo(struct ends_state *s, uint32_t nsteps);
/* What may as well take effect at once does. */
void ends_settle(struct ends_state *s);

/* moves.c: go on, with few steps, so that @goal takes effect; false if none are found. */
bool ends_go_on(struct ends_state *s, uint32_t goal);

#endif
