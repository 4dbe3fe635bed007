// SPDX-License-Identifier: GPL-2.0
/* Prints the results of the online check as text or as JSON, see session.h. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "history/formats/kv_spec.h"
#include "history/spell.h"
#include "klin/certify.h"
#include "klin/cmd.h"
#include "klin/session.h"
#include "report/counterexample.h"
#include "report/envelope.h"
#include "report/json.h"
#include "report/story.h"
#include "report/verdict.h"
#include "report/words.h"
#include "story/unknown.h"
#include "watch/feed.h"

#define MAX_PRINTED	20	/* violations that are printed; later ones are only counted */

struct session {
	const struct kl_spec *spec;
	struct session_style style;
	struct kl_memory memory;	/* the memory model that the history names */
	bool fresh;		/* the history begins in the first state */
	char *release;		/* kernel release that the history names, or NULL */
	struct feed *feed;
	uint64_t violations;	/* number of violations so far */
	double start, shown;	/* times of the start and of the last progress line, in seconds */
	json_t *found;		/* violations for a form that is printed at the end, or NULL */
	char *replay;		/* the command that checks the certificate, or NULL */
	bool certified;		/* the certificate was written, or could not be */
	int unwritten;		/* negative errno of a certificate that could not be, or 0 */
	int failed;		/* negative errno of a print that failed, or 0 */
	bool line;		/* the terminal shows a progress line */
};

static double seconds(void)
{
	return kl_now_ns() / 1e9;
}

void session_clear_line(struct session *s)
{
	if (s->line)
		fputs("\r\033[K", stderr);
	s->line = false;
}

/* Print an object, or keep it for the end. */
static void put_json(struct session *s, json_t *j)
{
	if (s->found) {
		json_array_append_new(s->found, j);
		return;
	}
	s->failed = kl_json_put(stdout, j, JSON_COMPACT | JSON_PRESERVE_ORDER) ?: s->failed;
	fflush(stdout);
}

/*
 * Write the proof of the first violation that the operations show by themselves.  Return: the
 * command that checks it, or NULL if there is none of this violation.
 */
static const char *certify(struct session *s, const struct kl_online_violation *v)
{
	int ret;

	if (!s->replay || s->certified || v->suspect)
		return NULL;
	session_clear_line(s);
	ret = certify_write(s->style.certificate, s->spec, v, s->style.classical);
	if (ret == -ENODATA)
		return NULL;
	s->certified = true;
	s->unwritten = ret;
	return ret ? NULL : s->replay;
}

static void violation_json(struct session *s, const struct kl_online_violation *v,
			   const char *replay)
{
	const struct kl_report *r = v->report;
	json_t *j = kl_json_envelope("violation", r ? r->h->release : NULL), *ops;
	const char *symbol = r ? kl_history_symbol(r->h, v->object) : NULL;
	char words[512];
	size_t i;

	json_object_set_new(j, "verdict", json_string(v->suspect ? "UNKNOWN" : "VIOLATION"));
	json_object_set_new(j, "suspected", json_boolean(v->suspect != NULL));
	if (!v->all_objects) {
		snprintf(words, sizeof(words), "0x%" PRIx64, v->object);
		json_object_set_new(j, "object", json_string(words));
	}
	if (!v->all_objects && symbol)
		json_object_set_new(j, "symbol", kl_json_text(symbol));
	if (v->has_key)
		json_object_set_new(j, "key", r ? kl_word_json(r->h, v->key) :
						  kl_json_number(v->key));
	json_object_set_new(j, "time", v->time == KL_TIME_MAX ? json_null() :
						kl_json_number(v->time));
	json_object_set_new(j, "events", kl_json_number(v->events));
	json_object_set_new(j, "reason", json_string(v->reason));
	json_object_set_new(j, "engine", json_string(v->engine));
	if (replay)
		json_object_set_new(j, "replay", kl_json_text(replay));
	for (i = 0; r && i < r->nparts && !r->parts[i].cex; i++)
		;
	if (r && i < r->nparts) {
		const struct kl_part_result *p = &r->parts[i];
		const struct kl_history *h = p->cex->h;

		ops = json_array();
		for (i = 0; i < h->nops; i++)
			json_array_append_new(ops, kl_op_json_placed(r->h, p->cex->ops[i], h,
								     &h->ops[i]));
		json_object_set_new(j, "counterexample", ops);
		kl_add_story(j, r->spec, r->h, p, replay);
	}
	put_json(s, j);
}

