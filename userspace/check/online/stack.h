/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The monitor of stacks, by the values that can be at the bottom (see loglinear/stack.c).  Its
 * memory is bounded by the values inside and the open operations.
 *
 * A dead value is one whose removal has certainly taken effect.  Each operation that returned, of
 * a value that may be inside, has a mark: the first slot of its window in which no dead value is
 * certainly inside.  After each event:
 *
 * - The dead values have an order by themselves.
 * - Each mark exists.  A value with a missing mark is inside the life of a dead value, so its
 *   removal, which is open, has taken effect, and the value is dead as well.
 *
 * There is an order of all values if the values that are not dead have an order that uses no slot
 * inside a dead value's life.  Between two slots that this order uses, each dead value is inside as
 * a whole or not at all.  So the order of the dead values can be put between these slots.
 *
 * The converse holds, too.  Let S be a set of values, one of which is still inside.  Let each of
 * them have an operation all of whose slots are covered by dead values or by others of S.  Then
 * there is no order of all values.  For in an order, let T be the values of S whose life is not
 * inside a dead value's life.  T has the value that is still inside.  Take a value at the bottom of
 * T.  None of its operations takes effect while a dead value, or another value of T, is inside.  So
 * each of them has a slot that is not covered: a contradiction.
 *
 * So when the removal of x, or a peek at x, returns, the monitor finds the values that must be
 * peeled after x.  It begins with the values that have a mark which x, or another of these values,
 * may cover.  It peels all that it can; the rest must come after x.  There was an order without
 * this operation.  There is one with it if and only if it has a slot that none of the rest covers.
 *
 * Of a window only some slots are needed: the first one, and the first one after each value whose
 * removal is open at the window's end.  All other values that are inside at its end cover every
 * slot from their begin on.
 */
#ifndef KL_CHECK_ONLINE_STACK_H
#define KL_CHECK_ONLINE_STACK_H

#include "check/online/proof.h"
#include "check/online/lifetimes.h"

enum level_state {
	LEVEL_NONE,	/* not inside, or irrelevant */
	LEVEL_ALIVE,	/* certainly inside */
	LEVEL_DYING,	/* its removal is open */
	LEVEL_GONE,	/* dead: its removal has certainly taken effect */
};

struct mark {
	uint64_t at, end;	/* the window's first slot without a dead value, and its end */
	uint64_t call;		/* the window's begin */
	uint32_t next;		/* the next mark of the value, or the next free one */
	struct proof proof;	/* the values that cover the slots before @at */
};

/* A value, by its use. */
struct level {
	uint64_t key;		/* the slot of its last mark */
	uint64_t last;		/* call of its last operation so far */
	uint32_t prev, next;	/* links of values that are alive, by key */
	uint32_t marks;		/* list of its marks, or ON_NONE */
	uint8_t state;		/* enum level_state */
};

/* A value in the state LEVEL_DYING. */
struct dying {
	/* certainly inside in the slots first_ret .. last_call - 1 */
	uint64_t first_ret, last_call;
	uint64_t at;		/* the first slot from @last_call on without a dead value */
	uint32_t use;
	bool forced;		/* a mark is missing */
};

/* An open addition or peek. */
struct open_op {
	uint64_t call, at;	/* @at: the first slot so far without a dead value */
	uint32_t op, use;
	bool add;
};

/* A value that may have to be peeled after another one. */
struct above {
	/* it covers the slots first_ret .. last_call - 1; dead values cover last_call .. at - 1 */
	uint64_t first_ret, last_call, at;
	uint32_t use;
	bool peeled;
	/* the value covers a slot that the core has to explain; it is in the core */
	bool need, named;
};

struct stack {
	struct uses s;
	struct level *l;
	size_t nl, cl;		/* @l has an entry for each use */
	uint32_t head, tail;	/* values that are alive, by key */
	struct dying *dying;
	size_t ndying, cdying;
	struct open_op *open;
	size_t nopen, copen;
	struct mark *marks;
	size_t nmarks, cmarks;
	uint32_t free_mark;
	struct above *above;
	size_t nabove, cabove, first_alive;	/* first_alive: index in @above */
	uint64_t first;		/* values from before the start were gone by this event */
	uint64_t *wild_call;	/* calls of the removals s.wild */
	size_t cwild_call;
	struct proofs dead;
};

/* stack_values.c.  Return: the value's struct dying, or NULL if it is not dying. */
struct dying *level_dying(struct stack *st, uint32_t use);
/* The value is certainly inside from now on, and has no marks yet. */
void level_enter(struct stack *st, uint32_t use);
/*
 * An operation of the value returns.  Its window is from @call to @end, and @at is the window's
 * first slot without a dead value.  Return: 0, or -ENOMEM.
 */
int level_mark(struct kl_online *o, struct stack *st, uint32_t use, uint64_t call, uint64_t at,
	       uint64_t end);
/* The removal of the value was called: it is dying.  Return: 0, or -ENOMEM. */
int level_leave(struct stack *st, uint32_t use, uint64_t first_ret, uint64_t last_call,
		uint64_t at);
/* The removal of the value returned, so other values may be dead, too.  Return: 0, or -ENOMEM. */
int level_die(struct kl_online *o, struct stack *st, struct dying *d);
/* Forget the state and the marks of a value. */
void level_forget(struct kl_online *o, struct stack *st, uint32_t use);
/* The same for all values, and forget the dead ones. */
void level_forget_all(struct kl_online *o, struct stack *st);

/*
 * stack_peel.c: check that an operation of @use, which must take effect by now, has a slot.  @call
 * is the begin of its window, and @at the window's first slot without a dead value.  Return: 0, 1
 * with a core and o->reason if it has none, -ENOMEM.
 */
int above_check(struct kl_online *o, struct stack *st, uint32_t use, uint64_t call, uint64_t at,
		const char *what);
/* Give the use to a pending removal.  Return: 1, 0 if there is none, -ENOMEM. */
int above_give(struct kl_online *o, struct stack *st, uint32_t use);

#endif
