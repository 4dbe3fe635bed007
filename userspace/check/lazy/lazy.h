/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lazy engines: queues and stacks of any length, whose values repeat.
 *
 * A search over a container's states guesses the order in which concurrent values entered, and
 * learns much later, when they leave, whether the guess was right.  There are as many states as
 * such orders.  A lazy engine goes through the removals and peeks in order, gives each the
 * addition that it sees, and decides only then when the addition took effect.  For example:
 *
 *	push 1  |--------|
 *	push 2  |--------|
 *	pop -> 2           |---|	only now push 2 gets a place after push 1
 *
 * Operations have two sides: additions, and all others.  An operation's place is the event after
 * which it takes effect: not before its call, and before its return.  So if one operation returned
 * before another was called, the place of the first is not after that of the second.  The
 * operations of a side that have taken effect are those called up to some event, except a few that
 * were open then.  So a configuration is small, however long the container is.
 */
#ifndef KL_CHECK_LAZY_LAZY_H
#define KL_CHECK_LAZY_LAZY_H

#include <string.h>

#include "base/intern.h"
#include "base/sort.h"
#include "check/lazy/sides.h"
#include "check/general/spec_stepper.h"
#include "check/general/wgl_cache.h"

#define LAZY_NO_NODE	UINT32_MAX

/*
 * A configuration is a record of these words, and then the operations that each side has left out:
 * they were called before the operation L_NEXT, and have not taken effect, but may.
 */
enum {
	L_NEXT,				/* by side: from this operation on, none took effect */
	L_PLACE = L_NEXT + LAZY_SIDES,	/* by side: the place of the last operation */
	L_LEFT = L_PLACE + LAZY_SIDES,	/* by side: number of left-out operations */
	L_NODE = L_LEFT + LAZY_SIDES,	/* the node of the last step; ignored in comparisons */
	L_OWN,				/* words of the discipline from here on */
	L_FIXED = L_OWN + 4,
};

/* A step: @item took effect at @place.  @parent is the step before, or LAZY_NO_NODE. */
struct lazy_node {
	uint32_t parent, item, place;
};

struct lazy;

/* First in first out, or last in first out. */
struct lazy_discipline {
	const char *name;
	enum kl_container_kind kind;
	bool takes_gaps;	/* decides histories with a gap at the beginning */
	/* Fill the discipline's words of the first record. */
	void (*start)(const struct lazy *f, uint32_t *rec);
	/*
	 * Find all ways to go on from f->rec by one of f->takes, and call lazy_add_kid() for each.
	 * Return: 0, or a negative errno.
	 */
	int (*expand)(struct lazy *f, uint32_t ntakes);
	/*
	 * Take steps that are never worse.  Return: 1, 0 if the record cannot go on, or a negative
	 * errno.
	 */
	int (*settle)(struct lazy *f, uint32_t *rec);
	/*
	 * Or NULL.  Make a key that is equal for configurations that can go on in the same ways.
	 * @key is a copy of record @r, with two further words of 0 for each open addition.
	 */
	void (*canonical)(const struct lazy *f, const uint32_t *r, uint32_t *key);
	/* Put the items of f->rec's order into @out.  Return: 0, 1 if there is none, -ENOMEM. */
	int (*order)(struct lazy *f, uint32_t *out, uint32_t *n);
};

struct lazy {
	const struct lazy_discipline *d;
	struct lazy_ops o;
	struct kl_budget b;
	uint64_t *looks;	/* points to b.work, for functions with a constant struct lazy */
	bool old;		/* the first state is unknown */
	uint32_t base[LAZY_SIDES];	/* offsets in a record of each side's left-out operations */
	size_t len;		/* words of a record */
	uint32_t *stack;	/* records from which the search may still go on */
	size_t nstack, cstack;
	uint32_t *kids;		/* records that follow the current one */
	struct kl_key *by_urgency;	/* indices in @kids, sorted by @when of lazy_add_kid() */
	size_t nkids, ckids, cby_urgency;
	uint32_t *rec, *tmp;	/* the current record, and one that is being made */
	uint32_t *ahead;	/* a record for the discipline */
	uint32_t *takes, *adds;	/* each has room for all operations of a side */
	uint64_t *key;		/* @alike in words of 64 bits */
	uint32_t *alike;	/* the canonical key of a record */
	size_t alike_len;	/* words of @alike */
	struct kl_cache cache;
	/* cells of lists that configurations share, and canonical numbers */
	struct kl_intern cells, canon;
	struct lazy_node *nodes;
	size_t nnodes, cnodes;
	bool no_nodes;
};

static inline uint32_t *lazy_left(const struct lazy *f, uint32_t *r, int side)
{
	return r + f->base[side];
}

static inline uint32_t lazy_max(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Move a side on to @place.  Return: false if an operation had to take effect before. */
bool lazy_advance(const struct lazy *f, uint32_t *r, int side, uint32_t place);

/* Operation @o of a side takes effect at @place.  Return: false if that is impossible. */
bool lazy_take_effect(const struct lazy *f, uint32_t *r, int side, uint32_t o, uint32_t place);

/* Make the node of a step: @item took effect at @place.  Return: 0, -ENOMEM, -EOVERFLOW. */
int lazy_note(struct lazy *f, uint32_t *r, uint32_t item, uint32_t place);

/* Put the operations of a side that may come next into @out.  Return: their number. */
uint32_t lazy_candidates(const struct lazy *f, uint32_t *r, int side, uint32_t *out);

/*
 * Keep f->tmp as a configuration that follows f->rec; those with a smaller @when are tried earlier.
 * Return: 0, or a negative errno.
 */
int lazy_add_kid(struct lazy *f, uint32_t when);

/* Decide a partition by a discipline; see struct kl_engine. */
int lazy_decide(const struct lazy_discipline *d, const struct kl_part *p,
		const struct kl_limits *lim, struct kl_answer *a);

#endif
