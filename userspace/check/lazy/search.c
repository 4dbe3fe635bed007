// SPDX-License-Identifier: GPL-2.0
/* The search of the lazy engines, see lazy.h: depth first, and no configuration twice. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/lazy/lazy.h"

/* Looks, see KL_CONFIG_LOOKS, besides those for the words of a record: */
#define ADD_LOOKS	40	/* for finding out whether a configuration is new */
#define KID_LOOKS	30	/* for keeping a configuration */

static int decline(const struct lazy_discipline *d, struct kl_answer *a, const char *why)
{
	a->verdict = KL_UNKNOWN;
	snprintf(a->reason, sizeof(a->reason), "%s: %s", d->name, why);
	return 0;
}

bool lazy_advance(const struct lazy *f, uint32_t *r, int side, uint32_t place)
{
	const struct lazy_side *s = &f->o.side[side];
	uint32_t *left = lazy_left(f, r, side), i, n = 0;

	r[L_PLACE + side] = place;
	*f->looks += 4 + r[L_LEFT + side];
	if (s->least[r[L_NEXT + side]] <= place)
		return false;
	for (i = 0; i < r[L_LEFT + side]; i++) {
		const struct lazy_op *op = &s->op[left[i]];

		if (op->must <= place)
			return false;
		/* Operations that can have no place any more are dropped. */
		if (op->ret > place)
			left[n++] = left[i];
	}
	memset(left + n, 0, (r[L_LEFT + side] - n) * sizeof(*left));
	r[L_LEFT + side] = n;
	return true;
}

bool lazy_take_effect(const struct lazy *f, uint32_t *r, int side, uint32_t o, uint32_t place)
{
	const struct lazy_side *s = &f->o.side[side];
	uint32_t *left = lazy_left(f, r, side), *n = &r[L_LEFT + side], i;

	if (s->op[o].ret <= place)
		return false;
	*f->looks += 4 + *n;
	if (o < r[L_NEXT + side]) {
		for (i = 0; left[i] != o; i++)
			;
		memmove(left + i, left + i + 1, (*n - i - 1) * sizeof(*left));
		left[--*n] = 0;
	}
	/* The record has room only for operations that are open together. */
	if (!lazy_advance(f, r, side, place))
		return false;
	for (i = r[L_NEXT + side]; i < o; i++) {
		if (s->op[i].must <= place)
			return false;
		if (s->op[i].ret > place)
			left[(*n)++] = i;
	}
	if (o >= r[L_NEXT + side])
		r[L_NEXT + side] = o + 1;
	return s->least[r[L_NEXT + side]] > place;
}

int lazy_note(struct lazy *f, uint32_t *r, uint32_t item, uint32_t place)
{
	int ret;

	if (f->no_nodes)
		return 0;
	ret = kl_grow(f->nodes, f->cnodes, f->nnodes + 1);
	if (ret)
		return ret;
	if (f->nnodes >= LAZY_NO_NODE)
		return -EOVERFLOW;
	f->nodes[f->nnodes] = (struct lazy_node){ r[L_NODE], item, place };
	r[L_NODE] = f->nnodes++;
	return 0;
}

int lazy_add_kid(struct lazy *f, uint32_t when)
{
	int ret = f->d->settle(f, f->tmp);

	*f->looks += KID_LOOKS + f->len;
	if (ret <= 0)
		return ret;
	ret = kl_grow(f->kids, f->ckids, (f->nkids + 1) * f->len) ?:
	      kl_grow(f->by_urgency, f->cby_urgency, 2 * (f->nkids + 1));
	if (ret)
		return ret;
	memcpy(f->kids + f->nkids * f->len, f->tmp, f->len * sizeof(*f->tmp));
	f->by_urgency[f->nkids] = (struct kl_key){ .key = when, .val = f->nkids };
	f->nkids++;
	return 0;
}

/*
 * Return: true if operation @o need not be tried next, because @before has an equal operation.  If
 * an order has @o here and the equal one later, they can change places.  An equal operation that
 * need not take effect counts only if it never returns, and @o need not take effect, either.
 */
