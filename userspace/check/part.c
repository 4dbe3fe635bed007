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
	/* The call time of an operation whose call was not seen is only a bound. */
	if (a->thread == b->thread && a->cpu == b->cpu && !(b->flags & KL_OP_NOCALL) &&
	    (a->ret < b->call ||
	     (a->ret == b->call && a->call < a->ret && b->call < b->ret)))
		return true;
	return a->ret < KL_TIME_MAX - h->error && a->ret + h->error < b->call;
}

#define AHEAD	24	/* operations ahead of their turn that are prefetched */
#define TIES	8	/* returns at the time of a call that are compared with it */

/* The state of building a partition. */
struct builder {
	struct kl_part *p;
	const struct kl_gap *gaps;
	uint32_t nops;
	size_t nends, ngaps;	/* number of entries of p->ends, and of gaps */
	uint32_t *free;		/* a stack of free slots */
	uint32_t nfree;
	bool tso, ties;		/* @ties: in some thread a return and a call have equal times */
};

/* Return: true if item @first and @op have the same thread and, with @lines, the same CPU. */
static bool same_number(const struct kl_part *p, uint32_t first, const struct kl_op *op, bool lines)
{
	const struct kl_op *o = kl_item_op(p, &p->items[first]);

	return o->thread == op->thread && (!lines || o->cpu == op->cpu);
}

/*
 * Number the partition's threads in order of appearance, since it has few of the history's threads.
 * With @lines, number lines: the operations of a thread on one CPU, which have program order.
 */
static int number_threads(struct kl_part *p, bool lines)
{
	size_t size = 64, i, at;
	uint32_t *table, n = 0;	/* hash of thread -> its first item + 1 */

	while (size < 2 * (size_t)p->nitems && (lines || size < 2 * p->h->nthreads))
		size *= 2;
	table = calloc(size, sizeof(*table));
	if (!table)
		return -ENOMEM;
	for (i = 0; i < p->nitems; i++) {
		struct kl_item *it = &p->items[i];
		const struct kl_op *op;

		if (it->kind != KL_ITEM_OP)
			continue;
		op = kl_item_op(p, it);
		at = (op->thread * 0x9e3779b1u + (lines ? op->cpu * 0x85ebca77u : 0)) & (size - 1);
		while (table[at] && !same_number(p, table[at] - 1, op, lines))
			at = (at + 1) & (size - 1);
		if (!table[at]) {
			table[at] = i + 1;
			*(lines ? &it->line : &it->thread) = n++;
		} else {
			const struct kl_item *first = &p->items[table[at] - 1];

			*(lines ? &it->line : &it->thread) = lines ? first->line : first->thread;
		}
	}
	*(lines ? &p->nlines : &p->nthreads) = n;
	free(table);
	return 0;
}

static void add_end(struct builder *b, uint64_t time, uint32_t item, enum kl_event_kind kind)
{
	if (time == KL_TIME_MAX)
		return;
	b->p->ends[b->nends++] = (struct kl_key){
		.key = kl_time_add(time, b->p->h->error), .val = item << 2 | kind,
	};
}

/* Make the items, and sort their returns and drains. */
static int make_items(struct builder *b, const int *methods, const uint32_t *ops)
{
	struct kl_part *p = b->p;
	const size_t nends = ((size_t)b->nops << b->tso) + 2 * b->ngaps;
	uint32_t i;

	kl_expect(p->items, p->citems, 0, (size_t)p->nitems + 1);
	kl_expect(p->spans, p->cspans, 0, (size_t)b->nops + 1);
	kl_expect(p->ends, p->cends, 0, 2 * nends + 1);
	if (kl_grow(p->items, p->citems, p->nitems + 1) ||
	    kl_grow(p->spans, p->cspans, b->nops + 1) ||
	    kl_grow(p->ends, p->cends, 2 * nends + 1))
		return -ENOMEM;
	for (i = 0; i < b->nops; i++) {
		const uint32_t at = ops ? ops[i] : i;
		const struct kl_op *op = &p->h->ops[at];
		const struct kl_opsig *s = &p->h->opsigs[op->sig];
		const int method = methods[s->method];

		/* A partition's operations are scattered in the history; each is read once. */
		if (ops && i + AHEAD < b->nops) {
			__builtin_prefetch(&p->h->ops[ops[i + AHEAD]].call);
			__builtin_prefetch(&p->h->ops[ops[i + AHEAD]].sig);
			__builtin_prefetch(&p->h->opsigs[p->h->ops[ops[i + AHEAD / 2]].sig]);
		}
		p->items[i] = (struct kl_item){
			.op = at, .sig = op->sig, .vals = s->vals, .nargs = s->nargs,
			.call_ev = KL_NO_EVENT,
			.ret_ev = KL_NO_EVENT, .drain_ev = KL_NO_EVENT, .method = method,
			.pure = kl_spec_method(p->spec, method)->pure,
			.nocall = op->flags & KL_OP_NOCALL,
		};
		p->spans[i] = (struct kl_span){ op->call, op->ret };
		add_end(b, op->ret, i, KL_EV_RET);
	}
	for (i = 0; i < 2 * b->ngaps; i++) {
		p->items[b->nops + i] = (struct kl_item){
			.op = KL_NO_OP, .kind = i & 1 ? KL_ITEM_LEAVE : KL_ITEM_ENTER,
			.call_ev = KL_NO_EVENT, .ret_ev = KL_NO_EVENT, .drain_ev = KL_NO_EVENT,
		};
		add_end(b, b->gaps[i / 2].to, b->nops + i, KL_EV_RET);
	}
	/* The sort is stable, so returns come before drains at equal times. */
	for (i = 0; b->tso && i < b->nops; i++)
		add_end(b, kl_op_empty(p->h, kl_item_op(p, &p->items[i])), i, KL_EV_DRAIN);
	kl_sort_keys(p->ends, b->nends, p->ends + nends);
	return 0;
}

