/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The story of a violation: what happened, to which value, by whom, and why no order works.
 *
 *	t2's deq() -> 1 took 1 a second time; t1's deq() -> 1 had taken it by 55
 *
 * The proof is the counterexample, and stays as it is.  A story also names operations of the
 * whole history, such as the writer of a value, which the counterexample may leave out.  It
 * claims nothing that the history does not show: the operations of its cast are a violation by
 * themselves.
 */
#ifndef KL_STORY_STORY_H
#define KL_STORY_STORY_H

#include "check/check.h"

#define KL_STORY_CAST		8
#define KL_STORY_FACTS		6
#define KL_STORY_ALLOWED	4
#define KL_STORY_ORDERS		3

/* An operation of the history, and what it did in the story. */
struct kl_part_played {
	uint32_t op;	/* index in the history */
	char *role;	/* such as "added 1" */
};

/*
 * The results that would have been right: with each of them the partition's operations, up to the
 * return of this one, have an order.
 */
struct kl_allowed {
	uint32_t op;		/* index in the history; KL_NO_OP if nothing was found out */
	char *results[KL_STORY_ALLOWED];	/* "1", "(1, 2)" */
	char *states[KL_STORY_ALLOWED];		/* the state before, for each; may be empty */
	size_t n;
	bool all;		/* no other result is right */
	/* each of these is right; else operations that the counterexample lacks may forbid some */
	bool exact;
	bool alone;		/* the results are those of the counterexample alone */
	bool others;		/* they need other results of other operations, too */
	char *sentence;		/* without a full stop */
};

/* One of the longest orders of the counterexample's operations. */
struct kl_story_order {
	uint32_t *ops;		/* indices in the history */
	size_t nops;
	char *state;		/* the state after them; empty if it is not known */
	uint32_t stopped_by;	/* the completed operation that cannot come next, or KL_NO_OP */
	char *sentence;		/* without a full stop */
};

struct kl_story {
	const char *reason;	/* the reason's name in JSON, such as "taken_twice" */
	char *headline;		/* one sentence, without a full stop */
	/* the failing operation, and then the others, by time of call */
	struct kl_part_played cast[KL_STORY_CAST];
	size_t ncast;
	char *facts[KL_STORY_FACTS];	/* each a sentence, without a full stop */
	size_t nfacts;
	struct kl_allowed allowed;
	/* longest orders, for a violation whose reason has no name */
	struct kl_story_order orders[KL_STORY_ORDERS];
	size_t norders;
	/* looks that it took; their bound; and most that a reason took beyond its part of it */
	uint64_t looks, most_looks, beyond;
};

/* Looks that a story may take besides those of its decision: about a hundredth of a second. */
#define KL_STORY_LOOKS 1000000

/**
 * kl_story_tell() - tell the story of a violation
 * @spec: the specification
 * @h: the whole history
 * @p: its violated partition
 * @out: gets the story, or NULL if no reason of the registry applies
 *
 * The looks are bounded by those of the decision and KL_STORY_LOOKS, see README.  Few reasons have
 * a name across gaps and with store buffers.  Without a counterexample only a named reason has a
 * story.
 *
 * Return: 0 or -ENOMEM.
 */
int kl_story_tell(const struct kl_spec *spec, const struct kl_history *h,
		  const struct kl_part_result *p, struct kl_story **out);
void kl_story_free(struct kl_story *s);

/*
 * Return: the operation that ends a counterexample, which nothing explains, as an index in the
 * history; KL_NO_OP if @c is NULL.
 */
uint32_t kl_story_failing(const struct kl_counterexample *c);

#endif
