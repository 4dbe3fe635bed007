// SPDX-License-Identifier: GPL-2.0
/*
 * The oracle: linearizability by its definition, trying all orders.  Tiny and
 * slow on purpose; it shares with the engines the specification's interpreter
 * and nothing else: no slots, no interned states, no order in which to look.
 *
 * All orders of n operations are made of all those of n - 1.  Of orders of the same
 * operations that lead to the same state one is as good as the other: of those there is
 * one configuration.  So a history of any length can be tried, if few are under way at
 * a time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"
#include "check/check.h"
#include "check/part.h"

#define MAX_ITEMS	(1u << 20)
#define MAX_CONFIGS	(1u << 24)	/* all together, of 8 bytes each, */
#define MAX_BYTES	(128u << 20)	/* and of those of one number of operations */
#define MAX_LOOKS	800000000ull	/* at anything: about two seconds */
#define STEP_LOOKS	40		/* what a step costs beside them */

/*
 * What has taken effect, and the state after it.  Places are of items by their calls:
 * those from @high on have not, nor those of @skips, which are below.
 */
struct config {
	uint32_t step, high, nskips, left;	/* @left: items that have to, and have not */
	size_t skips, state, len;	/* in its level's arrays */
	uint32_t next;			/* of the same hash, + 1 */
	bool in_gap;
};

/* The configurations in which equally many items have taken effect. */
struct level {
	struct config *c;
	uint32_t *skips;
	struct kl_val *vals;
	uint32_t *heads;	/* by hash, + 1 */
	size_t n, cc, nskips, cskips, nvals, cvals, nheads;
};

struct step {
	uint32_t before, item;	/* the step before it, and what took effect */
};

struct oracle {
	const struct kl_part *p;
	struct kl_run *run;
	struct kl_key *at;	/* place -> .val, its item */
	uint32_t *wait, *stop;	/* of places, see find_waits() */
	struct level level[2], *from, *to;
	const struct config *c;	/* of @from, in which an item at @place takes effect */
	uint32_t place;
	bool in_gap;
	struct step *steps;
	size_t nsteps, csteps;
	struct kl_looks looks;
};

static const struct kl_item *item_at(const struct oracle *o, uint32_t place)
{
	return &o->p->items[o->at[place].val];
}

static bool must(const struct oracle *o, uint32_t place)
{
	return item_at(o, place)->ret_ev != KL_NO_EVENT;
}

/* Does what is at place @a happen before what is at @b?  A gap has only its events. */
static bool before(const struct oracle *o, uint32_t a, uint32_t b)
{
	const struct kl_item *x = item_at(o, a), *y = item_at(o, b);

	if (x->kind == KL_ITEM_OP && y->kind == KL_ITEM_OP)
		return kl_op_before(o->p->h, kl_item_op(o->p, x), kl_item_op(o->p, y));
	if (x->kind == KL_ITEM_ENTER && y->kind == KL_ITEM_LEAVE &&
	    o->at[b].val == o->at[a].val + 1)
		return true;
	return x->ret_ev != KL_NO_EVENT && x->ret_ev < y->call_ev;
}

/* The same, and before all that is behind @b, too. */
static bool before_all(const struct oracle *o, uint32_t a, uint32_t b)
{
	const struct kl_item *x = item_at(o, a), *y = item_at(o, b);
	const uint64_t error = o->p->h->error;
	uint64_t ret;

	if (x->kind != KL_ITEM_OP)
		return x->ret_ev != KL_NO_EVENT && x->ret_ev < y->call_ev;
	ret = kl_item_op(o->p, x)->ret;
	return y->kind == KL_ITEM_OP && ret < KL_TIME_MAX - error &&
	       ret + error < kl_item_op(o->p, y)->call;
}

/*
 * By calls: nothing happens before what was called earlier.  wait[i] is the last place
 * that happens before i, stop[i] the last one that happens before i and all behind it,
 * both + 1.
 */
static int find_waits(struct oracle *o)
{
	const uint32_t n = o->p->nitems;
	uint32_t i, j;

	o->at = malloc(2 * ((size_t)n + 1) * sizeof(*o->at));
	o->wait = calloc((size_t)n + 1, sizeof(*o->wait));
	o->stop = calloc((size_t)n + 1, sizeof(*o->stop));
	if (!o->at || !o->wait || !o->stop)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		o->at[i] = (struct kl_key){ .key = o->p->items[i].call_ev, .val = i };
	kl_sort_keys(o->at, n, o->at + n);
	for (i = 0; i < n; i++) {
		for (j = i; j && !o->stop[i]; j--) {
			if (!o->wait[i] && before(o, j - 1, i))
				o->wait[i] = j;
			if (before_all(o, j - 1, i))
				o->stop[i] = j;
		}
		if (kl_look(&o->looks, i - j + 1))
			return -E2BIG;
	}
	return 0;
}

static uint64_t hash_config(const struct level *l, const struct config *c)
{
	uint64_t h = kl_mix(c->high, c->nskips);
	uint32_t i;

	for (i = 0; i < c->nskips; i++)
		h = kl_mix(h, l->skips[c->skips + i]);
	return kl_hash_words((const uint64_t *)(l->vals + c->state), 2 * c->len, h);
}

