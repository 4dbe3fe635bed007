/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The log-linear monitors (Lee & Mathur: Efficient decrease-and-conquer
 * linearizability monitoring), for containers and registers.
 *
 * Time is counted in events, calls and returns: the event of index e is at e + 1,
 * START is before all and END after all, what never returned returns at END - 1.
 * Gap g is what lies between the times g and g + 1: operations take effect in
 * gaps.  An operation with call c and return r has the gaps c .. r - 1.
 *
 * For stacks and priority queues it is counted in phases, of some calls and then
 * some returns: the calls of phase p are at p, its returns at p + 1, and gap p is
 * where the calls of a phase are followed by its returns.  No other gaps are worth
 * a thought: operations begin at calls and end at returns, critical intervals the
 * other way round, so what has another gap has the nearest of these, too, and what
 * covers this one covers the other.  Of a return and a call with equal times the
 * return is earlier.
 *
 * A value is one use of a word: added, looked at, removed.  Tightened
 * (section 5), it was added before the first return of any of its operations,
 * `lo', and removed after the last call of any of the others, `hi': between lo
 * and hi it is inside whatever the order, its critical interval.
 *
 * No answer of a monitor is taken on trust: a yes comes with an order, which is
 * held against all that is known of times, and a no with the few values that
 * break a condition, which a general engine decides once more.  So it does no
 * harm that which removal belongs to which addition is a guess where a word was
 * added more than once, or is pending.
 */
#ifndef KL_CHECK_LOGLINEAR_LOGLINEAR_H
#define KL_CHECK_LOGLINEAR_LOGLINEAR_H

#include "check/check.h"
#include "spec/classify/container.h"

#define MONO_NONE	UINT32_MAX
#define MONO_START	0u

enum mono_kind {
	MONO_ADD, MONO_REMOVE, MONO_PEEK,
	MONO_EMPTY,	/* found it empty */
	MONO_FREE,	/* changes nothing, and what it saw is not known */
	MONO_OUT,	/* pending, it may have added something that nobody saw */
	MONO_WILD,	/* it may have removed something; pending, or see unknown_removals.c */
	MONO_NOTHING,	/* pending, it changes nothing */
};

#define MONO_VALUE	((1u << 28) - 1)

/* An operation (an item): what it is, and its value. */
static inline uint32_t mono_op(enum mono_kind kind, uint32_t value)
{
	return (uint32_t)kind << 28 | value;
}

static inline enum mono_kind mono_kind(uint32_t op)
{
	return op >> 28;
}

/* Where a value may come in, or, with @lo, where it is in at the latest. */
static inline uint32_t mono_in(uint32_t value, bool lo)
{
	return value << 1 | lo;
}

struct mono_value {
	uint32_t add, remove;	/* items; MONO_NONE: inside from the start, inside at the end */
	uint32_t call;		/* of the addition */
	uint32_t rret;		/* return of the removal */
	uint32_t lo, hi;
	uint32_t oret;		/* first return of a removal or peek, END + 1 if there is none */
	uint32_t peeks;		/* how many */
};

/* Values (words) that by themselves have no order. */
struct mono_core {
	uint32_t *words;
	size_t n, cap;
	uint32_t item;		/* an operation that found it empty, or MONO_NONE */
	uint32_t deadline;	/* by when one of them would have had to be gone */
	char why[160];
};

#define MONO_SOME_PEEKS	256	/* operations among which one byte tells which peek one is */

/* Times of the peeks alone, of stacks and priority queues: most operations are none. */
struct mono_peek_times {
	uint32_t *first;	/* of each SOME_PEEKS items, how many peeks were before, */
	uint8_t *nth;		/* and of each item, how many of these */
	uint32_t *time[2];	/* calls, returns: at 0 of what is no peek, then of each peek */
};

