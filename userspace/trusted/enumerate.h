/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For the oracles: all orders of a partition's items.  Those of n steps are made of
 * those of n - 1.  Of orders of the same items that lead to the same state one is as
 * good as the other: of those there is one configuration.  So a history of any length
 * can be tried, if few operations are under way at a time.
 */
#ifndef KL_TRUSTED_ENUMERATE_H
#define KL_TRUSTED_ENUMERATE_H

#include "check/check.h"
#include "check/part.h"

#define KL_NO_PLACE	UINT32_MAX

/*
 * What has taken effect, in the first words of a configuration.  Items have places, by
 * their call events: those from @high on have not, nor those of @skips, which are below.
 */
struct kl_done {
	uint32_t high, nskips;
	uint32_t left, step;	/* items that have to and have not; the step that led here */
	const uint64_t *skips;
};

/* The configurations of equally many steps. */
struct kl_level {
	size_t *at;		/* where each begins in words; one more */
	uint32_t *next, *heads;	/* of the same hash, + 1 */
	uint32_t *step;
	uint64_t *words;
	size_t n, cat, cnext, cstep, nwords, cwords, nheads;
};

struct kl_order_step {
	uint32_t before;	/* the step before it */
	struct kl_step step;
};

struct kl_orders {
	const struct kl_part *p;
	struct kl_looks looks;
	struct kl_key *at;	/* place -> .val, its item */
	uint32_t *wait, *stop;	/* of places, see find_waits() */
	struct kl_level level[2], *from, *to;
	struct kl_done c;	/* the configuration that goes on */
	struct kl_order_step *steps;
	size_t nsteps, csteps;
	uint32_t last;		/* the step that ends a longest order */
	/* Is this state, of so many words, lost (kl_state_lost())?  NULL: none is. */
	bool (*is_lost)(void *ctx, const uint64_t *words, size_t n);
	bool lost;		/* that of an order of all was */
};

/* Does item @a take effect before item @b? */
bool kl_item_before(const struct kl_part *p, uint32_t a, uint32_t b);

/* How a configuration goes on: @words as kl_orders_add() had them. */
typedef int (*kl_orders_fn)(void *ctx, const uint64_t *words, size_t n);
/* An item that may be the next. */
typedef int (*kl_orders_item_fn)(void *ctx, uint32_t place);

/**
 * kl_orders_try() - try all orders
 * @o: 0 but for the partition and the limits of its looks, beside which there are bounds
 *	of some seconds and of 128 MiB a level; to be freed, also on failure
 * @words: the first state
 * @n: in words of 64 bits
 * @go_on: called for each configuration; adds those that are one step on
 * @ctx: handed to @go_on
 *
 * Return: 1 when there is an order of all items that have to take effect, 0 when there
 * is none, -E2BIG with o->looks.reason when there are too many, -ENOMEM, or what @go_on
 * returned.
 */
int kl_orders_try(struct kl_orders *o, const uint64_t *words, size_t n, kl_orders_fn go_on,
		  void *ctx);

/* In @go_on: call @fn for each item that may be the next.  0, or what is not 0 of @fn. */
int kl_orders_each(struct kl_orders *o, kl_orders_item_fn fn, void *ctx);

/**
 * kl_orders_add() - a configuration that follows from the one that goes on
 * @o: the orders
 * @place: of the item that takes effect, KL_NO_PLACE if none does
 * @step: how to tell it
 * @words: the state after it
 * @n: in words of 64 bits
 *
 * Return: 0, -E2BIG or -ENOMEM.
 */
int kl_orders_add(struct kl_orders *o, uint32_t place, struct kl_step step,
		  const uint64_t *words, size_t n);

static inline uint32_t kl_orders_item(const struct kl_orders *o, uint32_t place)
{
	return o->at[place].val;
}

/**
 * kl_orders_answer() - what came of it
 * @o: the orders
 * @ret: what kl_orders_try() returned, or another errno
 * @why: of -E2BIG, where the orders themselves have no reason
 * @a: gets verdict, reason, work, and an order of all or a longest one
 *
 * Return: 0; @ret if it is an error but -E2BIG, or -ENOMEM.
 */
int kl_orders_answer(const struct kl_orders *o, int ret, const char *why, struct kl_answer *a);
void kl_orders_free(struct kl_orders *o);

#endif