static bool has_twin(const struct lazy *f, const uint32_t *r, int side, uint32_t o,
		     const uint32_t *before, uint32_t n)
{
	const struct lazy_op *op = f->o.side[side].op, *b = &op[o];
	const uint32_t place = r[L_PLACE + side];
	uint32_t i;

	for (i = 0; i < n; i++) {
		const struct lazy_op *a = &op[before[i]];

		if (a->value == b->value && a->removes == b->removes && a->ret <= b->ret &&
		    lazy_max(a->call, place) <= lazy_max(b->call, place) &&
		    (a->must != LAZY_NEVER || (a->ret == LAZY_NEVER && b->must == LAZY_NEVER)))
			break;
	}
	*f->looks += 2 + i;
	return i < n;
}

uint32_t lazy_candidates(const struct lazy *f, uint32_t *r, int side, uint32_t *out)
{
	const struct lazy_side *s = &f->o.side[side];
	const uint32_t *left = lazy_left(f, r, side);
	uint32_t i, n = 0, by = LAZY_NEVER;

	for (i = 0; i < r[L_LEFT + side]; i++) {
		by = s->op[left[i]].must < by ? s->op[left[i]].must : by;
		if (!has_twin(f, r, side, left[i], out, n))
			out[n++] = left[i];
	}
	for (i = r[L_NEXT + side]; i < s->n && s->op[i].call < by; i++) {
		by = s->op[i].must < by ? s->op[i].must : by;
		if (!has_twin(f, r, side, i, out, n))
			out[n++] = i;
	}
	return n;
}

/* Push all ways to go on from f->rec, the most urgent one last. */
static int expand(struct lazy *f)
{
	uint32_t i;
	int ret;

	f->nkids = 0;
	ret = f->d->expand(f, lazy_candidates(f, f->rec, LAZY_TAKES, f->takes)) ?:
		      kl_grow(f->stack, f->cstack, (f->nstack + f->nkids) * f->len);
	if (ret)
		return ret;
	if (f->nkids > 1)
		kl_sort_keys(f->by_urgency, f->nkids, f->by_urgency + f->nkids);
	for (i = f->nkids; i--; f->nstack++)
		memcpy(f->stack + f->nstack * f->len, f->kids + f->by_urgency[i].val * f->len,
		       f->len * sizeof(*f->stack));
	return 0;
}

static bool is_done(const struct lazy *f, uint32_t *r)
{
	const struct lazy_side *s = &f->o.side[LAZY_TAKES];
	uint32_t i;

	for (i = 0; i < r[L_LEFT + LAZY_TAKES]; i++)
		if (s->op[lazy_left(f, r, LAZY_TAKES)[i]].must != LAZY_NEVER)
			return false;
	return s->least[r[L_NEXT + LAZY_TAKES]] == LAZY_NEVER;
}

/* Return: 1 if f->rec is new, 0 if it was visited before, -ENOMEM. */
static int is_new(struct lazy *f)
{
	size_t i;

	*f->looks += ADD_LOOKS + 2 * f->alike_len;
	memcpy(f->alike, f->rec, f->len * sizeof(*f->rec));
	memset(f->alike + f->len, 0, (f->alike_len - f->len) * sizeof(*f->rec));
	f->alike[L_NODE] = 0;
	if (f->d->canonical)
		f->d->canonical(f, f->rec, f->alike);
	for (i = 0; i < f->alike_len; i += 2)
		f->key[i / 2] = (uint64_t)f->alike[i + 1] << 32 | f->alike[i];
	return kl_cache_add_at(&f->cache, f->key, f->rec[L_NEXT + LAZY_TAKES]);
}

static size_t bytes(const struct lazy *f)
{
	return kl_cache_bytes(&f->cache) + kl_intern_bytes(&f->cells) +
	       kl_intern_bytes(&f->canon) + f->cstack * sizeof(*f->stack) +
	       f->cnodes * sizeof(*f->nodes);
}

