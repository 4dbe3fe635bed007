// SPDX-License-Identifier: GPL-2.0
/* Verdicts as text, see verdict.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "history/formats/kv_spec.h"
#include "history/spell.h"
#include "report/brief.h"
#include "report/codes.h"
#include "report/counterexample.h"
#include "report/envelope.h"
#include "report/given.h"
#include "report/json.h"
#include "report/story.h"
#include "report/unknown.h"
#include "report/verdict.h"
#include "report/words.h"
#include "story/waited.h"
#include "base/shipped.h"

#define MAX_PARTS_EXPLAINED	20

static void print_key(FILE *f, const struct kl_history *h, uint64_t key)
{
	const char *spelling = kl_history_spelling(h, key);

	if (spelling)
		fprintf(f, "key %s", spelling);
	else
		fprintf(f, "key %" PRIu64, key);
}

void kl_print_part_name(FILE *f, const struct kl_history *h, const struct kl_part_result *p)
{
	if (h->keyed)
		print_key(f, h, p->object);
	else
		fprintf(f, "object 0x%" PRIx64, p->object);
	if (!p->has_key)
		return;
	fputc(' ', f);
	print_key(f, h, p->key);
}

/* Print which store waited in its buffer, if the partition is linearizable because one did. */
static void print_waited(FILE *f, const struct kl_report *r, const struct kl_part_result *p)
{
	struct kl_waited w;

	if (kl_waited_find(r->spec, r->h, p, &w) || !w.sentence)
		return;
	fprintf(f, "    %s.\n", w.sentence);
	free(w.sentence);
}

/* The same for each partition, as sentences of a story. */
static void print_all_waited(FILE *f, const struct kl_report *r)
{
	struct kl_waited w;
	size_t i, n = 0;

	for (i = 0; i < r->nparts && r->sc_violations && n < MAX_PARTS_EXPLAINED; i++) {
		if (kl_waited_find(r->spec, r->h, &r->parts[i], &w) || !w.sentence)
			continue;
		fputc('\n', f);
		if (r->nparts > 1) {
			kl_print_part_name(f, r->h, &r->parts[i]);
			fputs(": LINEARIZABLE\n", f);
		}
		kl_put_sentence(f, "", w.sentence);
		free(w.sentence);
		n++;
	}
	if (n && n < r->sc_violations)
		fprintf(f, "\nOnly the store buffer explains %zu more.\n", r->sc_violations - n);
}

static void explain(FILE *f, const struct kl_report *r)
{
	const struct kl_declined *d;
	size_t i;

	fputs("\nPartitions:\n", f);
	for (i = 0; i < r->nparts && i < MAX_PARTS_EXPLAINED; i++) {
		const struct kl_part_result *p = &r->parts[i];

		fputs("  ", f);
		kl_print_part_name(f, r->h, p);
		fprintf(f, ": %u operations, %s by %s, %" PRIu64 " configurations, %" PRIu64
			" KiB%s\n", kl_given_part(r->h, p), kl_verdict_name(p->answer.verdict),
			p->answer.engine ? p->answer.engine : "none", p->answer.configs,
			p->answer.bytes >> 10,
			p->sc_violation ? "; on sequential consistency there is no order" : "");
		print_waited(f, r, p);
		if (p->answer.verdict != KL_UNKNOWN && *p->answer.reason)
			fprintf(f, "    %s\n", p->answer.reason);
		for (d = p->declined; d; d = d->next)
			fprintf(f, "    %s\n", d->reason);
	}
	if (i < r->nparts)
		fprintf(f, "  and %zu more\n", r->nparts - i);
}

/* Did klin find the specification by a name in the history, which is in another directory? */
static bool is_found(const struct kl_report *r, const char *name)
{
	const char *path = kl_spec_path(r->spec), *slash = strrchr(name, '/');
	const size_t dir = slash ? slash + 1 - name : 0;

	if (!dir || !r->h->spec_path || r->h->spec_text || kl_shipped_text(path))
		return false;
	/* In klin's working directory, or in the directory of the history. */
	return !strcmp(path, r->h->spec_path) ||
	       (!strncmp(path, name, dir) && !strcmp(path + dir, r->h->spec_path));
}