struct mono {
	const struct kl_slice *s;
	const struct kl_limits *lim;
	struct kl_container c;
	uint32_t nitems;
	uint32_t end;		/* time END */
	bool phases;		/* time is counted in these */
	uint32_t *op;		/* of each item */
	uint32_t *ev;		/* events: item << 1, + 1 if it is its return; see mono_events() */
	uint32_t nev;
	uint32_t *call, *ret;	/* times of each item, see mono_times(); not all are always made */
	struct mono_peek_times peek_times;	/* see mono_need_peek_times() */
	struct mono_value *v;
	/* In order, mono_in() where an addition is called and at `lo' if an event; NULL: not wanted. */
	uint32_t *ins, nins, unlisted;
	uint32_t nvalues, nfirst;	/* of which so many were in from the start */
	uint32_t *word_of;	/* number of each value's word; NULL: its own number */
	uint64_t *words;	/* by number */
	uint32_t nwords;
	uint32_t nempty, nfree, npeeks;
	bool again;		/* a word was added, or removed, more than once */
	bool suspect;		/* some value by itself may have no order */
	uint32_t *wild;		/* pending removals in order of call */
	uint32_t nwild;
	uint32_t *deadline;	/* of each value, by when one of them must have taken it */
	uint32_t nunknown;	/* removals that returned, with what is not known */
	/*
	 * Of each operation that found it empty, in order of call; the value of its
	 * m->op is its place here.  @gap: where it was.
	 */
	struct mono_cut { uint32_t item, call, ret, gap; } *cut;
	uint32_t ncuts;
	size_t ccuts;
	struct mono_core core;
	uint32_t *peek, *first_peek;	/* by value, see mono_peeks(); which is each one's first */
	struct kl_step *order;	/* the witness */
	uint32_t norder;
	bool strict;		/* more is ordered than is certain, see timeline.c: a no says nothing */
	bool hidden;		/* events do not show the order of each thread */
	bool ties;		/* a thread returned and was called at one time */
	bool ordered;		/* an order will be wanted */
	struct mono_places *places;	/* then, of stacks and priority queues */
	uint32_t *first_sight;	/* of queues with peeks, see queue.c */
};

static inline uint32_t mono_call(const struct mono *m, uint32_t item)
{
	return m->call[item];
}

static inline uint32_t mono_ret(const struct mono *m, uint32_t item)
{
	return m->ret[item];
}

/* @npeeks: those before @item; for all items, in order. */
static inline void mono_count_peeks(struct mono_peek_times *t, uint32_t item, uint32_t npeeks)
{
	if (!(item % MONO_SOME_PEEKS))
		t->first[item / MONO_SOME_PEEKS] = npeeks;
	t->nth[item] = npeeks - t->first[item / MONO_SOME_PEEKS];
}

/* The time when a peek is called or, with @ret, returns. */
static inline uint32_t *mono_peek_time(const struct mono_peek_times *t, uint32_t item, bool ret)
{
	return &t->time[ret][t->first[item / MONO_SOME_PEEKS] + t->nth[item] + 1];
}

/* The same if it @is one, else where it does no harm to write: which, is chance. */
static inline uint32_t *mono_any_time(const struct mono_peek_times *t, uint32_t item, bool ret,
				      bool is)
{
	const uint32_t at = t->first[item / MONO_SOME_PEEKS] + t->nth[item] + 1;

	return &t->time[ret][at & -(uint32_t)is];
}

/* The index in the history. */
static inline uint32_t mono_index(const struct mono *m, uint32_t item)
{
	return m->s->ops ? m->s->ops[item] : item;
}

static inline const struct kl_op *mono_op_of(const struct mono *m, uint32_t item)
{
	return &m->s->h->ops[mono_index(m, item)];
}

static inline bool mono_pending(const struct mono *m, uint32_t item)
{
	return mono_op_of(m, item)->flags & KL_OP_PENDING;
}

/* The next of the order. */
static inline void mono_put(struct mono *m, uint32_t item)
{
	m->order[m->norder++] = (struct kl_step){ .item = item };
}

#define MONO_UNSEEN	UINT32_MAX	/* lo, oret: not yet; MONO_START for rret */

static inline void mono_new_value(struct mono_value *v)
{
	*v = (struct mono_value){
		.add = MONO_NONE, .remove = MONO_NONE, .lo = MONO_UNSEEN, .oret = MONO_UNSEEN,
	};
}

/* Is it inside at some time, whatever the order? */
static inline bool mono_critical(const struct mono_value *v)
{
	return v->lo < v->hi;
}

/* A value of which nothing is left: it counts for nothing. */
static inline bool mono_gone(const struct mono *m, const struct mono_value *v)
{
	return v->lo > m->end;
}

/**
 * struct mono_type - the monitor of one container
 * @decide: 1: there is an order; 0: there is none, and m->core says why; -ENOMEM
 * @order: fills m->order after a yes; 0 or -ENOMEM
 */
struct mono_type {
	int (*decide)(struct mono *m);
	int (*order)(struct mono *m);
};

/* set.c: a whole set, or map of bits; fills @a.  0 or -ENOMEM. */
int mono_set(const struct kl_slice *s, const struct kl_limits *lim, const struct kl_container *c,
	     struct kl_answer *a);
/* gaps.c: a history in which operations were lost; fills @a.  0 or a negative errno. */
int mono_gaps(const struct kl_slice *s, const struct kl_limits *lim, struct kl_answer *a);
/*
 * engine.c: ask a general engine about a->core, too; if it does not say the same there
 * is no violation and no core.  0 or -ENOMEM.
 */
