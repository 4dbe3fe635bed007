// SPDX-License-Identifier: GPL-2.0
/* Laying out a partition for the engines, see part.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"
#include "check/part.h"

/* How far back program order is looked for inside the clock's error. */
#define MAX_LOOKBACK	64

bool kl_op_before(const struct kl_history *h, const struct kl_op *a, const struct kl_op *b)
{
	if (a->ret == KL_TIME_MAX)
		return false;
	if (a->thread == b->thread && a->ret <= b->call && a < b)
		return true;
	return a->ret < KL_TIME_MAX - h->error && a->ret + h->error < b->call;
}

static uint64_t add_sat(uint64_t a, uint64_t b)
{
	return a > KL_TIME_MAX - b ? KL_TIME_MAX : a + b;
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

/*
 * Until when a lost operation's stores may still be in the buffer of @cpu: the
 * first drain known after @to, or the end of an operation called after @to that
 * executes on an empty buffer whatever it does.
 */
static uint64_t tso_gap_end(const struct kl_part *p, uint16_t cpu, uint64_t to)
{
	uint64_t end = KL_TIME_MAX;
	uint32_t i;

	for (i = 0; i < p->nitems && cpu != KL_NO_CPU; i++) {
		const struct kl_item *it = &p->items[i];
		const struct kl_op *op;

		if (it->kind != KL_ITEM_OP)
			continue;
		op = kl_item_op(p, it);
		if (op->cpu != cpu || op->ret == KL_TIME_MAX)
			continue;
		if (op->ret >= to && op->drain < end)
			end = op->drain;
		if (op->call >= to && op->ret < end &&
		    kl_spec_method(p->spec, it->method)->barrier_always)
			end = op->ret;
	}
	return end;
}

static int by_from(const void *a, const void *b)
{
	const struct kl_gap *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* The gaps that concern the partition, extended for TSO, overlapping ones merged. */
static int collect_gaps(const struct kl_part *p, uint32_t object, bool tso, struct kl_gap **out,
			size_t *count)
{
	const struct kl_history *h = p->h;
	struct kl_gap *g = NULL;
	size_t n = 0, cap = 0, i, k;
	int ret;

	for (i = 0; i < h->ngaps; i++) {
		if (object != KL_ALL_OBJECTS && h->gaps[i].object != KL_ALL_OBJECTS &&
		    h->gaps[i].object != object)
			continue;
		ret = kl_grow(g, cap, n + 1);
		if (ret) {
			free(g);
			return ret;
		}
		g[n] = h->gaps[i];
		if (tso && g[n].reason != KL_GAP_CUT)
			g[n].to = tso_gap_end(p, g[n].cpu, g[n].to);
		n++;
	}
	if (n)
		qsort(g, n, sizeof(*g), by_from);
	for (i = 0, k = 0; i < n; i++) {
		if (k && g[i].from <= add_sat(g[k - 1].to, h->error)) {
			if (g[i].to > g[k - 1].to)
				g[k - 1].to = g[i].to;
		} else {
			g[k++] = g[i];
		}
	}
	*out = g;
	*count = k;
	return 0;
}

/* Sort calls, returns and drains into one array of events. */
static int order_events(struct kl_part *p, const struct kl_gap *gaps, size_t nops, bool tso)
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

				if (kind == KL_EV_CALL)
					t = g->from;
				else if (kind == KL_EV_RET)
					t = add_sat(g->to, e);
			} else {
				const struct kl_op *op = kl_item_op(p, it);

				if (kind == KL_EV_CALL)
					t = op->call;
				else if (kind == KL_EV_RET)
					t = add_sat(op->ret, e);
				else if (tso && op->drain != KL_TIME_MAX)
					t = add_sat(op->drain > op->ret ? op->drain : op->ret, e);
			}
			if (t == KL_TIME_MAX && kind != KL_EV_CALL)
				continue;
			k[n].key = t;
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

/*
 * Program order that events do not show because of the clock's error or because
 * times are equal, and the order of a gap's two ends.
 */
static int find_preds(struct kl_part *p)
{
	const struct kl_history *h = p->h;
	uint32_t *last = NULL, *prev = NULL, i;
	size_t cap = 0, n = 0;
	int ret = -ENOMEM;

	p->pred_at = calloc((size_t)p->nitems + 1, sizeof(*p->pred_at));
	last = malloc((h->nthreads + 1) * sizeof(*last));
	prev = malloc(((size_t)p->nitems + 1) * sizeof(*prev));
	if (!p->pred_at || !last || !prev)
		goto out;
	memset(last, 0xff, (h->nthreads + 1) * sizeof(*last));
	for (i = 0; i < p->nitems; i++) {
		const struct kl_item *it = &p->items[i];
		const struct kl_op *op;
		uint32_t q, steps = 0;
		size_t first = n, j;

		p->pred_at[i] = n;
		if (it->kind == KL_ITEM_LEAVE) {
			ret = kl_grow(p->pred, cap, n + 1);
			if (ret)
				goto out;
			p->pred[n++] = i - 1;
		}
		if (it->kind != KL_ITEM_OP)
			continue;
		op = kl_item_op(p, it);
		for (q = last[op->thread]; q != UINT32_MAX && steps < MAX_LOOKBACK;
		     q = prev[q], steps++) {
			const struct kl_op *o = kl_item_op(p, &p->items[q]);
			bool implied = false;

			if (o->ret > op->call)
				continue;
			for (j = first; j < n && !implied; j++)
				implied = o->ret <= kl_item_op(p, &p->items[p->pred[j]])->call;
			if (implied || add_sat(o->ret, h->error) < op->call)
				break;
			ret = kl_grow(p->pred, cap, n + 1);
			if (ret)
				goto out;
			p->pred[n++] = q;
		}
		prev[i] = last[op->thread];
		last[op->thread] = i;
	}
	p->pred_at[p->nitems] = n;
	ret = n > UINT32_MAX ? -EOVERFLOW : 0;
	if (!n) {
		free(p->pred_at);
		p->pred_at = NULL;
	}
out:
	free(last);
	free(prev);
	return ret;
}

int kl_part_build(const struct kl_spec *spec, const struct kl_history *h, const int *methods,
		  const uint32_t *ops, size_t nops, uint32_t object, bool tso,
		  struct kl_part *out)
{
	struct kl_part *p = out;
	struct kl_gap *gaps = NULL;
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
		it->cpu = op->cpu;
		it->call_ev = it->ret_ev = it->drain_ev = KL_NO_EVENT;
		if (op->cpu != KL_NO_CPU && op->cpu >= p->ncpus)
			p->ncpus = op->cpu + 1;
	}
	ret = collect_gaps(p, object, tso, &gaps, &ngaps);
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
	ret = number_shapes(p);
	if (!ret)
		ret = order_events(p, gaps, nops, tso);
	if (!ret)
		ret = assign_slots(p);
	if (!ret)
		ret = find_preds(p);
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
