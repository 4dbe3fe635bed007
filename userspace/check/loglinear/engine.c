// SPDX-License-Identifier: GPL-2.0
/* The engine `log-linear': it chooses the monitor that fits, and checks the monitor's answer. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "check/engines.h"
#include "check/loglinear/register/zones.h"
#include "check/loglinear/positions.h"
#include "check/loglinear/loglinear.h"
#include "check/loglinear/multiset/multiset.h"
#include "check/loglinear/register/rmw.h"

/* bound of items that are processed while pending removals get other values, */
#define GIVE_WORK	(1u << 24)
#define GIVE_EACH	16		/* and more for each operation */
#define ROOM		8	/* entries after the end of an order that may be overwritten */

extern const struct ll_type *const __start_ll_monitor_list[];
extern const struct ll_type *const __stop_ll_monitor_list[];

static void ll_free(struct loglinear *m)
{
	free(m->op);
	free(m->ev);
	free(m->call);
	free(m->ret);
	ll_free_peek_times(m);
	free(m->ins);
	free(m->v);
	free(m->words);
	free(m->word_of);
	free(m->wild);
	free(m->deadline);
	free(m->cut);
	free(m->core.words);
	free(m->order);
	free(m->first_peek);
	free(m->first_sight);
	free(m->peek);
	ll_positions_free(m->places);
}

/*
 * Insert peeks with unknown results into the order, each before the first operation that was called
 * after the peek's return.  In a valid order, operations that returned before the peek's call are
 * earlier.
 */
static int put_free(struct loglinear *m)
{
	const size_t n = m->nfree;
	struct kl_key *k = malloc(2 * (n + 1) * sizeof(*k));
	struct kl_step *order = kl_big_alloc(((size_t)m->nitems + 1) * sizeof(*order));
	size_t nk = 0, next = 0;
	uint32_t i, to = 0;

	if (!k || !order) {
		free(k);
		free(order);
		return -ENOMEM;
	}
	for (i = 0; i < m->nitems; i++)
		if (ll_kind(m->op[i]) == LL_FREE)
			k[nk++] = (struct kl_key){ .key = ll_ret(m, i), .val = i };
	kl_sort_keys(k, nk, k + nk);
	for (i = 0; i < m->norder; i++) {
		while (next < nk && k[next].key <= ll_call(m, m->order[i].item))
			order[to++] = (struct kl_step){ .item = k[next++].val };
		order[to++] = m->order[i];
	}
	while (next < nk)
		order[to++] = (struct kl_step){ .item = k[next++].val };
	free(k);
	free(m->order);
	m->order = order;
	m->norder = to;
	return 0;
}

/*
 * Return: 1 if the order contains all operations, and contradicts neither times nor threads; 0 if
 * not; -ENOMEM.
 */
static int in_time(struct loglinear *m)
{
	/* With `strict', times have no error; then only equal times of a thread matter. */
	const uint64_t error = m->strict ? 0 : m->s->h->error;
	uint64_t latest = 0;
	uint32_t i, left = 0;

	for (i = 0; i < m->nitems; i++)
		left += ll_kind(m->op[i]) < LL_OUT;
	if (left != m->norder)
		return 0;
	for (i = 0; i < m->norder; i++) {
		const struct kl_op *op = ll_op_of(m, m->order[i].item);

		if (kl_time_add(op->ret, error) < latest)
			return 0;
		latest = op->call > latest ? op->call : latest;
	}
	return m->ties || error ? ll_keeps_thread_order(m) : 1;
}

static int linearizable(struct loglinear *m, const struct ll_type *t, struct kl_answer *a)
{
	int ret;

	a->verdict = KL_LINEARIZABLE;
	if (!m->ordered)
		return 0;
	m->norder = 0;
	m->order = kl_big_alloc(((size_t)m->nitems + ROOM) * sizeof(*m->order));
	ret = m->order ? t->order(m) : -ENOMEM;
	if (!ret && m->nfree)
		ret = ll_times(m) ?: put_free(m);
	if (!ret)
		ret = in_time(m);
	if (ret < 0)
		return ret;
	if (!ret) {
		ll_decline(a, "found no order that keeps the program order of each thread");
		return 0;
	}
	if (m->lim->no_witness)
		return 0;
	a->steps = m->order;
	a->nsteps = m->norder;
	m->order = NULL;
	return 0;
}

