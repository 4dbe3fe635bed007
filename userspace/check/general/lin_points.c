// SPDX-License-Identifier: GPL-2.0
/*
 * The engine `points': operations are replayed in the order of their linearization points
 * (Amit et al., Comparison under abstraction, 3.1).  If the specification and the times allow that
 * order, it is a witness, found in one pass.  If not, the answer is UNKNOWN: the points may be
 * wrong, and another order right.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "check/engines.h"
#include "check/general/spec_stepper.h"

#define POINT_LOOKS	100	/* looks for each operation, see KL_CONFIG_LOOKS */

struct replay {
	const struct kl_part *p;
	struct kl_answer *a;
	struct kl_run *run;
	struct kl_val *state, *next;	/* the states before and after a step */
	size_t len, nlen, cap, ncap;
	unsigned int outcomes;		/* number of outcomes of the step, up to 2 */
	uint32_t *order, n;		/* items in the order of their points */
};

static int decline(struct replay *r, uint32_t item, const char *why)
{
	char op[80];

	kl_op_print(op, sizeof(op), r->p->h, kl_item_op(r->p, &r->p->items[item]));
	snprintf(r->a->reason, sizeof(r->a->reason), "points: %s %s", op, why);
	return 0;
}

static uint64_t point_of(const struct kl_part *p, uint32_t i)
{
	return kl_op_point(p->h, kl_item_op(p, &p->items[i]));
}

/* Sort the items by points.  Return: 1, 0 if a completed item has no point, -ENOMEM. */
static int sort_points(struct replay *r)
{
	const struct kl_part *p = r->p;
	struct kl_key *k;
	uint32_t i, n = 0;

	for (i = 0; i < p->nitems; i++)
		if (p->items[i].kind != KL_ITEM_OP ||
		    (point_of(p, i) == KL_TIME_MAX &&
		     p->items[i].ret_ev != KL_NO_EVENT))
			break;
	if (i < p->nitems || !i) {
		snprintf(r->a->reason, sizeof(r->a->reason),
			 "points: some operations have no linearization point");
		return 0;
	}
	k = malloc(2 * ((size_t)p->nitems + 1) * sizeof(*k));
	r->order = malloc(((size_t)p->nitems + 1) * sizeof(*r->order));
	if (!k || !r->order) {
		free(k);
		return -ENOMEM;
	}
	for (i = 0; i < p->nitems; i++)
		if (point_of(p, i) != KL_TIME_MAX)
			k[n++] = (struct kl_key){
				.key = point_of(p, i), .val = i,
			};
	kl_sort_keys(k, n, k + n);
	for (i = 0; i < n; i++)
		r->order[i] = k[i].val;
	r->n = n;
	free(k);
	return 1;
}

/*
 * Check the order against the calls and returns.
 *
 * Return: 1, 0 if an operation comes too late, which the reason names, or -ENOMEM.
 */
static int in_time(struct replay *r)
{
	const struct kl_part *p = r->p;
	uint32_t latest = 0, i, k, *at;

	for (i = 0; i < r->n; i++) {
		const struct kl_item *it = &p->items[r->order[i]];

		if (it->ret_ev < latest)
			return decline(r, r->order[i], "has its point after its return");
		latest = it->call_ev > latest ? it->call_ev : latest;
	}
	if (!p->has_preds)
		return 1;
	at = malloc(((size_t)p->nitems + 1) * sizeof(*at));
	if (!at)
		return -ENOMEM;
	memset(at, 0xff, p->nitems * sizeof(*at));
	for (i = 0; i < r->n; i++)
		at[r->order[i]] = i;
	for (i = 0; i < p->nitems; i++)
		for (k = p->pred_at[i]; at[i] != UINT32_MAX && k < p->pred_at[i + 1]; k++)
			if (at[p->pred[k]] > at[i]) {
				free(at);
				return decline(r, i,
					       "has its point before that of an earlier operation "
					       "of its thread");
			}
	free(at);
	return 1;
}

