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

#define KL_BATCH_VALS	3	/* of an operation, at most */

/* Append what there is, and make room for more; 0 or a negative errno. */
int kl_batch_next(struct kl_history *h);

/**
 * kl_batch_add() - kl_history_add() of an operation that is plain
 * @h: the history, whose operations are not looked at before kl_history_flush()
 * @op: it has ended; its thread and its object are there, its times are good
 * @s: its method, which is there, and numbers of values: at least one
 * @v0: the first value
 * @v1: the next one, whatever it is if there is none
 * @v2: the same
 * @words: are all that there are words?
 *
 * Return: 0, -ENOMEM, -EOVERFLOW.
 */
__attribute__((always_inline))
static inline int kl_batch_add(struct kl_history *h, const struct kl_op *op, struct kl_shape s,
			       struct kl_val v0, struct kl_val v1, struct kl_val v2, bool words)
{
	struct kl_batch *b = &h->index->batch;
	struct kl_val *v;

	if (b->n == b->room) {
		const int ret = kl_batch_next(h);

		if (ret)
			return ret;
	}
	h->ops[h->nops + b->n] = *op;
	h->shapes[h->nshapes + b->n] = s;
	v = &h->vals[h->nvals + b->nvals];
	v[0] = v0;
	v[1] = v1;
	v[2] = v2;
	b->words &= words;
	b->nvals += s.nargs + s.nres;
	b->n++;
	return 0;
}

#endif
