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
	ON_ANY,		/* unknown, but all operations that are open from then on are known */
	/* unknown after a gap; operations of the gap may still be open, and take effect later */
	ON_LOST,
};

/* A use of a word; its operations are found as they are announced and called. */
struct use {
	uint64_t word;
	uint64_t call;		/* event of the addition's call, or 0 */
	/*
	 * Events.  @first_ret: the first return of an operation of the use; NEVER until then; 0 if
	 * the value was inside before the monitor began.  @last_call: the last call of an operation
	 * of the use; NEVER while that call is not known.
	 */
	uint64_t first_ret, last_call;
	uint64_t first_seen_ret;	/* event: first return of a removal or peek, or NEVER */
	/* time, not event: earliest return of announced removals and peeks, or NEVER */
	uint64_t seen;
	uint32_t add, remove;	/* operations, or ON_NONE */
	/* removal or peek that returned first, or ON_NONE; operation that was announced last */
	uint32_t see, last;
	uint32_t prev, next;	/* links of uses that are certainly inside, by first_ret */
	uint32_t same;		/* the next use of the cluster */
	uint32_t opens;		/* number of operations that have not returned */
	/*
	 * @inside: it is in the list uses.head.  @removed: its removal has returned, or is pending.
	 * @first: in a queue, the value was inside before the monitor began.  @linked: this struct
	 * is in use.
	 */
	bool inside, removed, first, linked;
	bool given;		/* a guess gave it to a pending removal */
	bool held, taken;	/* pqueue: the value is certainly inside; it has left */
	bool crowd;		/* its word had other uses at the same time */
	bool doubt;		/* it was found wrong, but perhaps by a wrong guess */
};

struct uses {
	struct use *u;
	size_t n, cap;
	uint32_t free;
	struct on_words words;	/* the first use of each word's cluster */

	uint64_t ev;		/* number of the last event */
	enum on_begin begin;
	bool strict;		/* this is on_part.strict */
	bool lifo;		/* of equal words, the last one is removed first */
	uint32_t head, tail;	/* uses that are certainly inside, by first_ret */
	uint64_t ninside;
	uint64_t empty;		/* the last slot at which it was empty; 0 if none */
	struct open_empty {
		uint64_t call;
		uint32_t op;
	} *empties;		/* open operations that will find it empty */
	size_t nempties, cempties;
	uint32_t *wild;		/* pending removals; the first @given of them were given a use */
	size_t nwild, cwild, given;
	/*
	 * No slot is clean, see uses_clean(), while there are open removals or peeks (@bad), or
	 * removed uses with open operations (@odd).  @last_bad: the event at which the last of them
	 * ended.
	 */
	uint32_t bad, odd;
	uint64_t last_bad;
	/*
	 * Removed uses, kept for cores while operations that found the container empty are open.
	 * The first @bury of them are freed.
	 */
	uint32_t *dead;
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

/* Return: the first use of a word's cluster, or ON_NONE. */
uint32_t uses_first(const struct uses *s, uint64_t word);
/* Return: true if the use @i is the only one of its word. */
bool uses_alone(const struct uses *s, uint32_t i);

void uses_init(struct uses *s, bool strict, enum on_begin begin);
void uses_free(struct kl_online *o, struct uses *s);

/* Find the use to which an operation belongs, or make it.  Return: 0, -EDQUOT, -ENOMEM. */
int uses_announce(struct kl_online *o, struct uses *s, uint32_t op);
/* The next event is the call of @op.  Return: 0, or -ENOMEM. */
int uses_call(struct kl_online *o, struct uses *s, uint32_t op);
/* The next event is the return of @op; the monitor processes it afterwards. */
void uses_return(struct kl_online *o, struct uses *s, uint32_t op);
/* The monitor has processed the return: forget the uses that no later operation can concern. */
int uses_returned(struct kl_online *o, struct uses *s, uint32_t op);

/* The use is certainly inside from now on. */
void uses_enter(struct kl_online *o, struct uses *s, uint32_t i);
/* The use need not be inside any more. */
void uses_leave(struct kl_online *o, struct uses *s, uint32_t i);

/* Return: true if it is known that the last operation of the use was called. */
static inline bool use_over(const struct use *u)
{
	return u->last_call != NEVER;
}

/*
 * The operation @op, which found the container empty, returns.  Return: the event of its call, or
 * NEVER if it was called before the monitor began.
 */
uint64_t uses_empty(struct uses *s, uint32_t op);
/*
 * Return: true if the slots from @call on are clean: no operation was open since that can concern
 * a value from before.  If the container was found empty since @call, its state is then known.
 */
bool uses_clean(const struct uses *s, uint64_t call);
/* Make the state known: the container was found empty after the clean slot @call.  Return: 0. */
int uses_known(struct kl_online *o, struct uses *s, uint64_t call);

/* Give the use to a pending removal.  Return: the removal, or ON_NONE if none is left. */
uint32_t uses_give(struct uses *s, uint32_t i);

/* lifetimes_core.c: start a core, the operations that have no order by themselves. */
void core_start(struct uses *s);
/* Add all operations on the word of the use @i to the core.  Return: 0, or -ENOMEM. */
int core_word(struct uses *s, uint32_t i);
/* Add one operation to the core.  Return: 0, or -ENOMEM. */
int core_op(struct uses *s, uint32_t op);
/* Add words that together were inside from the slot @from up to now.  Return: 0, or -ENOMEM. */
int core_since(struct uses *s, uint64_t from);
/*
 * The general engine found an order for the core.  If operations on the core's words are still
 * open, a guess may have been wrong, and more is known when they return.  Return: 1 to go on, 0
 * if the monitor cannot, -ENOMEM.
 */
int uses_doubt(struct kl_online *o, struct uses *s);
/* Return: true if a use of the same word as the use @i is doubted, see use.doubt. */
bool uses_doubted(const struct uses *s, uint32_t i);
/*
 * Get the core.  It is empty if operations on its words may be forgotten.  Return: 0, or -ENOMEM.
 */
int uses_core(const struct kl_online *o, struct uses *s, const uint32_t **ops, size_t *n);

#endif
