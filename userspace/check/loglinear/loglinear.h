/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The log-linear monitors (Lee & Mathur: Efficient decrease-and-conquer
 * linearizability monitoring), for containers and registers.
 *
 * Time counts events, that is calls and returns: the event with index e is at time e + 1.  START
 * is before all events, END is after all, and a pending operation returns at END - 1.  Slot g lies
 * between the times g and g + 1.  Operations take effect in slots.  An operation with call c and
 * return r has the slots c .. r - 1.
 *
 * Stacks and priority queues count time in phases.  A phase is some calls and then some returns:
 * the calls of phase p are at time p, its returns at p + 1, and slot p lies between them.  No other
 * slot matters.  Operations begin at calls and end at returns, critical intervals the other way
 * round.  So an operation with another slot also has the nearest of these, and an interval that
 * covers this slot also covers the other.  A return comes before a call with an equal time.
 *
 * A value is one use of a word: the word is added, peeked at, and removed.  By tightening
 * (section 5) the value is added before the first return of any of its operations, `first_ret',
 * and removed after the last call of the others, `last_call'.  Between these times the value is
 * inside in every order.  That is its critical interval.  For example:
 *
 *	add(7)   |----|  first_ret: the return of add(7)
 *	peek 7      |------|
 *	take 7                 |---|  last_call: the call of take
 *
 * No answer of a monitor is trusted.  With a yes comes an order, which is compared with all times.
 * With a no come the few values that break a condition, and a general engine decides these again.
 * So a monitor may guess which removal belongs to which addition, where a word was added more than
 * once or a removal is pending.
 */
#ifndef KL_CHECK_LOGLINEAR_LOGLINEAR_H
#define KL_CHECK_LOGLINEAR_LOGLINEAR_H

#include "check/check.h"
#include "spec/classify/container.h"

#define LL_NONE	UINT32_MAX
#define LL_START	0u

enum ll_kind {
	LL_ADD,
	LL_REMOVE,
	LL_PEEK,
	LL_EMPTY,	/* a removal or peek that found the container empty */
	LL_FREE,	/* a peek with an unknown result */
	LL_OUT,		/* a pending addition whose value no other operation saw */
	LL_UNKNOWN,	/* a removal of an unknown value, see pending_ and unknown_removals.c */
	LL_NOTHING,	/* a pending peek */
};

#define LL_VALUE	((1u << 28) - 1)

/* Pack the kind of an operation with the number of its value. */
static inline uint32_t ll_op(enum ll_kind kind, uint32_t value)
{
	return (uint32_t)kind << 28 | value;
}

static inline enum ll_kind ll_kind(uint32_t op)
{
	return op >> 28;
}

/* Pack an entry of loglinear.ins: the earliest or, with @latest, the latest time of an addition. */
static inline uint32_t ll_in(uint32_t value, bool latest)
{
	return value << 1 | latest;
}

struct ll_value {
	uint32_t add, remove;	/* items; LL_NONE: inside from the start, or at the end */
	uint32_t call;		/* call of the addition */
	uint32_t remove_ret;	/* return of the removal */
	/* first return of all operations; last call of all but the addition */
	uint32_t first_ret, last_call;
	uint32_t first_seen_ret;	/* first return of a removal or peek, or END + 1 */
	uint32_t peeks;		/* number of peeks */
};

/* A few words whose operations have no order by themselves. */
struct ll_core {
	uint32_t *words;	/* their numbers */
	size_t n, cap;
	uint32_t item;		/* an operation that found the container empty, or LL_NONE */
	uint32_t deadline;	/* time by which one of the words must have been removed */
	char why[160];
};

#define LL_SOME_PEEKS	256	/* items of a block, inside which one byte counts peeks */

/* Times of peeks, for stacks and priority queues; other operations are not stored. */
struct ll_peek_times {
	uint32_t *first;	/* number of peeks before each block of LL_SOME_PEEKS items */
	uint8_t *nth;		/* number of peeks before each item, inside its block */
	uint32_t *time[2];	/* calls and returns of peeks, from index 1; index 0 is a dummy */
};

