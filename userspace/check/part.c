// SPDX-License-Identifier: GPL-2.0
/* Laying out a partition for the engines, see part.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"
#include "check/gaps.h"
#include "check/part.h"

bool kl_op_before(const struct kl_history *h, const struct kl_op *a, const struct kl_op *b)
{
	if (a->ret == KL_TIME_MAX)
		return false;
	if (a->thread == b->thread && a->ret <= b->call && a < b)
		return true;
	return a->ret < KL_TIME_MAX - h->error && a->ret + h->error < b->call;
}

/* Number the shapes: equal method, arguments and results. */
static int number_shapes(struct kl_part *p)
{
	size_t size = 16, i, at;
	uint32_t *table;

	while (size < 2 * (size_t)p->nitems)
		size *= 2;
	table = malloc(size * sizeof(*table));
	if (!table)
		return -ENOMEM;
	memset(table, 0xff, size * sizeof(*table));
	for (i = 0; i < p->nitems; i++) {
		struct kl_item *it = &p->items[i];
		const struct kl_op *op;
		const struct kl_val *v;
		size_t nv;

		if (it->kind != KL_ITEM_OP)
			continue;
		op = kl_item_op(p, it);
		v = kl_op_args(p->h, op);
		nv = op->nargs + op->nres;
		at = kl_hash_words((const uint64_t *)v, 2 * nv, it->method) & (size - 1);
		for (;; at = (at + 1) & (size - 1)) {
			const struct kl_item *o;
			const struct kl_op *oop;

			if (table[at] == UINT32_MAX) {
				table[at] = i;
				it->shape = p->nshapes++;
				break;
			}
			o = &p->items[table[at]];
			oop = kl_item_op(p, o);
			if (o->method == it->method && oop->nargs == op->nargs &&
			    oop->nres == op->nres &&
			    (!nv || !memcmp(kl_op_args(p->h, oop), v, nv * sizeof(*v)))) {
				it->shape = o->shape;
				break;
			}
		}
	}
	free(table);
	return 0;
}

/* Number the threads as they come: a partition has few of the history's. */
static int number_threads(struct kl_part *p)
{
	size_t size = 16, i, at;
	uint32_t *table;	/* first item of a thread */

	while (size < 2 * (size_t)p->nitems && size < 2 * p->h->nthreads)
		size *= 2;
	table = malloc(size * sizeof(*table));
	if (!table)
		return -ENOMEM;
	memset(table, 0xff, size * sizeof(*table));
	for (i = 0; i < p->nitems; i++) {
		struct kl_item *it = &p->items[i];
		uint32_t thread;

		if (it->kind != KL_ITEM_OP)
			continue;
		thread = kl_item_op(p, it)->thread;
		at = kl_mix(thread, 0) & (size - 1);
		while (table[at] != UINT32_MAX &&
		       kl_item_op(p, &p->items[table[at]])->thread != thread)
			at = (at + 1) & (size - 1);
		if (table[at] == UINT32_MAX) {
			table[at] = i;
			it->thread = p->nthreads++;
		} else {
			it->thread = p->items[table[at]].thread;
		}
	}
	free(table);
	return 0;
}

/* Sort calls, returns and drains into one array of events. */
static int order_events(struct kl_part *p, const struct kl_gap *gaps, size_t nops, bool tso,
			bool *ties)
{
	const uint64_t e = p->h->error;
	struct kl_key *k, *tmp;
	size_t n = 0, i, max = 3 * (size_t)p->nitems;
	int kind;

	k = malloc(2 * (max + 1) * sizeof(*k));
	p->events = malloc((max + 1) * sizeof(*p->events));
	if (!k || !p->events) {
		free(k);
		return -ENOMEM;
	}
	tmp = k + max + 1;
	/* Stable: what is put in first comes first at equal times. */
	for (kind = KL_EV_CALL; kind <= KL_EV_DRAIN; kind++) {
		for (i = 0; i < p->nitems; i++) {
			const struct kl_item *it = &p->items[i];
			uint64_t t = KL_TIME_MAX;

			if (it->kind != KL_ITEM_OP) {
				const struct kl_gap *g = &gaps[(i - nops) / 2];

				if (kind != KL_EV_DRAIN)
					t = kind == KL_EV_CALL ? g->from : g->to;
			} else {
				const struct kl_op *op = kl_item_op(p, it);

				if (kind != KL_EV_DRAIN)
					t = kind == KL_EV_CALL ? op->call : op->ret;
				else if (tso && op->drain != KL_TIME_MAX)
					t = kl_op_drain(op);
			}
			if (t == KL_TIME_MAX)
				continue;
			k[n].key = kind == KL_EV_CALL ? t : kl_time_add(t, e);
			k[n++].val = i << 2 | kind;
		}
	}
	kl_sort_keys(k, n, tmp);
	for (i = 0; i < n; i++) {
		struct kl_item *it = &p->items[k[i].val >> 2];

		p->events[i].item = k[i].val >> 2;
		p->events[i].kind = k[i].val & 3;
		if (p->events[i].kind == KL_EV_CALL)
			it->call_ev = i;
		else if (p->events[i].kind == KL_EV_RET)
			it->ret_ev = i;
		else
			it->drain_ev = i;
		*ties |= i && k[i].key == k[i - 1].key && p->events[i].kind == KL_EV_RET &&
			 p->events[i - 1].kind == KL_EV_CALL;
	}
	p->nevents = n;
	free(k);
	return 0;
}

