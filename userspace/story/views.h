/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The states that an operation can have found, of all orders of those that may be before it.
 *
 *	t1 |-- write(1) --| drain  t2 |-- cas(1, 2) -> 0 --|	t3 |-- read() --|	1
 *
 * An order has each operation that certainly returned before another one was called before it, and
 * with store buffers the flushes in an order of their own.  A store leaves its buffer before any
 * operation takes effect that was called after its drain.  This search is exact, and costs more
 * than those of sight.h and ranges.h; so it is for short histories of few words.
 */
#ifndef KL_STORY_VIEWS_H
#define KL_STORY_VIEWS_H

#include "story/stores.h"

#define KL_VIEWS_OPS 24 /* largest number of operations that may be before */
#define KL_VIEWS 32 /* largest number of states that are kept */

/* The states that an operation can have found. */
struct kl_views {
	struct kl_stores *t;
	uint32_t e; /* the operation, as an index in t->ops */
	struct kl_val *words; /* n states of t->len words each; KL_ANY where one is not known */
	size_t n;
	bool all; /* these are all */
};

/**
 * kl_views_exclude() - show that an operation is impossible in each state that it can have found
 * @t: the stores of the scene
 * @e: the operation, as an index in t->ops
 * @after: an operation that takes effect before it; KL_NO_OP: none that must
 * @v: gets the states; the caller frees them with kl_views_free(), also on failure
 *
 * Return: 1; 0 if it is possible in one, if it can take effect in none, whatever its result is, or
 * if the orders are too many; or -ENOMEM.
 */
int kl_views_exclude(struct kl_stores *t, uint32_t e, uint32_t after, struct kl_views *v);
void kl_views_free(struct kl_views *v);

static inline const struct kl_val *kl_views_state(const struct kl_views *v, size_t i)
{
	return v->words + i * v->t->len;
}

#endif
