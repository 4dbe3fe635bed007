// SPDX-License-Identifier: GPL-2.0
/* klin check: decide a history. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/args.h"
#include "base/digits.h"
#include "base/err.h"
#include "base/limit.h"
#include "base/memstream.h"
#include "base/nearest.h"
#include "base/outfile.h"
#include "base/quote.h"
#include "check/certificate.h"
#include "check/coverage.h"
#include "klin/certify.h"
#include "klin/cmd.h"
#include "klin/follow.h"
#include "klin/input.h"
#include "klin/out_file.h"
#include "klin/output.h"
#include "klin/progress.h"
#include "klin/stop.h"
#include "report/entries.h"
#include "report/verdict.h"

#define MOST_CACHED (1u << 30) /* configurations */
#define MOST_WITNESS	20000	/* operations of a history of which an order is kept */

enum partition { PART_DEFAULT, PART_KEY, PART_OBJECT };

struct check_args {
	const char *spec, *history, *certificate, *cex;
	const struct kl_engine *engines[4];
	struct kl_read_opts read;
	struct kl_options opt;
	struct kl_verdict_style style;
	enum partition partition;
	bool model;		/* --memory-model was given */
	bool follow, late, has_work;	/* --follow, --lateness, --work were given */
	bool limited;		/* --memory-limit was given */
	uint64_t lateness;	/* in units of the history's clock */
	const char *offline;	/* an option that excludes --follow, or NULL */
	struct kl_memstream deciding;	/* the options that decide the verdict, for a shell */
};

enum {
	OPT_ENGINE = 256, OPT_MEMORY_MODEL, OPT_NO_PARTITION, OPT_PARTITION, OPT_CACHE,
	OPT_EXPLAIN, OPT_TIME, OPT_BYTES,
	OPT_CERT, OPT_OUTPUT, OPT_JSON, OPT_THREADS, OPT_SHOW, OPT_NO_DIAGRAM, OPT_FULL, OPT_COLOR,
	OPT_CEX, OPT_FOLLOW,
	OPT_FROM, OPT_INDEPENDENT, OPT_LATENESS, OPT_WORK,
};

#define ENGINE_NAMES	256	/* size of the list of all engine names, in bytes */

static const struct argp_option options[] = {
	{ "engine", OPT_ENGINE, "NAME", 0, "Use this engine only; --engine=help lists them", 0 },
	{ "memory-model", OPT_MEMORY_MODEL, "MODEL", 0,
	  "tso: stores may wait in a CPU's store buffer after the operation returned; sc: "
	  "classical linearizability.  Default: the model that the history names; if it names "
	  "none, tso for a recording of klin's and sc for other histories",
	  0 },
	{ "partition", OPT_PARTITION, NULL, 0,
	  "Split by the spec's key (default, except for --engine=wgl)", 0 },
	{ "no-partition", OPT_NO_PARTITION, NULL, 0, "Split by object only, not by key", 0 },
	{ "cache", OPT_CACHE, "lru:SIZE", 0,
	  "With --engine=wgl: remember only the SIZE most recently used configurations", 0 },
	{ "explain", OPT_EXPLAIN, NULL, 0, "Print which engine decided each partition, and why",
	  0 },
	{ "work", OPT_WORK, "UNITS", 0,
	  "Give up (UNKNOWN) after UNITS of work; 0: no limit.  Work is counted, not timed, so a "
	  "history gets the same verdict on every machine.  Default: 6000000000, about a minute "
	  "on one CPU, and 8192 more for each operation; 0 with --time-limit",
	  0 },
	{ "time-limit", OPT_TIME, "SECONDS", 0,
	  "Give up (UNKNOWN) after SECONDS, which include the reading of HISTORY", 0 },
	{ "memory-limit", OPT_BYTES, "MIB", 0,
	  "Give up (UNKNOWN) if klin needs more memory, which includes the history.  Without "
	  "this option engines may use 4096 MiB",
	  0 },
	{ "certificate", OPT_CERT, "FILE", 0,
	  "Write a proof of the verdict to FILE, which `klin replay' can check.  With --follow: "
	  "of the first violation only, and its operations to FILE.klh; without a violation "
	  "both are left as they are",
	  0 },
	{ "counterexample", OPT_CEX, "FILE", 0,
	  "Write the first counterexample to FILE as a history.  Without a counterexample, FILE "
	  "is not changed",
	  0 },
	{ "output", OPT_OUTPUT, "FORM", 0, KLIN_OUTPUT, 0 },
	{ "json", OPT_JSON, NULL, 0,
	  "The same as --output=json.  Numbers of 2^63 and more are strings.  Only times (names "
	  "that end in `seconds') and `peak_bytes' differ from run to run",
	  0 },
	{ "threads", OPT_THREADS, "N", 0, "Number of threads (default: number of CPUs)", 0 },
	{ "show", OPT_SHOW, "N", 0, "Number of counterexamples to show (default 1)", 0 },
	{ "follow", OPT_FOLLOW, NULL, 0,
	  "Decide HISTORY while it grows, in bounded memory, until it ends or SIGINT comes.  "
	  "HISTORY is a pipe, or a file that a program is writing, in the form text or klh, or a log that "
	  "the history block of SPEC reads.  For more of a file klin waits: a text ends by a line "
	  "`# end', a log by SIGINT or by the bracket that closes its list.  A pipe has an end of "
	  "its own, and so has `- <FILE'",
	  0 },
	{ "lateness", OPT_LATENESS, "TIME", 0,
	  "With --follow: operations may come in any order, but at most TIME after their calls, "
	  "measured by the latest return; TIME is in units of the history's clock.  Default: "
	  "operations come in order of their calls, or as lines `# floor TIME' promise",
	  0 },
	{ "from", OPT_FROM, "FORM", 0,
	  "The form of HISTORY, as in `klin convert --from'; by "
	  "default klin recognizes the form by the first bytes",
	  0 },
	{ "independent", OPT_INDEPENDENT, "yes|no", 0, KLIN_INDEPENDENT, 0 },
	{ "no-diagram", OPT_NO_DIAGRAM, NULL, 0, "Omit the time diagram", 0 },
	{ "full", OPT_FULL, NULL, 0,
	  KLIN_FULL ".  Where only store buffers give an order, print a store that waited in one",
	  0 },
	{ "color", OPT_COLOR, "WHEN", 0, KLIN_COLOR, 0 },
	{ 0 }
};

