// SPDX-License-Identifier: GPL-2.0
/* The list and the stack of depth-first searches, see dfs_state.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/general/dfs_state.h"

/*
 * bound of all work once an order was not sure: a multiple of the work until then, and more looks
 */
#define MORE_TIMES	4
#define MORE_WORK	(20000 * KL_CONFIG_LOOKS)
#define STEP_LOOKS	6	/* looks for pushing and popping a step */

int depth_init(struct depth *d, const struct kl_part *p, const struct kl_limits *lim)
{
	size_t n = (size_t)p->nevents + 2;
	uint32_t i, last = 0;

	memset(d, 0, sizeof(*d));
	d->p = p;
	d->budget.lim = lim;
	d->setlen = ((size_t)p->nitems + 63) / 64;
	/* One allocation, so that more of it is in huge pages. */
	d->stack = kl_big_alloc(((size_t)p->nitems + 1) * sizeof(*d->stack) +
				n * (sizeof(*d->next) + sizeof(*d->prev)));
	d->linearized = calloc(d->setlen + 1, sizeof(*d->linearized));
	d->best = malloc(((size_t)p->nitems + 1) * sizeof(*d->best));
	if (!d->stack || !d->linearized || !d->best)
		return -ENOMEM;
	d->next = (uint32_t *)(d->stack + p->nitems + 1);
	d->prev = d->next + n;
	for (i = 0; i < p->nevents; i++) {
		if (p->events[i].kind == KL_EV_DRAIN)
			continue;
		d->left += p->events[i].kind == KL_EV_RET;
		d->next[last] = i + 1;
		d->prev[i + 1] = last;
		last = i + 1;
	}
	d->next[last] = 0;
	d->prev[0] = last;
	return kl_stepper_init(&d->sim, p, &d->budget, d->budget.reason);
}

void depth_free(struct depth *d)
{
	free(d->linearized);
	free(d->stack);
	free(d->best);
	kl_cache_free(&d->cache);
	kl_stepper_free(&d->sim);
}

static void unlink_entry(struct depth *d, uint32_t e)
{
	d->next[d->prev[e]] = d->next[e];
	d->prev[d->next[e]] = d->prev[e];
}

static void relink_entry(struct depth *d, uint32_t e)
{
	d->prev[d->next[e]] = e;
	d->next[d->prev[e]] = e;
}

void depth_push(struct depth *d, struct depth_frame f)
{
	const struct kl_item *it = &d->p->items[f.item];

	kl_item_ahead(d->p, f.item);
	d->budget.work += STEP_LOOKS;
	d->linearized[f.item / 64] |= 1ull << f.item % 64;
	unlink_entry(d, it->call_ev + 1);
	if (it->ret_ev != KL_NO_EVENT) {
		unlink_entry(d, it->ret_ev + 1);
		d->left--;
	}
	d->stack[d->height++] = f;
	if (d->height > d->budget.progress)
		d->budget.progress = d->height;
}

struct depth_frame depth_pop(struct depth *d)
{
	const struct depth_frame f = d->stack[--d->height];
	const struct kl_item *it = &d->p->items[f.item];

	d->linearized[f.item / 64] &= ~(1ull << f.item % 64);
	if (it->ret_ev != KL_NO_EVENT) {
		relink_entry(d, it->ret_ev + 1);
		d->left++;
	}
	relink_entry(d, it->call_ev + 1);
	if (d->height < d->low)
		d->low = d->height;
	return f;
}

void depth_note_failure(struct depth *d, uint32_t ev)
{
	uint32_t i;

	if (ev <= d->best_ev && d->nbest)
		return;
	if (ev == d->best_ev && d->height <= d->nbest)
		return;
	i = d->low < d->nbest ? d->low : d->nbest;
	d->budget.work += d->height - i;
	for (; i < d->height; i++)
		d->best[i] = (struct kl_step){ .item = d->stack[i].item };
	d->nbest = d->low = d->height;
	d->best_ev = ev;
}

bool depth_preds_linearized(const struct depth *d, uint32_t item)
{
	const struct kl_part *p = d->p;
	uint32_t i;

	if (!p->has_preds)
		return true;
	for (i = p->pred_at[item]; i < p->pred_at[item + 1]; i++)
		if (!depth_is_linearized(d, p->pred[i]))
			return false;
	return true;
}

static size_t bytes(const struct depth *d)
{
	return kl_cache_bytes(&d->cache) + kl_stepper_bytes(&d->sim);
}

int depth_check(struct depth *d)
{
	kl_stepper_count(&d->sim, &d->budget);
	/* After an order that was not sure, see depth_is_sure(), search on for some time. */
	if (d->lost && d->budget.work > MORE_TIMES * d->lost_at + MORE_WORK)
		return -EDQUOT;
	return kl_budget_check(&d->budget, bytes(d));
}

bool depth_is_sure(struct depth *d, uint32_t state)
{
	const bool lost = kl_stepper_lost(&d->sim, state);

	kl_stepper_count(&d->sim, &d->budget);
	if (lost && !d->lost)
		d->lost_at = d->budget.work;
	d->lost |= lost;
	return !lost;
}

int depth_answer(struct depth *d, int ret, struct kl_answer *a)
{
	uint32_t i;

	kl_stepper_count(&d->sim, &d->budget);
	a->configs = d->budget.configs;
	a->work = d->budget.work;
	a->bytes = bytes(d);
	if (d->lost && (!ret || ret == -EDQUOT)) {
		a->verdict = KL_UNKNOWN;
		a->lost = true;
		snprintf(a->reason, sizeof(a->reason), "%s", KL_LOST_REASON);
		ret = 0;
	} else if (ret == -EDQUOT) {
		a->verdict = KL_UNKNOWN;
		a->bound = d->budget.bound;
		a->progress = d->budget.progress;
		a->fail_event = d->best_ev;
		snprintf(a->reason, sizeof(a->reason), "%s", d->budget.reason);
		ret = 0;
	} else if (ret == 1) {
		for (i = 0; i < d->height; i++)
			d->best[i] = (struct kl_step){ .item = d->stack[i].item };
		d->nbest = d->height;
		a->verdict = KL_LINEARIZABLE;
		ret = 0;
	} else if (!ret) {
		a->verdict = KL_VIOLATION;
		a->fail_event = d->best_ev;
	}
	if (ret)
		return ret;
	a->steps = d->best;
	a->nsteps = d->nbest;
	d->best = NULL;
	return 0;
}
