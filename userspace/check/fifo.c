// SPDX-License-Identifier: GPL-2.0
/*
 * The engine `fifo': a queue whose values repeat, however long it grows.
 *
 * A search through the states of a queue has to guess in which order concurrent
 * values entered it, and learns much later, when they leave, whether it guessed
 * well: the states are as many as there are such orders.  This one decides who
 * entered first when the first one leaves.  In an order of the history the n-th
 * value that leaves is the n-th that entered; so go through the removals in order,
 * and give each the next addition:
 *
 * - Each operation takes effect in the gap after some event, its place: not
 *   before its call, before its return, and not before the operation that
 *   precedes it on its side (additions, all others), nor a removal or peek before
 *   its addition, nor an addition before the last operation that found the queue
 *   empty without it.  All these bounds are from below, so the first place that
 *   they allow is as good as any.  Two operations of which one returned before the
 *   other was called have their places in that order.
 * - What is left at the end are additions that nobody saw leave: they need places
 *   before their returns, and no more.
 *
 * A configuration is what has taken effect on each side, where each side is in
 * time, and the addition at the front if it was seen there.  What has taken effect
 * is all that was called up to some call but for some that were open at it: few,
 * whatever the queue's length.  The search is depth first; it meets no
 * configuration twice.
 *
 * From an unknown first state the queue holds what nobody knows: removals may take
 * that until one takes an addition.  A gap at the beginning is such a state at its
 * end, and operations called before may have taken effect in it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "check/fifo.h"
#include "check/sim.h"
#include "check/wgl_cache.h"

#define NEVER		FIFO_NEVER
#define NO_NODE		UINT32_MAX

enum { ADDS = FIFO_ADDS, TAKES = FIFO_TAKES, SIDES = FIFO_SIDES };

/* A configuration: these words, then the operations left out on each side. */
enum {
	R_NEXT,				/* by side: the first that was not looked at */
	R_PLACE = R_NEXT + SIDES,	/* by side: the place of the last one */
	R_LEFT = R_PLACE + SIDES,	/* by side: how many are left out before R_NEXT */
	R_FRONT = R_LEFT + SIDES,	/* 0, or an addition that has taken effect, + 1 */
	R_OLD,				/* is there still what nobody knows? */
	R_NODE,				/* how it came about; no part of what is equal */
	R_FIXED,
};

struct node {
	uint32_t parent, item, place;
};

struct fifo {
	struct fifo_ops o;
	struct kl_budget b;
	bool old;		/* the first state is not known */
	uint32_t base[SIDES];	/* where in a record its left out operations are */
	size_t len;		/* words of a record */
	uint32_t *stack;	/* records */
	size_t nstack, cstack;
	uint32_t *kids;		/* of the record that is looked at */
	struct kl_key *order;	/* of those */
	size_t nkids, ckids, corder;
	uint32_t *rec, *tmp;
	uint64_t *key;
	struct kl_cache cache;
	struct node *nodes;
	size_t nnodes, cnodes;
	bool no_nodes;
};

static int decline(struct kl_answer *a, const char *why)
{
	a->verdict = KL_UNKNOWN;
	snprintf(a->reason, sizeof(a->reason), "fifo: %s", why);
	return 0;
}

/* ---- steps ----------------------------------------------------------------------- */

static inline uint32_t *left_out(const struct fifo *f, uint32_t *r, int side)
{
	return r + f->base[side];
}