void kl_print_memory(FILE *f, bool sc, enum kl_memory_by by, const struct kl_memory *m)
{
	static const char *const words[] = {
		[KL_MEMORY_BY_COMMAND] = "the command line", [KL_MEMORY_BY_ENGINE] = "the engine",
	};
	const char *is = m->sc ? "sc" : "tso";

	fprintf(f, ", memory %s", sc ? "sc" : "tso");
	if (by != KL_MEMORY_BY_HISTORY)
		fprintf(f, " as %s says (the history%s %s)", words[by],
			m->told ? " says" : "'s default is", is);
	else if (m->told)
		fputs(" as the history says", f);
	else
		fputs(m->sc ? " by default" : " by default for recordings", f);
}

static void print_summary(FILE *f, const struct kl_report *r, const char *name,
			  const struct kl_verdict_style *style)
{
	const struct kl_history *h = r->h;

	fprintf(f, "%s: %zu operations, %zu threads, %zu objects, spec %s", name, kl_given_ops(h),
		kl_given_threads(h), h->nobjects, kl_spec_name(r->spec));
	fputs(kl_kv_spec_note(kl_spec_text(r->spec)), f);
	if (is_found(r, name))
		fprintf(f, " of %s", kl_spec_path(r->spec));
	if (!h->fresh)
		fputs(", any first state", f);
	if (!style || !style->no_memory)
		kl_print_memory(f, r->classical, r->memory_by, &h->memory);
	if (h->ngaps)
		fprintf(f, ", %zu gap%s", h->ngaps, h->ngaps == 1 ? "" : "s");
	if (h->failed)
		fprintf(f, ", %zu failed operation%s left out", h->failed,
			h->failed == 1 ? "" : "s");
	fputc('\n', f);
	fputs(kl_verdict_name(r->verdict), f);
	if (r->verdict == KL_UNKNOWN)
		fprintf(f, " (%s)", r->reason);
	if (r->verdict == KL_VIOLATION || r->suspected || r->nparts > 1)
		fprintf(f, ": %zu of %zu partitions linearizable, %zu violated, %zu unknown",
			r->count[KL_LINEARIZABLE], r->nparts, r->count[KL_VIOLATION],
			r->count[KL_UNKNOWN]);
	if (r->sc_violations)
		fprintf(f, "; %zu only because stores may wait in the store buffer",
			r->sc_violations);
	fprintf(f, " (%.3f s)\n", r->seconds);
}

/* Print methods with incomplete coverage, and how to make a suspected violation certain. */
static void print_coverage(FILE *f, const struct kl_report *r)
{
	const struct kl_history *h = r->h;
	size_t i;

	for (i = 0; i < h->ncoverage; i++) {
		const struct kl_coverage *c = &h->coverage[i];
		const int m = kl_spec_find_method(r->spec, c->method);

		if (c->kind == KL_COVER_WHOLE || c->kind == KL_COVER_UNDRAINED)
			continue;
		fprintf(f, "coverage of %s: %s%s%s%s\n", c->method, kl_cover_names[c->kind],
			c->text ? ", " : "", c->text ? c->text : "",
			c->kind == KL_COVER_UNKNOWN && m >= 0 && kl_spec_method(r->spec, m)->pure ?
				" (harmless, since the method writes nothing)" :
				"");
	}
}

/* A nil that stands for `nothing was there' is often the cause of a violation in a log. */
static void print_nils(FILE *f, const struct kl_report *r)
{
	const size_t n = r->h->nils;

	if (n && r->verdict == KL_VIOLATION)
		fprintf(f,
			"note: %zu value%s of the log %s nil, which is a value like others here; if "
			"it means that nothing was there, say so in the history block, as in "
			".value == null ? empty : .value\n",
			n, n == 1 ? "" : "s", n == 1 ? "is" : "are");
}