/* Give each item the lowest slot that is free from its call to its return. */
static int assign_slots(struct kl_part *p)
{
	uint32_t *heap, n = 0, i;	/* free slots below nslots, a binary heap */

	heap = malloc(((size_t)p->nitems + 1) * sizeof(*heap));
	if (!heap)
		return -ENOMEM;
	for (i = 0; i < p->nevents; i++) {
		struct kl_item *it = &p->items[p->events[i].item];
		uint32_t a, b, t;

		if (p->events[i].kind == KL_EV_CALL) {
			if (!n) {
				it->slot = p->nslots++;
				continue;
			}
			it->slot = heap[0];
			heap[0] = heap[--n];
			for (a = 0; (b = 2 * a + 1) < n; a = b) {
				if (b + 1 < n && heap[b + 1] < heap[b])
					b++;
				if (heap[a] <= heap[b])
					break;
				t = heap[a];
				heap[a] = heap[b];
				heap[b] = t;
			}
		} else if (p->events[i].kind == KL_EV_RET) {
			heap[n] = it->slot;
			for (a = n++; a && heap[a] < heap[(a - 1) / 2]; a = b) {
				b = (a - 1) / 2;
				t = heap[a];
				heap[a] = heap[b];
				heap[b] = t;
			}
		}
	}
	free(heap);
	return 0;
}

int kl_part_build(const struct kl_spec *spec, const struct kl_history *h, const int *methods,
		  const uint32_t *ops, size_t nops, uint32_t object, bool tso,
		  struct kl_part *out)
{
	struct kl_part *p = out;
	struct kl_gap *gaps = NULL;
	bool ties = false;
	size_t ngaps, i;
	int ret;

	memset(p, 0, sizeof(*p));
	p->spec = spec;
	p->h = h;
	p->fresh = h->fresh;
	p->object = object;
	p->nitems = nops;
	if (nops > (1u << 29) || h->ngaps > (1u << 20))
		return -EOVERFLOW;
	p->items = calloc(nops + 2 * h->ngaps + 1, sizeof(*p->items));
	if (!p->items)
		return -ENOMEM;
	for (i = 0; i < nops; i++) {
		const struct kl_op *op = &h->ops[ops[i]];
		struct kl_item *it = &p->items[i];

		it->op = ops[i];
		it->method = methods[op->method];
		it->pure = kl_spec_method(spec, it->method)->pure;
		it->call_ev = it->ret_ev = it->drain_ev = KL_NO_EVENT;
	}
	ret = kl_gaps_collect(spec, h, methods, ops, nops, object, tso, &gaps, &ngaps);
	if (ret)
		goto err;
	for (i = 0; i < 2 * ngaps; i++) {
		struct kl_item *it = &p->items[nops + i];

		it->op = KL_NO_OP;
		it->kind = i & 1 ? KL_ITEM_LEAVE : KL_ITEM_ENTER;
		it->call_ev = it->ret_ev = it->drain_ev = KL_NO_EVENT;
	}
	p->ngaps = ngaps;
	p->nitems += 2 * ngaps;
	ret = number_shapes(p) ?: number_threads(p) ?: order_events(p, gaps, nops, tso, &ties) ?:
	      assign_slots(p);
	/* With exact and different times the events say it all. */
	if (!ret && (ties || ngaps || h->error))
		ret = kl_part_find_preds(p);
	if (ret)
		goto err;
	free(gaps);
	return 0;
err:
	free(gaps);
	kl_part_free(p);
	return ret;
}

void kl_part_free(struct kl_part *p)
{
	free(p->items);
	free(p->events);
	free(p->pred_at);
	free(p->pred);
	memset(p, 0, sizeof(*p));
}
