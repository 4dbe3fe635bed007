// SPDX-License-Identifier: GPL-2.0
/* Orders with the state after each step, see orders.h. */
#include <stdlib.h>

#include "page/orders.h"
#include "page/states.h"
#include "report/json.h"
#include "report/replay_state.h"
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

/* A step as text; @op is an index in the history. */
static json_t *step_json(uint32_t op, unsigned int flags)
{
	char text[24];

	snprintf(text, sizeof(text), "%s%u%s", flags & KL_STEP_FLUSH ? "~" : "", op,
		 flags & KL_STEP_BUFFERED ? "!" : "");
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
		json_array_append_new(steps, step_json(m->c->ops[s.item], s.flags));
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
			json_array_append_new(steps, step_json(m->c->ops[order[k]], 0));
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

json_t *kl_page_witness(const struct kl_spec *spec, const struct kl_history *h,
			const struct kl_part_result *p)
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
		json_array_append_new(steps, step_json(op, a->steps[i].flags));
		order[n++] = op;
	}
	json_object_set_new(j, "states", order && plain ? kl_page_states(spec, h, order, n) :
							  json_array());
	free(order);
	return j;
}
