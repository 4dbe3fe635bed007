// SPDX-License-Identifier: GPL-2.0
/* Orders with the state after each step, see orders.h. */
#include <stdlib.h>

#include "page/orders.h"
#include "page/states.h"
#include "report/json.h"
#include "report/replay_state.h"
#include "story/prefix.h"
#include "story/search.h"

#define MOST_STEPS	200	/* steps of an order whose states are computed */
#define TEXT		512	/* bytes of a state or a sentence, as text */

struct maker {
	const struct kl_spec *spec;
	const struct kl_counterexample *c;
	json_t *all;
};

/* With store buffers, or where operations are forgotten, an order does not determine the states. */
static json_t *states_of(const struct maker *m, const uint32_t *order, size_t n)
{
	return m->c->tso || m->c->forgot || m->c->unset ? json_array() :
		kl_page_states(m->spec, m->c->h, order, n);
}

/* Add what stops the order. */
static void add_stop(json_t *j, const struct maker *m, const uint32_t *order, size_t n)
{
	char state[TEXT] = "", why[TEXT] = "";
	uint32_t bad = KL_NO_OP;

	if (kl_find_failing(m->spec, m->c, order, n, state, sizeof(state), why, sizeof(why), &bad))
		kl_json_no_memory();
	json_object_set_new(j, "stopped_by",
			    bad == KL_NO_OP ? json_null() : json_integer(m->c->ops[bad]));
	json_object_set_new(j, "sentence", kl_json_text(why));
}

/* A step as text; @op is an index in the history; @open: it has not returned there. */
static json_t *step_json(uint32_t op, unsigned int flags, bool open)
{
	char text[24];

	snprintf(text, sizeof(text), "%s%u%s%s", flags & KL_STEP_FLUSH ? "~" : "", op,
		 flags & KL_STEP_BUFFERED ? "!" : "", open ? "?" : "");
	return json_string(text);
}

/* Is there already an order with the same steps? */
static bool is_known(const json_t *all, const json_t *steps)
{
	const json_t *one;
	size_t i;

	json_array_foreach((json_t *)all, i, one)
		if (json_equal(json_object_get(one, "operations"), steps))
			return true;
	return false;
}

/* Add an order of operations of c->h; @order has them without the steps in which stores leave. */
static void add_order(struct maker *m, json_t *steps, const uint32_t *order, size_t n,
		      const char *state)
{
	json_t *j;

	if (is_known(m->all, steps)) {
		json_decref(steps);
		return;
	}
	j = json_object();
	json_object_set_new(j, "operations", steps);
	json_object_set_new(j, "states", states_of(m, order, n));
	if (*state)
		json_object_set_new(j, "state", kl_json_text(state));
	add_stop(j, m, order, n);
	json_array_append_new(m->all, j);
}

/* Add the longest order that the engine found. */
static void add_answer(struct maker *m)
{
	const struct kl_answer *a = &m->c->answer;
	uint32_t *order = malloc((a->nsteps + 1) * sizeof(*order));
	json_t *steps = json_array();
	size_t n = 0, i;

	if (!order)
		kl_json_no_memory();
	for (i = 0; order && i < a->nsteps; i++) {
		const struct kl_step s = a->steps[i];

		/* Items after the operations are the ends of gaps. */
		if (s.item >= m->c->h->nops)
			continue;
		json_array_append_new(steps, step_json(m->c->ops[s.item], s.flags, false));
		if (!(s.flags & KL_STEP_FLUSH))
			order[n++] = s.item;
	}
	add_order(m, steps, order, n, "");
	free(order);
}

/* Add the longest orders of a search, which has no store buffers. */
static void add_found(struct maker *m)
{
	const struct kl_search_in in = {
		.h = m->c->h, .nops = m->c->h->nops, .object = KL_ALL_OBJECTS,
	};
	struct kl_search found;
	size_t i, k;

	if (kl_search(m->spec, &in, KL_NO_OP, &found))
		kl_json_no_memory();
	for (i = 0; i < found.nends; i++) {
		json_t *steps = json_array();
		const uint32_t *order = found.ends[i].ops;

		for (k = 0; k < found.ends[i].n; k++)
			json_array_append_new(steps, step_json(m->c->ops[order[k]], 0, false));
		add_order(m, steps, order, found.ends[i].n, found.ends[i].state);
	}
	kl_search_free(&found);
}

json_t *kl_page_orders(const struct kl_spec *spec, const struct kl_counterexample *c)
{
	struct maker m = { .spec = spec, .c = c, .all = json_array() };

	if (c->h->nops > MOST_STEPS)
		return m.all;
	if (!c->tso)
		add_found(&m);
	add_answer(&m);
	return m.all;
}

static bool writes_nothing(const struct kl_spec *spec, const struct kl_history *h, uint32_t op)
{
	const char *name = h->methods[kl_op_method(h, &h->ops[op])];

	return kl_spec_method(spec, kl_spec_find_method(spec, name))->pure;
}

/*
 * The order that shows the partition @p of @h to be linearizable; @ops has the index in the whole
 * history of each operation of @h, or is NULL if @h is the whole one.  In a part of the whole one,
 * those that did not return there have a place only if a later one may have seen what they wrote.
 */
static json_t *order_of(const struct kl_spec *spec, const struct kl_history *h,
			const struct kl_part_result *p, const uint32_t *ops)
{
	const struct kl_answer *a = &p->answer;
	uint32_t *order = malloc((a->nsteps + 1) * sizeof(*order));
	json_t *j = json_object(), *steps = json_array();
	bool plain = true;
	size_t n = 0, i;

	json_object_set_new(j, "operations", steps);
	if (!order)
		kl_json_no_memory();
	for (i = 0; order && i < a->nsteps; i++) {
		const uint32_t op = kl_result_op(p, a->steps[i].item);

		plain &= op != KL_NO_OP && !a->steps[i].flags;
		if (op == KL_NO_OP)
			continue;
		if (ops && h->ops[op].ret == KL_TIME_MAX && writes_nothing(spec, h, op))
			continue;
		json_array_append_new(steps, step_json(ops ? ops[op] : op, a->steps[i].flags,
						       ops && h->ops[op].ret == KL_TIME_MAX));
		order[n++] = op;
	}
	/* No other operation saw the operations at the end. */
	for (; ops && n && h->ops[order[n - 1]].ret == KL_TIME_MAX; n--)
		json_array_remove(steps, n - 1);
	json_object_set_new(j, "states", order && plain ? kl_page_states(spec, h, order, n) :
							  json_array());
	free(order);
	return j;
}

json_t *kl_page_witness(const struct kl_spec *spec, const struct kl_history *h,
			const struct kl_part_result *p)
{
	return order_of(spec, h, p, NULL);
}

json_t *kl_page_prefix(const struct kl_report *r, const struct kl_part_result *p)
{
	struct kl_prefix prefix;
	json_t *j = NULL;

	if (kl_prefix_find(r, p, &prefix))
		kl_json_no_memory();
	if (prefix.h) {
		j = order_of(r->spec, prefix.h, &prefix.r->parts[0], prefix.ops);
		json_object_set_new(j, "stopped_by", json_integer(prefix.stop));
	}
	kl_prefix_free(&prefix);
	return j;
}
