// SPDX-License-Identifier: GPL-2.0
/*
 * Depth-first search: Wing & Gong's algorithm with Lowe's cache of configurations,
 * for one partition (Horn & Kroening's Algorithm 3 made it).
 *
 * `wgl' is Horn & Kroening's Algorithms 1 and 2 as they stand, with their cache,
 * bounded (their LRU variant) if kl_limits.cache says so.  `dfs' is the same
 * search with a cache that takes as little as operations overlap, and without
 * what need not be looked at, see frontier.c: what changes nothing and fits takes
 * effect at once and for good, twins go in the order of their returns.
 *
 * Beyond the paper: a step may have several outcomes, which are tried in turn;
 * pending operations have a call entry only, and the search succeeds when no
 * return entry is left.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "check/sim.h"
#include "check/wgl_cache.h"

#define NO_TWIN UINT32_MAX

struct frame {
	uint32_t item, outcome, state;
	uint32_t forced;		/* nothing else need be tried in its place */
};

struct wgl {
	const struct kl_part *p;
	struct kl_sim sim;
	struct kl_budget budget;
	bool paper;			/* `wgl', not `dfs' */
	uint32_t *next, *prev;		/* entries: event + 1, 0 is the head and the end */
	uint64_t *linearized;		/* bitset of items, then a word for the state */
	uint64_t hash;			/* of the linearized set */
	struct kl_cache cache;
	uint64_t *key;
	size_t setlen, keylen;
	uint32_t *twin;			/* dfs: item that goes first, or NO_TWIN */
	struct frame *stack;
	uint32_t depth, left;		/* height of the stack; returns that are left */
	struct kl_step *best;		/* longest order so far */
	uint32_t nbest, low;		/* of it, what the stack still shares */
	uint32_t best_ev;
};

/* Each item's twin: of equal shape, called and returning before it. */
static int find_twins(struct wgl *w)
{
	const struct kl_part *p = w->p;
	uint64_t *apart = calloc((size_t)p->nitems / 64 + 1, sizeof(*apart));
	uint32_t *open = malloc(((size_t)p->nslots + 1) * sizeof(*open)), nopen = 0, i, k;
	int ret = apart && open ? 0 : -ENOMEM;

	w->twin = malloc(((size_t)p->nitems + 1) * sizeof(*w->twin));
	if (!w->twin)
		ret = -ENOMEM;
	/* What has to wait, or what others wait for, cannot change places. */
	for (i = 0; !ret && p->has_preds && i < p->nitems; i++) {
		for (k = p->pred_at[i]; k < p->pred_at[i + 1]; k++) {
			apart[p->pred[k] / 64] |= 1ull << p->pred[k] % 64;
			apart[i / 64] |= 1ull << i % 64;
		}
	}
	for (i = 0; !ret && i < p->nevents; i++) {
		const uint32_t item = p->events[i].item;
		const struct kl_item *it = &p->items[item];

		if (p->events[i].kind == KL_EV_RET) {
			for (k = 0; open[k] != item; k++)
				;
			open[k] = open[--nopen];
		}
		if (p->events[i].kind != KL_EV_CALL)
			continue;
		w->twin[item] = NO_TWIN;
		for (k = 0; k < nopen && it->kind == KL_ITEM_OP &&
			    !(apart[item / 64] >> item % 64 & 1); k++) {
			const struct kl_item *t = &p->items[open[k]];

			if (t->shape == it->shape && t->kind == KL_ITEM_OP &&
			    !(apart[open[k] / 64] >> open[k] % 64 & 1) &&
			    (t->ret_ev < it->ret_ev || it->ret_ev == KL_NO_EVENT) &&
			    (w->twin[item] == NO_TWIN || w->twin[item] < open[k]))
				w->twin[item] = open[k];
		}
		open[nopen++] = item;
	}
	free(apart);
	free(open);
	return ret;
}

static int wgl_init(struct wgl *w, const struct kl_part *p, const struct kl_limits *lim,
		    bool paper)
{
	size_t n = (size_t)p->nevents + 2;
	uint32_t i, last = 0;

	memset(w, 0, sizeof(*w));
	w->p = p;
	w->paper = paper;
	w->budget.lim = lim;
	w->setlen = ((size_t)p->nitems + 63) / 64;
	w->keylen = 1 + (paper ? w->setlen : (p->nslots + 63) / 64);
	w->next = malloc(n * sizeof(*w->next));
	w->prev = malloc(n * sizeof(*w->prev));
	w->linearized = calloc(w->setlen + 1, sizeof(*w->linearized));
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
	return (paper ? kl_cache_init(&w->cache, w->keylen, lim->cache) :
		find_twins(w) ?: kl_cache_init_places(&w->cache, w->keylen, n)) ?:
	       kl_sim_init(&w->sim, p, w->budget.reason);
}

