/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Uses of words, as the online monitors of containers follow them.  In a use a word is added,
 * peeked at, and removed.  Uses of one word that overlap in time are a cluster.  Which operation
 * belongs to which of them is a guess, so a cluster is kept until all its uses are over, and a
 * violation concerns the cluster as a whole.
 *
 * Time counts the monitor's own events.
 */
#ifndef KL_CHECK_ONLINE_LIFETIMES_H
#define KL_CHECK_ONLINE_LIFETIMES_H

#include "check/online/internal.h"

#define NEVER	UINT64_MAX

/* The state when the monitor began. */
enum on_begin {
	ON_FRESH,	/* empty */
	ON_ANY,		/* unknown, and all later operations are known */
	/* unknown; open operations are unknown, too, so it waits until it is certainly empty */
	ON_LOST,
};

struct use {
	uint64_t word;
	uint64_t call;		/* event of the addition's call, or 0 */
	/* events: first return of an operation of the use; last call of one; NEVER before these */
	uint64_t first_ret, last_call;
	uint64_t first_seen_ret;	/* event: first return of a removal or peek, or NEVER */
	uint64_t seen;		/* that return's time in advance, as soon as it is known */
	uint32_t add, remove;	/* operations, or ON_NONE */
	uint32_t see, last;	/* the operation that saw it first; the one that was called last */
	uint32_t prev, next;	/* links of uses that are certainly inside, by first_ret */
	uint32_t same;		/* the next use of the cluster */
	uint32_t opens;		/* number of operations that have not returned */
	bool inside, removed, first, linked;
	bool given;		/* a guess gave it to a pending removal */
	bool held, taken;	/* pqueue: the value is inside; it is gone */
	bool crowd;		/* its word had other uses at the same time */
	bool doubt;		/* it was found wrong, but perhaps by a wrong guess */
};

struct uses {
	struct use *u;
	size_t n, cap;
	uint32_t free;
	struct on_words words;	/* the first use of each word's cluster */

	uint64_t ev;		/* the last event */
	enum on_begin begin;
	bool strict;
	bool lifo;		/* of equal words, the last one is removed first */
	uint32_t head, tail;	/* uses that are certainly inside, by first_ret */
	uint64_t ninside;
	uint64_t empty;		/* the last slot at which it was empty; 0 if none */
	struct open_empty {
		uint64_t call;
		uint32_t op;
	} *empties;		/* open operations that will find it empty */
	size_t nempties, cempties;
	uint32_t *wild;		/* pending removals; those that were given a use are at the end */
	size_t nwild, cwild, given;
	/* numbers of operations and uses that keep an empty time from being clean */
	uint32_t bad, odd;
	uint64_t last_bad;	/* event at which the last of these had returned */
	uint32_t *dead;		/* uses that are over, kept while an operation may find it empty */
	size_t ndead, bury, cdead;
	uint32_t *core;
	size_t ncore, ccore;
	uint32_t accused;	/* the use that the core began with, or ON_NONE */
	size_t ndoubts;
	uint32_t returning;	/* the operation whose return is being processed, or ON_NONE */
};

static inline struct use *use(struct uses *s, uint32_t i)
{
	return &s->u[i];
}

static inline uint32_t use_of(const struct uses *s, const struct on_op *op)
{
	return s->strict ? op->value2 : op->value;
}

/* The first use of a word's cluster, or ON_NONE. */
uint32_t uses_first(const struct uses *s, uint64_t word);
/* Is this the only use of its word? */
bool uses_alone(const struct uses *s, uint32_t i);

void uses_init(struct uses *s, bool strict, enum on_begin begin);
void uses_free(struct kl_online *o, struct uses *s);

/* Find the use to which an operation belongs.  0, -EDQUOT, -ENOMEM. */
int uses_announce(struct kl_online *o, struct uses *s, uint32_t op);
/* The next event is a call. */
int uses_call(struct kl_online *o, struct uses *s, uint32_t op);
/* The next event is a return; this comes before the monitor processes it. */
void uses_return(struct kl_online *o, struct uses *s, uint32_t op);
/* The monitor has processed the return: forget uses that are over. */
int uses_returned(struct kl_online *o, struct uses *s, uint32_t op);

/* The use is certainly inside from now on; it is no longer. */
void uses_enter(struct kl_online *o, struct uses *s, uint32_t i);
void uses_leave(struct kl_online *o, struct uses *s, uint32_t i);

/* Is it known that the last operation of the use was called? */
static inline bool use_over(const struct use *u)
{
	return u->last_call != NEVER;
}

/*
 * uses_empty() returns the call of an operation that found the container empty and is about to
 * return.  uses_clean() tells whether that time is clean: no value was inside, and no open
 * operation can concern an earlier value.  Then the state is known.
 */
uint64_t uses_empty(struct uses *s, uint32_t op);
bool uses_clean(const struct uses *s, uint64_t call);
int uses_known(struct kl_online *o, struct uses *s, uint64_t call);

/* Give the use to a pending removal.  Return: the removal, or ON_NONE. */
uint32_t uses_give(struct uses *s, uint32_t i);

/* lifetimes_core.c: what is wrong: start; all operations on the word of a use; one operation. */
void core_start(struct uses *s);
int core_word(struct uses *s, uint32_t i);
int core_op(struct uses *s, uint32_t op);
/* Add words that were inside from the slot @from on, one after the other. */
int core_since(struct uses *s, uint64_t from);
/*
 * The general engine found an order for the core.  If operations on the core's words are still
 * open, a guess may have been wrong, and more is known when they return.  Return: 1 to go on, 0
 * if the monitor cannot, -ENOMEM.
 */
int uses_doubt(struct kl_online *o, struct uses *s);
/* Is any use of this use's word doubted? */
bool uses_doubted(const struct uses *s, uint32_t i);
/* Get the core.  It is empty if operations that may belong to its words are forgotten. */
int uses_core(const struct kl_online *o, struct uses *s, const uint32_t **ops, size_t *n);

#endif