static void on_violation(void *ctx, const struct kl_online_violation *v)
{
	struct session *s = ctx;
	const char *replay = certify(s, v);
	const struct kl_verdict_style style = {
		.no_diagram = s->style.no_diagram, .no_memory = true, .full = s->style.full,
		.colour = s->style.colour,
	};
	FILE *f = s->style.out ? s->style.out : stdout;

	if (s->violations++ >= MAX_PRINTED)
		return;
	session_clear_line(s);
	if (s->style.output) {
		violation_json(s, v, replay);
		return;
	}
	if (v->time == KL_TIME_MAX)
		fprintf(f, "%s at the end", v->suspect ? "Suspected violation" : "VIOLATION");
	else
		fprintf(f, "%s at time %" PRIu64, v->suspect ? "Suspected violation" : "VIOLATION",
			v->time);
	fprintf(f, ", after %" PRIu64 " calls and returns", v->events);
	if (!v->all_objects)
		fprintf(f, ", object 0x%" PRIx64, v->object);
	if (v->has_key)
		fprintf(f, " key %" PRIu64, v->key);
	fprintf(f, ": %s (%s)\n", v->reason, v->engine);
	if (v->report)
		s->failed = kl_print_report(f, v->report, "its last operations", &style) ?:
			    s->failed;
	/* The command is right for a violation without a story, too. */
	if (replay)
		fprintf(f, "  Again: %s\n", replay);
	if (s->violations == MAX_PRINTED)
		fprintf(f, "Further violations are counted, but not printed.\n");
	fflush(f);
}

struct session *session_new(const struct kl_spec *spec, const struct kl_history *h,
			    const struct session_style *style)
{
	struct session *s = calloc(1, sizeof(*s));
	const struct feed_opts opts = {
		.classical = style->memory_by == KL_MEMORY_BY_HISTORY ? h->memory.sc :
			     style->classical,
		.show = style->show, .histories = style->certificate, .bytes = style->bytes,
		.stop = style->stop,
		.violation = on_violation, .ctx = s,
	};

	if (!s)
		return NULL;
	s->spec = spec;
	s->style = *style;
	s->style.classical = opts.classical;
	s->memory = h->memory;
	s->fresh = h->fresh;
	s->release = h->release ? strdup(h->release) : NULL;
	s->start = s->shown = seconds();
	if (style->output > KL_OUTPUT_JSON)
		s->found = json_array();
	s->replay = style->certificate ? certify_replay(style->certificate) : NULL;
	if ((s->release || !h->release) && (s->replay || !style->certificate))
		s->feed = feed_new(spec, h, &opts);
	if (s->feed)
		return s;
	session_free(s);
	return NULL;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	session_clear_line(s);
	feed_free(s->feed);
	json_decref(s->found);
	free(s->release);
	free(s->replay);
	free(s);
}

int session_add(struct session *s, const struct kl_history *h)
{
	return feed_add(s->feed, h);
}

void session_release(struct session *s)
{
	feed_release(s->feed);
}

int session_floor(struct session *s, uint64_t floor)
{
	return feed_floor(s->feed, floor);
}

int session_over(struct session *s, const uint64_t *objects, size_t n)
{
	return feed_over(s->feed, objects, n);
}

void session_stats(const struct session *s, struct kl_online_stats *st)
{
	feed_stats(s->feed, st);
}

uint64_t session_newest(const struct session *s)
{
	return feed_newest(s->feed);
}

/* Write a count; large ones in millions. */
static void print_count(char *buf, size_t size, double n)
{
	if (n >= 1e6)
		snprintf(buf, size, "%.1f million", n / 1e6);
	else
		snprintf(buf, size, "%.0f", n);
}

void session_progress(struct session *s)
{
	const double now = seconds();
	struct kl_online_stats st;
	char ops[32], rate[32];

	if (now - s->shown < 1 || !isatty(STDERR_FILENO))
		return;
	s->shown = now;
	feed_stats(s->feed, &st);
	print_count(ops, sizeof(ops), st.ops);
	print_count(rate, sizeof(rate), st.ops / (now - s->start));
	fprintf(stderr, "\r%s so far: %s operations, %s/s, %" PRIu64 " wait, %" PRIu64
		" inside, behind by %" PRIu64 "\033[K", kl_verdict_name(st.verdict), ops, rate,
		st.waiting, st.inside, st.newest > st.now ? st.newest - st.now : 0);
	s->line = true;
}

