// SPDX-License-Identifier: GPL-2.0
/*
 * Predecessors: the order that a partition's events do not show.  Program order
 * inside the clock's error or at equal times, and the order of a gap's two ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "check/part.h"

/* More than so many for each item are not kept: threads do not overlap themselves like that. */
#define MAX_PREDS	64

struct preds {
	struct kl_part *p;
	size_t cap, n;
	/* The threads' completed operations, by thread, return, item; and where a thread's begin. */
	uint32_t *by_ret, *at;
	uint32_t *end;		/* of each thread's, those that returned before the item's call */
};

static int add_pred(struct preds *s, uint32_t item)
{
	int ret = kl_grow(s->p->pred, s->cap, s->n + 1);

	if (!ret)
		s->p->pred[s->n++] = item;
	return ret;
}

static int sort_by_return(struct preds *s)
{
	const struct kl_part *p = s->p;
	struct kl_key *k = malloc(2 * ((size_t)p->nitems + 1) * sizeof(*k));
	size_t n = 0, i;

	s->by_ret = malloc(((size_t)p->nitems + 1) * sizeof(*s->by_ret));
	s->at = calloc((size_t)p->nthreads + 2, sizeof(*s->at));
	s->end = calloc((size_t)p->nthreads + 1, sizeof(*s->end));
	if (!k || !s->by_ret || !s->at || !s->end) {
		free(k);
		return -ENOMEM;
	}
	/* In the order of their events they are as good as sorted. */
	for (i = 0; i < p->nevents; i++) {
		const struct kl_item *it = &p->items[p->events[i].item];

		if (p->events[i].kind != KL_EV_RET || it->kind != KL_ITEM_OP)
			continue;
		k[n].key = kl_item_op(p, it)->ret;
		k[n++].val = p->events[i].item;
		s->at[it->thread + 1]++;
	}
	kl_sort_keys(k, n, k + n);
	for (i = 0; i < p->nthreads; i++) {
		s->at[i + 1] += s->at[i];
		s->end[i] = s->at[i];
	}
	for (i = 0; i < n; i++)
		s->by_ret[s->end[p->items[k[i].val].thread]++] = k[i].val;
	memcpy(s->end, s->at, p->nthreads * sizeof(*s->end));
	free(k);
	return 0;
}

/*
 * The latest operations of the thread that returned before @item was called, from
 * the last return back.  One that returned before another of them was called is
 * implied by that, and so are all that returned earlier still.
 */
static int thread_preds(struct preds *s, uint32_t item)
{
	const struct kl_part *p = s->p;
	const struct kl_item *it = &p->items[item];
	const uint64_t call = kl_item_op(p, it)->call;
	const uint32_t stop = s->at[it->thread + 1];
	uint32_t *end = &s->end[it->thread], i;
	uint64_t latest = 0;
	bool any = false;
	int ret;

	for (; *end < stop; ++*end) {
		const uint32_t q = s->by_ret[*end];
		const uint64_t r = kl_item_op(p, &p->items[q])->ret;

		if (r > call || (r == call && q >= item))
			break;
	}
	for (i = *end; i-- > s->at[it->thread]; ) {
		const struct kl_op *o = kl_item_op(p, &p->items[s->by_ret[i]]);

		if ((any && o->ret <= latest) || kl_time_add(o->ret, p->h->error) < call)
			break;
		ret = add_pred(s, s->by_ret[i]);
		if (ret)
			return ret;
		if (!any || o->call > latest)
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

	p->pred_at = calloc((size_t)p->nitems + 1, sizeof(*p->pred_at));
	if (p->pred_at)
		ret = sort_by_return(&s);
	for (i = 0; i < p->nitems && !ret; i++) {
		p->pred_at[i] = s.n;
		if (p->items[i].kind == KL_ITEM_LEAVE)
			ret = add_pred(&s, i - 1);
		else if (p->items[i].kind == KL_ITEM_OP)
			ret = thread_preds(&s, i);
	}
	if (!ret && s.n > UINT32_MAX)
		ret = -EOVERFLOW;
	if (!ret)
		p->pred_at[p->nitems] = s.n;
	if (!s.n) {
		free(p->pred_at);
		p->pred_at = NULL;
	}
	free(s.by_ret);
	free(s.at);
	free(s.end);
	return ret;
}
