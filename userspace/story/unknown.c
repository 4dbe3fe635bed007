// SPDX-License-Identifier: GPL-2.0
/* Why a verdict is UNKNOWN, see unknown.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "check/coverage.h"
#include "spec/probe/probe.h"
#include "story/lost.h"
#include "story/unknown.h"

/* Return: @text with the values, or NULL when out of memory. */
__attribute__((format(printf, 1, 2)))
static char *sentence(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	va_end(ap);
	return s;
}

/* Return: the begin of a sentence: what is not known of the partition. */
static const char *what_is_open(const struct kl_unknown *u)
{
	return !u->first->sc_violation ? "Whether the operations have an order is not known" :
	       "Without store buffers the operations have no order.  Whether stores that waited in "
	       "a store buffer explain them is not known";
}

static char *say_why(const struct kl_report *r, const struct kl_unknown *u)
{
	const struct kl_coverage *c;
	const char *limit;

	switch (u->cause) {
	case KL_UNKNOWN_DEFECT:
		return sentence("Engine %s reports a violation, but the oracle finds an order of its "
			    "counterexample: one of them is wrong", u->first->engine->name);
	case KL_UNKNOWN_COVERAGE:
		c = r->suspect;
		return sentence("What was recorded has no order.  But some calls of %s may have passed "
			    "without a probe%s%s%s, and such a call may explain it",
			    c ? c->method : "a method", c && c->text ? " (" : "",
			    c && c->text ? c->text : "", c && c->text ? ")" : "");
	case KL_UNKNOWN_UNDRAINED:
		return sentence(
			"What was recorded has no order.  But a store of %s may have waited in a "
			"store buffer after the return, and this may explain it",
			r->suspect ? r->suspect->method : "a method");
	case KL_UNKNOWN_GAPS:
		return kl_lost_sentence(r->h, u->first);
	case KL_UNKNOWN_VALUES:
		return sentence("An order exists if unknown values were right for it.  klin cannot keep "
			    "all conditions on them, so perhaps no values allow this order");
	case KL_UNKNOWN_WORK:
		return sentence("%s: the search reached its bound of work (--work=%" PRIu64 ")",
			    what_is_open(u), r->work);
	case KL_UNKNOWN_TIME:
		limit = kl_limit_met(-ETIME);
		return sentence("%s: %s was reached", what_is_open(u), limit ? limit : "the time limit");
	case KL_UNKNOWN_MEMORY:
		limit = kl_limit_met(-ENOMEM);
		return sentence("%s: %s was reached", what_is_open(u),
			    limit ? limit : "the memory limit");
	case KL_UNKNOWN_STOPPED:
		return sentence("%s: klin was interrupted", what_is_open(u));
	case KL_UNKNOWN_SIZE:
		return sentence("%s: the partition has %" PRIu32 " operations, which with their gaps "
			    "and overlaps are too many for an engine", what_is_open(u),
			    u->first->nops);
	default:
		return sentence("%s: %s", what_is_open(u), u->first->answer.reason);
	}
}

/* How far the search came.  Return: 0 or -ENOMEM. */
static int say_progress(struct kl_unknown *u)
{
	const struct kl_answer *a = &u->first->answer;

	if (u->cause == KL_UNKNOWN_GAPS || u->cause == KL_UNKNOWN_VALUES ||
	    u->cause == KL_UNKNOWN_COVERAGE || u->cause == KL_UNKNOWN_UNDRAINED)
		return 0;
	if (a->progress)
		u->progress = sentence("The longest order that was tried has about %" PRIu64 " of %"
				   PRIu32 " operations", a->progress, u->first->nops);
	else if (a->configs)
		u->progress = sentence("%" PRIu64 " configurations of %" PRIu32
				   " operations were tried", a->configs, u->first->nops);
	else
		return 0;
	return u->progress ? 0 : -ENOMEM;
}

static char *advise_coverage(const char *release)
{
	return sentence("Record with debugging information (--debug=FILE; Debian: linux-image-%s-dbg), "
			"or assert `coverage asserted \"REASON\"' in the probe clause if no call is "
			"missed", release ? release : "...");
}

static char *advise_drain(void)
{
	return sentence("If each operation ends with a locked instruction or a fence, use "
			"--memory-model=sc, or record with KLIN_CLOCK_LOCKED; else record with "
			"KLIN_CLOCK_DRAIN");
}

static char *advise_values(const struct kl_spec *spec, bool fresh)
{
	const char *name;
	const struct kl_pos pos = kl_spec_any_choice_pos(spec, &name);

	/* What an operation chose stays unknown where its result does not tell. */
	if (fresh && name)
		return sentence("Give the choice in line %u of %s the range of its values, as in "
				"`choose %s in 0..60;'", pos.line, kl_spec_path(spec), name);
	if (fresh)
		return sentence("Record the results that are unknown (pending operations, or ? in "
				"the text form)");
	return sentence("Record from the structure's creation; or, if it began in the "
			"specification's first state, say `# first init' in the text form in place "
			"of `# first any' (klin convert makes text of a recording)");
}

