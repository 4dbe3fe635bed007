/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Engines that decide late: queues and stacks whose values repeat, of any length.
 *
 * A search through the states of a container has to guess in which order concurrent
 * values entered it, and learns much later, when they leave, whether it guessed well:
 * the states are as many as there are such orders.  These go through the removals and
 * peeks in order, give each the addition that it sees, and decide only then when that
 * took effect.
 *
 * Each operation takes effect in the gap after some event, its place: not before its
 * call, before its return.  Two operations of which one returned before the other was
 * called have their places in that order.  What has taken effect on a side (additions,
 * all others) is all that was called up to some call but for some that were open at
 * it: few, whatever the container's length.
 */
#ifndef KL_CHECK_LAZY_LATE_H
#define KL_CHECK_LAZY_LATE_H

#include <string.h>

#include "base/intern.h"
#include "base/sort.h"
#include "check/lazy/sides.h"
#include "check/general/spec_stepper.h"
#include "check/general/wgl_cache.h"

#define LATE_NO_NODE	UINT32_MAX

/* A configuration: these words, then the operations left out on each side. */
enum {
	L_NEXT,				/* by side: the first that was not looked at */
	L_PLACE = L_NEXT + LATE_SIDES,	/* by side: the place of the last one */
	L_LEFT = L_PLACE + LATE_SIDES,	/* by side: how many are left out before L_NEXT */
	L_NODE = L_LEFT + LATE_SIDES,	/* how it came about; no part of what is equal */
	L_OWN,				/* the discipline's own */
	L_FIXED = L_OWN + 4,
};

struct late_node {
	uint32_t parent, item, place;
};

struct late;

/* First in first out, or last in first out. */
struct late_discipline {
	const char *name;
	enum kl_container_kind kind;
	bool takes_gaps;
	void (*start)(const struct late *f, uint32_t *rec);
	/* All ways to go on from f->rec by one of f->takes: late_add_kid(). */
	int (*expand)(struct late *f, uint32_t ntakes);
	/* What f->tmp may as well do at once.  1, 0 if it cannot go on, negative errno. */
	int (*settle)(struct late *f, uint32_t *rec);
	/*
	 * Or NULL: what configurations that go on alike have in common, in @key, a copy of
	 * record @r with two words more for each open addition, all 0.
	 */
	void (*canonical)(const struct late *f, const uint32_t *r, uint32_t *key);
	/* The items of f->rec's order, in that order, into @out.  0, 1 for none, -ENOMEM. */
	int (*order)(struct late *f, uint32_t *out, uint32_t *n);
};

struct late {
	const struct late_discipline *d;
	struct late_ops o;
	struct kl_budget b;
	uint64_t *looks;	/* b.work, also for what may change nothing else */
	bool old;		/* the first state is not known */
	uint32_t base[LATE_SIDES];	/* where in a record its left out operations are */
	size_t len;		/* words of a record */
	uint32_t *stack;	/* records */
	size_t nstack, cstack;
	uint32_t *kids;		/* of the record that is looked at */
	struct kl_key *by_urgency;	/* of those */
	size_t nkids, ckids, cby_urgency;
	uint32_t *rec, *tmp;
	uint32_t *ahead;	/* the discipline's own */
	uint32_t *takes, *adds;	/* room for all of a side */
	uint64_t *key;
	uint32_t *alike;	/* of a record */
	size_t alike_len;
	struct kl_cache cache;
	struct kl_intern cells, canon;	/* of lists that configurations share */
	struct late_node *nodes;
	size_t nnodes, cnodes;
	bool no_nodes;
};

static inline uint32_t *late_left(const struct late *f, uint32_t *r, int side)
{
	return r + f->base[side];
}

static inline uint32_t late_max(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* The side goes on to @place: false if something had to take effect before. */
bool late_advance(const struct late *f, uint32_t *r, int side, uint32_t place);

/* Operation @o of a side takes effect at @place.  Return: is all well? */
bool late_take_effect(const struct late *f, uint32_t *r, int side, uint32_t o, uint32_t place);

/* Remember that @item took effect at @place.  0, -ENOMEM, -EOVERFLOW. */
int late_note(struct late *f, uint32_t *r, uint32_t item, uint32_t place);

/* The operations of a side that may come next; into @out, room for all of the side. */
uint32_t late_candidates(const struct late *f, uint32_t *r, int side, uint32_t *out);

/* Keep the configuration in f->tmp for later; the smaller @when, the earlier.  0, -errno. */
int late_add_kid(struct late *f, uint32_t when);

/* The engine of a discipline; see struct kl_engine. */
int late_decide(const struct late_discipline *d, const struct kl_part *p,
		const struct kl_limits *lim, struct kl_answer *a);

#endif