static void summary_json(struct session *s, const struct kl_online_stats *st, bool whole,
			 double spent)
{
	json_t *j = kl_json_envelope("summary", NULL), *parts = json_object();
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	json_object_set_new(j, "history", json_string(s->style.name) ?: json_string("?"));
	json_object_set_new(j, "spec", json_string(kl_spec_name(s->spec)));
	json_object_set_new(j, "verdict", json_string(kl_verdict_name(st->verdict)));
	if (*st->reason) {
		char *advice = kl_unknown_advise_online(st, s->spec, s->fresh, s->release);

		json_object_set_new(j, "reason", json_string(st->reason));
		json_object_set_new(j, "cause", json_string(kl_unknown_codes[st->cause]));
		if (advice)
			json_object_set_new(j, "advice", kl_json_text(advice));
		else
			kl_json_no_memory();
		free(advice);
	}
	json_object_set_new(j, "whole", json_boolean(whole));
	json_object_set_new(j, "operations", kl_json_number(st->ops));
	json_object_set_new(j, "events", kl_json_number(st->events));
	json_object_set_new(j, "violations", kl_json_number(st->violations));
	json_object_set_new(j, "suspected", kl_json_number(st->suspected));
	json_object_set_new(j, "told",
			    kl_json_number(s->violations < MAX_PRINTED ? s->violations :
					   MAX_PRINTED));
	kl_json_memory(j, s->style.classical, s->style.memory_by, &s->memory);
	json_object_set_new(parts, "linearizable", kl_json_number(st->count[KL_LINEARIZABLE]));
	json_object_set_new(parts, "violated", kl_json_number(st->count[KL_VIOLATION]));
	json_object_set_new(parts, "unknown", kl_json_number(st->count[KL_UNKNOWN]));
	json_object_set_new(j, "partitions", parts);
	json_object_set_new(j, "gaps", kl_json_number(st->gaps));
	json_object_set_new(j, "late", kl_json_number(st->late));
	json_object_set_new(j, "followed_to", kl_json_number(st->now));
	json_object_set_new(j, "newest", kl_json_number(st->newest));
	json_object_set_new(j, "lag",
			    kl_json_number(st->newest > st->now ? st->newest - st->now : 0));
	json_object_set_new(j, "waiting", kl_json_number(st->waiting));
	json_object_set_new(j, "inside", kl_json_number(st->inside));
	json_object_set_new(j, "seconds", json_real(spent));
	json_object_set_new(j, "operations_per_second", json_real(spent > 0 ? st->ops / spent : 0));
	json_object_set_new(j, "bytes", kl_json_number(st->bytes));
	json_object_set_new(j, "peak_bytes", kl_json_number((uint64_t)u.ru_maxrss << 10));
	put_json(s, j);
}

static void summary_text(struct session *s, const struct kl_online_stats *st, bool whole,
			 double spent)
{
	char *advice;

	printf("%s: %" PRIu64 " operations, spec %s%s", s->style.name, st->ops,
	       kl_spec_name(s->spec), kl_kv_spec_note(kl_spec_text(s->spec)));
	kl_print_memory(stdout, s->style.classical, s->style.memory_by, &s->memory);
	if (st->gaps)
		printf(", %" PRIu64 " gap%s", st->gaps, st->gaps == 1 ? "" : "s");
	if (st->late)
		printf(", %" PRIu64 " too late", st->late);
	printf("\n%s%s", kl_verdict_name(st->verdict), whole ? "" : " so far");
	if (*st->reason)
		printf(" (%s)", st->reason);
	if (st->violations || st->parts > 1)
		printf(": %zu of %zu partitions linearizable, %zu violated, %zu unknown",
		       st->count[KL_LINEARIZABLE], st->parts, st->count[KL_VIOLATION],
		       st->count[KL_UNKNOWN]);
	printf(" (%.3f s)\nfollowed to time %" PRIu64, spent, st->now);
	if (!whole)
		printf(", the latest return is at %" PRIu64 ", %" PRIu64 " operations wait",
		       st->newest, st->waiting);
	printf("; %.0f operations/s, %.1f MB\n", spent > 0 ? st->ops / spent : 0.0,
	       st->bytes / 1e6);
	if (!*st->reason)
		return;
	advice = kl_unknown_advise_online(st, s->spec, s->fresh, s->release);
	if (advice)
		kl_put_sentence(stdout, "Advice:", advice);
	else
		s->failed = -ENOMEM;
	free(advice);
}

int session_end(struct session *s, bool whole)
{
	struct kl_online_stats st;
	int ret = whole ? feed_floor(s->feed, KL_TIME_MAX) : 0;

	if (!ret)
		ret = feed_end(s->feed);
	if (ret) {
		kl_err("%s: %s", s->style.name, strerror(-ret));
		return KLIN_EXIT_SYSTEM;
	}
	session_clear_line(s);
	feed_stats(s->feed, &st);
	if (s->style.output)
		summary_json(s, &st, whole, seconds() - s->start);
	else
		summary_text(s, &st, whole, seconds() - s->start);
	if (s->found)
		s->failed = kl_output_put(stdout, json_incref(s->found), s->style.output);
	if (s->failed) {
		kl_err("%s: the report cannot be printed: %s", s->style.name, strerror(-s->failed));
		return KLIN_EXIT_SYSTEM;
	}
	if (s->replay && st.violations && !s->certified)
		kl_warn("there is no certificate; '%s' is not changed: the operations that klin "
			"keeps show none of the violations by themselves", s->style.certificate);
	if (s->unwritten)
		return KLIN_EXIT_SYSTEM;
	return st.verdict == KL_LINEARIZABLE ? KLIN_EXIT_OK :
	       st.verdict == KL_VIOLATION ? kl_ending_violation() : KLIN_EXIT_UNKNOWN;
}
