/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The monitor of stacks from within: by what can still be at the bottom (see mono/stack.c),
 * with no more memory than what is inside and under way.
 *
 * The dead are values whose removal has taken effect for certain.  Each operation that
 * returned, of a value that may be inside, has a `mark': the first gap of its window in which
 * no dead value is inside for certain.  Two things hold after each event:
 *
 * - the dead have an order by themselves;
 * - each mark is there.  A value of which one is not is inside a dead one's life, so its
 *   removal, which is under way, has taken effect: it is dead as well.
 *
 * Then there is an order of all if the others have one in which no gap is used in which a
 * dead value is inside: between two such gaps each dead value is in one piece, and what is
 * left of their order is an order.  And only then: let there be an order of all, though some
 * values S each have an operation all of whose gaps dead values or others of S cover, as one
 * is inside until now.  Of S take those whose life is not inside a dead one's, at least that
 * one, and of them one at the bottom.  Each of its operations is at a time at which no dead
 * value is inside, nor another of those taken, nor one inside a dead one's life: a gap of it
 * is not covered.
 *
 * So when the removal of x, or a look at it, returns, what has to be peeled after x is looked
 * for: of the values that have marks where x, or another of them, may cover them, all that
 * can be are peeled, and the rest is it.  There was an order without this operation.  There
 * is one with it if and only if it has a gap that none of the rest covers.
 *
 * Of a window only its first gap is needed, and the first ones behind the values that are
 * under way at its end: what is inside then and goes later covers all from where it came in.
 */
#ifndef KL_CHECK_ONLINE_STACK_H
#define KL_CHECK_ONLINE_STACK_H

#include "check/online/proof.h"
#include "check/online/lifetimes.h"

enum level_state {
	LEVEL_NONE,	/* not inside, or nothing follows from it */
	LEVEL_ALIVE,	/* inside for certain */
	LEVEL_DYING,	/* its removal is under way */
	LEVEL_GONE,	/* and has taken effect for certain */
};

struct mark {
	uint64_t at, end;	/* the window's first gap without a dead value, its end */
	uint64_t call;
	uint32_t next;		/* the value's next, or the next free one */
	struct proof proof;	/* that it is not before @at */
};

/* A value, by its use. */
struct level {
	uint64_t key;		/* its last mark's gap */
	uint64_t last;		/* call of its last operation so far */
	uint32_t prev, next;	/* of those that are alive, by key */
	uint32_t marks;
	uint8_t state;
};

struct dying {
	uint64_t lo, hi;	/* inside for certain at the gaps lo .. hi - 1 */
	uint64_t at;		/* the first gap from hi on without a dead value */
	uint32_t use;
	bool forced;		/* a mark is missing */
};

/* An addition or a look under way. */
struct open_op {
	uint64_t call, at;	/* the first gap without a dead value so far */
	uint32_t op, use;
	bool add;
};

/* A value that may have to be peeled after another. */
struct above {
	uint64_t lo, hi, at;	/* covers lo .. hi - 1, and dead values cover up to @at */
	uint32_t use;
	bool peeled;
	bool need, named;	/* what is wrong */
};

struct stack {
	struct uses s;
	struct level *l;
	size_t nl, cl;
	uint32_t head, tail;	/* alive, by key */
	struct dying *dying;
	size_t ndying, cdying;
	struct open_op *open;
	size_t nopen, copen;
	struct mark *marks;
	size_t nmarks, cmarks;
	uint32_t free_mark;
	struct above *above;
	size_t nabove, cabove, first_alive;
	uint64_t first;		/* what was inside before the start was gone by that event */
	uint64_t *wild_call;	/* of s.wild */
	size_t cwild_call;
	struct proofs dead;
};

/* stack_values.c */
struct dying *level_dying(struct stack *st, uint32_t use);
/* It is inside for certain, with no marks yet. */
void level_enter(struct stack *st, uint32_t use);
/* An operation of it with that window returns.  0 or -ENOMEM. */
int level_mark(struct kl_online *o, struct stack *st, uint32_t use, uint64_t call, uint64_t at,
	       uint64_t end);
/* Its removal is under way.  0 or -ENOMEM. */
int level_leave(struct stack *st, uint32_t use, uint64_t lo, uint64_t hi, uint64_t at);
/* Its removal returned; what follows from that.  0 or -ENOMEM. */
int level_die(struct kl_online *o, struct stack *st, struct dying *d);
/* Nothing follows from it any more, or from any. */
void level_forget(struct kl_online *o, struct stack *st, uint32_t use);
void level_forget_all(struct kl_online *o, struct stack *st);

/*
 * stack_peel.c: has an operation of @use a gap that it may be in, as it now has to?  @call: where
 * its window begins, @at: its first gap without a dead value, it ends now.  0, 1 with a core
 * and o->reason, -ENOMEM.
 */
int above_check(struct kl_online *o, struct stack *st, uint32_t use, uint64_t call, uint64_t at,
		const char *what);
/* A pending removal may have taken it.  1, 0 if there is none, -ENOMEM. */
int above_give(struct kl_online *o, struct stack *st, uint32_t use);

#endif
