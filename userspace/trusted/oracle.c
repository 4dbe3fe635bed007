// SPDX-License-Identifier: GPL-2.0
/*
 * The oracle: linearizability by its definition, by trying all orders.  It is small and slow on
 * purpose.  It shares only the specification's interpreter with the engines: no slots, no interned
 * states, no clever order of search.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/engines.h"
#include "trusted/enumerate.h"

struct oracle {
	struct kl_orders o;
	struct kl_run *run;
	/* the current configuration: whether it is in a gap, and its state */
	const uint64_t *words;
	size_t nwords;
	uint32_t place;		/* the place of the item that takes effect */
	bool in_gap;		/* the configuration after the step is in a gap */
	uint64_t *buf;		/* the configuration after the step */
	size_t cbuf;
};

static int make_words(struct oracle *o, const struct kl_val *state, size_t len)
{
	const size_t words = len * sizeof(*state) / sizeof(*o->buf);
	int ret = kl_grow(o->buf, o->cbuf, words + 1);

	if (ret)
		return ret;
	o->buf[0] = o->in_gap;
	if (len)
		memcpy(o->buf + 1, state, len * sizeof(*state));
	return words + 1;
}

/* Add the configuration in which the item at o->place led to this state. */
static int add_state(void *ctx, const struct kl_outcome *state)
{
	struct oracle *o = ctx;
	const struct kl_step step = { .item = kl_orders_item(&o->o, o->place) };
	const int n = make_words(o, state->state, state->len);

	return n < 0 ? n : kl_orders_add(&o->o, o->place, step, o->buf, n);
}

static int any_outcome(void *ctx, const struct kl_outcome *o)
{
	bool *any = ctx;

	(void)o;
	*any = true;
	return 0;
}

/* Let the item at @place take effect. */
static int try_item(void *ctx, uint32_t place)
{
	struct oracle *o = ctx;
	const struct kl_part *p = o->o.p;
	const struct kl_item *it = &p->items[kl_orders_item(&o->o, place)];
	const struct kl_val *state = (const struct kl_val *)(o->words + 1);
	const size_t len = (o->nwords - 1) * sizeof(*o->words) / sizeof(*state);
	const bool in_gap = o->words[0];
	struct kl_outcome unknown = { 0 };
	bool any = false;
	int ret;

	o->place = place;
	o->in_gap = in_gap;
	if (it->kind == KL_ITEM_OP) {
		/*
		 * Inside a gap the state stays unknown, so it only counts whether the operation
		 * is possible.
		 */
		kl_run_set_bound(o->run, kl_looks_left(&o->o.looks), kl_looks_over, &o->o.looks);
		ret = kl_run_apply(o->run, state, len, it->method, kl_item_args(p, it),
				   kl_item_res(p, it), in_gap ? any_outcome : add_state,
				   in_gap ? (void *)&any : o);
		/* At the bound of looks, kl_look() gives the reason. */
		if (!ret || ret == -EDQUOT)
			ret = kl_look(&o->o.looks, kl_run_work(o->run) + len);
		if (ret || !any)
			return ret;
	} else if (it->kind == KL_ITEM_ENTER || in_gap) {
		o->in_gap = it->kind == KL_ITEM_ENTER;
	} else {
		return 0;
	}
	unknown.state = kl_run_init(o->run, false, &unknown.len);
	return unknown.state ? add_state(o, &unknown) : -ENOMEM;
}

static int go_on(void *ctx, const uint64_t *words, size_t n)
{
	struct oracle *o = ctx;

	o->words = words;
	o->nwords = n;
	return kl_orders_each(&o->o, try_item, o);
}

static int try_orders(struct oracle *o)
{
	const struct kl_val *state;
	size_t len;
	int ret;

	kl_run_set_slow(o->run, true);
	state = kl_run_init(o->run, o->o.p->fresh, &len);
	ret = state ? make_words(o, state, len) : -ENOMEM;
	return ret < 0 ? ret : kl_orders_try(&o->o, o->buf, ret, go_on, o);
}

static bool is_lost(void *ctx, const uint64_t *words, size_t n)
{
	const struct kl_val *state = (const struct kl_val *)(words + 1);

	return !words[0] && kl_state_lost(state, (n - 1) * sizeof(*words) / sizeof(*state));
}

static int oracle_decide(const struct kl_part *p, const struct kl_limits *lim,
			 struct kl_answer *a)
{
	struct oracle o = {
		.o = { .p = p, .looks = { .lim = lim }, .is_lost = is_lost },
		.run = kl_run_new(p->spec),
	};
	int ret = o.run ? try_orders(&o) : -ENOMEM;

	a->engine = "oracle";
	if (o.run)
		ret = kl_orders_answer(&o.o, ret, kl_run_error(o.run), a);
	kl_orders_free(&o.o);
	free(o.buf);
	kl_run_free(o.run);
	return ret;
}

const struct kl_engine kl_oracle_engine = {
	.name = "oracle",
	.help = "any spec, small histories: brute force, confirms counterexamples",
	.oracle = true,
	.decide = oracle_decide,
};
KL_ENGINE(kl_oracle_engine);
