// SPDX-License-Identifier: GPL-2.0
/*
 * WGL: Wing & Gong's search with Lowe's cache of configurations, as in Horn &
 * Kroening, Algorithms 1 and 2, for one partition (Algorithm 3 made it).
 *
 * Beyond the paper: a step may have several outcomes, which are tried in turn;
 * pending operations have a call entry only, and the search succeeds when no
 * return entry is left.  A configuration in the cache is not a bit for each
 * operation but what the list shows: the first return that is left, the calls
 * before it that are left (the lifted ones are all others), and the state.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/sim.h"

struct frame {
	uint32_t item, outcome, state;
};

struct wgl {
	const struct kl_part *p;
	struct kl_sim sim;
	struct kl_budget budget;
	uint32_t *next, *prev;		/* entries: event + 1, 0 is the head and the end */
	uint64_t *linearized;		/* bitset of items */
	struct kl_intern cache;
	uint64_t *key;
	size_t keylen;
	struct frame *stack;
	uint32_t depth, left;		/* height of the stack; returns that are left */
	struct kl_step *best;		/* longest order so far */
	uint32_t nbest, low;		/* of it, what the stack still shares */
	uint32_t best_ev;
};

static int wgl_init(struct wgl *w, const struct kl_part *p, const struct kl_limits *lim)
{
	size_t n = (size_t)p->nevents + 2;
	uint32_t i, last = 0;

	memset(w, 0, sizeof(*w));
	w->p = p;
	w->budget.lim = lim;
	w->keylen = 1 + (p->nslots + 63) / 64;
	w->next = malloc(n * sizeof(*w->next));
	w->prev = malloc(n * sizeof(*w->prev));
	w->linearized = calloc((size_t)p->nitems / 64 + 1, sizeof(*w->linearized));
	w->key = malloc(w->keylen * sizeof(*w->key));
	w->stack = malloc(((size_t)p->nitems + 1) * sizeof(*w->stack));
	w->best = malloc(((size_t)p->nitems + 1) * sizeof(*w->best));
	if (!w->next || !w->prev || !w->linearized || !w->key || !w->stack || !w->best)
		return -ENOMEM;
	for (i = 0; i < p->nevents; i++) {
		if (p->events[i].kind == KL_EV_DRAIN)
			continue;
		w->left += p->events[i].kind == KL_EV_RET;
		w->next[last] = i + 1;
		w->prev[i + 1] = last;
		last = i + 1;
	}
	w->next[last] = 0;
	w->prev[0] = last;
	return kl_intern_init(&w->cache) ?: kl_sim_init(&w->sim, p, w->budget.reason);
}

static void wgl_free(struct wgl *w)
{
	free(w->next);
	free(w->prev);
	free(w->linearized);
	free(w->key);
	free(w->stack);
	free(w->best);
	kl_intern_free(&w->cache);
	kl_sim_free(&w->sim);
}

static void unlink_entry(struct wgl *w, uint32_t e)
{
	w->next[w->prev[e]] = w->next[e];
	w->prev[w->next[e]] = w->prev[e];
}

static void relink_entry(struct wgl *w, uint32_t e)
{
	w->prev[w->next[e]] = e;
	w->next[w->prev[e]] = e;
}

/* Algorithm 2. */
static void lift(struct wgl *w, uint32_t item)
{
	const struct kl_item *it = &w->p->items[item];

	w->linearized[item / 64] |= 1ull << item % 64;
	unlink_entry(w, it->call_ev + 1);
	if (it->ret_ev != KL_NO_EVENT) {
		unlink_entry(w, it->ret_ev + 1);
		w->left--;
	}
}

static void unlift(struct wgl *w, uint32_t item)
{
	const struct kl_item *it = &w->p->items[item];

	w->linearized[item / 64] &= ~(1ull << item % 64);
	if (it->ret_ev != KL_NO_EVENT) {
		relink_entry(w, it->ret_ev + 1);
		w->left++;
	}
	relink_entry(w, it->call_ev + 1);
}

static bool preds_linearized(const struct wgl *w, uint32_t item)
{
	const struct kl_part *p = w->p;
	uint32_t i;

	if (!p->has_preds)
		return true;
	for (i = p->pred_at[item]; i < p->pred_at[item + 1]; i++)
		if (!(w->linearized[p->pred[i] / 64] & 1ull << p->pred[i] % 64))
			return false;
	return true;
}

/*
 * Add the configuration of the list and @state to the cache.
 *
 * Return: 1 if it is new, 0 if it was seen, negative errno.
 */
