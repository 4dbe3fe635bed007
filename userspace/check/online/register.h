/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers, by Gibbons & Korach's zones (Testing shared memories, section 4) as they grow;
 * offline they are in mono/register.c.
 *
 * A value is a write and the reads of it.  Of its operations that have returned (and its
 * write, once one has) let lo be the first return and hi the last call.  V comes before W for
 * certain if lo(V) < hi(W), and there is an order if and only if no two values come each
 * before the other: by lo + hi, see mono/moves.c.
 *
 * A return of V's first operation breaks nothing, as nothing was called after it.  Another
 * one, called at c > hi(V), does if and only if some W has lo(W) < c and lo(V) < hi(W).  So V
 * is over from the event on that is the least lo(W) of all W with lo(V) < hi(W), and it
 * is wrong when a read of V returns that was called later.  Those W show themselves when
 * their hi rises.  What is over and has nothing under way is forgotten: all that is still to
 * be called comes too late for it.  What is not over was first seen after the last call of
 * all others, so there are no more of these than operations were under way then.
 *
 * A read that is called when its value is over is of a later write of that word, which is
 * how equal words are told apart; if the times do not, the monitor cannot go on.
 *
 * A first state that is not known is a word X whose reads come first, all called before
 * anything else returned: such a read is X's if no write of its word was called by its
 * return.  Reads of X called so early are left out, for that they are X's takes nothing from
 * the others.  Who read so early of a write that was under way may have read X instead, if
 * nobody else tells X: where that makes a difference the monitor cannot go on.  After a gap
 * (ON_LOST) all reads called before a write returned that was called after it are left out,
 * and those under way at its end; a write under way then may be anywhere.
 */
#ifndef KL_CHECK_ONLINE_REGISTER_H
#define KL_CHECK_ONLINE_REGISTER_H

#include "check/online/lifetimes.h"

/* A word that was written once, or was there first. */
struct value {
	uint64_t word;
	uint64_t call;		/* event of the write's call */
	uint64_t lo, hi;	/* first return, NEVER if there is none; last call */
	uint64_t sure;		/* first return of what cannot be of what was there first */
	uint64_t over;		/* what is called later is not of it; or NEVER */
	uint32_t write;		/* operations, or ON_NONE */
	uint32_t see, last;	/* that returned first; that was called last and returned */
	uint32_t by[3];		/* of the value that ended it */
	uint32_t prev, next;	/* by lo, while it is not over; else the others that are */
	uint32_t same;		/* the next of that word; or the next free */
	uint32_t opens;		/* under way, but for what never returns */
	bool written, linked;
	bool doubt;		/* what ended it may have been read before */
	bool vague;		/* several writes of it were under way at a gap's end */
};

/* An operation under way. */
struct doing {
	uint64_t call;
	uint32_t value;		/* or the next free; ON_NONE: a write whose value is forgotten */
};

struct reg {
	struct value *v;
	size_t n, cap;
	uint32_t free;
	struct on_words words;	/* the newest of each word */
	struct doing *d;
	size_t ndoing, cdoing;
	uint32_t free_doing;

	uint64_t ev;
	enum on_begin begin;
	bool strict;
	uint32_t head, tail;	/* not over, by lo */
	uint32_t over;		/* those that are over, with operations under way */

	/* ON_ANY: the first return of all, and the first of another word. */
	uint64_t since, other;
	uint64_t seen_word;
	/* The first's operations, or ON_NONE: what was there before it was not read later. */
	uint32_t pins[2];
	uint32_t ends[3];	/* and those of what ended that; on a fresh one, the first state */
	uint32_t first_read;	/* of what was there first, or ON_NONE */
	uint64_t first;

	uint32_t core[12];
	unsigned int ncore;
	uint32_t calling;	/* the call at which it could not go on, or ON_NONE */
};

static inline uint32_t *doing_of(const struct reg *r, struct on_op *op)
{
	return r->strict ? &op->value2 : &op->value;
}

/* References to operations. */
void reg_put(struct kl_online *o, uint32_t *op);
void reg_hold(struct kl_online *o, uint32_t *at, uint32_t op);

/* register_values.c: the newest of a word, or ON_NONE; a new one, 0 or -ENOMEM. */
uint32_t value_find(const struct reg *r, uint64_t word);
int value_new(struct reg *r, uint64_t word, uint32_t *i);
/* Into the list that begins at @head, at its end if that is kept; and out of it. */
void value_enter(struct reg *r, uint32_t i, uint32_t *head, uint32_t *tail);
void value_leave(struct reg *r, uint32_t i, uint32_t *head, uint32_t *tail);
/* It is in no list: it can be neither written nor read any more. */
void value_forget(struct kl_online *o, struct reg *r, uint32_t i);
void value_release(struct kl_online *o, struct value *v);

#endif