static inline uint32_t max(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* The side goes on to @place: false if something had to take effect before. */
static bool advance(const struct fifo *f, uint32_t *r, int side, uint32_t place)
{
	const struct fifo_side *s = &f->o.side[side];
	uint32_t *left = left_out(f, r, side), i, n = 0;

	r[R_PLACE + side] = place;
	if (s->least[r[R_NEXT + side]] <= place)
		return false;
	for (i = 0; i < r[R_LEFT + side]; i++) {
		const struct fifo_op *op = &s->op[left[i]];

		if (op->must <= place)
			return false;
		/* What cannot have a place any more is forgotten. */
		if (op->ret > place)
			left[n++] = left[i];
	}
	memset(left + n, 0, (r[R_LEFT + side] - n) * sizeof(*left));
	r[R_LEFT + side] = n;
	return true;
}

/* Operation @o of a side takes effect at @place.  Return: is all well? */
static bool take_effect(const struct fifo *f, uint32_t *r, int side, uint32_t o, uint32_t place)
{
	const struct fifo_side *s = &f->o.side[side];
	uint32_t *left = left_out(f, r, side), *n = &r[R_LEFT + side], i;

	if (s->op[o].ret <= place)
		return false;
	if (o < r[R_NEXT + side]) {
		for (i = 0; left[i] != o; i++)
			;
		memmove(left + i, left + i + 1, (*n - i - 1) * sizeof(*left));
		left[--*n] = 0;
	}
	/* The room is for what is open at a time. */
	if (!advance(f, r, side, place))
		return false;
	for (i = r[R_NEXT + side]; i < o; i++) {
		if (s->op[i].must <= place)
			return false;
		if (s->op[i].ret > place)
			left[(*n)++] = i;
	}
	if (o >= r[R_NEXT + side])
		r[R_NEXT + side] = o + 1;
	return s->least[r[R_NEXT + side]] > place;
}

static int note(struct fifo *f, uint32_t *r, uint32_t item, uint32_t place)
{
	int ret;

	if (f->no_nodes)
		return 0;
	ret = kl_grow(f->nodes, f->cnodes, f->nnodes + 1);
	if (ret)
		return ret;
	if (f->nnodes >= NO_NODE)
		return -EOVERFLOW;
	f->nodes[f->nnodes] = (struct node){ r[R_NODE], item, place };
	r[R_NODE] = f->nnodes++;
	return 0;
}

/* Where an operation of the other side can have its place. */
static uint32_t place_of(const uint32_t *r, const struct fifo_op *op)
{
	const uint32_t place = max(op->call, r[R_PLACE + TAKES]);

	/* An addition at the front is the last one that has a place. */
	return r[R_FRONT] ? max(place, r[R_PLACE + ADDS]) : place;
}

/* Of what is not known nothing is remembered, not even that it was seen. */
static bool fits_front(const struct fifo *f, const uint32_t *r, uint32_t value)
{
	return value == FIFO_ANYTHING || (value != FIFO_EMPTY &&
		(r[R_FRONT] ? value == f->o.side[ADDS].op[r[R_FRONT] - 1].value : r[R_OLD]));
}

/* Operation @o sees what is at the front.  Return: 1, 0 if it cannot, negative errno. */
static int see_front(struct fifo *f, uint32_t *r, uint32_t o)
{
	const struct fifo_op *op = &f->o.side[TAKES].op[o];
	const uint32_t place = place_of(r, op);

	if (!fits_front(f, r, op->value) || !take_effect(f, r, TAKES, o, place))
		return 0;
	if (op->removes)
		r[R_FRONT] = 0;
	return note(f, r, op->item, place) ?: 1;
}

/* Peeks that fit and keep nobody waiting take effect at once: no order is better without. */
static int settle(struct fifo *f, uint32_t *r)
{
	const struct fifo_side *s = &f->o.side[TAKES];
	uint32_t i, at, now;
	int ret = 1;

	if (!r[R_FRONT] && !r[R_OLD])
		return 1;
	now = place_of(r, &(struct fifo_op){ .call = 0 });
	for (i = 0; i < r[R_LEFT + TAKES] && ret > 0; ) {
		const uint32_t o = left_out(f, r, TAKES)[i];

		if (s->op[o].removes || s->op[o].ret <= now || s->op[o].call > now ||
		    !fits_front(f, r, s->op[o].value)) {
			i++;
			continue;
		}
		ret = see_front(f, r, o);
		i = 0;
	}
	for (at = r[R_NEXT + TAKES]; ret > 0 && at < s->n && s->op[at].call <= now; at++)
		if (!s->op[at].removes && s->op[at].ret > now && fits_front(f, r, s->op[at].value))
			ret = see_front(f, r, at);
	return ret;
}

/* Keep the configuration in f->tmp for later; the smaller @when, the earlier. */
static int add_kid(struct fifo *f, uint32_t when)
{
	int ret = settle(f, f->tmp);

	if (ret <= 0)
		return ret;
	ret = kl_grow(f->kids, f->ckids, (f->nkids + 1) * f->len) ?:
	      kl_grow(f->order, f->corder, 2 * (f->nkids + 1));
	if (ret)
		return ret;
	memcpy(f->kids + f->nkids * f->len, f->tmp, f->len * sizeof(*f->tmp));
	f->order[f->nkids] = (struct kl_key){ .key = when, .val = f->nkids };
	f->nkids++;
	return 0;
}

/*
 * Is operation @o of no use beside another that could take its turn?  If an order
 * has @o here, and that one later, they can change places.  One that need not take
 * effect, but could only for some time, is no such other.
 */
static bool has_twin(const struct fifo *f, const uint32_t *r, int side, uint32_t o,
		     const uint32_t *before, uint32_t n)
{
	const struct fifo_op *op = f->o.side[side].op, *b = &op[o];
	const uint32_t place = r[R_PLACE + side];
	uint32_t i;

	for (i = 0; i < n; i++) {
		const struct fifo_op *a = &op[before[i]];

		if (a->value == b->value && a->removes == b->removes && a->ret <= b->ret &&
		    max(a->call, place) <= max(b->call, place) &&
		    (a->must != NEVER || (a->ret == NEVER && b->must == NEVER)))
			return true;
	}
	return false;
}

/* The operations of a side that may come next; into @out, room for all that are open. */
static uint32_t candidates(const struct fifo *f, uint32_t *r, int side, uint32_t *out)
{
	const struct fifo_side *s = &f->o.side[side];
	const uint32_t *left = left_out(f, r, side);
	uint32_t i, n = 0, by = NEVER;

	for (i = 0; i < r[R_LEFT + side]; i++) {
		by = s->op[left[i]].must < by ? s->op[left[i]].must : by;
		if (!has_twin(f, r, side, left[i], out, n))
			out[n++] = left[i];
	}
	for (i = r[R_NEXT + side]; i < s->n && s->op[i].call < by; i++) {
		by = s->op[i].must < by ? s->op[i].must : by;
		if (!has_twin(f, r, side, i, out, n))
			out[n++] = i;
	}
	return n;
}

/* Nothing was seen at the front yet, and @o sees an addition there. */
static int see_additions(struct fifo *f, uint32_t o, const uint32_t *adds, uint32_t nadds)
{
	const struct fifo_op *op = &f->o.side[TAKES].op[o];
	uint32_t i;
	int ret = 0;

	for (i = 0; i < nadds && ret >= 0; i++) {
		const struct fifo_op *add = &f->o.side[ADDS].op[adds[i]];
		const uint32_t place = max(add->call, f->rec[R_PLACE + ADDS]);

		if (op->value != FIFO_ANYTHING && op->value != add->value)
			continue;
		memcpy(f->tmp, f->rec, f->len * sizeof(*f->tmp));
		f->tmp[R_OLD] = 0;
		f->tmp[R_FRONT] = adds[i] + 1;
		if (!take_effect(f, f->tmp, ADDS, adds[i], place))
			continue;
		ret = note(f, f->tmp, add->item, place) ?: see_front(f, f->tmp, o);
		if (ret > 0)
			ret = add_kid(f, op->ret);
	}
	return ret < 0 ? ret : 0;
}

static int find_empty(struct fifo *f, uint32_t o)
{
	const struct fifo_op *op = &f->o.side[TAKES].op[o];
	const uint32_t place = place_of(f->rec, op);
	int ret;

	memcpy(f->tmp, f->rec, f->len * sizeof(*f->tmp));
	f->tmp[R_OLD] = 0;
	if (!take_effect(f, f->tmp, TAKES, o, place) ||
	    !advance(f, f->tmp, ADDS, max(place, f->tmp[R_PLACE + ADDS])))
		return 0;
	ret = note(f, f->tmp, op->item, place);
	return ret ? ret : add_kid(f, op->ret);
}

/* It sees something of which nobody knows when it was added. */
static int see_old(struct fifo *f, uint32_t o)
{
	const struct fifo_op *op = &f->o.side[TAKES].op[o];
	int ret;

	memcpy(f->tmp, f->rec, f->len * sizeof(*f->tmp));
	ret = see_front(f, f->tmp, o);
	return ret > 0 ? add_kid(f, op->ret) : ret;
}

static int expand_one(struct fifo *f, uint32_t o, const uint32_t *adds, uint32_t nadds)
{
	const struct fifo_op *op = &f->o.side[TAKES].op[o];
	int ret = 0;

	if (f->rec[R_FRONT]) {
		memcpy(f->tmp, f->rec, f->len * sizeof(*f->tmp));
		ret = see_front(f, f->tmp, o);
		return ret > 0 ? add_kid(f, op->ret) : ret;
	}
	if (op->value == FIFO_EMPTY)
		return find_empty(f, o);
	if (f->rec[R_OLD])
		ret = see_old(f, o);
	return ret ? ret : see_additions(f, o, adds, nadds);
}

/* All ways to go on from f->rec, the most urgent on top of the stack. */
static int expand(struct fifo *f, uint32_t *takes, uint32_t *adds)
{
	const uint32_t ntakes = candidates(f, f->rec, TAKES, takes);
	const uint32_t nadds = f->rec[R_FRONT] ? 0 : candidates(f, f->rec, ADDS, adds);
	uint32_t i;
	int ret = 0;

	f->nkids = 0;
	for (i = 0; i < ntakes && !ret; i++)
		ret = expand_one(f, takes[i], adds, nadds);
	if (!ret)
		ret = kl_grow(f->stack, f->cstack, (f->nstack + f->nkids) * f->len);
	if (ret)
		return ret;
	if (f->nkids > 1)
		kl_sort_keys(f->order, f->nkids, f->order + f->nkids);
	for (i = f->nkids; i--; f->nstack++)
		memcpy(f->stack + f->nstack * f->len, f->kids + f->order[i].val * f->len,
		       f->len * sizeof(*f->stack));
	return 0;
}

/* ---- the search ------------------------------------------------------------------ */

static bool is_done(const struct fifo *f, uint32_t *r)
{
	const struct fifo_side *s = &f->o.side[TAKES];
	uint32_t i;

	for (i = 0; i < r[R_LEFT + TAKES]; i++)
		if (s->op[left_out(f, r, TAKES)[i]].must != NEVER)
			return false;
	return s->least[r[R_NEXT + TAKES]] == NEVER;
}

/* Return: 1 if f->rec is new, 0 if it was there, -ENOMEM. */
static int is_new(struct fifo *f)
{
	size_t i, k = 0;

	for (i = 0; i < f->len; i += 2) {
		const uint32_t low = i == R_NODE ? 0 : f->rec[i];
		const uint32_t high = i + 1 == R_NODE || i + 1 == f->len ? 0 : f->rec[i + 1];

		f->key[k++] = (uint64_t)high << 32 | low;
	}
	return kl_cache_add_at(&f->cache, f->key, f->rec[R_NEXT + TAKES]);
}

static size_t bytes(const struct fifo *f)
{
	return kl_cache_bytes(&f->cache) + f->cstack * sizeof(*f->stack) +
	       f->cnodes * sizeof(*f->nodes);
}

static int prepare(struct fifo *f, const enum kl_role *roles)
{
	int ret = fifo_make_sides(&f->o, roles);
	size_t max_len;

	if (ret)
		return ret;
	f->base[ADDS] = R_FIXED;
	f->base[TAKES] = R_FIXED + f->o.side[ADDS].open;
	f->len = f->base[TAKES] + f->o.side[TAKES].open;
	max_len = f->len + 1;
	free(f->rec);
	free(f->tmp);
	free(f->key);
	f->rec = calloc(max_len, sizeof(*f->rec));
	f->tmp = calloc(max_len, sizeof(*f->tmp));
	f->key = calloc(max_len / 2 + 1, sizeof(*f->key));
	kl_cache_free(&f->cache);
	if (!f->rec || !f->tmp || !f->key)
		return -ENOMEM;
	f->nnodes = f->nstack = 0;
	f->tmp[R_NODE] = NO_NODE;
	f->tmp[R_OLD] = f->old || f->o.from;
	f->tmp[R_PLACE + ADDS] = f->tmp[R_PLACE + TAKES] = f->o.from;
	return kl_cache_init_places(&f->cache, (f->len + 1) / 2, f->o.side[TAKES].n + 1) ?:
	       kl_grow(f->stack, f->cstack, f->len);
}

/* Is there an order of what happened before f->o.end?  1 (that of f->rec), 0, negative errno. */
static int search(struct fifo *f, const enum kl_role *roles)
{
	uint32_t *takes = NULL, *adds = NULL;
	int ret = prepare(f, roles);

	if (!ret) {
		takes = malloc(((size_t)f->o.side[TAKES].n + 1) * sizeof(*takes));
		adds = malloc(((size_t)f->o.side[ADDS].n + 1) * sizeof(*adds));
		ret = takes && adds ? 0 : -ENOMEM;
	}
	if (!ret) {
		memcpy(f->stack, f->tmp, f->len * sizeof(*f->tmp));
		f->nstack = 1;
	}
	while (!ret && f->nstack) {
		memcpy(f->rec, f->stack + --f->nstack * f->len, f->len * sizeof(*f->rec));
		if (is_done(f, f->rec)) {
			ret = 1;
			break;
		}
		ret = is_new(f);
		if (ret <= 0)
			continue;
		f->b.work++;
		f->b.progress = max(f->b.progress, f->rec[R_NEXT + ADDS] + f->rec[R_NEXT + TAKES]);
		ret = kl_budget_check(&f->b, bytes(f)) ?: expand(f, takes, adds);
	}
	free(takes);
	free(adds);
	return ret;
}

/* The first return that has no order: by bisection, as what begins an order has one. */
static uint32_t find_failure(struct fifo *f, const enum kl_role *roles)
{
	uint32_t good = 0, bad = f->o.p->nevents;

	f->no_nodes = true;
	while (bad - good > 1) {
		int ret;

		f->o.end = good + (bad - good) / 2;
		f->b.work = 0;
		ret = search(f, roles);
		/* Out of time, it ends somewhat later than it could. */
		if (ret < 0)
			break;
		if (ret)
			good = f->o.end;
		else
			bad = f->o.end;
	}
	return bad - 1;
}

/* ---- the order ------------------------------------------------------------------- */

/* Of those whose places are equal, what came first in the search comes first. */
static int put_places(struct fifo *f, struct kl_key *k, uint8_t *placed, uint32_t *count)
{
	uint32_t node, n = 0, i;

	for (node = f->rec[R_NODE]; node != NO_NODE; node = f->nodes[node].parent)
		n++;
	*count = n;
	for (node = f->rec[R_NODE]; node != NO_NODE; node = f->nodes[node].parent) {
		k[--n] = (struct kl_key){
			.key = f->nodes[node].place, .val = f->nodes[node].item,
		};
		placed[f->nodes[node].item] = 1;
	}
	for (i = 0; i < f->o.side[ADDS].n; i++) {
		const struct fifo_op *op = &f->o.side[ADDS].op[i];

		if (op->must == NEVER || placed[op->item])
			continue;
		k[(*count)++] = (struct kl_key){
			.key = max(op->call, f->rec[R_PLACE + ADDS]), .val = op->item,
		};
		placed[op->item] = 1;
	}
	kl_sort_keys(k, *count, k + f->o.p->nitems + 1);
	return 0;
}

/* Does the order keep what events do not show? */
static bool keeps_preds(const struct kl_part *p, const uint32_t *at)
{
	uint32_t i, k;

	for (i = 0; i < p->nitems && p->has_preds; i++)
		for (k = p->pred_at[i]; at[i] != NEVER && k < p->pred_at[i + 1]; k++)
			if (at[p->pred[k]] != NEVER && at[p->pred[k]] > at[i])
				return false;
	return true;
}

static int extract(struct fifo *f, struct kl_answer *a)
{
	const struct kl_part *p = f->o.p;
	struct kl_key *k = malloc(2 * ((size_t)p->nitems + 1) * sizeof(*k));
	uint8_t *placed = calloc((size_t)p->nitems + 1, 1);
	uint32_t *at = malloc(((size_t)p->nitems + 1) * sizeof(*at)), i, n = 0;
	int ret = k && placed && at ? 0 : -ENOMEM;

	a->steps = calloc((size_t)p->nitems + 1, sizeof(*a->steps));
	if (!ret)
		ret = a->steps ? put_places(f, k, placed, &n) : -ENOMEM;
	a->nsteps = 0;
	/* What had its effect in the gap, between the gap's two ends. */
	for (i = 0; !ret && f->o.from && i < p->nitems; i++)
		if (p->items[i].kind == KL_ITEM_ENTER)
			a->steps[a->nsteps++].item = i;
	for (i = 0; !ret && f->o.from && i < p->nitems; i++)
		if (p->items[i].kind == KL_ITEM_OP && !placed[i] &&
		    p->items[i].ret_ev != KL_NO_EVENT)
			a->steps[a->nsteps++].item = i;
	for (i = 0; !ret && f->o.from && i < p->nitems; i++)
		if (p->items[i].kind == KL_ITEM_LEAVE)
			a->steps[a->nsteps++].item = i;
	for (i = 0; !ret && i < n; i++)
		a->steps[a->nsteps++].item = k[i].val;
	if (!ret) {
		memset(at, 0xff, ((size_t)p->nitems + 1) * sizeof(*at));
		for (i = 0; i < a->nsteps; i++)
			at[a->steps[i].item] = i;
		if (!keeps_preds(p, at))
			decline(a, "no order found that keeps the order of each thread");
	}
	free(k);
	free(placed);
	free(at);
	return ret;
}

static int decide(struct fifo *f, const enum kl_role *roles, struct kl_answer *a)
{
	int ret;

	f->o.end = NEVER;
	ret = search(f, roles);
	a->work = f->b.work;
	a->bytes = bytes(f);
	if (ret == -EDQUOT) {
		a->more_work = f->b.more_work;
		a->progress = f->b.progress;
		snprintf(a->reason, sizeof(a->reason), "%s", f->b.reason);
		return 0;
	}
	if (ret < 0)
		return ret;
	if (ret) {
		a->verdict = KL_LINEARIZABLE;
		return f->no_nodes ? 0 : extract(f, a);
	}
	a->verdict = KL_VIOLATION;
	a->fail_event = find_failure(f, roles);
	return 0;
}

static void fifo_free(struct fifo *f)
{
	int i;

	for (i = 0; i < SIDES; i++) {
		free(f->o.side[i].op);
		free(f->o.side[i].least);
	}
	kl_cache_free(&f->cache);
	free(f->o.value);
	free(f->stack);
	free(f->kids);
	free(f->order);
	free(f->rec);
	free(f->tmp);
	free(f->key);
	free(f->nodes);
}

static int fifo_decide(const struct kl_part *p, const struct kl_limits *lim, struct kl_answer *a)
{
	const unsigned int nmethods = kl_spec_nmethods(p->spec);
	const size_t n = (size_t)p->nitems + 1;
	struct fifo f = {
		.o = { .p = p }, .b = { .lim = lim },
		.no_nodes = lim->no_witness && !p->has_preds,
	};
	enum kl_role *roles;
	struct kl_container c;
	const char *why;
	unsigned int i;
	int ret = 0;

	a->engine = "fifo";
	a->verdict = KL_UNKNOWN;
	kl_spec_container(p->spec, &c);
	if (c.kind != KL_CONTAINER_QUEUE)
		return decline(a, "the specification is no queue");
	if (fifo_find_gap(&f.o))
		return decline(a, "operations were lost");
	f.old = !p->fresh || !c.init;
	roles = malloc((nmethods + 1) * sizeof(*roles));
	f.o.value = malloc(n * sizeof(*f.o.value));
	for (i = 0; i < SIDES; i++) {
		f.o.side[i].op = malloc(n * sizeof(*f.o.side[i].op));
		f.o.side[i].least = malloc(n * sizeof(*f.o.side[i].least));
		if (!f.o.side[i].op || !f.o.side[i].least)
			ret = -ENOMEM;
	}
	for (i = 0; roles && i < nmethods; i++)
		roles[i] = kl_spec_role(p->spec, i);
	if (!ret)
		ret = roles ? fifo_find_values(&f.o, roles, &why) : -ENOMEM;
	if (ret > 0)
		ret = decline(a, why);
	else if (!ret)
		ret = decide(&f, roles, a);
	free(roles);
	fifo_free(&f);
	return ret;
}

const struct kl_engine kl_fifo_engine = { .name = "fifo", .decide = fifo_decide };