int mono_confirm(const struct kl_slice *s, const struct kl_limits *lim, struct kl_answer *a);
/* engine.c: enum kl_role of each of the history's methods, to be freed; NULL without memory. */
uint8_t *mono_roles(const struct kl_slice *s);
/* Ask the frontier engine about @core->core; the answer of what it says is @a.  0 or -ENOMEM. */
int mono_ask_general(const struct kl_slice *s, const struct kl_limits *lim,
		     const struct kl_answer *core, struct kl_answer *a);
/* engine.c: does m->order keep the order of each thread?  1, 0 or -ENOMEM. */
int mono_keeps_lines(const struct mono *m);

extern const struct mono_type mono_queue, mono_stack, mono_pqueue, mono_register;

/*
 * timeline.c: m->ev, m->op and the values.  1: done; 0: this history is not for the
 * monitors, @reason says why; -ENOMEM.
 */
int mono_timeline(struct mono *m, char *reason, size_t size);
/* Make m->ev, if it is not there.  0 or -ENOMEM. */
int mono_events(struct mono *m);
/*
 * lifetimes.c: what can be said of the values when all events were seen.  Return: of how many
 * operations they tell.
 */
uint32_t mono_settle(struct mono *m);
/* Make m->ins, if it is not there; needs m->ev.  0 or -ENOMEM. */
int mono_list_ins(struct mono *m);
/* Make m->peek_times, if they are not there; or only room.  0 or -ENOMEM. */
int mono_need_peek_times(struct mono *m);
int mono_alloc_peek_times(struct mono *m);
void mono_free_peek_times(struct mono *m);
/* The times of operations are not needed any more, as long as nobody asks again. */
void mono_free_times(struct mono *m);
/* Gather the values again, after some operations were given other ones; needs m->ev. */
void mono_gather(struct mono *m);
/* Make m->call and m->ret, if they are not there; or only room, @rets: for both.  0 or -ENOMEM. */
int mono_times(struct mono *m);
int mono_alloc_times(struct mono *m, bool rets);
/*
 * unknown_removals.c: guess what removals took that returned; mono_gather() them then.  0,
 * -EAGAIN if that is too much, -ENOMEM.
 */
int mono_guess_unknown(struct mono *m);
/*
 * pending_removals.c: give pending removals what has to be gone; gathers the values.  0 or -ENOMEM.
 * Then, what breaks the condition of m->core, too: 1, 0 if that is not so, -ENOMEM.
 */
int mono_give_wild(struct mono *m);
int mono_give_more(struct mono *m);
/* Give each use of a word a value of its own; 0 or -ENOMEM. */
int mono_rename(struct mono *m);

/*
 * conditions.c: what holds of each value by itself, and where it was empty
 * (Lemma 5.1).  1, 0 with a core, or -ENOMEM.
 */
int mono_standard(struct mono *m);

/* The core: start one, add a value to it, say what is wrong with it.  Negative errno on failure. */
void mono_core_start(struct mono *m, uint32_t deadline);
void mono_core_say(struct mono *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int mono_core_add(struct mono *m, uint32_t value);
/* Add values other than @but whose critical intervals cover the gaps @from .. @to - 1. */
int mono_core_cover(struct mono *m, uint32_t from, uint32_t to, uint32_t but);

/*
 * priority_order.c: values that are not gone, as they come out of a priority queue, or with @last the
 * other way round; equal ones by number.  In the lower halves; where the upper ones differ
 * the words do.  To be freed; NULL without memory.
 */
uint64_t *mono_turns(const struct mono *m, bool last, uint32_t *count);

/* Peeks by value.  0 or -ENOMEM. */
int mono_list_peeks(struct mono *m);

static inline uint32_t mono_word_of(const struct mono *m, uint32_t value)
{
	return m->word_of ? m->word_of[value] : value;
}

static inline uint64_t mono_word(const struct mono *m, uint32_t value)
{
	return m->words[mono_word_of(m, value)];
}

/* The peeks of a value that has some, as many as it has, by call; see mono_list_peeks(). */
static inline const uint32_t *mono_peeks(const struct mono *m, uint32_t value)
{
	return m->peek + m->first_peek[value];
}

/* Are they equal?  See mono_turns(). */
static inline bool mono_one_turn(const struct mono *m, uint64_t a, uint64_t b)
{
	return a == b || (!((a ^ b) >> 32) &&
			  mono_word(m, (uint32_t)a) == mono_word(m, (uint32_t)b));
}

#endif
