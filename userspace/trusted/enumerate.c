// SPDX-License-Identifier: GPL-2.0
/* Enumerating all orders, see enumerate.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"
#include "trusted/enumerate.h"

#define MAX_LOOKS	800000000ull	/* bound of looks: about two seconds */
#define MAX_WORDS	(16u << 20)	/* bound of words of a level's configurations */
#define STEP_LOOKS	100	/* looks for a configuration, besides those for its items */
#define ADD_LOOKS	100	/* looks for adding a configuration */
#define PAIR_LOOKS	4	/* looks for two calls of before() */
/*
 * A configuration begins with struct kl_done's high, then left << 32 | nskips; skips and state
 * follow.
 */
#define HEAD		2

static bool must(const struct kl_orders *o, uint32_t place)
{
	return o->p->items[kl_orders_item(o, place)].ret_ev != KL_NO_EVENT;
}

bool kl_item_before(const struct kl_part *p, uint32_t a, uint32_t b)
{
	const struct kl_item *x = &p->items[a], *y = &p->items[b];

	if (x->kind == KL_ITEM_OP && y->kind == KL_ITEM_OP)
		return kl_op_before(p->h, kl_item_op(p, x), kl_item_op(p, y));
	/* The two ends of a gap are neighbouring items, begin before end. */
	if (x->kind == KL_ITEM_ENTER && y->kind == KL_ITEM_LEAVE && b == a + 1)
		return true;
	return x->ret_ev != KL_NO_EVENT && x->ret_ev < y->call_ev;
}

static bool before(const struct kl_orders *o, uint32_t a, uint32_t b)
{
	return kl_item_before(o->p, kl_orders_item(o, a), kl_orders_item(o, b));
}

/* Must @a take effect before @b and before all items that were called after @b? */
static bool before_all(const struct kl_orders *o, uint32_t a, uint32_t b)
{
	const struct kl_item *x = &o->p->items[kl_orders_item(o, a)];
	const struct kl_item *y = &o->p->items[kl_orders_item(o, b)];

	if (x->kind != KL_ITEM_OP)
		return x->ret_ev != KL_NO_EVENT && x->ret_ev < y->call_ev;
	return y->kind == KL_ITEM_OP && kl_time_add(kl_item_op(o->p, x)->ret, o->p->h->error) <
					kl_item_op(o->p, y)->call;
}

/*
 * Compute for each place i which earlier places its item waits for.  Later places cannot come
 * first for certain, since places are in order of call.
 *
 * - wait[i] - 1 is the last place whose item must take effect before the item at place i.
 * - stop[i] - 1 is the last place whose item must take effect before all items from place i on.
 *
 * Both are 0 if there is no such place.
 */
static int find_waits(struct kl_orders *o)
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
		if (kl_look(&o->looks, PAIR_LOOKS * (uint64_t)(i - j + 1)))
			return -E2BIG;
	}
	return 0;
}

/* ---- levels ---- */

static uint64_t hash_of(const struct kl_level *l, size_t i)
{
	return kl_hash_words(l->words + l->at[i], l->at[i + 1] - l->at[i], 0);
}

static bool same(const struct kl_level *l, size_t a, size_t b)
{
	const size_t n = l->at[a + 1] - l->at[a];

	return n == l->at[b + 1] - l->at[b] &&
	       !memcmp(l->words + l->at[a], l->words + l->at[b], n * sizeof(*l->words));
}

static int more_heads(struct kl_level *l)
{
	const size_t size = l->nheads ? 2 * l->nheads : 256;
	uint32_t *heads = calloc(size, sizeof(*heads));
	size_t i;

	if (!heads)
		return -ENOMEM;
	for (i = 0; i < l->n; i++) {
		uint32_t *head = &heads[hash_of(l, i) & (size - 1)];

		l->next[i] = *head;
		*head = i + 1;
	}
	free(l->heads);
	l->heads = heads;
	l->nheads = size;
	return 0;
}

