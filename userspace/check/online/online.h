/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deciding a history while it grows, in memory that does not grow with it.
 *
 * Operations come in any order, each once its return is known.  What has come says
 * nothing about what is still under way, so there is a watermark, the floor: every
 * operation still to come is called at that time or later.  Time is followed up to
 * the floor only, and an operation takes part in it once the floor has passed its
 * return (plus the clock's error), so that no verdict depends on what was not seen.
 * One that comes below the floor after all, and one that is under way for longer
 * than the memory lasts, leave a gap: what they did is not known.
 *
 * Each partition has a monitor of its kind (queue, stack, priority queue, register) or the
 * frontier: all configurations that explain the past.  A register has both at first, and
 * the one that can go on.  When neither can in bounded memory
 * the partition's last operations are checked offline as long as these are all it
 * had; then it is UNKNOWN, and is followed further from an unknown state.
 */
#ifndef KL_CHECK_ONLINE_ONLINE_H
#define KL_CHECK_ONLINE_ONLINE_H

#include "check/check.h"

struct kl_online;

/* An operation; threads and objects are told by whatever numbers they have. */
struct kl_online_op {
	uint64_t call, ret, drain;	/* as in struct kl_op */
	uint64_t thread, object;
	const struct kl_val *vals;	/* arguments, then results */
	uint16_t method;		/* of the spec */
	uint16_t cpu;
	uint8_t flags;			/* enum kl_op_flags */
};

/* What was found wrong, and when that was known. */
struct kl_online_violation {
	uint64_t object, key;
	bool all_objects, has_key;
	uint64_t time;			/* of the return that nothing explains */
	uint64_t events;		/* calls and returns followed by then */
	const char *reason;
	const char *engine;
	const char *suspect;		/* opts.suspect: it is suspected only; or NULL */
	const struct kl_report *report;	/* of its last operations alone, or NULL */
	const struct kl_history *history;	/* opts.histories: these, if they show it */
};

struct kl_online_opts {
	enum kl_clock clock;
	uint64_t error;			/* of the clock */
	bool fresh;			/* objects begin in the spec's first state */
	bool classical;			/* see kl_options */
	unsigned int max_shrink;	/* violations that are shown with a counterexample */
	bool histories;			/* violations come with operations that show them */
	const struct kl_coverage *suspect;	/* violations are suspected only, by this; or NULL */
	const struct kl_history *names;	/* whose spellings of words reports use, or NULL */
	uint32_t window;		/* operations kept of a partition, at most; 0: 4096 */
	uint32_t backlog;		/* operations that wait for one under way; 0: 1048576 */
	uint64_t bytes;			/* bound of the memory for states; 0: 1 GiB */
	uint64_t look_work;		/* looks of one offline check; 0: about a second */
	uint32_t both;			/* operations of a register followed twice; 0: 256 */
	const char *empty;		/* why UNKNOWN is right without operations, or NULL */
	const volatile int *stop;
	void (*violation)(void *ctx, const struct kl_online_violation *v);
	void *ctx;
};

/* How far it is; may be asked at any time. */
struct kl_online_stats {
	uint64_t ops, events;		/* come; calls and returns followed */
	uint64_t floor, now, newest;	/* times; @now: of the last event followed */
	uint64_t gaps, late, violations, suspected;
	uint64_t waiting, inside;	/* operations; values in containers */
	size_t parts;
	size_t count[3];		/* partitions by verdict so far */
	uint64_t bytes;
	enum kl_verdict verdict;
	char reason[160];		/* of UNKNOWN */
};

/**
 * kl_online_new() - begin
 * @spec: the specification
 * @opts: how
 * @out: to be freed with kl_online_free()
 *
 * Return: 0 or -ENOMEM.
 */
int kl_online_new(const struct kl_spec *spec, const struct kl_online_opts *opts,
		  struct kl_online **out);
void kl_online_free(struct kl_online *o);

/**
 * kl_online_add() - an operation has come
 * @o: the check
 * @op: the operation; what it points to is copied
 *
 * Return: 0; -EINVAL when its times or method are none; -ENOMEM.
 */
int kl_online_add(struct kl_online *o, const struct kl_online_op *op);

/**
 * kl_online_gap() - operations were lost
 * @o: the check
 * @from: their calls and returns are
 * @to: between these times
 * @object: the object, if not @all
 * @all: any object
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int kl_online_gap(struct kl_online *o, uint64_t from, uint64_t to, uint64_t object, bool all);

/**
 * kl_online_drop() - the operations of an object will not be told any longer
 * @o: the check
 * @object: the object; any, if the specification does not tell objects apart
 * @why: the reason of UNKNOWN; must live as long as the check
 *
 * Nothing is concluded of it from the floor on, and what is kept of it is freed.  It is
 * sound only if none of its operations that returned is told until kl_online_resume();
 * those that never return have to be told all the same.
 *
 * Return: 0 or -ENOMEM.
 */
int kl_online_drop(struct kl_online *o, uint64_t object, const char *why);

/**
 * kl_online_resume() - the operations of a dropped object are told again
 * @o: the check
 * @object: as it was dropped
 * @until: those that were not told had returned by then
 *
 * It is followed from an unknown state, and stays UNKNOWN.
 */
void kl_online_resume(struct kl_online *o, uint64_t object, uint64_t until);

/**
 * kl_online_floor() - every operation still to come is called at a time or later
 * @o: the check
 * @floor: that time; KL_TIME_MAX: no more will come
 *
 * Follows time that far.
 *
 * Return: 0 or -ENOMEM.
 */
int kl_online_floor(struct kl_online *o, uint64_t floor);

/**
 * kl_online_end() - nothing more will be followed
 * @o: the check
 *
 * What is kept to be checked offline is.  After a floor of KL_TIME_MAX the verdict is one
 * on the whole history, else on what was followed of it.
 *
 * Return: 0 or -ENOMEM.
 */
int kl_online_end(struct kl_online *o);

/* The verdict so far; after kl_online_end() it is the last. */
void kl_online_stats(struct kl_online *o, struct kl_online_stats *s);

#endif
