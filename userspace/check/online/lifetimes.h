/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Uses of words, as the online monitors of containers follow them: a word is added,
 * looked at and removed.  Uses of one word that overlap in time are a cluster: which
 * operation belongs to which of them is a guess, so they are kept until all are over,
 * and whatever is found wrong is said of all of them together.
 *
 * Time is counted in the monitor's own events.
 */
#ifndef KL_CHECK_ONLINE_LIFETIMES_H
#define KL_CHECK_ONLINE_LIFETIMES_H

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
	uint64_t seen;		/* time of that, as soon as it is known */
	uint32_t add, remove;	/* operations, or ON_NONE */
	uint32_t see, last;	/* that saw it first; that was called last */
	uint32_t prev, next;	/* of what is inside for certain, by lo */
	uint32_t same;		/* the cluster's next */
	uint32_t opens;		/* operations that have not returned */
	bool inside, removed, first, linked;
	bool given;		/* to a pending removal: a guess */
	bool held, taken;	/* pqueue: it is inside, it is gone */
	bool crowd;		/* there were others of its word at once */
	bool doubt;		/* said to be wrong, and it may be a wrong guess */
};

struct uses {
	struct use *u;
	size_t n, cap;
	uint32_t free;
	struct on_words words;	/* the first of each word's cluster */

	uint64_t ev;		/* the last event */
	enum on_begin begin;
	bool strict;
	bool lifo;		/* of equal words the last is removed first */
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
	uint64_t last_bad;	/* when the last of these had returned */
	uint32_t *dead;		/* that are over, while an operation may find it empty */
	size_t ndead, bury, cdead;
	uint32_t *core;
	size_t ncore, ccore;
	uint32_t accused;	/* the use that the core began with, or ON_NONE */
	size_t ndoubts;
	uint32_t returning;	/* the operation whose return is being looked at, or ON_NONE */
};

static inline struct use *use(struct uses *s, uint32_t i)
{
	return &s->u[i];
}

static inline uint32_t use_of(const struct uses *s, const struct on_op *op)
{
	return s->strict ? op->value2 : op->value;
}

/* The first of a word's cluster, or ON_NONE. */
uint32_t uses_first(const struct uses *s, uint64_t word);
/* Is it the only use of its word? */
bool uses_alone(const struct uses *s, uint32_t i);

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

/* lifetimes_core.c: what is wrong: start; all operations on the word of a use; one operation. */
void core_start(struct uses *s);
int core_word(struct uses *s, uint32_t i);
int core_op(struct uses *s, uint32_t op);
/* Words that were inside from the gap @from on, one after the other. */
int core_since(struct uses *s, uint64_t from);
/*
 * The general engine finds an order for the core.  If operations of the same word are
 * still under way the guess may have been wrong, and more is known when they return.
 * Return: 1: it goes on; 0: it cannot; -ENOMEM.
 */
int uses_doubt(struct kl_online *o, struct uses *s);
/* Is that so of the word of a use? */
bool uses_doubted(const struct uses *s, uint32_t i);
/* None, if operations of one of the words are forgotten that may belong to these. */
int uses_core(const struct kl_online *o, struct uses *s, const uint32_t **ops, size_t *n);

#endif