static char *advise_empty(bool gaps)
{
	return sentence(gaps ? "Record with larger buffers (--buffer=PAGES) or fewer events (--object, "
			       "--sample)" :
			       "Use the structure while recording, for example by --load");
}

static char *advise(const struct kl_report *r, const struct kl_unknown *u)
{
	const bool bounded = u->cause == KL_UNKNOWN_WORK || u->cause == KL_UNKNOWN_TIME ||
			     u->cause == KL_UNKNOWN_MEMORY || u->cause == KL_UNKNOWN_SIZE ||
			     u->cause == KL_UNKNOWN_NO_ENGINE;

	if (bounded && r->named)
		return sentence("Omit --engine=%s, so that all engines are asked", r->named->name);
	if (bounded && r->no_partition)
		return sentence("Omit --no-partition, so that each key is decided alone");
	switch (u->cause) {
	case KL_UNKNOWN_DEFECT:
		return sentence("Report it, with the history and the output of klin --version");
	case KL_UNKNOWN_COVERAGE:
		return advise_coverage(r->h->release);
	case KL_UNKNOWN_UNDRAINED:
		return advise_drain();
	case KL_UNKNOWN_GAPS:
		return kl_lost_advice(r->h, u->first);
	case KL_UNKNOWN_VALUES:
		return advise_values(r->spec, r->h->fresh);
	case KL_UNKNOWN_WORK:
		return sentence("Allow ten times as much: --work=%" PRIu64 " (0: no bound)",
			    r->work > UINT64_MAX / 10 ? 0 : r->work * 10);
	case KL_UNKNOWN_TIME:
		return sentence("Allow more time by --time-limit=SECONDS");
	case KL_UNKNOWN_MEMORY:
		return sentence("Allow more memory by --memory-limit=MIB");
	case KL_UNKNOWN_STOPPED:
		return sentence("Let klin run to its end");
	case KL_UNKNOWN_SIZE:
		return sentence("Check a part of the history, or partition it by a key of the "
			    "specification");
	case KL_UNKNOWN_EMPTY:
		return r->h->ngaps && kl_lost_by_library(r->h) ?
			       sentence("%s", kl_lost_library_advice) :
			       advise_empty(r->h->ngaps);
	default:
		return sentence(u->first->sc_violation ?
			    "For a machine without store buffers, use --memory-model=sc" :
			    "See the engines' reasons by --explain");
	}
}

static int explain(const struct kl_report *r, struct kl_unknown *u)
{
	if (!u->first)
		u->why = strdup(r->reason);
	else
		u->why = say_why(r, u);
	u->advice = advise(r, u);
	if (!u->why || !u->advice)
		return -ENOMEM;
	*u->why -= *u->why >= 'a' && *u->why <= 'z' ? 'a' - 'A' : 0;
	return u->first ? say_progress(u) : 0;
}

int kl_unknown_explain(const struct kl_report *r, struct kl_unknown out[KL_UNKNOWN_CAUSES],
		       size_t *n)
{
	struct kl_unknown all[KL_UNKNOWN_CAUSES] = { 0 };
	size_t i;
	int ret = 0;

	for (i = 0; i < r->nparts; i++) {
		const struct kl_part_result *p = &r->parts[i];
		struct kl_unknown *u;

		if (p->answer.verdict != KL_UNKNOWN)
			continue;
		u = &all[kl_unknown_cause(p)];
		if (!u->parts++)
			u->first = p;
	}
	*n = 0;
	for (i = 0; i < KL_UNKNOWN_CAUSES && !ret; i++) {
		const bool whole = i == KL_UNKNOWN_EMPTY && !r->nparts &&
				   r->verdict == KL_UNKNOWN;

		if (!all[i].parts && !whole)
			continue;
		all[i].cause = i;
		out[*n] = all[i];
		ret = explain(r, &out[(*n)++]);
	}
	if (ret) {
		kl_unknown_free(out, *n);
		*n = 0;
	}
	return ret;
}

void kl_unknown_free(struct kl_unknown *u, size_t n)
{
	while (n--) {
		free(u[n].why);
		free(u[n].progress);
		free(u[n].advice);
	}
}

char *kl_unknown_advise_online(const struct kl_online_stats *st, const struct kl_spec *spec,
			       bool fresh, const char *release)
{
	switch (st->cause) {
	case KL_UNKNOWN_COVERAGE:
		return advise_coverage(release);
	case KL_UNKNOWN_UNDRAINED:
		return advise_drain();
	case KL_UNKNOWN_GAPS:
		return sentence("Record without losses: with larger buffers (--buffer=PAGES), with fewer "
				"events (--object, --sample), or without --pid and --cpu");
	case KL_UNKNOWN_EMPTY:
		return advise_empty(st->gaps);
	case KL_UNKNOWN_VALUES:
		return advise_values(spec, fresh);
	default:
		return sentence("Check the whole history, by klin check without --follow, or by klin "
				"record and klin check in place of klin monitor");
	}
}
