// SPDX-License-Identifier: GPL-2.0
/*
 * Predecessors: the order that a partition's events do not show.  That is program order inside the
 * clock's error or at equal times, and the order of a gap's two ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "check/part.h"

/* Maximal number of predecessors per item.  Operations of one thread do not overlap that much. */
#define MAX_PREDS	64

struct preds {
	struct kl_part *p;
	size_t n;
	/*
	 * @by_ret: completed operations, sorted by line, return and item.
	 * @at: for each line, the index in @by_ret of its first operation.
	 */
	uint32_t *by_ret, *at;
	/* for each line, the end of its operations that returned before the current call */
	uint32_t *end;
};

static int add_pred(struct preds *s, uint32_t item)
{
	int ret = kl_grow(s->p->pred, s->p->cpred, s->n + 1);

	if (!ret)
		s->p->pred[s->n++] = item;
	return ret;
}

/*
 * Sort completed operations by return.  p->ends is sorted by return plus the clock's error, limited
 * to KL_TIME_MAX, so ends whose key is KL_TIME_MAX are not in the order of their returns.
 */
static int sort_by_return(struct preds *s)
{
	struct kl_part *p = s->p;
	struct kl_key *k = p->ends;
	size_t n = 0, i;

	s->by_ret = malloc(((size_t)p->nitems + 1) * sizeof(*s->by_ret));
	s->at = calloc((size_t)p->nlines + 2, sizeof(*s->at));
	s->end = calloc((size_t)p->nlines + 1, sizeof(*s->end));
	if (!s->by_ret || !s->at || !s->end)
		return -ENOMEM;
	for (i = 0; i < p->nends; i++) {
		const uint32_t item = k[i].val >> 2;

		if ((k[i].val & 3) != KL_EV_RET || p->items[item].kind != KL_ITEM_OP)
			continue;
		k[n].key = p->spans[item].ret;
		k[n++].val = item;
		s->at[p->items[item].line + 1]++;
	}
	kl_sort_keys(k, n, k + n);
	for (i = 0; i < p->nlines; i++) {
		s->at[i + 1] += s->at[i];
		s->end[i] = s->at[i];
	}
	for (i = 0; i < n; i++)
		s->by_ret[s->end[p->items[k[i].val].line]++] = k[i].val;
	memcpy(s->end, s->at, p->nlines * sizeof(*s->end));
	return 0;
}

/*
 * Add as predecessors the operations of @item's line that returned before @item was called, from
 * the last return back.  Stop at an operation that events show to be earlier, or that returned
 * before an added one was called: it and all earlier ones precede the added one anyway.
 */
static int line_preds(struct preds *s, uint32_t item)
{
	const struct kl_part *p = s->p;
	const struct kl_item *it = &p->items[item];
	const uint64_t call = p->spans[item].call;
	const uint32_t stop = s->at[it->line + 1];
	uint32_t *end = &s->end[it->line], i;
	uint64_t latest = 0;
	bool any = false;
	int ret;

	for (; *end < stop; ++*end) {
		const uint32_t q = s->by_ret[*end];
		const struct kl_span *o = &p->spans[q];

		/* At equal times kl_op_before() does not order operations that take no time. */
		if (o->ret > call || (o->ret == call && (o->call == call ||
							 p->spans[item].ret == call)))
			break;
	}
	for (i = *end; i-- > s->at[it->line] && !it->nocall; ) {
		const struct kl_span *o = &p->spans[s->by_ret[i]];

		if ((any && o->ret < latest) || kl_time_add(o->ret, p->h->error) < call)
			break;
		ret = add_pred(s, s->by_ret[i]);
		if (ret)
			return ret;
		/* An operation with an unseen call may have been called earlier. */
		if (p->items[s->by_ret[i]].nocall || (any && o->call <= latest))
			continue;
		latest = o->call;
		any = true;
	}
	return s->n > (size_t)MAX_PREDS * p->nitems + (1u << 20) ? -EOVERFLOW : 0;
}

/* Return: 0, -ENOMEM, -EOVERFLOW. */
int kl_part_find_preds(struct kl_part *p)
{
	struct preds s = { .p = p };
	uint32_t i;
	int ret = -ENOMEM;

	if (!kl_grow(p->pred_at, p->cpred_at, p->nitems + 1))
		ret = sort_by_return(&s);
	for (i = 0; i < p->nitems && !ret; i++) {
		p->pred_at[i] = s.n;
		if (p->items[i].kind == KL_ITEM_LEAVE)
			ret = add_pred(&s, i - 1);
		else if (p->items[i].kind == KL_ITEM_OP)
			ret = line_preds(&s, i);
	}
	if (!ret && s.n > UINT32_MAX)
		ret = -EOVERFLOW;
	if (!ret)
		p->pred_at[p->nitems] = s.n;
	p->has_preds = s.n;
	free(s.by_ret);
	free(s.at);
	free(s.end);
	return ret;
}