static bool same_config(const struct level *l, const struct config *a, const struct config *b)
{
	return a->high == b->high && a->nskips == b->nskips && a->in_gap == b->in_gap &&
	       a->len == b->len &&
	       !memcmp(l->skips + a->skips, l->skips + b->skips,
		       a->nskips * sizeof(*l->skips)) &&
	       !memcmp(l->vals + a->state, l->vals + b->state, a->len * sizeof(*l->vals));
}

static int more_heads(struct level *l)
{
	const size_t size = l->nheads ? 2 * l->nheads : 256;
	uint32_t *heads = calloc(size, sizeof(*heads));
	size_t i;

	if (!heads)
		return -ENOMEM;
	for (i = 0; i < l->n; i++) {
		uint32_t *head = &heads[hash_config(l, &l->c[i]) & (size - 1)];

		l->c[i].next = *head;
		*head = i + 1;
	}
	free(l->heads);
	l->heads = heads;
	l->nheads = size;
	return 0;
}

/* A configuration whose places and state are the last of @l's; again if it is there already. */
static int add_config(struct oracle *o, struct level *l, struct config *c, uint32_t item)
{
	uint32_t *head, i;
	int ret;

	if (l->n >= l->nheads) {
		ret = more_heads(l);
		if (ret)
			return ret;
	}
	head = &l->heads[hash_config(l, c) & (l->nheads - 1)];
	for (i = *head; i; i = l->c[i - 1].next) {
		if (same_config(l, &l->c[i - 1], c)) {
			l->nskips = c->skips;
			l->nvals = c->state;
			return 0;
		}
	}
	if (l->n * sizeof(*l->c) + l->nskips * sizeof(*l->skips) +
	    l->nvals * sizeof(*l->vals) > MAX_BYTES || o->nsteps >= MAX_CONFIGS) {
		snprintf(o->looks.reason, sizeof(o->looks.reason), "too many orders for the oracle");
		return -E2BIG;
	}
	ret = kl_grow(l->c, l->cc, l->n + 1) ?: kl_grow(o->steps, o->csteps, o->nsteps + 1);
	if (ret)
		return ret;
	o->steps[o->nsteps] = (struct step){ .before = o->c ? o->c->step : 0, .item = item };
	c->step = o->nsteps++;
	c->next = *head;
	l->c[l->n++] = *c;
	*head = l->n;
	return 0;
}

/* What @o->c becomes when the item at @o->place leads to this state. */
static int add_state(void *ctx, const struct kl_outcome *state)
{
	struct oracle *o = ctx;
	const struct config *c = o->c;
	const uint32_t *skips = o->from->skips + c->skips;
	struct level *l = o->to;
	struct config new = {
		.skips = l->nskips, .state = l->nvals, .len = state->len, .in_gap = o->in_gap,
		.left = c->left - must(o, o->place),
		.high = o->place < c->high ? c->high : o->place + 1,
	};
	uint32_t i;
	int ret;

	ret = kl_grow(l->skips, l->cskips, l->nskips + c->nskips + (new.high - c->high) + 1) ?:
	      kl_grow(l->vals, l->cvals, l->nvals + state->len + 1);
	if (ret)
		return ret;
	for (i = 0; i < c->nskips; i++)
		if (skips[i] != o->place)
			l->skips[l->nskips++] = skips[i];
	for (i = c->high; i < o->place; i++)
		l->skips[l->nskips++] = i;
	new.nskips = l->nskips - new.skips;
	if (state->len)
		memcpy(l->vals + l->nvals, state->state, state->len * sizeof(*l->vals));
	l->nvals += state->len;
	return add_config(o, l, &new, o->at[o->place].val);
}

static int any_outcome(void *ctx, const struct kl_outcome *o)
{
	bool *any = ctx;

	(void)o;
	*any = true;
	return 0;
}

/* Let the item at @place take effect in @o->c. */
static int try_item(struct oracle *o, uint32_t place)
{
	const struct config *c = o->c;
	const struct kl_val *state = o->from->vals + c->state;
	const struct kl_item *it = item_at(o, place);
	const struct kl_op *op;
	struct kl_outcome unknown = { 0 };
	bool any = false;
	int ret;

	o->place = place;
	o->in_gap = c->in_gap;
	if (it->kind == KL_ITEM_OP) {
		op = kl_item_op(o->p, it);
		/* Inside a gap anything may happen after each operation. */
		ret = kl_run_apply(o->run, state, c->len, it->method, kl_op_args(o->p->h, op),
				   kl_op_res(o->p->h, op), c->in_gap ? any_outcome : add_state,
				   c->in_gap ? (void *)&any : o);
		if (!ret)
			ret = kl_look(&o->looks, kl_run_work(o->run) + c->len);
		if (ret || !any)
			return ret;
	} else if (it->kind == KL_ITEM_ENTER || c->in_gap) {
		o->in_gap = it->kind == KL_ITEM_ENTER;
	} else {
		return 0;
	}
	unknown.state = kl_run_init(o->run, false, &unknown.len);
	return unknown.state ? add_state(o, &unknown) : -ENOMEM;
}

