// SPDX-License-Identifier: GPL-2.0
/* The states after the steps of an order, see states.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "page/states.h"
#include "report/json.h"

#define TEXT		512		/* bytes of a state as text */
#define MOST_WORK	(1u << 26)	/* of the interpreter, some tenths of a second */

struct walk {
	const struct kl_spec *spec;
	const struct kl_history *h;
	struct kl_run *run;
	struct kl_val *state;
	size_t len;
};

static int set_state(struct walk *w, const struct kl_val *state, size_t len)
{
	struct kl_val *copy = malloc((len + 1) * sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	memcpy(copy, state, len * sizeof(*copy));
	free(w->state);
	w->state = copy;
	w->len = len;
	return 0;
}

/* An outcome of an operation. */
struct outcome {
	struct kl_val *state;
	size_t len;
	bool found;
};

static int take_first(void *ctx, const struct kl_outcome *o)
{
	struct outcome *first = ctx;

	first->state = malloc((o->len + 1) * sizeof(*first->state));
	if (!first->state)
		return -ENOMEM;
	memcpy(first->state, o->state, o->len * sizeof(*first->state));
	first->len = o->len;
	first->found = true;
	return 1;
}

/* Return: 1; 0 if the operation has no outcome that agrees with its results; -ENOMEM. */
static int step(struct walk *w, const struct kl_op *op)
{
	const int method = kl_spec_find_method(w->spec, w->h->methods[kl_op_method(w->h, op)]);
	struct outcome first = { 0 };
	int ret;

	if (method < 0 || kl_run_total(w->run) > MOST_WORK)
		return 0;
	kl_run_set_bound(w->run, MOST_WORK, NULL, NULL);
	ret = kl_run_apply(w->run, w->state, w->len, method, kl_op_args(w->h, op),
			   kl_op_res(w->h, op), take_first, &first);
	if (!first.found)
		return ret == -ENOMEM ? ret : 0;
	free(w->state);
	w->state = first.state;
	w->len = first.len;
	return 1;
}

/* Append the state to the array @j. */
static void put_state(json_t *j, const struct walk *w)
{
	static const char dots[] = ", ...";
	char text[TEXT];

	if (kl_state_print(text, sizeof(text), w->spec, w->h, w->state, w->len) >=
	    (int)sizeof(text)) {
		text[sizeof(text) - sizeof(dots)] = 0;
		strcat(text, dots);
	}
	json_array_append_new(j, kl_json_text(text));
}

json_t *kl_page_states(const struct kl_spec *spec, const struct kl_history *h,
		       const uint32_t *order, size_t n)
{
	struct walk w = { .spec = spec, .h = h, .run = kl_run_new(spec) };
	json_t *j = json_array();
	const struct kl_val *v;
	size_t i, len;
	int ret = -ENOMEM;

	if (w.run) {
		v = kl_run_init(w.run, h->fresh, &len);
		ret = v ? set_state(&w, v, len) : -ENOMEM;
	}
	if (!ret)
		put_state(j, &w);
	for (i = 0, ret = ret ? ret : 1; i < n && ret > 0; i++) {
		ret = step(&w, &h->ops[order[i]]);
		if (ret > 0)
			put_state(j, &w);
	}
	if (ret < 0)
		kl_json_no_memory();
	if (ret <= 0)
		json_array_clear(j);
	free(w.state);
	kl_run_free(w.run);
	return j;
}