/* Clear only the heads that were used, since after a wide level most are not. */
static void clear(struct kl_level *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		l->heads[hash_of(l, i) & (l->nheads - 1)] = 0;
	l->n = l->nwords = 0;
}

/* The bound of words of one level; there are two levels. */
static size_t most_words(const struct kl_orders *o)
{
	const uint64_t bytes = o->looks.lim->bytes;

	return bytes && bytes / (2 * sizeof(uint64_t)) < MAX_WORDS ?
	       bytes / (2 * sizeof(uint64_t)) : MAX_WORDS;
}

/*
 * Make the words after the level's last configuration a new configuration, unless the level has an
 * equal one.
 */
static int end_config(struct kl_orders *o, struct kl_step step)
{
	struct kl_level *l = o->to;
	uint32_t *head, i;
	int ret = l->n >= l->nheads ? more_heads(l) : 0;

	if (!ret)
		ret = kl_grow(l->at, l->cat, l->n + 2) ?: kl_grow(l->next, l->cnext, l->n + 1) ?:
		      kl_grow(l->step, l->cstep, l->n + 1) ?:
		      kl_grow(o->steps, o->csteps, o->nsteps + 1);
	if (ret)
		return ret;
	if (!l->n)
		l->at[0] = 0;
	l->at[l->n + 1] = l->nwords;
	head = &l->heads[hash_of(l, l->n) & (l->nheads - 1)];
	for (i = *head; i; i = l->next[i - 1]) {
		if (same(l, i - 1, l->n)) {
			l->nwords = l->at[l->n];
			return 0;
		}
	}
	if (l->nwords > most_words(o)) {
		snprintf(o->looks.reason, sizeof(o->looks.reason),
			 "too many orders for the oracle");
		return -E2BIG;
	}
	o->steps[o->nsteps] = (struct kl_order_step){ .before = o->c.step, .step = step };
	l->step[l->n] = o->nsteps++;
	l->next[l->n] = *head;
	*head = ++l->n;
	return 0;
}

int kl_orders_add(struct kl_orders *o, uint32_t place, struct kl_step step,
		  const uint64_t *words, size_t n)
{
	const struct kl_done *c = &o->c;
	const bool item = place != KL_NO_PLACE;
	const uint32_t high = item && place >= c->high ? place + 1 : c->high;
	struct kl_level *l = o->to;
	uint64_t *w;
	uint32_t i;
	int ret;

	ret = kl_look(&o->looks, ADD_LOOKS + 4 * n) ?:
	      kl_grow(l->words, l->cwords, l->nwords + HEAD + c->nskips + (high - c->high) + n);
	if (ret)
		return ret;
	w = l->words + l->nwords + HEAD;
	for (i = 0; i < c->nskips; i++)
		if (c->skips[i] != place)
			*w++ = c->skips[i];
	for (i = c->high; i < high; i++)
		if (i != place)
			*w++ = i;
	l->words[l->nwords] = high;
	l->words[l->nwords + 1] = (uint64_t)(c->left - (item && must(o, place))) << 32 |
				  (uint32_t)(w - (l->words + l->nwords + HEAD));
	if (n)
		memcpy(w, words, n * sizeof(*w));
	l->nwords = w + n - l->words;
	return end_config(o, step);
}

/* ---- going on ---- */

/* May the item at @place be next?  Return: 1, 0, or -E2BIG at the bound of looks. */
static int may_come(struct kl_orders *o, uint32_t place)
{
	const struct kl_done *c = &o->c;
	uint32_t i;

	if (place >= c->high && o->wait[place] > c->high)
		return kl_look(&o->looks, 1);
	for (i = 0; i < c->nskips && c->skips[i] < place; i++)
		if (before(o, c->skips[i], place))
			return kl_look(&o->looks, i + 1);
	return kl_look(&o->looks, i + 1) ?: 1;
}