static void wgl_free(struct wgl *w)
{
	free(w->next);
	free(w->prev);
	free(w->linearized);
	free(w->key);
	free(w->twin);
	free(w->stack);
	free(w->best);
	kl_cache_free(&w->cache);
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
	w->hash ^= kl_mix(item, 1);
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
	w->hash ^= kl_mix(item, 1);
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
 * Return: 1 if it is new, 0 if it was seen, -ENOMEM.
 */
static int cache_add(struct wgl *w, uint32_t state)
{
	uint32_t e;

	w->budget.work++;
	if (w->paper) {
		w->linearized[w->setlen] = state;
		return kl_cache_add(&w->cache, w->linearized, kl_mix(w->hash, state));
	}
	memset(w->key, 0, w->keylen * sizeof(*w->key));
	for (e = w->next[0]; e && w->p->events[e - 1].kind == KL_EV_CALL; e = w->next[e]) {
		uint32_t slot = w->p->items[w->p->events[e - 1].item].slot;

		w->key[1 + slot / 64] |= 1ull << slot % 64;
	}
	w->key[0] = (uint64_t)state << 32 | e;
	return kl_cache_add_at(&w->cache, w->key, e);
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

static bool is_linearized(const struct wgl *w, uint32_t item)
{
	return w->linearized[item / 64] >> item % 64 & 1;
}

/* Does @item change nothing and fit @state as it is? */
static int is_forced(struct wgl *w, uint32_t item, uint32_t state)
{
	const uint32_t *next;
	int n = w->paper ? 0 : kl_sim_nature(&w->sim, item);

	if (n <= 0 || !(n & KL_FREE))
		return n < 0 ? n : 0;
	n = kl_sim_step(&w->sim, state, item, &next);
	return n < 0 ? n : n == 1 && next[0] == state;
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
	int n, ret, forced;

	if (!preds_linearized(w, item) ||
	    (w->twin && w->twin[item] != NO_TWIN && !is_linearized(w, w->twin[item])))
		return 0;
	forced = is_forced(w, item, *state);
	if (forced < 0)
		return forced;
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
		w->stack[w->depth++] = (struct frame){ item, outcome, *state, forced };
		*state = next[outcome];
		return 1;
	}
	unlift(w, item);
	/* Where that was seen to lead nowhere nothing else does. */
	return forced ? -EAGAIN : 0;
}

/* Take the last step back, and those that nothing else can replace.  Return: was there one? */
static bool backtrack(struct wgl *w, uint32_t *state, uint32_t *outcome, uint32_t *entry)
{
	const struct frame *f;

	do {
		if (!w->depth)
			return false;
		f = &w->stack[--w->depth];
		unlift(w, f->item);
	} while (f->forced);
	if (w->depth < w->low)
		w->low = w->depth;
	*state = f->state;
	*outcome = f->outcome + 1;
	*entry = w->p->items[f->item].call_ev + 1;
	return true;
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
			if (ret < 0 && ret != -EAGAIN)
				return ret;
			outcome = 0;
			if (ret == -EAGAIN) {
				if (!backtrack(w, &state, &outcome, &e))
					return 0;
				continue;
			}
			e = ret ? w->next[0] : w->next[e];
			if (!ret)
				continue;
			if (w->depth > w->budget.progress)
				w->budget.progress = w->depth;
			ret = kl_budget_check(&w->budget, kl_cache_bytes(&w->cache) +
					      kl_sim_bytes(&w->sim));
			if (ret)
				return ret;
		} else {
			note_failure(w, e - 1);
			if (!backtrack(w, &state, &outcome, &e))
				return 0;
		}
	}
	return 1;
}

static int search_depth_first(const struct kl_part *p, const struct kl_limits *lim, bool paper,
			      struct kl_answer *a)
{
	struct wgl w;
	uint32_t i;
	int ret;

	ret = wgl_init(&w, p, lim, paper);
	if (!ret)
		ret = search(&w);
	a->work = w.budget.work;
	a->bytes = kl_cache_bytes(&w.cache) + kl_sim_bytes(&w.sim);
	if (ret == -EDQUOT) {
		a->verdict = KL_UNKNOWN;
		a->more_work = w.budget.more_work;
		a->progress = w.budget.progress;
		a->fail_event = w.best_ev;
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

static int wgl_decide(const struct kl_part *p, const struct kl_limits *lim,
		      struct kl_answer *a)
{
	a->engine = "wgl";
	return search_depth_first(p, lim, true, a);
}

static int dfs_decide(const struct kl_part *p, const struct kl_limits *lim,
		      struct kl_answer *a)
{
	a->engine = "dfs";
	return search_depth_first(p, lim, false, a);
}

const struct kl_engine kl_wgl_engine = { .name = "wgl", .decide = wgl_decide };
const struct kl_engine kl_dfs_engine = { .name = "dfs", .decide = dfs_decide };