/* May the item at @place be the next?  -E2BIG: too many looks. */
static int may_come(struct oracle *o, uint32_t place)
{
	const struct config *c = o->c;
	const uint32_t *skips = o->from->skips + c->skips;
	uint32_t i;

	if (place >= c->high && o->wait[place] > c->high)
		return 0;
	for (i = 0; i < c->nskips && skips[i] < place; i++)
		if (before(o, skips[i], place))
			return kl_look(&o->looks, i + 1);
	return kl_look(&o->looks, i + 1) ?: 1;
}

/* All that may take effect next in @o->c. */
static int try_all(struct oracle *o)
{
	const struct config *c = o->c;
	uint32_t i;
	int ret = kl_look(&o->looks, STEP_LOOKS);

	for (i = 0; i < c->nskips && !ret; i++) {
		const uint32_t place = o->from->skips[c->skips + i];

		ret = may_come(o, place);
		if (ret > 0)
			ret = try_item(o, place);
	}
	for (i = c->high; i < o->p->nitems && o->stop[i] <= c->high && !ret; i++) {
		ret = may_come(o, i);
		if (ret > 0)
			ret = try_item(o, i);
	}
	return ret;
}

/* One more item.  @last: the step that led to one of the configurations there are. */
static int try_level(struct oracle *o, uint32_t *last)
{
	struct level *swap = o->from;
	size_t i;
	int ret = 0;

	o->from = o->to;
	o->to = swap;
	o->to->n = o->to->nskips = o->to->nvals = 0;
	if (o->to->nheads)
		memset(o->to->heads, 0, o->to->nheads * sizeof(*o->to->heads));
	*last = o->from->c[0].step;
	for (i = 0; i < o->from->n && !ret; i++) {
		o->c = &o->from->c[i];
		if (!o->c->left) {
			*last = o->c->step;
			return 1;
		}
		ret = try_all(o);
	}
	return ret;
}

/* Return: 1 when an order was found, 0 when there is none, negative errno. */
static int try_orders(struct oracle *o, uint32_t *last)
{
	const struct kl_val *state;
	struct config first = { 0 };
	uint32_t i;
	int ret;

	for (i = 0; i < o->p->nitems; i++)
		first.left += must(o, i);
	state = kl_run_init(o->run, o->p->fresh, &first.len);
	if (!state)
		return -ENOMEM;
	o->from = &o->level[0];
	o->to = &o->level[1];
	ret = kl_grow(o->to->vals, o->to->cvals, first.len + 1) ?:
	      kl_grow(o->to->skips, o->to->cskips, 1);
	if (ret)
		return ret;
	if (first.len)
		memcpy(o->to->vals, state, first.len * sizeof(*state));
	o->to->nvals = first.len;
	ret = add_config(o, o->to, &first, 0);
	while (!ret && o->to->n)
		ret = try_level(o, last);
	return ret;
}

/* The order that step @last ends, of which the first step is none. */
static int tell_order(const struct oracle *o, uint32_t last, struct kl_answer *a)
{
	uint32_t i, n = 0;

	for (i = last; i; i = o->steps[i].before)
		n++;
	a->steps = calloc((size_t)n + 1, sizeof(*a->steps));
	if (!a->steps)
		return -ENOMEM;
	a->nsteps = n;
	for (i = last; i; i = o->steps[i].before)
		a->steps[--n].item = o->steps[i].item;
	return 0;
}

static void free_level(struct level *l)
{
	free(l->c);
	free(l->skips);
	free(l->vals);
	free(l->heads);
}

static int oracle_decide(const struct kl_part *p, const struct kl_limits *lim,
			 struct kl_answer *a)
{
	struct oracle o = { .p = p, .looks = { .lim = lim, .most = MAX_LOOKS } };
	uint32_t last = 0;
	int ret;

	a->engine = "oracle";
	a->verdict = KL_UNKNOWN;
	if (p->nitems > MAX_ITEMS) {
		snprintf(a->reason, sizeof(a->reason), "more than %d operations for the oracle",
			 MAX_ITEMS);
		return 0;
	}
	o.run = kl_run_new(p->spec);
	ret = o.run ? find_waits(&o) : -ENOMEM;
	if (!ret)
		ret = try_orders(&o, &last);
	if (ret == -E2BIG) {
		snprintf(a->reason, sizeof(a->reason), "%s",
			 *o.looks.reason ? o.looks.reason : kl_run_error(o.run));
		ret = 0;
	} else if (ret >= 0) {
		a->verdict = ret ? KL_LINEARIZABLE : KL_VIOLATION;
		ret = tell_order(&o, last, a);
	}
	a->work = o.looks.n;
	free(o.at);
	free(o.wait);
	free(o.stop);
	free(o.steps);
	free_level(&o.level[0]);
	free_level(&o.level[1]);
	kl_run_free(o.run);
	return ret;
}

const struct kl_engine kl_oracle_engine = { .name = "oracle", .decide = oracle_decide };
