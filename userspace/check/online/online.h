/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deciding a history while it grows, in memory that does not grow with it.
 *
 * Operations come in any order, each when its return is known.  Open operations have not come
 * yet, so there is a watermark, the floor: every operation still to come is called at the floor
 * or later.  Time is followed only up to the floor.  An operation takes part once the floor has
 * passed its return, plus the clock's error, so that no verdict depends on operations that were
 * not seen.  An operation that comes below the floor leaves a gap, and so does one that is open
 * for longer than the memory lasts: its effect is unknown.
 *
 * A partition has a monitor of its kind (queue, stack, priority queue, register), or the
 * frontier, which keeps all configurations that explain the past.  A register has both at first,
 * and then the one that can go on.  When neither can go on in bounded memory, the partition's
 * last operations are checked offline, as long as these are all it had.  After that it is
 * UNKNOWN, and is followed further from an unknown state.
 */
#ifndef KL_CHECK_ONLINE_ONLINE_H
#define KL_CHECK_ONLINE_ONLINE_H

#include "check/cause.h"
#include "check/check.h"

struct kl_online;

/* An operation; any numbers may identify threads and objects. */
struct kl_online_op {
	uint64_t call, ret, drain;	/* as in struct kl_op */
	uint64_t thread, object;
	const struct kl_val *vals;	/* arguments, then results */
	uint16_t method;		/* of the spec */
	uint16_t cpu;
	uint8_t flags;			/* enum kl_op_flags */
	uint32_t stack; /* number of its call's stack, or 0 */
	uint32_t place; /* its line in the input, for reports; 0: none is known */
};

/* A violation, and the time at which it was found. */
struct kl_online_violation {
	uint64_t object, key;
	bool all_objects, has_key;
	uint64_t time;			/* time of the return that nothing explains */
	uint64_t events;		/* number of calls and returns that were followed by then */
	const char *reason;
	const char *engine;
	const char *suspect;		/* the reason why it is only suspected, or NULL */
	const struct kl_report *report;	/* report on its last operations alone, or NULL */
	/* with opts.histories: its last operations, if they show the violation; else NULL */
	const struct kl_history *history;
};

struct kl_online_opts {
	enum kl_clock clock;
	uint64_t error;			/* error of the clock */
	bool fresh;			/* objects begin in the spec's first state */
	bool classical;			/* see kl_options */
	unsigned int max_shrink;	/* number of violations that get a counterexample */
	bool histories;			/* violations come with a history that shows them */
	/* the coverage for which violations are only suspected, or NULL */
	const struct kl_coverage *suspect;
	/* a history with the spellings of words and the name of the input, or NULL */
	const struct kl_history *names;
	/* maximal number of kept operations of a partition; 0: 4096 */
	uint32_t window;
	/* maximal number of operations that wait for an open one; 0: 1048576 */
	uint32_t backlog;
	uint64_t bytes;			/* bound of memory for states, in bytes; 0: 1 GiB */
	uint64_t look_work;		/* looks of one offline check; 0: about a second */
	/* operations for which a register has monitor and frontier; 0: 256 */
	uint32_t both;
	/* the reason of UNKNOWN if there are no operations, or NULL */
	const char *empty;
	const volatile int *stop;
	void (*violation)(void *ctx, const struct kl_online_violation *v);
	void *ctx;
};

/* The progress of a check, which may be asked for at any time. */
struct kl_online_stats {
	/* number of operations that were added; number of calls and returns that were followed */
	uint64_t ops, events;
	/* see kl_online_floor(); time of the last event followed; latest time of those added */
	uint64_t floor, now, newest;
	uint64_t gaps, late, violations, suspected;	/* late: operations below the floor */
	/* number of waiting operations; number of values in containers */
	uint64_t waiting, inside;
	size_t parts;
	size_t count[3];		/* number of partitions for each verdict so far */
	uint64_t bytes;
	enum kl_verdict verdict;
	char reason[160];		/* the reason of UNKNOWN */
	enum kl_unknown_cause cause;	/* of UNKNOWN */
};

/**
 * kl_online_new() - begin a check
 * @spec: the specification
 * @opts: the options
 * @out: gets the check; kl_online_free() it
 *
 * Return: 0 or -ENOMEM.
 */
int kl_online_new(const struct kl_spec *spec, const struct kl_online_opts *opts,
		  struct kl_online **out);
void kl_online_free(struct kl_online *o);

/**
 * kl_online_add() - add an operation
 * @o: the check
 * @op: the operation; its values are copied
 *
 * Return: 0, -EINVAL if its times or its method are wrong, -ENOMEM.
 */
int kl_online_add(struct kl_online *o, const struct kl_online_op *op);

/**
 * kl_online_gap() - report lost operations
 * @o: the check
 * @from: begin of the period that has their calls and returns
 * @to: its end
 * @object: the object, unless @all
 * @all: operations on any object may be lost
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int kl_online_gap(struct kl_online *o, uint64_t from, uint64_t to, uint64_t object, bool all);

/**
 * kl_online_drop() - stop checking an object
 * @o: the check
 * @object: the object; any number, if the specification does not distinguish objects
 * @why: the reason of UNKNOWN; the string must live as long as the check
 *
 * Nothing is concluded about the object from the floor on, and its memory is freed.  Until
 * kl_online_resume() the caller must not add operations of the object that returned, but must add
 * pending ones.
 *
 * Return: 0 or -ENOMEM.
 */
int kl_online_drop(struct kl_online *o, uint64_t object, const char *why);

/**
 * kl_online_resume() - check a dropped object again
 * @o: the check
 * @object: the dropped object
 * @until: operations that were not added had returned by this time
 *
 * The object is followed from an unknown state, and stays UNKNOWN.
 */
void kl_online_resume(struct kl_online *o, uint64_t object, uint64_t until);

/**
 * kl_online_over() - say that no more operations of an object will be added
 * @o: the check
 * @object: the object, whose memory was freed, for example
 *
 * Once its operations are followed, the object is forgotten, except for its verdict.  It stays if
 * it has a violation, which a late operation may put in doubt, or a gap of its own that has not
 * ended.
 *
 * Return: 0 or -ENOMEM.
 */
int kl_online_over(struct kl_online *o, uint64_t object);

/**
 * kl_online_floor() - raise the floor, and follow time up to it
 * @o: the check
 * @floor: every operation still to come is called at this time or later; KL_TIME_MAX if none will
 *
 * Return: 0 or -ENOMEM.
 */
int kl_online_floor(struct kl_online *o, uint64_t floor);

/**
 * kl_online_end() - end a check
 * @o: the check
 *
 * Operations that are kept for an offline check are checked.  After a floor of KL_TIME_MAX the
 * verdict is about the whole history, else about the part that was followed.
 *
 * Return: 0 or -ENOMEM.
 */
int kl_online_end(struct kl_online *o);

/* Get the verdict so far; after kl_online_end() it is final. */
void kl_online_stats(struct kl_online *o, struct kl_online_stats *s);

#endif