static int on_outcome(void *ctx, const struct kl_outcome *o)
{
	struct replay *r = ctx;

	/* Whether there are two or more outcomes makes no difference. */
	if (r->outcomes++)
		return 1;
	if (kl_grow(r->next, r->ncap, o->len + 1))
		return -ENOMEM;
	memcpy(r->next, o->state, o->len * sizeof(*o->state));
	r->nlen = o->len;
	return 0;
}

/*
 * Run the specification in the order of points.
 *
 * Return: 1, 0 if an operation does not fit, which the reason names, or -ENOMEM.
 */
static int replay(struct replay *r, const struct kl_limits *lim)
{
	/* One pass needs no bound of work, only of time. */
	const struct kl_limits bounds = { .deadline_ns = lim->deadline_ns, .stop = lim->stop };
	struct kl_budget b = { .lim = &bounds };
	const struct kl_val *first = kl_run_init(r->run, r->p->fresh, &r->len);
	uint32_t i;
	int ret;

	if (!first || kl_grow(r->state, r->cap, r->len + 1))
		return -ENOMEM;
	memcpy(r->state, first, r->len * sizeof(*first));
	for (i = 0; i < r->n; i++) {
		const struct kl_item *it = &r->p->items[r->order[i]];
		struct kl_val *state = r->state;
		const size_t cap = r->cap;

		if (kl_budget_check(&b, 0)) {
			snprintf(r->a->reason, sizeof(r->a->reason), "points: %.140s", b.reason);
			r->a->bound = b.bound;
			return 0;
		}
		r->outcomes = 0;
		ret = kl_run_apply(r->run, r->state, r->len, it->method, kl_item_args(r->p, it),
				   kl_item_res(r->p, it), on_outcome, r);
		/* Work is counted so that the clock is read now and then. */
		b.work += kl_run_work(r->run);
		if (ret == -ENOMEM)
			return ret;
		if (ret || r->outcomes != 1)
			return decline(r, r->order[i], ret || r->outcomes ?
				       "has several outcomes at its point" :
				       "does not fit the state at its point");
		r->state = r->next;
		r->cap = r->ncap;
		r->len = r->nlen;
		r->next = state;
		r->ncap = cap;
	}
	if (kl_state_lost(r->state, r->len)) {
		snprintf(r->a->reason, sizeof(r->a->reason), "points: %.140s", KL_LOST_REASON);
		return 0;
	}
	return 1;
}

static int points_decide(const struct kl_part *p, const struct kl_limits *lim,
			 struct kl_answer *a)
{
	struct replay r = { .p = p, .a = a };
	uint32_t i;
	int ret;

	a->engine = "points";
	a->verdict = KL_UNKNOWN;
	ret = sort_points(&r);
	if (ret > 0)
		ret = in_time(&r);
	if (ret > 0) {
		r.run = p->run ? p->run : kl_run_new(p->spec);
		ret = r.run ? replay(&r, lim) : -ENOMEM;
	}
	if (ret > 0) {
		a->verdict = KL_LINEARIZABLE;
		a->configs = r.n;
		a->work = POINT_LOOKS * (uint64_t)r.n;
		a->steps = calloc((size_t)r.n + 1, sizeof(*a->steps));
		for (i = 0; a->steps && i < r.n; i++)
			a->steps[i].item = r.order[i];
		a->nsteps = r.n;
		if (!a->steps)
			ret = -ENOMEM;
	}
	if (!p->run)
		kl_run_free(r.run);
	free(r.state);
	free(r.next);
	free(r.order);
	return ret < 0 ? ret : 0;
}

const struct kl_engine kl_points_engine = {
	.name = "points",
	.help = "any spec, where linearization points were recorded",
	.rank = 20,
	.decide = points_decide,
};
KL_ENGINE(kl_points_engine);
