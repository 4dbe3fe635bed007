/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers, by Gibbons & Korach's zones (Testing shared memories, section 4), while they grow;
 * offline they are in loglinear/register/register.c.
 *
 * A value V is a write and its reads.  Of its operations that have returned, and of its write once
 * one of them has, first_ret(V) is the first return and last_call(V) the last call.  V is certainly
 * before another value W if first_ret(V) < last_call(W).  There is an order if and only if no two
 * values are each before the other: order them by first_ret + last_call, see
 * loglinear/register/rmw.c.
 *
 * The return of V's first operation breaks nothing, since no operation was called after it.  The
 * return of a later operation, called at c > last_call(V), breaks the order if and only if some W
 * has first_ret(W) < c and first_ret(V) < last_call(W).  So V is over from an event on: the minimum
 * of first_ret(W) over all W with first_ret(V) < last_call(W).  A read of V that was called later
 * than that is wrong when it returns.  Such a W is found when its last_call rises.  A value that is
 * over and has no open operations is forgotten.  Values that are not over were first seen after the
 * last call of all others, so there are at most as many as there were open operations.
 *
 * A read that is called after its value is over belongs to a later write of the word.  So equal
 * words are distinguished; where times do not suffice, the monitor cannot go on.
 *
 * An unknown first state is a word X whose reads come first: they were called before any other
 * operation returned, and no write of X was called by their return.  Such reads are omitted, since
 * they have a place before all other operations.  An early read of a write that was open may have
 * read X instead, if no other operation shows X.  Where that matters, the monitor cannot go on.
 * After a gap (ON_LOST) the reads that were open at its end are omitted, and all reads that were
 * called before the return of a write that was called after the gap.  A write that was open at the
 * end of the gap may take effect anywhere.
 */
#ifndef KL_CHECK_ONLINE_REGISTER_H
#define KL_CHECK_ONLINE_REGISTER_H

#include "check/online/lifetimes.h"

/* A value: a word that was written, or the first word. */
struct value {
	uint64_t word;
	uint64_t call;		/* event of the write's call */
	uint64_t first_ret, last_call;	/* first_ret is NEVER before any return */
	/* first return of an operation that cannot concern the first word */
	uint64_t sure;
	uint64_t over;		/* event after which no call concerns the value, or NEVER */
	uint32_t write;		/* operations, or ON_NONE */
	/* the operation that returned first; of those that returned, the one called last */
	uint32_t see, last;
	/* of the value that ended this one: @write, @see, and the operation that was called last */
	uint32_t by[3];
	uint32_t prev, next;	/* links in the list reg.head, by first_ret, or reg.over */
	uint32_t same;		/* the next value of the same word, or the next free one */
	uint32_t opens;		/* number of open operations, except pending ones */
	/* its write was called, or it is the known first word; this struct is in use */
	bool written, linked;
	bool doubt;		/* reads of the value that ended it may have read the first word */
	bool vague;		/* several writes of the word were open at a gap's end */
};

/* An open operation. */
struct doing {
	uint64_t call;
	/* its value, or the next free; ON_NONE: a write whose value is forgotten */
	uint32_t value;
};

struct reg {
	struct value *v;
	size_t n, cap;
	uint32_t free;
	struct on_words words;	/* the newest value of each word */
	struct doing *d;
	size_t ndoing, cdoing;
	uint32_t free_doing;

	uint64_t ev;		/* number of the last event */
	enum on_begin begin;
	bool strict;		/* this is on_part.strict */
	uint32_t head, tail;	/* values that are not over, by first_ret */
	uint32_t over;		/* values that are over and have open operations */

	/*
	 * With an unknown first state, events or NEVER.  @since: the first return; after a gap, of
	 * a write that was called after it.  @other: the first return of a write, or that shows
	 * another word than @seen_word.
	 */
	uint64_t since, other;
	uint64_t seen_word;	/* the word of the return @since */
	/*
	 * The operation that returned first, and the write of its word; or ON_NONE.  With them, a
	 * core shows that the unknown first word was replaced.
	 */
	uint32_t pins[2];
	/* once it is over, value.by of the first word or, if that is unknown, of the next one */
	uint32_t ends[3];
	uint32_t first_read;	/* a read of the unknown first word, or ON_NONE */
	uint64_t first;		/* that word */

	uint32_t core[12];	/* the operations that have no order by themselves */
	unsigned int ncore;
	uint32_t calling;	/* the call at which the monitor could not go on, or ON_NONE */
};

/* Return: where the index of the operation's struct doing is stored. */
static inline uint32_t *doing_of(const struct reg *r, struct on_op *op)
{
	return r->strict ? &op->value2 : &op->value;
}

/* Drop the reference *op, unless it is ON_NONE, and make it ON_NONE. */
void reg_put(struct kl_online *o, uint32_t *op);
/* Make *at a reference to the operation @op, or ON_NONE; drop the reference that it was. */
void reg_hold(struct kl_online *o, uint32_t *at, uint32_t op);

/* register_values.c.  Return: the newest value of a word, or ON_NONE. */
uint32_t value_find(const struct reg *r, uint64_t word);
/* Make a value of a word; *i becomes its index.  Return: 0, or -ENOMEM. */
int value_new(struct reg *r, uint64_t word, uint32_t *i);
/* Insert a value at the end of a list or, if @tail is NULL, at its front. */
void value_enter(struct reg *r, uint32_t i, uint32_t *head, uint32_t *tail);
/* Remove a value from a list; @tail is NULL if the list has none. */
void value_leave(struct reg *r, uint32_t i, uint32_t *head, uint32_t *tail);
/* Forget a value that is in no list, and can be neither written nor read any more. */
void value_forget(struct kl_online *o, struct reg *r, uint32_t i);
/* Drop the value's references to operations. */
void value_release(struct kl_online *o, struct value *v);

#endif
