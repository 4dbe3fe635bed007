// SPDX-License-Identifier: GPL-2.0
/* Checking while a history grows, as people and programs see it; see session.h. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "klin/cmd.h"
#include "klin/session.h"
#include "report/counterexample.h"
#include "report/verdict.h"
#include "tso/tso.h"

#define LINES	20	/* violations that are told at all */

struct session {
	const struct kl_spec *spec;
	struct session_style style;
	struct kl_online *o;
	int *map;		/* method of the history -> of the spec */
	size_t nmap;
	uint64_t told, newest;
	double start, shown;
	bool line;		/* there is a progress line */
};

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void clear_line(struct session *s)
{
	if (s->line)
		fputs("\r\033[K", stderr);
	s->line = false;
}

/* JSON's integers are signed here; what does not fit is a string. */
static json_t *number(uint64_t v)
{
	char text[24];

	if (v <= INT64_MAX)
		return json_integer(v);
	snprintf(text, sizeof(text), "%" PRIu64, v);
	return json_string(text);
}

static void put_json(json_t *j)
{
	json_dumpf(j, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
	putchar('\n');
	fflush(stdout);
	json_decref(j);
}

static void violation_json(const struct session *s, const struct kl_online_violation *v)
{
	const struct kl_report *r = v->report;
	json_t *j = json_object(), *ops;
	char words[512];
	size_t i;

	json_object_set_new(j, "verdict", json_string("VIOLATION"));
	if (!v->all_objects) {
		snprintf(words, sizeof(words), "0x%" PRIx64, v->object);
		json_object_set_new(j, "object", json_string(words));
	}
	if (v->has_key)
		json_object_set_new(j, "key", number(v->key));
	json_object_set_new(j, "time", number(v->time));
	json_object_set_new(j, "events", number(v->events));
	json_object_set_new(j, "reason", json_string(v->reason));
	json_object_set_new(j, "engine", json_string(v->engine));
	for (i = 0; r && i < r->nparts && !r->parts[i].cex; i++)
		;
	if (r && i < r->nparts) {
		const struct kl_history *h = r->parts[i].cex->h;

		ops = json_array();
		for (i = 0; i < h->nops; i++) {
			kl_op_print(words, sizeof(words), h, &h->ops[i]);
			json_array_append_new(ops, json_string(words));
		}
		json_object_set_new(j, "counterexample", ops);
	}
	put_json(j);
}

static void on_violation(void *ctx, const struct kl_online_violation *v)
{
	struct session *s = ctx;
	const struct kl_verdict_style style = { .no_diagram = s->style.no_diagram };

	if (s->told++ >= LINES)
		return;
	clear_line(s);
	if (s->style.json) {
		violation_json(s, v);
		return;
	}
	printf("VIOLATION at time %" PRIu64 ", after %" PRIu64 " calls and returns", v->time,
	       v->events);
	if (!v->all_objects)
		printf(", object 0x%" PRIx64, v->object);
	if (v->has_key)
		printf(" key %" PRIu64, v->key);
	printf(": %s (%s)\n", v->reason, v->engine);
	if (v->report)
		kl_print_report(stdout, v->report, "its last operations", &style);
	if (s->told == LINES)
		printf("More violations are counted and not told.\n");
	fflush(stdout);
}

struct session *session_new(const struct kl_spec *spec, const struct kl_history *h,
			    const struct session_style *style)
{
	struct session *s = calloc(1, sizeof(*s));
	const struct kl_online_opts opts = {
		.clock = h->clock, .error = h->error, .fresh = h->fresh,
		.classical = style->classical, .engines = kl_engines,
		.tso_oracle = &kl_tso_oracle_engine, .max_shrink = style->show,
		.bytes = style->bytes, .stop = style->stop, .violation = on_violation, .ctx = s,
	};

	if (!s)
		return NULL;
	s->spec = spec;
	s->style = *style;
	s->start = s->shown = seconds();
	if (!kl_online_new(spec, &opts, &s->o))
		return s;
	free(s);
	return NULL;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	clear_line(s);
	kl_online_free(s->o);
	free(s->map);
	free(s);
}

/* Which method of the spec each method of the history is, of new ones. */
static int match_methods(struct session *s, const struct kl_history *h)
{
	int *map;

	if (s->nmap >= h->nmethods)
		return 0;
	map = realloc(s->map, h->nmethods * sizeof(*map));
	if (!map)
		return -ENOMEM;
	s->map = map;
	for (; s->nmap < h->nmethods; s->nmap++) {
		map[s->nmap] = kl_spec_find_method(s->spec, h->methods[s->nmap]);
		if (map[s->nmap] >= 0)
			continue;
		kl_err("the history has method '%s', which spec '%s' does not",
		       h->methods[s->nmap], kl_spec_name(s->spec));
		return -EINVAL;
	}
	return 0;
}

static int add_op(struct session *s, const struct kl_history *h, const struct kl_op *op)
{
	const struct kl_shape *shape = kl_op_shape(h, op);
	const struct kl_method *m = kl_spec_method(s->spec, s->map[shape->method]);
	const bool pending = op->flags & KL_OP_PENDING;
	struct kl_val vals[2 * KL_MAX_ARGS];
	const struct kl_online_op a = {
		.call = op->call, .ret = op->ret, .drain = op->drain, .cpu = op->cpu,
		.thread = h->threads[op->thread], .object = h->objects[op->object],
		.flags = op->flags, .vals = vals, .method = s->map[shape->method],
	};
	unsigned int i;

	if (shape->nargs != m->nparams || (!pending && shape->nres != m->nresults)) {
		kl_err("the operation called at %" PRIu64 ": %s has %u arguments and %u results, "
		       "spec '%s' says %u and %u", op->call, m->name, shape->nargs, shape->nres,
		       kl_spec_name(s->spec), m->nparams, m->nresults);
		return -EINVAL;
	}
	for (i = 0; i < m->nparams + m->nresults; i++)
		vals[i] = i < m->nparams || !pending ? kl_op_args(h, op)[i] : kl_special(KL_ANY);
	if (!pending && op->ret > s->newest)
		s->newest = op->ret;
	return kl_online_add(s->o, &a);
}

int session_add(struct session *s, const struct kl_history *h)
{
	size_t i;
	int ret = match_methods(s, h);

	for (i = 0; i < h->ngaps && !ret; i++) {
		const struct kl_gap *g = &h->gaps[i];
		const bool all = g->object == KL_ALL_OBJECTS;

		ret = kl_online_gap(s->o, g->from, g->to, all ? 0 : h->objects[g->object], all);
	}
	for (i = 0; i < h->nops && !ret; i++)
		ret = add_op(s, h, &h->ops[i]);
	return ret;
}

int session_floor(struct session *s, uint64_t floor)
{
	return kl_online_floor(s->o, floor);
}

uint64_t session_newest(const struct session *s)
{
	return s->newest;
}

/* A million and more as people read it. */
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
	kl_online_stats(s->o, &st);
	print_count(ops, sizeof(ops), st.ops);
	print_count(rate, sizeof(rate), st.ops / (now - s->start));
	fprintf(stderr, "\r%s so far: %s operations, %s/s, %" PRIu64 " wait, %" PRIu64
		" inside, behind by %" PRIu64 "\033[K", kl_verdict_name(st.verdict), ops, rate,
		st.waiting, st.inside, st.newest > st.now ? st.newest - st.now : 0);
	s->line = true;
}

