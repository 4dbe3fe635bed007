// SPDX-License-Identifier: GPL-2.0
/* Verdicts as text, see verdict.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/json.h"
#include "report/replay_state.h"
#include "report/verdict.h"
#include "report/diagram.h"

#define MAX_PARTS_EXPLAINED	20

static void print_part_name(FILE *f, const struct kl_part_result *p)
{
	fprintf(f, "object 0x%" PRIx64, p->object);
	if (p->has_key)
		fprintf(f, " key %" PRIu64, p->key);
}

/* Which methods of a history leave stores in the buffer, for the diagram; NULL: no memory. */
static bool *late_stores(const struct kl_spec *spec, const struct kl_history *h)
{
	bool *late = calloc(h->nmethods + 1, sizeof(*late));
	size_t i;

	for (i = 0; late && i < h->nmethods; i++) {
		int m = kl_spec_find_method(spec, h->methods[i]);

		late[i] = m >= 0 && !kl_spec_method(spec, m)->pure &&
			  !kl_spec_method(spec, m)->flush;
	}
	return late;
}

/* Only what is known of the store buffers is drawn, and only where it is legible. */
static bool draw_drains(const struct kl_counterexample *c)
{
	size_t i;

	for (i = 0; i < c->h->nops && c->tso && c->h->nops <= 16; i++)
		if (c->h->ops[i].drain != KL_TIME_MAX)
			return true;
	return false;
}

static void print_counterexample(FILE *f, const struct kl_report *r,
				 const struct kl_part_result *p)
{
	const struct kl_counterexample *c = p->cex;
	struct kl_diagram_order order = { 0 };
	struct kl_diagram_bad bad = { 0 };
	bool *late = draw_drains(c) ? late_stores(r->spec, c->h) : NULL;
	struct kl_diagram_opts o = { .stores = late };
	uint32_t ops[KL_DIAGRAM_OPS], steps[KL_DIAGRAM_OPS];
	char state[512], why[1024];
	size_t i, n = c->h->nops < KL_DIAGRAM_OPS ? c->h->nops : KL_DIAGRAM_OPS;

	fprintf(f, "\nCounterexample: %zu of the %u operations.", c->h->nops, p->nops);
	if (c->cut)
		fprintf(f, "  What had ended by %" PRIu64 " is left out; its effect is taken as "
			"unknown.", c->cut);
	if (c->dropped_pure)
		fprintf(f, "  %zu operation%s that write%s nothing %s left out.", c->dropped_pure,
			c->dropped_pure == 1 ? "" : "s", c->dropped_pure == 1 ? "s" : "",
			c->dropped_pure == 1 ? "is" : "are");
	fputs("\n\n", f);
	for (i = 0; i < n; i++)
		ops[i] = i;
	for (i = 0; i < c->answer.nsteps && order.n < KL_DIAGRAM_OPS; i++)
		if (!(c->answer.steps[i].flags & KL_STEP_FLUSH) &&
		    c->answer.steps[i].item < c->h->nops)
			steps[order.n++] = c->answer.steps[i].item;
	order.ops = steps;
	bad.op = kl_find_failing(r->spec, c, order.ops, order.n, state, sizeof(state), why,
				 sizeof(why));
	order.state = *state ? state : NULL;
	if (bad.op != KL_NO_OP) {
		o.bad = &bad;
		o.nbad = 1;
	}
	o.orders = &order;
	o.norders = 1;
	o.why = why;
	kl_diagram(f, c->h, ops, n, &o);
	free(late);
	if (c->oracle == KL_VIOLATION)
		fputs("The brute-force oracle finds no order either.\n", f);
	else
		fputs("Too large for the brute-force oracle to confirm.\n", f);
}

static void explain(FILE *f, const struct kl_report *r)
{
	size_t i;

	fputs("\nPartitions:\n", f);
	for (i = 0; i < r->nparts && i < MAX_PARTS_EXPLAINED; i++) {
		const struct kl_part_result *p = &r->parts[i];

		fputs("  ", f);
		print_part_name(f, p);
		fprintf(f, ": %u operations, %s by %s, %" PRIu64 " configurations, %" PRIu64
			" KiB%s\n", p->nops, kl_verdict_name(p->answer.verdict),
			p->answer.engine ? p->answer.engine : "none", p->answer.work,
			p->answer.bytes >> 10,
			p->sc_violation ? "; on sequential consistency there is no order" : "");
	}
	if (i < r->nparts)
		fprintf(f, "  and %zu more\n", r->nparts - i);
}

static void print_summary(FILE *f, const struct kl_report *r, const char *name)
{
	const struct kl_history *h = r->h;

	fprintf(f, "%s: %zu operations, %zu threads, %zu objects, spec %s", name, h->nops,
		h->nthreads, h->nobjects, kl_spec_name(r->spec));
	if (h->ngaps)
		fprintf(f, ", %zu gap%s", h->ngaps, h->ngaps == 1 ? "" : "s");
	fputc('\n', f);
	fputs(kl_verdict_name(r->verdict), f);
	if (r->verdict == KL_UNKNOWN)
		fprintf(f, " (%s)", r->reason);
	if (r->verdict == KL_VIOLATION || r->nparts != 1)
		fprintf(f, ": %zu of %zu partitions linearizable, %zu violated, %zu unknown",
			r->count[KL_LINEARIZABLE], r->nparts, r->count[KL_VIOLATION],
			r->count[KL_UNKNOWN]);
	if (r->sc_violations)
		fprintf(f, "; %zu only because stores may wait in the store buffer",
			r->sc_violations);
	fprintf(f, " (%.3f s)\n", r->seconds);
}

void kl_print_report(FILE *f, const struct kl_report *r, const char *name,
		     const struct kl_verdict_style *style)
{
	size_t i;

	if (style && style->json) {
		kl_print_json(f, r, name);
		return;
	}
	print_summary(f, r, name);
	if (style && style->quiet)
		return;
	if (style && style->explain)
		explain(f, r);
	for (i = 0; i < r->nparts; i++) {
		const struct kl_part_result *p = &r->parts[i];

		if (p->answer.verdict != KL_VIOLATION || !p->cex)
			continue;
		if (r->nparts > 1) {
			fputc('\n', f);
			print_part_name(f, p);
			fputs(": VIOLATION\n", f);
		}
		if (!style || !style->no_diagram)
			print_counterexample(f, r, p);
	}
}
