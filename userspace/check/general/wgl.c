// SPDX-License-Identifier: GPL-2.0
/*
 * Wing & Gong's depth-first search with Lowe's cache of configurations, for one partition.  These
 * are Horn & Kroening's Algorithms 1 and 2 as published; Algorithm 3 made the partition.  Their
 * cache is bounded (the LRU variant) if kl_limits.cache says so.  dfs.c is the same search with
 * reductions.
 *
 * Beyond the paper, a step may have several outcomes, which are tried in turn.  Pending operations
 * have only a call entry, and the search succeeds when no return entry is left.
 */
#include <errno.h>

#include "base/hash.h"
#include "check/general/dfs_state.h"
#include "check/engines.h"

#define ADD_LOOKS	30	/* looks for adding to the cache, besides those for its words */
#define CALL_LOOKS	3	/* looks for each call that is tried */

struct wgl {
	struct depth d;
	uint64_t hash;		/* hash of the set of linearized operations */
};

/*
 * Add the configuration, which is the set of linearized operations and @state, to the cache.
 *
 * Return: 1 if it is new, 0 if it was seen, -ENOMEM.
 */
static int cache_add(struct wgl *w, uint32_t state)
{
	w->d.budget.configs++;
	w->d.budget.work += ADD_LOOKS + 2 * w->d.setlen;
	w->d.linearized[w->d.setlen] = state;
	return kl_cache_add(&w->d.cache, w->d.linearized, kl_mix(w->hash, state));
}

static void push(struct wgl *w, struct depth_frame f)
{
	depth_push(&w->d, f);
	w->hash ^= kl_mix(f.item, 1);
}

static struct depth_frame pop(struct wgl *w)
{
	const struct depth_frame f = depth_pop(&w->d);

	w->hash ^= kl_mix(f.item, 1);
	return f;
}

/*
 * Linearize @item if one of its outcomes from @outcome on leads to a new configuration.
 *
 * Return: 1 if one does, 0 if none does, or a negative errno.
 */
static int try_call(struct wgl *w, uint32_t item, uint32_t outcome, uint32_t *state)
{
	const uint32_t *next;
	int n, ret;

	w->d.budget.work += CALL_LOOKS;
	if (!depth_preds_linearized(&w->d, item))
		return 0;
	n = kl_stepper_step(&w->d.sim, *state, item, &next);
	if (n < 0)
		return n;
	for (; outcome < (uint32_t)n; outcome++) {
		push(w, (struct depth_frame){ item, outcome, *state, 0 });
		ret = cache_add(w, next[outcome]);
		if (ret > 0)
			*state = next[outcome];
		if (ret)
			return ret;
		pop(w);
	}
	return 0;
}

/* Algorithm 1.  Return: 1 linearizable, 0 not, negative errno. */
static int search(struct wgl *w)
{
	struct depth *d = &w->d;
	uint32_t state = d->sim.first, e = d->next[0], outcome = 0;
	struct depth_frame f;
	int ret;

	while (d->left || !depth_is_sure(d, state)) {
		if (depth_is_call(d, e)) {
			ret = try_call(w, depth_item(d, e), outcome, &state);
			outcome = 0;
			e = ret ? d->next[0] : d->next[e];
			if (ret > 0)
				ret = depth_check(d);
			if (ret)
				return ret;
			continue;
		}
		if (d->left)
			depth_note_failure(d, e - 1);
		if (!d->height)
			return 0;
		f = pop(w);
		state = f.state;
		outcome = f.outcome + 1;
		e = d->p->items[f.item].call_ev + 1;
	}
	return 1;
}

static int wgl_decide(const struct kl_part *p, const struct kl_limits *lim, struct kl_answer *a)
{
	struct wgl w = { .hash = 0 };
	int ret;

	a->engine = "wgl";
	ret = depth_init(&w.d, p, lim) ?:
	      kl_cache_init(&w.d.cache, w.d.setlen + 1, lim->cache);
	ret = depth_answer(&w.d, ret ?: search(&w), a);
	depth_free(&w.d);
	return ret;
}

const struct kl_engine kl_wgl_engine = {
	.name = "wgl",
	.help = "any spec: Horn & Kroening's WGL as published",
	.by_object = true, .cached = true,
	.decide = wgl_decide,
};
KL_ENGINE(kl_wgl_engine);