/*
 * Return: the core's operations in the history, to be freed, which are all operations on its words
 * and those with unknown values; NULL without memory.
 */
static uint32_t *core_ops(const struct loglinear *m, uint32_t *count)
{
	uint8_t *in = calloc((size_t)m->nwords + 1, 1);
	uint32_t *ops = malloc(((size_t)m->nitems + 1) * sizeof(*ops)), i, n = 0;

	if (!in || !ops) {
		free(in);
		free(ops);
		return NULL;
	}
	for (i = 0; i < m->core.n; i++)
		in[m->core.words[i]] = 1;
	for (i = 0; i < m->nitems; i++) {
		const enum ll_kind k = ll_kind(m->op[i]);

		if (k == LL_UNKNOWN || i == m->core.item || (m->nwild && ll_pending(m, i)) ||
		    ((k <= LL_PEEK || k == LL_OUT) && in[ll_word_of(m, m->op[i] & LL_VALUE)]))
			ops[n++] = ll_index(m, i);
	}
	free(in);
	*count = n;
	return ops;
}

/*
 * The monitor found that the core's values have no order by themselves.  If a general engine
 * confirms that, the whole history has no order: removing all operations of other words, and all
 * operations that found the container empty, from an order leaves an order (Proposition 4.3).
 * A pending removal may have removed one of the core's values, or need not have taken effect, so
 * the core contains it.
 */
static int confirm(struct loglinear *m, struct kl_answer *a)
{
	uint32_t n = 0;

	/* Strict times order more than is certain, so that there is none proves nothing. */
	if (m->strict)
		return 0;
	if (m->nunknown) {
		ll_decline(a, "removals with unknown results");
		return 0;
	}
	a->core = core_ops(m, &n);
	a->ncore = n;
	if (!a->core)
		return -ENOMEM;
	snprintf(a->reason, sizeof(a->reason), "%s", m->core.why);
	return ll_confirm(m->s, m->lim, a);
}

static int run(struct loglinear *m, const struct ll_type *t, struct kl_answer *a)
{
	uint64_t given = 0;
	int ret;

	if (m->again) {
		ret = ll_rename(m);
		if (ret)
			return ret;
		ll_gather(m);
		snprintf(a->reason, sizeof(a->reason),
			 "%u uses of %u values, distinguished by the times of their additions and "
			 "removals", m->nvalues, m->nwords);
	}
	if (m->nunknown) {
		ret = ll_guess_unknown(m);
		if (ret == -EAGAIN)
			ll_decline(a, "too many removals with unknown results");
		if (ret)
			return ret == -EAGAIN ? 0 : ret;
		ll_gather(m);
	}
	ret = m->nwild ? ll_give_unknown(m) : 0;
	if (ret)
		return ret;
	for (;;) {
		ret = ll_conditions(m);
		if (ret > 0)
			ret = t->decide(m);
		if (ret < 0)
			return ret;
		if (ret)
			return linearizable(m, t, a);
		given += m->nitems;
		ret = m->nwild && given < GIVE_WORK + GIVE_EACH * (uint64_t)m->nitems ?
			      ll_give_more(m) :
			      0;
		if (ret <= 0)
			return ret < 0 ? ret : confirm(m, a);
	}
}

/*
 * Decide by the monitor @t, with strict times (timeline.c) if *strict.  *strict is cleared if there
 * are no other times in this history.
 */
static int run_on(const struct kl_slice *s, const struct kl_limits *lim, bool *strict,
		  const struct ll_type *t, const struct kl_container *c, struct kl_answer *a)
{
	struct loglinear m = {
		.s = s,
		.lim = lim,
		.c = *c,
		.strict = *strict,
		.phases = t->phases,
	};
	char why[120];
	int ret = ll_timeline(&m, why, sizeof(why));

	m.hidden = !m.strict;
	if (!m.ties && !s->h->error)
		m.strict = m.hidden = false;
	m.ordered = m.hidden || !lim->no_witness;
	*strict = m.strict;
	if (ret > 0)
		ret = run(&m, t, a);
	else if (!ret)
		ll_decline(a, why);
	ll_free(&m);
	return ret;
}

static bool is_other(const struct kl_slice *s, uint16_t method)
{
	return s->methods[method] < 0 ||
	       kl_spec_role(s->spec, s->methods[method]) == KL_ROLE_OTHER;
}

