// SPDX-License-Identifier: GPL-2.0
/* Counterexamples as text, see counterexample.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/counterexample.h"
#include "report/diagram.h"
#include "report/replay_state.h"

#define WHOLE	24	/* a counterexample of up to this many operations is drawn whole */
#define LAST	12	/* of a larger one, so many of the last operations are drawn */

/*
 * Find the methods of a history that may leave stores in the buffer, for the diagram.  Return: an
 * array by method to free(), or NULL when out of memory.
 */
static bool *find_storing(const struct kl_spec *spec, const struct kl_history *h)
{
	bool *stores = calloc(h->nmethods + 1, sizeof(*stores));
	size_t i;

	for (i = 0; stores && i < h->nmethods; i++) {
		int m = kl_spec_find_method(spec, h->methods[i]);

		stores[i] = m >= 0 && !kl_spec_method(spec, m)->pure &&
			    !kl_spec_method(spec, m)->flush;
	}
	return stores;
}

/* Draw drains only if some are known, and only in a small diagram, where they are legible. */
static bool has_drains(const struct kl_counterexample *c)
{
	size_t i;

	for (i = 0; i < c->h->nops && c->tso && c->h->nops <= 6; i++)
		if (kl_op_drain(c->h, &c->h->ops[i]) != KL_TIME_MAX)
			return true;
	return false;
}

/*
 * Return: the time by which the last operations are chosen for the diagram.  It is the return, or
 * the call of a pending operation, and 0 for an operation with a call after @until.
 */
static uint64_t choice_time(const struct kl_op *op, uint64_t until)
{
	if (op->call > until)
		return 0;
	return op->ret == KL_TIME_MAX ? op->call : op->ret;
}

/*
 * Return: the latest call that a chosen operation may have, which is the return of the failing
 * operation @bad.  Later calls matter only within the clock's error.  If fewer than LAST operations
 * have earlier calls, there is no bound.
 */
static uint64_t latest_call(const struct kl_history *h, uint32_t bad)
{
	size_t n = 0, i;

	for (i = 0; bad != KL_NO_OP && i < h->nops; i++)
		n += h->ops[i].call <= h->ops[bad].ret;
	return n >= LAST ? h->ops[bad].ret : KL_TIME_MAX;
}

/* Return: the earliest choice_time() of the last LAST operations; 0 if all operations are drawn. */
static uint64_t earliest_end(const struct kl_history *h, uint64_t until)
{
	uint64_t ends[LAST] = { 0 };	/* the largest so far, ascending */
	size_t i, k;

	for (i = 0; i < h->nops && h->nops > WHOLE; i++) {
		uint64_t end = choice_time(&h->ops[i], until);

		for (k = 0; k < LAST && ends[k] < end; k++)
			if (k)
				ends[k - 1] = ends[k];
		if (k)
			ends[k - 1] = end;
	}
	return ends[0];
}

/*
 * Choose the operations to draw: all; or the last ones, the failing one, and those that were under
 * way at its call.  Return: their number.
 */
static size_t choose(const struct kl_history *h, uint32_t bad, uint32_t *ops)
{
	const uint64_t until = latest_call(h, bad), from = earliest_end(h, until);
	size_t n = 0, i;

	for (i = 0; i < h->nops; i++) {
		if (choice_time(&h->ops[i], until) >= from || i == bad ||
		    (bad != KL_NO_OP && h->ops[i].ret >= h->ops[bad].call &&
		     h->ops[i].call <= h->ops[bad].call))
			ops[n++] = i;
		if (n == KL_DIAGRAM_OPS)
			break;
	}
	return n;
}

static void print_caption(FILE *f, const struct kl_counterexample *c, uint32_t of)
{
	fprintf(f, "\nCounterexample: %zu of the %u operations.", c->h->nops, of);
	if (c->forgot)
		fprintf(f,
			"  Operations that ended by %" PRIu64 " are left out; their effect is "
			"unknown.",
			c->cut);
	if (c->dropped)
		fprintf(f, "  %zu more that cannot matter %s left out%s.", c->dropped,
			c->dropped == 1 ? "is" : "are",
			c->copies ? ", additions together with their removals" : "");
	fputs("\n\n", f);
}

/* Return: the index in @order from which on all operations are among @ops, the drawn ones. */
static size_t first_drawn(const struct kl_diagram_order *order, const uint32_t *ops, size_t n)
{
	size_t from = order->n, i;

	while (from) {
		for (i = 0; i < n && ops[i] != order->ops[from - 1]; i++)
			;
		if (i == n)
			break;
		from--;
	}
	return from;
}

int kl_print_counterexample(FILE *f, const struct kl_spec *spec,
			     const struct kl_counterexample *c, uint32_t of,
			     enum kl_diagram_auto colour)
{
	uint32_t *steps = calloc(c->answer.nsteps + 1, sizeof(*steps)), ops[KL_DIAGRAM_OPS];
	bool *stores = has_drains(c) ? find_storing(spec, c->h) : NULL;
	struct kl_diagram_opts o = { .stores = stores, .colour = colour };
	struct kl_diagram_order order = { .ops = steps };
	struct kl_diagram_bad bad = { 0 };
	char before[256] = "", state[256], why[1024];
	size_t from, i, n;
	int ret = -ENOMEM;

	if (!steps || (!stores && has_drains(c)))
		goto out;
	for (i = 0; i < c->answer.nsteps; i++)
		if (!(c->answer.steps[i].flags & KL_STEP_FLUSH) &&
		    c->answer.steps[i].item < c->h->nops)
			steps[order.n++] = c->answer.steps[i].item;
	ret = kl_find_failing(spec, c, steps, order.n, state, sizeof(state), why, sizeof(why),
			      &bad.op);
	if (ret)
		goto out;
	order.state = *state ? state : NULL;
	if (bad.op != KL_NO_OP) {
		o.bad = &bad;
		o.nbad = 1;
	}
	n = choose(c->h, bad.op, ops);
	from = first_drawn(&order, ops, n);
	if (from && from < order.n)
		ret = kl_state_after(spec, c, steps, from, before, sizeof(before));
	if (ret)
		goto out;
	if (n == c->h->nops || !from || (from < order.n && *before)) {
		order.before = from ? before : NULL;
		order.ops += from;
		order.n -= from;
		o.orders = &order;
		o.norders = 1;
	}
	o.why = why;
	print_caption(f, c, of);
	if (n < c->h->nops)
		fprintf(f, "The last %zu are drawn; --counterexample=FILE writes all.\n\n", n);
	ret = kl_diagram(f, c->h, ops, n, &o);
	if (c->oracle == KL_VIOLATION)
		fputs("The brute-force oracle finds no order either.\n", f);
	else
		fputs("It is too large for the brute-force oracle to confirm.\n", f);
	if (c->ended)
		fprintf(f,
			"Shrinking ended at its limit of %s; a smaller counterexample may exist.\n",
			c->ended == KL_SHRINK_WORK ? "work" : "time");
out:
	free(stores);
	free(steps);
	return ret;
}