static int cache_add(struct wgl *w, uint32_t state)
{
	size_t before = w->cache.n;
	uint32_t e;
	int64_t id;

	memset(w->key, 0, w->keylen * sizeof(*w->key));
	for (e = w->next[0]; e && w->p->events[e - 1].kind == KL_EV_CALL; e = w->next[e]) {
		uint32_t slot = w->p->items[w->p->events[e - 1].item].slot;

		w->key[1 + slot / 64] |= 1ull << slot % 64;
	}
	w->key[0] = (uint64_t)state << 32 | e;
	id = kl_intern(&w->cache, w->key, w->keylen);
	return id < 0 ? (int)id : w->cache.n > before;
}

/* The stack ran into the return event @ev: keep it if no order came further. */
static void note_failure(struct wgl *w, uint32_t ev)
{
	uint32_t i;

	if (ev <= w->best_ev && w->nbest)
		return;
	if (ev == w->best_ev && w->depth <= w->nbest)
		return;
	for (i = w->low < w->nbest ? w->low : w->nbest; i < w->depth; i++)
		w->best[i] = (struct kl_step){ .item = w->stack[i].item };
	w->nbest = w->low = w->depth;
	w->best_ev = ev;
}

/*
 * Linearize the call's operation if an outcome from @outcome on leads to a new
 * configuration.
 *
 * Return: 1 if so, 0 if not, negative errno.
 */
static int try_call(struct wgl *w, uint32_t item, uint32_t outcome, uint32_t *state)
{
	const uint32_t *next;
	int n, ret;

	if (!preds_linearized(w, item))
		return 0;
	n = kl_sim_step(&w->sim, *state, item, &next);
	if (n < 0 || (uint32_t)n <= outcome)
		return n < 0 ? n : 0;
	lift(w, item);
	for (; outcome < (uint32_t)n; outcome++) {
		ret = cache_add(w, next[outcome]);
		if (ret < 0)
			return ret;
		if (!ret)
			continue;
		w->stack[w->depth++] = (struct frame){ item, outcome, *state };
		*state = next[outcome];
		return 1;
	}
	unlift(w, item);
	return 0;
}

/* Algorithm 1.  Return: 1 linearizable, 0 not, negative errno. */
static int search(struct wgl *w)
{
	uint32_t state = w->sim.first, e = w->next[0], outcome = 0;
	int ret;

	while (w->left) {
		uint32_t item = w->p->events[e - 1].item;

		if (w->p->events[e - 1].kind == KL_EV_CALL) {
			ret = try_call(w, item, outcome, &state);
			if (ret < 0)
				return ret;
			outcome = 0;
			e = ret ? w->next[0] : w->next[e];
			if (!ret)
				continue;
			ret = kl_budget_check(&w->budget, kl_intern_bytes(&w->cache) +
					      kl_sim_bytes(&w->sim));
			if (ret)
				return ret;
		} else {
			note_failure(w, e - 1);
			if (!w->depth)
				return 0;
			w->depth--;
			if (w->depth < w->low)
				w->low = w->depth;
			unlift(w, w->stack[w->depth].item);
			state = w->stack[w->depth].state;
			outcome = w->stack[w->depth].outcome + 1;
			e = w->p->items[w->stack[w->depth].item].call_ev + 1;
		}
	}
	return 1;
}

static int wgl_decide(const struct kl_part *p, const struct kl_limits *lim,
		      struct kl_answer *a)
{
	struct wgl w;
	uint32_t i;
	int ret;

	a->engine = "wgl";
	ret = wgl_init(&w, p, lim);
	if (!ret)
		ret = search(&w);
	a->work = w.cache.n;
	a->bytes = kl_intern_bytes(&w.cache) + kl_sim_bytes(&w.sim);
	if (ret == -EDQUOT) {
		a->verdict = KL_UNKNOWN;
		a->more_work = w.budget.more_work;
		snprintf(a->reason, sizeof(a->reason), "%s", w.budget.reason);
		ret = 0;
	} else if (ret == 1) {
		for (i = 0; i < w.depth; i++)
			w.best[i] = (struct kl_step){ .item = w.stack[i].item };
		w.nbest = w.depth;
		a->verdict = KL_LINEARIZABLE;
	} else if (ret == 0) {
		a->verdict = KL_VIOLATION;
		a->fail_event = w.best_ev;
	}
	if (ret >= 0) {
		a->steps = w.best;
		a->nsteps = w.nbest;
		w.best = NULL;
		ret = 0;
	}
	wgl_free(&w);
	return ret;
}

const struct kl_engine kl_wgl_engine = { .name = "wgl", .decide = wgl_decide };