/* The operations of a history, called items, and what a monitor finds out about them. */
struct loglinear {
	const struct kl_slice *s;
	const struct kl_limits *lim;
	struct kl_container c;
	uint32_t nitems;
	uint32_t end;		/* time END */
	bool phases;		/* time counts phases, not events */
	uint32_t *op;		/* ll_op() of each item */
	uint32_t *ev;		/* events: item << 1, + 1 for a return; see ll_events() */
	uint32_t nev;
	uint32_t *call, *ret;	/* times of each item, or NULL; see ll_times() */
	struct ll_peek_times peek_times;	/* see ll_need_peek_times() */
	struct ll_value *v;
	/*
	 * Two entries ll_in() of each value, in order of time: one at the addition's call, one at
	 * first_ret; or NULL.  @unlisted: room for an entry that is not wanted.
	 */
	uint32_t *ins, nins, unlisted;
	uint32_t nvalues;
	uint32_t nfirst;	/* number of values that were inside from the start */
	uint32_t *word_of;	/* number of each value's word; NULL: the value's own number */
	uint64_t *words;	/* each word by its number */
	uint32_t nwords;
	uint32_t nempty, nfree, npeeks;	/* numbers of operations of these kinds */
	bool again;		/* a word was added, or removed, more than once */
	bool suspect;		/* a value may have no order by itself */
	uint32_t *wild;		/* pending removals, in order of call */
	uint32_t nwild;
	uint32_t *deadline;	/* time by which a pending removal must have removed each value */
	uint32_t nunknown;	/* removals that returned an unknown value */
	/*
	 * Operations that found the container empty, in order of call.  The value of such an
	 * operation in m->op is its index here.  @gap: the slot in which it took effect.
	 */
	struct ll_cut { uint32_t item, call, ret, gap; } *cut;
	uint32_t ncuts;
	size_t ccuts;
	struct ll_core core;
	uint32_t *peek, *first_peek;	/* peeks by value, and each value's first; see ll_peeks() */
	struct kl_step *order;	/* the witness */
	uint32_t norder;
	/* the times order more pairs of operations than is certain, see timeline.c */
	bool strict;
	bool hidden;		/* events do not show the order of each thread */
	bool ties;		/* a thread has a return and a call at the same time */
	bool ordered;		/* the caller wants an order */
	/* positions for that order, of stacks and priority queues */
	struct ll_positions *places;
	/* queues with peeks: for each value the clipped first_seen_ret, see queue.c */
	uint32_t *first_sight;
};

static inline uint32_t ll_call(const struct loglinear *m, uint32_t item)
{
	return m->call[item];
}

static inline uint32_t ll_ret(const struct loglinear *m, uint32_t item)
{
	return m->ret[item];
}

/* Note that @npeeks peeks are before @item.  Call this for all items in order. */
static inline void ll_count_peeks(struct ll_peek_times *t, uint32_t item, uint32_t npeeks)
{
	if (!(item % LL_SOME_PEEKS))
		t->first[item / LL_SOME_PEEKS] = npeeks;
	t->nth[item] = npeeks - t->first[item / LL_SOME_PEEKS];
}

/* Return: where the time of a peek's call or, with @ret, of its return is stored. */
static inline uint32_t *ll_peek_time(const struct ll_peek_times *t, uint32_t item, bool ret)
{
	return &t->time[ret][t->first[item / LL_SOME_PEEKS] + t->nth[item] + 1];
}

/*
 * Return: ll_peek_time() if the item @is a peek, else the dummy at index 0.  Whether an item is
 * a peek cannot be predicted, so this has no branch.
 */
static inline uint32_t *ll_any_time(const struct ll_peek_times *t, uint32_t item, bool ret, bool is)
{
	const uint32_t at = t->first[item / LL_SOME_PEEKS] + t->nth[item] + 1;

	return &t->time[ret][at & -(uint32_t)is];
}

/* The index of an item's operation in the history. */
static inline uint32_t ll_index(const struct loglinear *m, uint32_t item)
{
	return m->s->ops ? m->s->ops[item] : item;
}