static int set_engine(struct check_args *a, const char *name)
{
	const struct kl_engine *e = kl_engine_find(name);

	if (!e)
		return -EINVAL;
	a->engines[0] = e;
	a->engines[1] = NULL;
	a->opt.engines = a->engines;
	return 0;
}

/* Remember an option that cannot be combined with --follow, for ARGP_KEY_END. */
static void note_offline(struct check_args *a, int key)
{
	size_t i;

	if (key == OPT_MEMORY_MODEL || key == OPT_BYTES || key == OPT_OUTPUT || key == OPT_JSON ||
	    key == OPT_SHOW || key == OPT_NO_DIAGRAM || key == OPT_FULL || key == OPT_COLOR ||
	    key == OPT_FOLLOW || key == OPT_LATENESS || key == OPT_CERT)
		return;
	for (i = 0; options[i].name; i++)
		if (options[i].key == key)
			a->offline = options[i].name;
}

/* Remember an option that may change the verdict. */
static void note_deciding(struct check_args *a, int key, const char *arg)
{
	size_t i;

	if (key != OPT_ENGINE && key != OPT_MEMORY_MODEL && key != OPT_NO_PARTITION &&
	    key != OPT_PARTITION && key != OPT_CACHE && key != OPT_WORK && key != OPT_TIME &&
	    key != OPT_BYTES && key != OPT_FROM && key != OPT_INDEPENDENT)
		return;
	for (i = 0; options[i].key != key; i++)
		;
	fprintf(a->deciding.f, " --%s%s", options[i].name, arg ? "=" : "");
	if (arg)
		kl_put_quoted(a->deciding.f, arg);
}

/*
 * Write the names of the engines as "A, B or C".  Without @tso the list leaves out the engines
 * that require store buffers.  Return: @names.
 */
static const char *engine_names(char names[ENGINE_NAMES], bool tso)
{
	const struct kl_engine *const *e, *const *next;
	size_t len = 0;

	for (e = kl_engines_all(); *e; e = next) {
		for (next = e + 1; *next && (*next)->tso && !tso; next++)
			;
		if ((*e)->tso && !tso)
			continue;
		len += snprintf(names + len, len < ENGINE_NAMES ? ENGINE_NAMES - len : 0, "%s%s",
				!len ? "" : *next ? ", " : " or ", (*e)->name);
	}
	return names;
}