/* Return: true if an operation is not one of a container. */
static bool has_others(const struct kl_slice *s)
{
	const struct kl_history *h = s->h;
	bool others = false;
	size_t i;

	/* Most methods that are named but never called have no arity. */
	for (i = 0; i < h->nmethods; i++)
		others |= h->arities[i] && is_other(s, i);
	for (i = 0; others && i < s->nops; i++)
		if (is_other(s, kl_op_method(h, &h->ops[s->ops ? s->ops[i] : i])))
			return true;
	return false;
}

/*
 * If the methods that are called use a deque as a stack or queue only, set c->kind to that.  With
 * gaps c->kind stays, since any method may have been called in them.
 */
static int find_deque(const struct kl_slice *s, struct kl_container *c)
{
	bool *used = calloc(kl_spec_nmethods(s->spec) + 1, sizeof(*used));
	size_t i;

	if (!used)
		return -ENOMEM;
	for (i = 0; i < s->nops; i++) {
		const int m = s->methods[kl_op_method(s->h, &s->h->ops[s->ops ? s->ops[i] : i])];

		if (m >= 0)
			used[m] = true;
	}
	if (!s->ngaps)
		c->kind = kl_spec_deque_used(s->spec, used);
	free(used);
	return 0;
}

/* The monitor of a container, or NULL. */
static const struct ll_type *find_monitor(enum kl_container_kind kind)
{
	const struct ll_type *const *t, *found = NULL;

	for (t = __start_ll_monitor_list; t < __stop_ll_monitor_list; t++) {
		if ((*t)->kind != kind)
			continue;
		/* Two for one container are a developer's mistake, which every test shows. */
		if (found)
			abort();
		found = *t;
	}
	return found;
}

static int ll_decide(const struct kl_slice *s, const struct kl_limits *lim, struct kl_answer *a)
{
	const struct ll_type *type;
	struct kl_container c;
	bool strict = true, keyed;
	int ret;

	a->engine = "log-linear";
	a->configs = a->work = s->nops;
	kl_spec_container(s->spec, &c);
	/*
	 * There is no monitor for bounded containers.  A push that finds the container full counts
	 * the values inside, whichever they are.  So an order depends on many values together, and
	 * values cannot be removed from an order.  The conditions of the monitors, on two values or
	 * on values that cover a time, do not decide this.  We know of no conditions that do, nor
	 * of any for deques with additions, or removals, at both ends.  The engine `ends' decides
	 * these.
	 */
	ret = c.kind == KL_CONTAINER_DEQUE ? find_deque(s, &c) : 0;
	if (ret)
		return ret;
	keyed = kl_container_keyed(&c);
	type = find_monitor(c.kind);
	if (!keyed && !type) {
		ll_decline(a, "there is no log-linear monitor for this specification");
		return 0;
	}
	if (s->nops > LL_VALUE) {
		ll_decline(a, "too many operations for this engine");
		return 0;
	}
	if (s->ngaps && keyed) {
		ll_decline(a, "operations were lost");
		return 0;
	}
	if (s->ngaps)
		return ll_gaps(s, lim, ll_decide, a);
	if (keyed)
		return set_answer(s, lim, &c, c.kind == KL_CONTAINER_MULTISET ? &multiset_kind :
				  &set_kind, a);
	if (c.kind == KL_CONTAINER_REGISTER && has_others(s))
		return ll_rmw(s, lim, &c, a);
	ret = c.kind == KL_CONTAINER_REGISTER ? ll_zones(s, lim, &c, a) : 0;
	if (ret || a->verdict == KL_LINEARIZABLE)
		return ret;
	/*
	 * First take the recorded times as exact.  If that does not decide, use only the order that
	 * the clock's error leaves certain.
	 */
	ret = run_on(s, lim, &strict, type, &c, a);
	if (!ret && strict && a->verdict == KL_UNKNOWN) {
		strict = false;
		ret = run_on(s, lim, &strict, type, &c, a);
	}
	return ret;
}

const struct kl_engine kl_loglinear_engine = {
	.name = "log-linear",
	.help = "containers and registers with distinct values",
	.rank = 10,
	.whole = true,
	.explains = true,
	.decide_ops = ll_decide,
};
KL_ENGINE(kl_loglinear_engine);