static inline const struct kl_op *ll_op_of(const struct loglinear *m, uint32_t item)
{
	return &m->s->h->ops[ll_index(m, item)];
}

static inline bool ll_pending(const struct loglinear *m, uint32_t item)
{
	return ll_op_of(m, item)->flags & KL_OP_PENDING;
}

/* Append an item to the order. */
static inline void ll_put(struct loglinear *m, uint32_t item)
{
	m->order[m->norder++] = (struct kl_step){ .item = item };
}

#define LL_UNSEEN	UINT32_MAX	/* first_ret and first_seen_ret before any return */

static inline void ll_new_value(struct ll_value *v)
{
	*v = (struct ll_value){
		.add = LL_NONE,
		.remove = LL_NONE,
		.first_ret = LL_UNSEEN,
		.first_seen_ret = LL_UNSEEN,
	};
}

/* Return: true if the value has a critical interval, in which it is inside in every order. */
static inline bool ll_critical(const struct ll_value *v)
{
	return v->first_ret < v->last_call;
}

/* Return: true if the value has no operations left, so that it is ignored. */
static inline bool ll_gone(const struct loglinear *m, const struct ll_value *v)
{
	return v->first_ret > m->end;
}

/**
 * struct ll_type - the monitor of one container
 * @kind: the container; each has at most one monitor
 * @phases: time counts phases, not events
 * @decide: returns 1 if there is an order, 0 if there is none and m->core says why, or -ENOMEM.  It
 *	cannot decline a history: ll_decide() declines before what no monitor decides
 * @order: puts all items whose kind is before LL_FREE into m->order, by ll_put(), after @decide
 *	returned 1; returns 0 or -ENOMEM
 *
 * A monitor is one file, which ends with LL_MONITOR().
 */
struct ll_type {
	enum kl_container_kind kind;
	bool phases;
	int (*decide)(struct loglinear *m);
	int (*order)(struct loglinear *m);
};

/*
 * Register the monitor @symbol.  The Makefile looks for this word, too, as the linker would leave
 * out a file that nothing names.
 */
#define LL_MONITOR(symbol)                                        \
	static const struct ll_type *const ll_registered_##symbol \
		__attribute__((used, section("ll_monitor_list"))) = &symbol

/* Decides some operations: kl_engine.decide_ops of the engine `log-linear'. */
typedef int ll_decide_fn(const struct kl_slice *s, const struct kl_limits *lim,
			 struct kl_answer *a);
/*
 * gaps.c: decide a history with lost operations by @decide, which sees its parts.  Return: 0,
 * or a negative errno.
 */
int ll_gaps(const struct kl_slice *s, const struct kl_limits *lim, ll_decide_fn *decide,
	    struct kl_answer *a);
/*
 * confirm.c: ask a general engine about a->core, too.  If that engine finds an order, @a becomes
 * UNKNOWN and has no core.  Return: 0, or -ENOMEM.
 */
int ll_confirm(const struct kl_slice *s, const struct kl_limits *lim, struct kl_answer *a);
/* confirm.c: let the frontier engine decide the operations core->core.  Return: 0, or -ENOMEM. */
int ll_ask_general(const struct kl_slice *s, const struct kl_limits *lim,
		   const struct kl_answer *core, struct kl_answer *a);
/* confirm.c: make @a UNKNOWN, for the reason @why. */
void ll_decline(struct kl_answer *a, const char *why);
/* roles.c: the enum kl_role of each method of the history, to be freed; NULL without memory. */
uint8_t *ll_roles(const struct kl_slice *s);
/* thread_order.c.  Return: 1 if m->order keeps the order of each thread, 0 if not, -ENOMEM. */
int ll_keeps_thread_order(const struct loglinear *m);

/*
 * timeline.c: make m->op and the values, and m->ev if it is needed.  Return: 1, or 0 if the
 * monitors cannot decide this history and @reason says why, or -ENOMEM.
 */