/* A number that some records have as a text may be what a violation comes from. */
static void print_digits(FILE *f, const struct kl_report *r)
{
	const size_t n = r->h->digits;

	if (n && r->verdict == KL_VIOLATION)
		fprintf(f,
			"note: %zu value%s of the log %s of digits, which no number equals: "
			"\"3\" is not 3\n",
			n, n == 1 ? "" : "s", n == 1 ? "is a text" : "are texts");
}

static int print_whole(FILE *f, const struct kl_report *r, const struct kl_part_result *p,
		       const struct kl_verdict_style *style)
{
	int ret = kl_print_story(f, r->spec, r->h, p, style->replay);

	if (ret == -ENOMEM || style->no_diagram)
		return ret;
	return kl_print_counterexample(f, r->spec, p->cex, kl_given_part(r->h, p), style->colour);
}

/* Return: the condition on which suspected violations are violations. */
static const char *suspicion(const struct kl_report *r)
{
	return r->suspect && r->suspect->kind == KL_COVER_UNDRAINED ?
		       "each operation's stores left the store buffer before its return" :
		       "all calls were seen";
}

int kl_print_report(FILE *f, const struct kl_report *r, const char *name,
		     const struct kl_verdict_style *style)
{
	bool told = false;
	int ret = 0;
	size_t i;

	if (style && style->output)
		return kl_output_put(f, kl_report_json(r, name, style), style->output);
	print_summary(f, r, name, style);
	print_coverage(f, r);
	print_nils(f, r);
	print_digits(f, r);
	if (r->verdict == KL_UNKNOWN)
		ret = kl_print_unknown(f, r);
	if (ret || (style && style->quiet))
		return ret;
	if (style && style->explain)
		explain(f, r);
	else if (style && style->full)
		print_all_waited(f, r);
	for (i = 0; i < r->nparts && ret != -ENOMEM; i++) {
		const struct kl_part_result *p = &r->parts[i];

		if ((p->answer.verdict != KL_VIOLATION && !p->suspected) || !p->cex)
			continue;
		if (p->suspected && !told)
			fprintf(f, "\nA violation, if %s:\n", suspicion(r));
		told |= p->suspected;
		if (r->nparts > 1) {
			fputc('\n', f);
			kl_print_part_name(f, r->h, p);
			fputs(p->suspected ? ": suspected\n" : ": VIOLATION\n", f);
		}
		if (style && style->full)
			ret = print_whole(f, r, p, style);
		else
			ret = kl_print_brief(f, r, p, style);
	}
	return ret == -ENOMEM ? ret : 0;
}

int kl_print_no_report(FILE *f, const char *name, const char *limit, const char *doing,
		       const char *place, const struct kl_verdict_style *style)
{
	const char *verdict = kl_verdict_name(KL_UNKNOWN);
	char *reason;
	json_t *j;

	if (!style || !style->output) {
		fprintf(f, "%s\n%s (%s was reached while %s %s%s)\n", name, verdict, limit, doing, name,
			place);
		return 0;
	}
	if (asprintf(&reason, "%s was reached while %s %s%s", limit, doing, name, place) < 0)
		return -ENOMEM;
	j = kl_json_envelope("check", NULL);
	json_object_set_new(j, "history", kl_json_text(name));
	json_object_set_new(j, "verdict", json_string(verdict));
	json_object_set_new(j, "reason", kl_json_text(reason));
	kl_json_add_reason(j, style->limit, reason, 0);
	kl_json_add_limit(j, style->limit);
	free(reason);
	if (style->cost) {
		json_object_set_new(j, "user_seconds", json_real(style->cost->user_seconds));
		json_object_set_new(j, "peak_bytes", json_integer(style->cost->peak_bytes));
	}
	return kl_output_put(f, j, style->output);
}
