// SPDX-License-Identifier: GPL-2.0
/* Explains why no further operation fits a longest order, see replay_state.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "history/spell.h"
#include "report/replay_state.h"

/* A list of allowed results, as text. */
struct result_list {
	char *buf;
	size_t size, len;	/* in bytes */
	const struct kl_history *h;
	const struct kl_method *m;
	unsigned int n;		/* number of results, of which the text has the first 4 */
};

/* The first outcome of an operation: the state after it. */
struct first_outcome {
	struct kl_val *state;
	size_t len;		/* number of values in @state */
	bool found;
};

static int save_first(void *ctx, const struct kl_outcome *o)
{
	struct first_outcome *f = ctx;

	free(f->state);
	f->state = malloc((o->len + 1) * sizeof(*f->state));
	if (!f->state)
		return -ENOMEM;
	memcpy(f->state, o->state, o->len * sizeof(*f->state));
	f->len = o->len;
	f->found = true;
	return 1;
}

static int add_result(void *ctx, const struct kl_outcome *o)
{
	struct result_list *w = ctx;
	char v[64];
	unsigned int i;

	if (w->n++ >= 4)
		return 0;
	if (w->len < w->size)
		w->len += snprintf(w->buf + w->len, w->size - w->len, w->n > 1 ? " or (" : "(");
	for (i = 0; i < w->m->nresults && w->len < w->size; i++) {
		kl_history_print_result(v, sizeof(v), w->h, w->m->name, i, o->results[i]);
		w->len += snprintf(w->buf + w->len, w->size - w->len, "%s%s", i ? ", " : "", v);
	}
	if (w->len < w->size)
		w->len += snprintf(w->buf + w->len, w->size - w->len, ")");
	return 0;
}

static int method_of(const struct kl_spec *spec, const struct kl_history *h,
		     const struct kl_op *op)
{
	return kl_spec_find_method(spec, h->methods[kl_op_method(h, op)]);
}

/* Find the state after the order.  Return: 1; 0 if the state is not known; -ENOMEM. */
static int find_state(const struct kl_spec *spec, struct kl_run *run,
		      const struct kl_counterexample *c, const uint32_t *order, size_t n,
		      struct first_outcome *f)
{
	const struct kl_history *h = c->h;
	const struct kl_val *v;
	size_t i;
	int ret;

	/* With store buffers, after a cut, or without the first state, the state is not known. */
	if (c->tso || c->forgot || c->unset)
		return 0;
	v = kl_run_init(run, h->fresh, &f->len);
	if (!v)
		return -ENOMEM;
	f->state = malloc((f->len + 1) * sizeof(*f->state));
	if (!f->state)
		return -ENOMEM;
	memcpy(f->state, v, f->len * sizeof(*v));
	for (i = 0; i < n; i++) {
		const struct kl_op *op = &h->ops[order[i]];
		struct kl_val *before = f->state;

		f->state = NULL;
		f->found = false;
		ret = kl_run_apply(run, before, f->len, method_of(spec, h, op), kl_op_args(h, op),
				   kl_op_res(h, op), save_first, f);
		if (!f->found) {
			free(f->state);
			f->state = before;
			return ret == -ENOMEM ? ret : 0;
		}
		free(before);
	}
	return 1;
}

/* Write a state as text.  If @buf is too small, the text ends with dots. */
static void print_state(char *buf, size_t size, const struct kl_spec *spec,
			const struct kl_history *h, const struct first_outcome *f)
{
	static const char dots[] = ", ...";

	if (kl_state_print(buf, size, spec, h, f->state, f->len) < (int)size)
		return;
	buf[size - sizeof(dots)] = 0;
	if (strrchr(buf, ','))
		*strrchr(buf, ',') = 0;
	strcat(buf, dots);
}

/*
 * Find the completed operation with the earliest return that is not in the order, or KL_NO_OP.
 * Return: 0 or -ENOMEM.
 */
static int find_missing(const struct kl_history *h, const uint32_t *order, size_t n, uint32_t *out)
{
	bool *done = calloc(h->nops + 1, sizeof(*done));
	uint32_t best = KL_NO_OP, i;
	size_t k;

	if (!done)
		return -ENOMEM;
	for (k = 0; k < n; k++)
		done[order[k]] = true;
	for (i = 0; i < h->nops; i++)
		if (!done[i] && h->ops[i].ret != KL_TIME_MAX &&
		    (best == KL_NO_OP || h->ops[i].ret < h->ops[best].ret))
			best = i;
	free(done);
	*out = best;
	return 0;
}

int kl_find_failing(const struct kl_spec *spec, const struct kl_counterexample *c,
		    const uint32_t *order, size_t n, char *state, size_t nstate, char *why,
		    size_t nwhy, uint32_t *bad)
{
	const struct kl_history *h = c->h;
	struct kl_run *run = kl_run_new(spec);
	int ret = run ? find_missing(h, order, n, bad) : -ENOMEM;
	char op[256], allowed[512] = "";
	struct result_list w = { .buf = allowed, .size = sizeof(allowed), .h = h };
	struct first_outcome f = { 0 };
	uint32_t at;

	*state = 0;
	snprintf(why, nwhy, "No order of these operations agrees with their results.");
	if (ret || *bad == KL_NO_OP)
		goto out;
	at = *bad;
	kl_op_print(op, sizeof(op), h, &h->ops[at]);
	snprintf(why, nwhy, "%s cannot take effect anywhere between its call and its return.", op);
	ret = find_state(spec, run, c, order, n, &f);
	if (ret <= 0)
		goto out;
	print_state(state, nstate, spec, h, &f);
	w.m = kl_spec_method(spec, method_of(spec, h, &h->ops[at]));
	ret = kl_run_apply(run, f.state, f.len, method_of(spec, h, &h->ops[at]),
			   kl_op_args(h, &h->ops[at]), NULL, add_result, &w);
	if (w.n && w.m->nresults)
		snprintf(why, nwhy,
			 "%s: after a longest order only %s %s allowed, and no order "
			 "is longer.",
			 op, allowed, w.n > 1 ? "were" : "was");
	else if (!w.n)
		snprintf(why, nwhy,
			 "%s was not possible after a longest order, and no order "
			 "is longer.",
			 op);
out:
	free(f.state);
	kl_run_free(run);
	return ret == -ENOMEM ? ret : 0;
}

int kl_state_after(const struct kl_spec *spec, const struct kl_counterexample *c,
		   const uint32_t *order, size_t n, char *state, size_t nstate)
{
	struct kl_run *run = kl_run_new(spec);
	struct first_outcome f = { 0 };
	int ret;

	*state = 0;
	ret = run ? find_state(spec, run, c, order, n, &f) : -ENOMEM;
	if (ret > 0)
		print_state(state, nstate, spec, c->h, &f);
	free(f.state);
	kl_run_free(run);
	return ret < 0 ? ret : 0;
}
