/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations that a reader adds one by one, where kl_history_add() would take most of the
 * time: they are put where they stay, behind the history's, and appended together.
 */
#ifndef KL_HISTORY_BATCH_H
#define KL_HISTORY_BATCH_H

#include "history/history.h"
#include "history/index.h"
#include "history/internal.h"

#define KL_BATCH_VALS	4	/* of an operation, at most */

/* Append what there is, and make room for more; 0 or a negative errno. */
int kl_batch_next(struct kl_history *h);

/* How many operations there are, with those that are not appended yet. */
static inline size_t kl_batch_nops(const struct kl_history *h)
{
	return h->nops + h->index->batch.n;
}

/**
 * kl_batch_add() - kl_history_add() of an operation that is plain
 * @h: the history, whose operations are not looked at before kl_history_flush()
 * @op: it has ended; its thread and its object are there, its times are good
 * @s: its method, which is there, and numbers of values
 * @v: its values; there is room for KL_BATCH_VALS
 * @words: has it one, and are all words?
 *
 * Return: 0, -ENOMEM, -EOVERFLOW.
 */
__attribute__((always_inline))
static inline int kl_batch_add(struct kl_history *h, const struct kl_op *op, struct kl_shape s,
			       const struct kl_val *v, bool words)
{
	struct kl_batch *b = &h->index->batch;
	struct kl_val *to;
	unsigned int i;

	if (b->n == b->room) {
		const int ret = kl_batch_next(h);

		if (ret)
			return ret;
	}
	h->ops[h->nops + b->n] = *op;
	h->shapes[h->nshapes + b->n] = s;
	to = &h->vals[h->nvals + b->nvals];
	/* Whatever there is: how many these are is chance. */
	for (i = 0; i < KL_BATCH_VALS; i++)
		to[i] = v[i];
	b->words &= words;
	b->nvals += s.nargs + s.nres;
	b->n++;
	return 0;
}

#endif