static void summary_json(const struct session *s, const struct kl_online_stats *st, bool whole,
			 double spent)
{
	json_t *j = json_object(), *parts = json_object();
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	json_object_set_new(j, "history", json_string(s->style.name) ?: json_string("?"));
	json_object_set_new(j, "spec", json_string(kl_spec_name(s->spec)));
	json_object_set_new(j, "verdict", json_string(kl_verdict_name(st->verdict)));
	if (*st->reason)
		json_object_set_new(j, "reason", json_string(st->reason));
	json_object_set_new(j, "whole", json_boolean(whole));
	json_object_set_new(j, "operations", number(st->ops));
	json_object_set_new(j, "events", number(st->events));
	json_object_set_new(j, "violations", number(st->violations));
	json_object_set_new(parts, "linearizable", number(st->count[KL_LINEARIZABLE]));
	json_object_set_new(parts, "violated", number(st->count[KL_VIOLATION]));
	json_object_set_new(parts, "unknown", number(st->count[KL_UNKNOWN]));
	json_object_set_new(j, "partitions", parts);
	json_object_set_new(j, "gaps", number(st->gaps));
	json_object_set_new(j, "late", number(st->late));
	json_object_set_new(j, "followed_to", number(st->now));
	json_object_set_new(j, "newest", number(st->newest));
	json_object_set_new(j, "lag", number(st->newest > st->now ? st->newest - st->now : 0));
	json_object_set_new(j, "waiting", number(st->waiting));
	json_object_set_new(j, "inside", number(st->inside));
	json_object_set_new(j, "seconds", json_real(spent));
	json_object_set_new(j, "operations_per_second", json_real(spent > 0 ? st->ops / spent : 0));
	json_object_set_new(j, "bytes", number(st->bytes));
	json_object_set_new(j, "peak_bytes", number((uint64_t)u.ru_maxrss << 10));
	put_json(j);
}

static void summary_text(const struct session *s, const struct kl_online_stats *st, bool whole,
			 double spent)
{
	printf("%s: %" PRIu64 " operations, spec %s", s->style.name, st->ops,
	       kl_spec_name(s->spec));
	if (st->gaps)
		printf(", %" PRIu64 " gap%s", st->gaps, st->gaps == 1 ? "" : "s");
	if (st->late)
		printf(", %" PRIu64 " too late", st->late);
	printf("\n%s%s", kl_verdict_name(st->verdict), whole ? "" : " so far");
	if (*st->reason)
		printf(" (%s)", st->reason);
	if (st->violations || st->parts != 1)
		printf(": %zu of %zu partitions linearizable, %zu violated, %zu unknown",
		       st->count[KL_LINEARIZABLE], st->parts, st->count[KL_VIOLATION],
		       st->count[KL_UNKNOWN]);
	printf(" (%.3f s)\nfollowed to time %" PRIu64, spent, st->now);
	if (!whole)
		printf(", the latest return is at %" PRIu64 ", %" PRIu64 " operations wait",
		       st->newest, st->waiting);
	printf("; %.0f operations/s, %.1f MB\n", spent > 0 ? st->ops / spent : 0.0,
	       st->bytes / 1e6);
}

int session_end(struct session *s, bool whole)
{
	struct kl_online_stats st;
	int ret = whole ? kl_online_floor(s->o, KL_TIME_MAX) : 0;

	if (!ret)
		ret = kl_online_end(s->o);
	if (ret) {
		kl_err("%s: %s", s->style.name, strerror(-ret));
		return KLIN_EXIT_SYSTEM;
	}
	clear_line(s);
	kl_online_stats(s->o, &st);
	if (s->style.json)
		summary_json(s, &st, whole, seconds() - s->start);
	else
		summary_text(s, &st, whole, seconds() - s->start);
	return st.verdict == KL_LINEARIZABLE ? KLIN_EXIT_OK :
	       st.verdict == KL_VIOLATION ? KLIN_EXIT_VIOLATION : KLIN_EXIT_UNKNOWN;
}