int ll_timeline(struct loglinear *m, char *reason, size_t size);
/* Make m->ev, unless it exists.  Return: 0, or -ENOMEM. */
int ll_events(struct loglinear *m);
/*
 * lifetimes.c: complete the values after the last event.  Return: the number of operations that
 * values have.  It is too low if a word was added, or removed, more than once.
 */
uint32_t ll_settle(struct loglinear *m);
/* Make m->ins, unless it exists; needs m->ev.  Return: 0, or -ENOMEM. */
int ll_list_ins(struct loglinear *m);
/* Make m->peek_times unless they exist; ll_alloc_peek_times() only allocates. */
int ll_need_peek_times(struct loglinear *m);
int ll_alloc_peek_times(struct loglinear *m);
void ll_free_peek_times(struct loglinear *m);
/* Free the times of operations; ll_times() makes them again. */
void ll_free_times(struct loglinear *m);
/* Compute all values again, after some operations got other values; needs m->ev. */
void ll_gather(struct loglinear *m);
/* Make m->call and m->ret unless they exist; ll_alloc_times() only allocates, m->ret if @rets. */
int ll_times(struct loglinear *m);
int ll_alloc_times(struct loglinear *m, bool rets);
/*
 * unknown_removals.c: guess which values the removals with unknown results removed; call
 * ll_gather() afterwards.  Return: 0, -EAGAIN if there are too many, -ENOMEM.
 */
int ll_guess_unknown(struct loglinear *m);
/*
 * pending_removals.c: assign to pending removals the values that must have been removed, and
 * compute all values again.  Return: 0, or -ENOMEM.
 */
int ll_give_unknown(struct loglinear *m);
/*
 * Assign the pending removals again, so that a value of m->core, which breaks a condition, is
 * removed earlier.  Return: 1 if one is, 0 if not, -ENOMEM.
 */
int ll_give_more(struct loglinear *m);
/* Give each use of a word a value of its own.  Return: 0, or -ENOMEM. */
int ll_rename(struct loglinear *m);

/*
 * conditions.c: check each value by itself, and operations that found the container empty
 * (Lemma 5.1).  Return: 1 if all conditions hold, 0 with a core, -ENOMEM.
 */
int ll_conditions(struct loglinear *m);

/* Start a core; @deadline is m->core.deadline. */
void ll_core_start(struct loglinear *m, uint32_t deadline);
/* Say what is wrong with the core, as printf() does. */
void ll_core_say(struct loglinear *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Add the word of a value.  Return: 0, or -ENOMEM. */
int ll_core_add(struct loglinear *m, uint32_t value);
/* Add values except @but, whose critical intervals together cover the slots @from .. @to - 1. */
int ll_core_cover(struct loglinear *m, uint32_t from, uint32_t to, uint32_t but);

/*
 * priority_order.c: the values that are not gone, in the order in which a priority queue pops
 * them, or with @last in reverse; equal words are ordered by number.  The lower half of an entry
 * is a value; entries with different upper halves have different words.  Return: an array to be
 * freed, or NULL without memory.
 */
uint64_t *ll_turns(const struct loglinear *m, bool last, uint32_t *count);

/* List the peeks of each value.  Return: 0, or -ENOMEM. */
int ll_list_peeks(struct loglinear *m);

static inline uint32_t ll_word_of(const struct loglinear *m, uint32_t value)
{
	return m->word_of ? m->word_of[value] : value;
}

static inline uint64_t ll_word(const struct loglinear *m, uint32_t value)
{
	return m->words[ll_word_of(m, value)];
}

/* The peeks of a value that has some, v.peeks of them, by call; see ll_list_peeks(). */
static inline const uint32_t *ll_peeks(const struct loglinear *m, uint32_t value)
{
	return m->peek + m->first_peek[value];
}

/* Return: true if two entries of ll_turns() have equal words, and so the same priority. */
static inline bool ll_one_turn(const struct loglinear *m, uint64_t a, uint64_t b)
{
	return a == b || (!((a ^ b) >> 32) && ll_word(m, (uint32_t)a) == ll_word(m, (uint32_t)b));
}

#endif