static int prepare(struct lazy *f, const enum kl_role *roles)
{
	int ret = lazy_make_sides(&f->o, roles);

	if (ret)
		return ret;
	f->base[LAZY_ADDS] = L_FIXED;
	f->base[LAZY_TAKES] = L_FIXED + f->o.side[LAZY_ADDS].open;
	f->len = f->base[LAZY_TAKES] + f->o.side[LAZY_TAKES].open;
	/* The cache has 64-bit words. */
	f->alike_len = f->len + (f->d->canonical ? 2 * f->o.side[LAZY_ADDS].open : 0);
	f->alike_len += f->alike_len & 1;
	free(f->rec);
	free(f->tmp);
	free(f->ahead);
	free(f->alike);
	free(f->key);
	f->rec = calloc(f->len + 1, sizeof(*f->rec));
	f->tmp = calloc(f->len + 1, sizeof(*f->tmp));
	f->ahead = calloc(f->len + 1, sizeof(*f->ahead));
	f->alike = calloc(f->alike_len + 1, sizeof(*f->alike));
	f->key = calloc(f->alike_len / 2 + 1, sizeof(*f->key));
	kl_cache_free(&f->cache);
	if (!f->rec || !f->tmp || !f->ahead || !f->alike || !f->key)
		return -ENOMEM;
	f->nnodes = f->nstack = 0;
	f->tmp[L_NODE] = LAZY_NO_NODE;
	kl_intern_free(&f->cells);
	kl_intern_free(&f->canon);
	f->tmp[L_PLACE + LAZY_ADDS] = f->tmp[L_PLACE + LAZY_TAKES] = f->o.from;
	f->d->start(f, f->tmp);
	return kl_cache_init_places(&f->cache, f->alike_len / 2, f->o.side[LAZY_TAKES].n + 1) ?:
		       kl_grow(f->stack, f->cstack, f->len);
}

/*
 * Search for an order of the events before f->o.end.
 *
 * Return: 1 with the last configuration in f->rec, 0 if there is none, or a negative errno.
 */
static int search(struct lazy *f, const enum kl_role *roles)
{
	int ret = prepare(f, roles);

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
		f->b.configs++;
		f->b.progress = lazy_max(f->b.progress,
					 f->rec[L_NEXT + LAZY_ADDS] + f->rec[L_NEXT + LAZY_TAKES]);
		ret = kl_budget_check(&f->b, bytes(f)) ?: expand(f);
	}
	return ret;
}

/*
 * Find, by bisection, the first return up to which the history has no order.  If it has an order up
 * to some event, it has one up to each earlier event.
 */
static uint32_t find_failure(struct lazy *f, const enum kl_role *roles)
{
	const uint64_t cap = f->b.lim->cap;
	uint32_t good = 0, bad = f->o.p->nevents;
	uint64_t spent = 0;

	f->no_nodes = true;
	while (bad - good > 1) {
		int ret;

		f->o.end = good + (bad - good) / 2;
		spent += f->b.work;
		f->b.work = 0;
		ret = cap && spent > cap ? -EDQUOT : search(f, roles);
		/* At a bound of time or work, the answer may be a later return than the first. */
		if (ret < 0)
			break;
		if (ret)
			good = f->o.end;
		else
			bad = f->o.end;
	}
	return bad - 1;
}

/*
 * Return: true if each item comes after its predecessors in the order, where item i is number
 * at[i].
 */
static bool keeps_preds(const struct kl_part *p, const uint32_t *at)
{
	uint32_t i, k;

	for (i = 0; i < p->nitems && p->has_preds; i++)
		for (k = p->pred_at[i]; at[i] != LAZY_NEVER && k < p->pred_at[i + 1]; k++)
			if (at[p->pred[k]] != LAZY_NEVER && at[p->pred[k]] > at[i])
				return false;
	return true;
}

static int extract(struct lazy *f, struct kl_answer *a)
{
	const struct kl_part *p = f->o.p;
	uint32_t *out = malloc(((size_t)p->nitems + 1) * sizeof(*out)), i, n = 0;
	uint32_t *at = malloc(((size_t)p->nitems + 1) * sizeof(*at));
	int ret = out && at ? 0 : -ENOMEM;

	a->steps = calloc((size_t)p->nitems + 1, sizeof(*a->steps));
	a->nsteps = 0;
	if (!ret)
		ret = a->steps ? f->d->order(f, out, &n) : -ENOMEM;
	if (ret > 0)
		decline(f->d, a, "found no order that the container allows");
	if (!ret) {
		memset(at, 0xff, ((size_t)p->nitems + 1) * sizeof(*at));
		for (i = 0; i < n; i++) {
			a->steps[a->nsteps++].item = out[i];
			at[out[i]] = i;
		}
		if (!keeps_preds(p, at))
			decline(f->d, a, "found no order that keeps the program order of each "
					 "thread");
	}
	free(out);
	free(at);
	return ret < 0 ? ret : 0;
}