static void add_event(struct builder *b, uint32_t item, enum kl_event_kind kind)
{
	struct kl_part *p = b->p;
	struct kl_item *it = &p->items[item];
	const uint32_t ev = p->nevents++;

	p->events[ev] = (struct kl_event){ .item = item, .kind = kind };
	if (kind == KL_EV_CALL) {
		it->call_ev = ev;
		it->slot = b->nfree ? b->free[--b->nfree] : p->nslots++;
	} else if (kind == KL_EV_RET) {
		it->ret_ev = ev;
		b->free[b->nfree++] = it->slot;
	} else {
		it->drain_ev = ev;
	}
}

/*
 * Return: true if another operation of @op's thread returns at the time of @op's call, or if more
 * than TIES returns have that time.  p->ends[@end] is the first of them.
 */
static bool is_tie(const struct builder *b, uint32_t op, size_t end)
{
	const struct kl_part *p = b->p;
	const uint64_t time = p->spans[op].call;
	const size_t stop = end + TIES;

	for (; end < b->nends && p->ends[end].key == time; end++) {
		const struct kl_item *it = &p->items[p->ends[end].val >> 2];

		if (end == stop || (it->kind == KL_ITEM_OP && it != &p->items[op] &&
				    kl_item_op(p, it)->thread ==
				    kl_item_op(p, &p->items[op])->thread))
			return true;
	}
	return false;
}

/* Merge calls, gaps and ends into p->events; at equal times they come in this order. */
static int order_events(struct builder *b)
{
	struct kl_part *p = b->p;
	uint32_t op = 0, gap = 0;
	size_t end;

	kl_expect(p->events, p->cevents, 0, p->nitems + b->nends + 1);
	if (kl_grow(p->events, p->cevents, p->nitems + b->nends + 1))
		return -ENOMEM;
	b->free = malloc(((size_t)p->nitems + 1) * sizeof(*b->free));
	if (!b->free)
		return -ENOMEM;
	p->nends = b->nends;
	for (end = 0; end < b->nends || op < b->nops || gap < b->ngaps; ) {
		const uint64_t call = op < b->nops ? p->spans[op].call : KL_TIME_MAX;
		const uint64_t from = gap < b->ngaps ? b->gaps[gap].from : KL_TIME_MAX;
		const uint64_t first = call < from ? call : from;

		if (end < b->nends && p->ends[end].key < first) {
			add_event(b, p->ends[end].val >> 2, p->ends[end].val & 3);
			end++;
			continue;
		}
		if (op < b->nops && call <= from) {
			if (!b->ties && end < b->nends && p->ends[end].key == call)
				b->ties = is_tie(b, op, end);
			add_event(b, op++, KL_EV_CALL);
		} else if (gap < b->ngaps) {
			add_event(b, b->nops + 2 * gap, KL_EV_CALL);
			add_event(b, b->nops + 2 * gap++ + 1, KL_EV_CALL);
		} else {
			add_event(b, p->ends[end].val >> 2, p->ends[end].val & 3);
			end++;
		}
	}
	return 0;
}

/* Empty the partition, but keep its memory. */
static void clear(struct kl_part *p)
{
	*p = (struct kl_part){
		.items = p->items, .events = p->events, .spans = p->spans, .ends = p->ends,
		.pred_at = p->pred_at, .pred = p->pred, .citems = p->citems,
		.cevents = p->cevents, .cspans = p->cspans, .cends = p->cends,
		.cpred_at = p->cpred_at, .cpred = p->cpred,
	};
}

int kl_part_build(const struct kl_spec *spec, const struct kl_history *h, const int *methods,
		  const uint32_t *ops, size_t nops, uint32_t object, bool tso,
		  struct kl_part *out)
{
	struct builder b = { .p = out, .nops = nops, .tso = tso };
	struct kl_gap *gaps = NULL;
	int ret;

	clear(out);
	out->spec = spec;
	out->h = h;
	out->fresh = h->fresh;
	out->object = object;
	if (nops > 1u << 28 || h->ngaps > 1u << 20)
		return -EOVERFLOW;
	ret = kl_gaps_collect(spec, h, methods, ops, nops, object, tso, &gaps, &b.ngaps);
	if (ret)
		return ret;
	b.gaps = gaps;
	out->ngaps = b.ngaps;
	out->nitems = nops + 2 * b.ngaps;
	ret = make_items(&b, methods, ops) ?: order_events(&b);
	/* With exact times events show program order, unless a thread has two equal times. */
	out->has_preds = b.ties || b.ngaps || h->error;
	if (!ret && tso)
		ret = number_threads(out, false);
	if (!ret && out->has_preds)
		ret = number_threads(out, true) ?: kl_part_find_preds(out);
	free(b.free);
	free(gaps);
	return ret;
}

void kl_part_free(struct kl_part *p)
{
	free(p->items);
	free(p->events);
	free(p->spans);
	free(p->ends);
	free(p->pred_at);
	free(p->pred);
	memset(p, 0, sizeof(*p));
}
