// SPDX-License-Identifier: GPL-2.0
/* Operations from events, see pair.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "history/index.h"
#include "history/pair.h"

#define DROPPED	1	/* in pad, until the end */

int kl_pairs_call(struct kl_pairs *p, const char *tok, uint64_t process, struct kl_op *op,
		  const struct kl_shape *s, const struct kl_val *args)
{
	int64_t thread = kl_thread_index(p->h, process);
	size_t old = p->copen;
	int ret;

	if (thread < 0)
		return thread;
	ret = kl_grow(p->open, p->copen, (size_t)thread + 1);
	if (ret)
		return ret;
	memset(p->open + old, 0, (p->copen - old) * sizeof(*p->open));
	if (p->open[thread])
		return kl_scan_bad(p->scan, tok,
				   "the return of the operation before, of the same process");
	op->thread = thread;
	op->call = ++p->now;
	op->flags = KL_OP_PENDING;
	op->cpu = KL_NO_CPU;
	ret = kl_history_add(p->h, op, s, args, NULL);
	if (!ret)
		p->open[thread] = p->h->nops;
	return ret;
}

struct kl_op *kl_pairs_open(const struct kl_pairs *p, uint64_t process)
{
	int64_t thread = kl_thread_index(p->h, process);

	if (thread < 0 || (size_t)thread >= p->copen || !p->open[thread])
		return NULL;
	return &p->h->ops[p->open[thread] - 1];
}

int kl_pairs_return(struct kl_pairs *p, struct kl_op *op, const struct kl_val *res)
{
	const struct kl_shape s = *kl_op_shape(p->h, op);
	int64_t shape = op->shape;

	if (s.nres)
		shape = kl_history_shape(p->h, &s, kl_op_args(p->h, op), res);
	if (shape < 0)
		return shape;
	op->shape = shape;
	op->flags = KL_OP_DRAINED;
	op->ret = ++p->now;
	p->open[op->thread] = 0;
	return 0;
}

void kl_pairs_lose(struct kl_pairs *p, struct kl_op *op)
{
	p->open[op->thread] = 0;
}

void kl_pairs_drop(struct kl_pairs *p, struct kl_op *op)
{
	op->pad = DROPPED;
	p->open[op->thread] = 0;
	p->dropped++;
}

bool kl_pairs_dropped(const struct kl_op *op)
{
	return op->pad == DROPPED;
}

int kl_pairs_end(struct kl_pairs *p)
{
	struct kl_history *h = p->h;
	size_t i, n = 0;

	for (i = 0; p->dropped && i < h->nops; i++)
		if (h->ops[i].pad != DROPPED)
			kl_history_move(h, n++, i);
	if (p->dropped)
		h->nops = n;
	h->clock = KL_CLOCK_SEQ;
	h->fresh = true;
	return kl_history_finish(h);
}

void kl_pairs_free(struct kl_pairs *p)
{
	free(p->open);
	p->open = NULL;
}
