/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Uses of words, as the online monitors of containers follow them: a word is added,
 * looked at and removed.  Uses of one word that overlap in time are a cluster: which
 * operation belongs to which of them is a guess, so they are kept until all are over,
 * and whatever is found wrong is said of all of them together.
 *
 * Time is counted in the monitor's own events.
 */
#ifndef KL_CHECK_ONLINE_USES_H
#define KL_CHECK_ONLINE_USES_H

#include "check/online/internal.h"

#define NEVER	UINT64_MAX

/* What was inside when the monitor began. */
enum on_begin {
	ON_FRESH,	/* nothing */
	ON_ANY,		/* that is not known, and all that follows is */
	ON_LOST,	/* neither is known: it waits for a time at which it is empty for certain */
};

struct use {
	uint64_t word;
	uint64_t call;		/* event of the addition, 0: none */
	uint64_t lo, hi;	/* first return, last call; NEVER if they have not been */
	uint64_t oret;		/* first return of a removal or peek */
	uint32_t add, remove;	/* operations, or ON_NONE */
	uint32_t see, last;	/* that saw it first; that was called last */
	uint32_t prev, next;	/* of what is inside for certain, by lo */
	uint32_t same;		/* the cluster's next */
	uint32_t opens;		/* operations that have not returned */
	bool inside, removed, first, linked;
	bool taken;		/* pqueue: it is gone */
};

struct uses {
	struct use *u;
	size_t n, cap;
	uint32_t free;
	uint32_t *table;	/* hash of word -> first of its cluster + 1 */
	size_t size, nwords;

	uint64_t ev;		/* the last event */
	enum on_begin begin;
	bool strict;
	uint32_t head, tail;	/* inside for certain, by lo */
	uint64_t ninside;
	uint64_t empty;		/* the last gap at which nothing was; 0 if none */
	struct open_empty {
		uint64_t call;
		uint32_t op;
	} *empties;		/* operations under way that will find it empty */
	size_t nempties, cempties;
	uint32_t *wild;		/* pending removals; those given away are at the end */
	size_t nwild, cwild, given;
	uint32_t bad, odd;	/* operations, uses that keep an empty time from being clean */
	uint64_t last_bad;
	uint32_t *dead;		/* uses that are over, while an operation may find it empty */
	size_t ndead, bury, cdead;
	uint32_t *core;
	size_t ncore, ccore;
};

static inline struct use *use(struct uses *s, uint32_t i)
{
	return &s->u[i];
}

static inline uint32_t use_of(const struct uses *s, const struct on_op *op)
{
	return s->strict ? op->value2 : op->value;
}

void uses_init(struct uses *s, bool strict, enum on_begin begin);
void uses_free(struct kl_online *o, struct uses *s);

/* Find the use that an operation is of.  0, -EDQUOT, -ENOMEM. */
int uses_announce(struct kl_online *o, struct uses *s, uint32_t op);
/* The next event is a call. */
int uses_call(struct kl_online *o, struct uses *s, uint32_t op);
/* The next event is a return; before anything is looked at. */
void uses_return(struct kl_online *o, struct uses *s, uint32_t op);
/* It has been looked at: what is over is forgotten. */
int uses_returned(struct kl_online *o, struct uses *s, uint32_t op);

/* It is inside for certain from now on; it no longer is. */
void uses_enter(struct kl_online *o, struct uses *s, uint32_t i);
void uses_leave(struct kl_online *o, struct uses *s, uint32_t i);

/* Has the last of its operations been called, and is that known? */
static inline bool use_over(const struct use *u)
{
	return u->hi != NEVER;
}

/*
 * The operation that found it empty is about to return: when it was called, and
 * whether the time is clean: nothing was inside, and nothing under way could have
 * come from before.  Then what is inside is known.
 */
uint64_t uses_empty(struct uses *s, uint32_t op);
bool uses_clean(const struct uses *s, uint64_t call);
int uses_known(struct kl_online *o, struct uses *s, uint64_t call);

/* A pending removal may have taken it.  Return: the operation, or ON_NONE. */
uint32_t uses_give(struct uses *s, uint32_t i);

/* What is wrong: start; all operations on the word of a use; one operation. */
void core_start(struct uses *s);
int core_word(struct uses *s, uint32_t i);
int core_op(struct uses *s, uint32_t op);
/* Words that were inside from the gap @from on, one after the other. */
int core_since(struct uses *s, uint64_t from);
int uses_core(struct uses *s, const uint32_t **ops, size_t *n);

#endif