/* Write "; did you mean ENGINE?" if @arg resembles the name of an engine, else "".  Return: @hint. */
static const char *engine_hint(const char *arg, char hint[32])
{
	const struct kl_engine *const *e = kl_engines_all();
	const char *names[32], *near;
	size_t n;

	for (n = 0; n < 32 && e[n]; n++)
		names[n] = e[n]->name;
	near = kl_nearest(arg, names, n);
	*hint = '\0';
	if (near)
		snprintf(hint, 32, "; did you mean %s?", near);
	return hint;
}

/* Print each engine with a line of help, and end klin. */
static void list_engines(void)
{
	const struct kl_engine *const *e;

	for (e = kl_engines_all(); *e; e++)
		printf("%-11s %s\n", (*e)->name, (*e)->help);
	exit(kl_ending(KLIN_EXIT_OK));
}

/* Parse an option of how the history is read and decided. */
static error_t parse_deciding(struct check_args *a, int key, char *arg, struct argp_state *state)
{
	char names[ENGINE_NAMES], hint[32];
	enum partition part;
	uint64_t n = 0;

	switch (key) {
	case OPT_ENGINE:
		if (!strcmp(arg, "help"))
			list_engines();
		if (set_engine(a, arg))
			argp_error(state, "--engine=%s: expected %s%s", arg,
				   engine_names(names, true), engine_hint(arg, hint));
		break;
	case OPT_MEMORY_MODEL:
		a->opt.classical = kl_arg_sc(state, arg);
		a->model = true;
		a->opt.memory_by = KL_MEMORY_BY_COMMAND;
		break;
	case OPT_NO_PARTITION:
	case OPT_PARTITION:
		part = key == OPT_PARTITION ? PART_KEY : PART_OBJECT;
		if (a->partition != PART_DEFAULT && a->partition != part)
			argp_error(state, "--partition and --no-partition exclude each other");
		a->partition = part;
		break;
	case OPT_CACHE:
		if (strncmp(arg, "lru:", 4) || !kl_digits(arg + 4, &n) || *kl_digits(arg + 4, &n) ||
		    !n || n > MOST_CACHED)
			argp_error(state, "--cache=%s: expected lru:SIZE, a SIZE from 1 to %u", arg,
				   MOST_CACHED);
		a->opt.cache = n;
		break;
	case OPT_WORK:
		a->opt.work = kl_arg_number(state, "work", arg, 0, 1ull << 60);
		a->has_work = true;
		break;
	case OPT_TIME:
		a->opt.time_ns = kl_arg_seconds(state, "time-limit", arg);
		break;
	case OPT_BYTES:
		a->opt.bytes = kl_arg_mib(state, "memory-limit", arg);
		a->limited = true;
		break;
	case OPT_FROM:
		a->read.form = kl_arg_from(state, arg);
		break;
	case OPT_INDEPENDENT:
		a->read.independent = kl_arg_independent(state, arg);
		break;
	case OPT_THREADS:
		n = kl_arg_number(state, "threads", arg, 1, 4096);
		a->opt.threads = n;
		break;
	case OPT_FOLLOW:
		a->follow = true;
		break;
	case OPT_LATENESS:
		a->late = true;
		a->lateness = kl_arg_amount(state, "lateness", arg, " of units of the clock", 0,
					    UINT64_MAX);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Parse an option of what is printed and written. */
static error_t parse_output(struct check_args *a, int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case OPT_EXPLAIN:
		a->style.explain = true;
		break;
	case OPT_CERT:
		a->certificate = arg;
		break;
	case OPT_CEX:
		a->cex = arg;
		break;
	case OPT_OUTPUT:
		a->style.output = kl_arg_output(state, arg);
		break;
	case OPT_JSON:
		a->style.output = KL_OUTPUT_JSON;
		break;
	case OPT_SHOW:
		a->opt.max_shrink = kl_arg_number(state, "show", arg, 0, 1u << 20);
		break;
	case OPT_NO_DIAGRAM:
		a->style.no_diagram = true;
		break;
	case OPT_FULL:
		a->style.full = true;
		break;
	case OPT_COLOR:
		a->style.colour = kl_arg_colour(state, arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Refuse an engine that the other options exclude, and choose its partitions. */
static void end_engine(struct check_args *a, struct argp_state *state)
{
	char names[ENGINE_NAMES];

	if (a->opt.classical && a->engines[0] && a->engines[0]->tso)
		argp_error(state,
			   "--engine=%s requires --memory-model=tso; for sc expected "
			   "%s",
			   a->engines[0]->name, engine_names(names, false));
	if (a->opt.cache && !(a->engines[0] && a->engines[0]->cached))
		argp_error(state, "--cache requires --engine=wgl");
	/*
	 * An engine with by_object splits by the spec's key only if --partition is given.
	 * For wgl the default is thus the first variant of Horn & Kroening.
	 */
	a->opt.no_partition =
		a->partition == PART_OBJECT ||
		(a->partition == PART_DEFAULT && a->engines[0] && a->engines[0]->by_object);
}

/* Refuse outputs that would replace inputs or each other. */
static void end_files(const struct check_args *a, struct argp_state *state)
{
	if (a->spec && !strcmp(a->spec, "-") && !strcmp(a->history, "-"))
		argp_error(state, "standard input cannot be both the specification and "
				  "the history");
	if (a->certificate && a->follow)
		certify_arg(state, a->certificate, a->history);
	else
		kl_arg_keep(state, "certificate", a->certificate, a->history);
	kl_arg_keep(state, "certificate", a->certificate, a->spec);
	kl_arg_keep(state, "counterexample", a->cex, a->history);
	kl_arg_keep(state, "counterexample", a->cex, a->spec);
	if (a->certificate && a->cex && kl_one_output(a->certificate, a->cex))
		argp_error(state, "--certificate and --counterexample name one file: %s", a->cex);
	if (a->certificate && !a->follow && strchr(a->history, '\n'))
		argp_error(state, "--certificate: the name of the history has a newline, "
				  "which a certificate cannot hold; rename the history");
}

/* Refuse options that exclude each other. */
static void end_arguments(struct check_args *a, struct argp_state *state)
{
	if (!a->history)
		kl_args_missing(state, "expected a history, or a specification and a history");
	if (a->follow && a->offline)
		argp_error(state,
			   "--%s and --follow exclude each other: --%s needs the "
			   "whole history, and --follow keeps a part only",
			   a->offline, a->offline);
	if (a->late && !a->follow)
		argp_error(state, "--lateness requires --follow");
	end_engine(a, state);
	end_files(a, state);
	/* A time limit replaces the default bound of work. */
	if (!a->has_work && !a->opt.time_ns)
		a->opt.work = KL_DEFAULT_WORK;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct check_args *a = state->input;
	error_t ret;

	if (key > OPT_ENGINE - 1 && key <= OPT_WORK) {
		note_offline(a, key);
		note_deciding(a, key, arg);
	}
	switch (key) {
	case ARGP_KEY_ARG:
		if (state->arg_num > 1)
			argp_error(
				state, "expected one spec and one history, found also '%s'%s", arg,
				state->quoted && *arg == '-' ? "; options come before `--'" : "");
		if (a->history)
			a->spec = a->history;
		a->history = arg;
		break;
	case ARGP_KEY_END:
		end_arguments(a, state);
		break;
	default:
		ret = parse_deciding(a, key, arg, state);
		return ret ? parse_output(a, key, arg, state) : 0;
	}
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[SPEC.lin] HISTORY",
	.doc = "Decide whether the operations of HISTORY (.klh or text, - for standard input) can "
	       "be put in an order that the specification allows and that contradicts no time.\v"
	       "Without SPEC.lin the specification in the history is used.  By a history block in "
	       "SPEC.lin klin reads logs in EDN, JSON and CSV, see klin-spec(5).\n\n"
	       "Exit status: 0 linearizable, 1 violation, 2 usage or input, 3 unknown, 4 the "
	       "system refused.\n\n"
	       "Examples:\n"
	       "  # Decide a recording by the specification in it.\n"
	       "  klin check port_range.klh\n"
	       "  # Decide a log in JSON by the rules in a specification.\n"
	       "  klin check logs/tally log.json\n"
	       "  # Write a proof of the verdict, for klin replay.\n"
	       "  klin check --certificate=run.cert seqlock seqlock.klh\n"
	       "  # Is there an order without store buffers?\n"
	       "  klin check --memory-model=sc fig5 fig5.klh\n"
	       "  # The verdict on each partition as the results of tests.\n"
	       "  klin check --output=ktap queue queue.klh\n"
	       "  # Decide while a program writes the history.\n"
	       "  my-program | klin check --follow queue -\n"
	       "  # The same, with a proof of the first violation.\n"
	       "  my-program | klin check --follow --certificate=run.cert queue -\n"
	       "  klin replay run.cert",
};

static int exit_code(enum kl_verdict v)
{
	return v == KL_LINEARIZABLE ? KLIN_EXIT_OK :
	       v == KL_VIOLATION ? kl_ending_violation() : KLIN_EXIT_UNKNOWN;
}

/*
 * Write the first counterexample, with the specification that it violates.  Return: 0 or a
 * negative errno, after a message.
 */
static int write_counterexample(const struct kl_report *r, const char *path)
{
	struct kl_history *h;
	size_t i;

	for (i = 0; i < r->nparts && !r->parts[i].cex; i++)
		;
	if (i == r->nparts) {
		kl_warn("there is no counterexample; '%s' is not changed", path);
		return 0;
	}
	h = r->parts[i].cex->h;
	h->memory = (struct kl_memory){ .sc = r->classical, .told = true };
	if (!h->spec_path)
		h->spec_path = strdup(kl_spec_path(r->spec));
	if (!h->spec_text)
		h->spec_text = strdup(kl_spec_text(r->spec));
	if (h->spec_path && h->spec_text)
		return kl_history_write(h, path, KL_FORM_AUTO);
	kl_cannot_write(path, -ENOMEM);
	return -ENOMEM;
}

/*
 * Make the command that checks the proofs of this run again: without a certificate it writes one
 * first.  @command gets it, and the caller frees it; or NULL if the history came from standard
 * input and so is gone.  Return: 0 or -ENOMEM.
 */
static int replay_command(struct check_args *a, char **command)
{
	const char *cert = a->certificate ?: "klin.cert";
	struct kl_memstream m;
	char *options;
	int ret = kl_memstream_close(&a->deciding, &options, NULL);

	*command = NULL;
	if (ret || (!a->certificate && !strcmp(a->history, "-")))
		goto out;
	ret = kl_memstream_open(&m);
	if (ret)
		goto out;
	if (!a->certificate) {
		fprintf(m.f, "klin check%s --certificate=%s ", options, cert);
		if (a->spec)
			kl_put_quoted(m.f, a->spec);
		fputs(a->spec ? " " : "", m.f);
		kl_put_quoted(m.f, a->history);
		fputs("; ", m.f);
	}
	fputs("klin replay ", m.f);
	kl_put_quoted(m.f, cert);
	ret = kl_memstream_close(&m, command, NULL);
out:
	free(options);
	return ret;
}

static double seconds(void)
{
	return kl_now_ns() / 1e9;
}

/* Add the process's time and peak memory up to now. */
static void add_usage(struct kl_cost *c)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	c->user_seconds = u.ru_utime.tv_sec + u.ru_utime.tv_usec / 1e6;
	c->peak_bytes = (uint64_t)u.ru_maxrss << 10;
}

/* Write the certificate if one is wanted.  Return: 0, or KLIN_EXIT_SYSTEM after a message. */
static int write_certificate(const struct check_args *a, const struct kl_report *r,
			     struct kl_cost *cost)
{
	const double start = seconds();
	int ret;

	if (!a->certificate)
		return 0;
	ret = kl_cert_write(r, a->opt.classical, a->history, a->certificate);
	cost->certificate_seconds = seconds() - start;
	if (!ret)
		return 0;
	kl_cannot_write(a->certificate, ret);
	return KLIN_EXIT_SYSTEM;
}

struct check_progress {
	struct kl_progress p;
	uint64_t total;		/* number of operations */
};

static void show_progress(FILE *f, const void *arg)
{
	const struct check_progress *c = arg;
	const uint64_t done = c->p.done + c->p.now;

	fprintf(f, "checked %3.0f%% of %llu operations",
		done < c->total ? 100.0 * done / c->total : 100.0, (unsigned long long)c->total);
}

static int check_follow(const struct check_args *a)
{
	const struct follow_args f = {
		.spec = a->spec, .history = a->history, .late = a->late, .lateness = a->lateness,
		.style = {
			.name = a->history, .classical = a->opt.classical,
			.memory_by = a->opt.memory_by, .output = a->style.output,
			.no_diagram = a->style.no_diagram, .full = a->style.full,
			.colour = a->style.colour, .show = a->opt.max_shrink,
			.bytes = a->opt.bytes, .stop = stop_on_signals(true),
			.certificate = a->certificate,
		},
	};

	return follow(&f);
}

/* Start the user's limits.  Reading the history counts, and the engines get the rest. */
static void begin_limits(const struct check_args *a)
{
	if (a->opt.time_ns)
		kl_limit_time(a->opt.time_ns);
	if (a->limited)
		kl_limit_memory(a->opt.bytes);
}

/*
 * End without a report after the error @err.  If a limit caused @err, print UNKNOWN and the limit.
 * @when says what klin was doing, and @place how far it was.  Return: the exit code.
 */
static int end_without_report(struct check_args *a, int err, const char *when, const char *place)
{
	const char *limit = kl_limit_met(err);
	struct kl_cost cost = { 0 };
	int ret;

	if (!limit)
		return kl_ending_error(err);
	kl_limit_lift();
	add_usage(&cost);
	a->style.cost = &cost;
	a->style.limit = err == -ETIME ? "time_limit" : "memory_limit";
	ret = kl_print_no_report(stdout, a->history, limit, when, place, &a->style);
	if (ret)
		kl_err("%s: the report cannot be printed: %s", a->history, strerror(-ret));
	if (a->certificate)
		kl_warn("there is no certificate; '%s' is not changed", a->certificate);
	if (a->cex)
		kl_warn("there is no counterexample; '%s' is not changed", a->cex);
	return ret ? KLIN_EXIT_SYSTEM : KLIN_EXIT_UNKNOWN;
}

static int out_of_memory(void)
{
	kl_err("out of memory");
	return KLIN_EXIT_SYSTEM;
}

static int cmd_check(int argc, char **argv)
{
	struct check_args a = {
		.opt = {
			.max_shrink = 1, .bytes = KL_DEFAULT_BYTES,
		},
	};
	struct check_progress progress = { 0 };
	struct progress_line *line;
	struct kl_history *h = NULL;
	struct kl_spec *spec = NULL;
	struct kl_report *r = NULL;
	struct kl_cost cost = { 0 };
	int ret, code, failed;
	char *replay;
	double start;

	ret = kl_memstream_open(&a.deciding) ? out_of_memory() :
					       kl_args(&argp, argc, argv, 0, &a);
	if (ret)
		return ret;
	if (replay_command(&a, &replay))
		return out_of_memory();
	a.style.replay = replay;
	if (a.follow) {
		code = check_follow(&a);
		free(replay);
		return code;
	}
	start = seconds();
	begin_limits(&a);
	a.read.hashed = a.certificate;
	ret = kl_load_input(a.spec, a.history, &a.read, &spec, &h);
	if (ret) {
		code = end_without_report(&a, ret, "reading", kl_limit_place());
		goto out;
	}
	cost.read_seconds = seconds() - start;
	kl_warn_blocks(spec);
	kl_coverage_warn(spec, h, a.history);
	/* An engine that requires store buffers sets the memory model to tso. */
	if (!a.model && a.engines[0] && a.engines[0]->tso)
		a.opt.memory_by = KL_MEMORY_BY_ENGINE;
	else if (!a.model)
		a.opt.classical = h->memory.sc;
	a.opt.stop = stop_on_signals(false);
	/* With store buffers, the order shows which store waited. */
	a.opt.no_witness = !a.certificate && (a.opt.classical || h->nops > MOST_WITNESS);
	a.opt.progress = &progress.p;
	a.opt.time_ns = kl_limit_time_left();
	a.opt.bytes = kl_limit_memory_left(a.opt.bytes);
	progress.total = h->nops;
	line = progress_start(show_progress, &progress);
	ret = kl_check(spec, h, &a.opt, &r);
	progress_stop(line);
	stop_by_default();
	if (ret) {
		if (ret != -EINVAL && !kl_limit_met(ret))
			kl_err("%s: %s", a.history, strerror(-ret));
		code = ret == -EINVAL ? KLIN_EXIT_USAGE :
		       kl_limit_met(ret) ? end_without_report(&a, ret, "splitting", "") :
		       KLIN_EXIT_SYSTEM;
		goto out;
	}
	kl_limit_lift();
	kl_use_own_words(r, h);
	failed = write_certificate(&a, r, &cost);
	add_usage(&cost);
	a.style.cost = &cost;
	ret = kl_print_report(stdout, r, a.history, &a.style);
	if (ret) {
		kl_err("%s: the report cannot be printed: %s", a.history, strerror(-ret));
		failed = KLIN_EXIT_SYSTEM;
	}
	code = failed ? failed : exit_code(r->verdict);
	if (a.cex && write_counterexample(r, a.cex))
		code = KLIN_EXIT_SYSTEM;
out:
	kl_report_free(r);
	kl_history_free(h);
	kl_spec_free(spec);
	free(replay);
	return code;
}

KL_COMMAND("check", cmd_check, "decide a history");
