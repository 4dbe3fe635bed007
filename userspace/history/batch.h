/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Adding operations one by one, faster than by kl_history_add().  The operations of a batch are
 * stored behind the last operation of the history, and are then appended all together.
 */
#ifndef KL_HISTORY_BATCH_H
#define KL_HISTORY_BATCH_H

#include "history/history.h"
#include "history/index.h"
#include "history/internal.h"

#define KL_BATCH_VALS	4 /* maximal number of values of an operation */

/* Append the operations of the batch, and make room for more.  Return: 0 or a negative errno. */
int kl_batch_next(struct kl_history *h);

/* Return: the number of operations of the history and of its batch. */
static inline size_t kl_batch_nops(const struct kl_history *h)
{
	return h->nops + h->index->batch.n;
}

/**
 * kl_batch_add() - add an operation that has returned to the batch
 * @h: the history; nobody reads its operations before kl_history_flush()
 * @op: the operation; its thread, object and times are valid
 * @s: its method, which is valid, and numbers of values
 * @v: its values, with room for KL_BATCH_VALS
 * @words: true if there is a value, and all values are words
 *
 * Return: 0, -ENOMEM or -EOVERFLOW.
 */
__attribute__((always_inline)) static inline int kl_batch_add(struct kl_history *h,
							      const struct kl_op *op,
							      struct kl_opsig s,
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
	h->opsigs[h->nopsigs + b->n] = s;
	to = &h->vals[h->nvals + b->nvals];
	/* All places are copied, because a loop over fewer would mispredict its end. */
	for (i = 0; i < KL_BATCH_VALS; i++)
		to[i] = v[i];
	b->words &= words;
	b->nvals += s.nargs + s.nres;
	b->n++;
	return 0;
}

#endif
