/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Try all orders of a partition's items (check/part.h), for the oracles.  A level holds the
 * configurations after an equal number of steps.  A configuration is the set of items that took
 * effect, and the state.  Two orders that lead to equal configurations continue alike, so they are
 * stored once.  A history of any length can be tried if few operations overlap.
 *
 * Example: add(1) and add(2) overlap, on a counter.
 *
 *	level 0: {}, state 0
 *	level 1: {add(1)}, state 1; {add(2)}, state 2
 *	level 2: {add(1), add(2)}, state 3: one configuration for both orders
 */
#ifndef KL_TRUSTED_ENUMERATE_H
#define KL_TRUSTED_ENUMERATE_H

#include "check/check.h"
#include "check/part.h"

#define KL_NO_PLACE	UINT32_MAX

/*
 * The items that took effect, as in the first words of a configuration.  A place is an item's
 * number in order of call.  Items at places from @high on have not taken effect.  Nor have items
 * at the places @skips, which are all below @high.
 */
struct kl_done {
	uint32_t high, nskips;
	/* number of items that must still take effect; index of the step that led here */
	uint32_t left, step;
	const uint64_t *skips;
};

/* A level: the configurations with an equal number of steps. */
struct kl_level {
	size_t *at;		/* index in @words of each configuration, and the end of the last */
	uint32_t *next, *heads;	/* lists of configurations with equal hashes: 1 + index */
	uint32_t *step;		/* index in kl_orders.steps of the step to each configuration */
	uint64_t *words;
	size_t n, cat, cnext, cstep, nwords, cwords, nheads;
};

/* A step of an order. */
struct kl_order_step {
	uint32_t before;	/* index of the previous step */
	struct kl_step step;
};

struct kl_orders {
	const struct kl_part *p;
	struct kl_looks looks;
	struct kl_key *at;	/* place -> .val, its item */
	uint32_t *wait, *stop;	/* for each place, see find_waits() */
	struct kl_level level[2], *from, *to;	/* steps lead from level @from to level @to */
	struct kl_done c;	/* the configuration that is being extended */
	struct kl_order_step *steps;	/* of all orders; step 0 stands for the first state */
	size_t nsteps, csteps;
	uint32_t last;		/* index of the step that ends a longest order */
	/* Is this state of @n words lost (kl_state_lost())?  NULL: no state is. */
	bool (*is_lost)(void *ctx, const uint64_t *words, size_t n);
	bool lost;		/* the state of a complete order was lost */
};

/* Must item @a take effect before item @b? */
bool kl_item_before(const struct kl_part *p, uint32_t a, uint32_t b);

/*
 * Extend the current configuration, whose state is the @n @words.  Return: 0, or an error to stop
 * with.
 */
typedef int (*kl_orders_fn)(void *ctx, const uint64_t *words, size_t n);
/* Called for an item that may be next.  Return: 0, or a value to stop with. */
typedef int (*kl_orders_item_fn)(void *ctx, uint32_t place);

/**
 * kl_orders_try() - try all orders
 * @o: zero, except for the partition and the limits of its looks; further bounds are some seconds
 *	of looks, and 128 MiB for a level; the caller frees it, also on failure
 * @words: the first state
 * @n: its length in words of 64 bits
 * @go_on: called for each configuration; adds the configurations one step further
 * @ctx: argument for @go_on
 *
 * Return: 1 if there is an order of all items that must take effect, 0 if there is none, -E2BIG
 * with o->looks.reason if there are too many, -ENOMEM, or the error of @go_on.
 */
int kl_orders_try(struct kl_orders *o, const uint64_t *words, size_t n, kl_orders_fn go_on,
		  void *ctx);

/*
 * Call @fn for each item that may be next in the current configuration; for use in @go_on.
 * Return: 0, or the first result of @fn that is not 0.
 */
int kl_orders_each(struct kl_orders *o, kl_orders_item_fn fn, void *ctx);

/**
 * kl_orders_add() - add a configuration that follows from the current one
 * @o: the orders
 * @place: the place of the item that takes effect, or KL_NO_PLACE
 * @step: the step of the witness
 * @words: the state after it
 * @n: its length in words of 64 bits
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
 * kl_orders_answer() - fill an answer
 * @o: the orders
 * @ret: the result of kl_orders_try(), or another errno
 * @why: the reason for -E2BIG, if the orders have none
 * @a: gets verdict, reason, work, and a complete or a longest order
 *
 * Return: 0, -ENOMEM, or @ret if it is an error other than -E2BIG.
 */
int kl_orders_answer(const struct kl_orders *o, int ret, const char *why, struct kl_answer *a);
void kl_orders_free(struct kl_orders *o);

#endif