static int decide(struct lazy *f, const enum kl_role *roles, struct kl_answer *a)
{
	int ret;

	f->o.end = LAZY_NEVER;
	ret = search(f, roles);
	a->configs = f->b.configs;
	a->work = f->b.work;
	a->bytes = bytes(f);
	if (ret == -EDQUOT) {
		a->bound = f->b.bound;
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

static void lazy_free(struct lazy *f)
{
	int i;

	for (i = 0; i < LAZY_SIDES; i++) {
		free(f->o.side[i].op);
		free(f->o.side[i].least);
	}
	kl_cache_free(&f->cache);
	kl_intern_free(&f->cells);
	kl_intern_free(&f->canon);
	free(f->o.value);
	free(f->stack);
	free(f->kids);
	free(f->by_urgency);
	free(f->rec);
	free(f->tmp);
	free(f->ahead);
	free(f->takes);
	free(f->adds);
	free(f->alike);
	free(f->key);
	free(f->nodes);
}

static int get_room(struct lazy *f, size_t n)
{
	int i;

	f->o.value = malloc(n * sizeof(*f->o.value));
	f->takes = malloc(n * sizeof(*f->takes));
	f->adds = malloc(n * sizeof(*f->adds));
	if (!f->o.value || !f->takes || !f->adds)
		return -ENOMEM;
	for (i = 0; i < LAZY_SIDES; i++) {
		f->o.side[i].op = malloc(n * sizeof(*f->o.side[i].op));
		f->o.side[i].least = malloc(n * sizeof(*f->o.side[i].least));
		if (!f->o.side[i].op || !f->o.side[i].least)
			return -ENOMEM;
	}
	return 0;
}

/* Find out as which container a deque is used.  With gaps this is not known. */
static int find_deque(const struct kl_part *p, struct kl_container *c)
{
	bool *used = calloc(kl_spec_nmethods(p->spec) + 1, sizeof(*used));
	uint32_t i;

	if (!used)
		return -ENOMEM;
	for (i = 0; i < p->nitems; i++)
		if (p->items[i].kind == KL_ITEM_OP)
			used[p->items[i].method] = true;
	if (!p->ngaps)
		c->kind = kl_spec_deque_used(p->spec, used);
	free(used);
	return 0;
}

int lazy_decide(const struct lazy_discipline *d, const struct kl_part *p,
		const struct kl_limits *lim, struct kl_answer *a)
{
	const unsigned int nmethods = kl_spec_nmethods(p->spec);
	struct lazy f = {
		.d = d, .o = { .p = p }, .b = { .lim = lim }, .looks = &f.b.work,
		.no_nodes = lim->no_witness && !p->has_preds,
	};
	enum kl_role *roles;
	struct kl_container c;
	const char *why;
	unsigned int i;
	int ret;

	a->engine = d->name;
	a->verdict = KL_UNKNOWN;
	kl_spec_container(p->spec, &c);
	if (c.kind == KL_CONTAINER_DEQUE && find_deque(p, &c))
		return -ENOMEM;
	if (c.kind != d->kind)
		return decline(d, a, d->kind == KL_CONTAINER_QUEUE ?
			       "the specification is not a queue" :
			       "the specification is not a stack");
	f.old = !p->fresh || !c.init;
	if (lazy_find_gap(&f.o) || (f.o.from && !d->takes_gaps))
		return decline(d, a, "operations were lost");
	roles = malloc((nmethods + 1) * sizeof(*roles));
	ret = roles ? get_room(&f, (size_t)p->nitems + 1) : -ENOMEM;
	for (i = 0; roles && i < nmethods; i++)
		roles[i] = kl_spec_role(p->spec, i);
	if (!ret)
		ret = lazy_find_values(&f.o, roles, &why);
	if (ret > 0)
		ret = decline(d, a, why);
	else if (!ret)
		ret = decide(&f, roles, a);
	free(roles);
	lazy_free(&f);
	return ret;
}