int kl_orders_each(struct kl_orders *o, kl_orders_item_fn fn, void *ctx)
{
	const struct kl_done *c = &o->c;
	uint32_t i;
	int ret = 0;

	for (i = 0; i < c->nskips && !ret; i++) {
		ret = may_come(o, c->skips[i]);
		if (ret > 0)
			ret = fn(ctx, c->skips[i]);
	}
	for (i = c->high; i < o->p->nitems && o->stop[i] <= c->high && !ret; i++) {
		ret = may_come(o, i);
		if (ret > 0)
			ret = fn(ctx, i);
	}
	return ret;
}

/* Extend each configuration by one step.  Return: 1 if one of them is complete. */
static int try_level(struct kl_orders *o, kl_orders_fn go_on, void *ctx)
{
	struct kl_level *l = o->to;
	size_t i;
	int ret = 0;

	o->to = o->from;
	o->from = l;
	clear(o->to);
	o->last = l->step[0];
	for (i = 0; i < l->n && !ret; i++) {
		const uint64_t *w = l->words + l->at[i];

		o->c = (struct kl_done){
			.high = w[0], .nskips = w[1], .left = w[1] >> 32, .step = l->step[i],
			.skips = w + HEAD,
		};
		w += HEAD + o->c.nskips;
		if (!o->c.left) {
			o->last = o->c.step;
			if (!o->is_lost || !o->is_lost(ctx, w, l->words + l->at[i + 1] - w))
				return 1;
			o->lost = true;
		}
		ret = kl_look(&o->looks, STEP_LOOKS);
		if (!ret)
			ret = go_on(ctx, w, l->words + l->at[i + 1] - w);
	}
	return ret;
}

int kl_orders_try(struct kl_orders *o, const uint64_t *words, size_t n, kl_orders_fn go_on,
		  void *ctx)
{
	uint32_t i;
	int ret;

	o->looks.most = MAX_LOOKS;
	ret = find_waits(o);
	if (ret)
		return ret;
	for (i = 0; i < o->p->nitems; i++)
		o->c.left += must(o, i);
	o->from = &o->level[0];
	o->to = &o->level[1];
	ret = kl_orders_add(o, KL_NO_PLACE, (struct kl_step){ 0 }, words, n);
	while (!ret && o->to->n)
		ret = try_level(o, go_on, ctx);
	return ret;
}

static int tell_order(const struct kl_orders *o, struct kl_answer *a)
{
	uint32_t i;
	size_t n = 0;

	/* Step 0 stands for the first state, and is not a step of the order. */
	for (i = o->last; i; i = o->steps[i].before)
		n++;
	a->steps = calloc(n + 1, sizeof(*a->steps));
	if (!a->steps)
		return -ENOMEM;
	a->nsteps = n;
	for (i = o->last; i; i = o->steps[i].before)
		a->steps[--n] = o->steps[i].step;
	return 0;
}

int kl_orders_answer(const struct kl_orders *o, int ret, const char *why, struct kl_answer *a)
{
	a->verdict = KL_UNKNOWN;
	a->configs = o->looks.n / KL_CONFIG_LOOKS + 1;
	a->work = o->looks.n;
	if (ret == -E2BIG) {
		snprintf(a->reason, sizeof(a->reason), "%s",
			 *o->looks.reason ? o->looks.reason : why);
		return 0;
	}
	if (ret < 0)
		return ret;
	if (!ret && o->lost) {
		a->lost = true;
		snprintf(a->reason, sizeof(a->reason), "%s", KL_LOST_REASON);
		return 0;
	}
	a->verdict = ret ? KL_LINEARIZABLE : KL_VIOLATION;
	return tell_order(o, a);
}

static void free_level(struct kl_level *l)
{
	free(l->at);
	free(l->next);
	free(l->heads);
	free(l->step);
	free(l->words);
}

void kl_orders_free(struct kl_orders *o)
{
	free(o->at);
	free(o->wait);
	free(o->stop);
	free(o->steps);
	free_level(&o->level[0]);
	free_level(&o->level[1]);
}
