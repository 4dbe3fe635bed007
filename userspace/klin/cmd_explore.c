// SPDX-License-Identifier: GPL-2.0
/* klin explore: all runs of an implementation, checked against its specification. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/args.h"
#include "base/err.h"
#include "base/memstream.h"
#include "klin/cmd.h"
#include "klin/input.h"
#include "klin/progress.h"
#include "klin/stop.h"
#include "report/explored.h"

struct explore_args {
	struct kl_explore_options o;
	struct kl_limits lim;
	bool stats, no_run, json, outcomes;
	bool model_given;		/* a memory model, by --memory-model */
	const char *file;
};

enum { OPT_MEMORY = 256, OPT_LIMIT, OPT_THREADS, OPT_OPS, OPT_NO_REDUCE, OPT_STATS, OPT_NO_RUN,
	OPT_SHORTEST, OPT_COMPACT, OPT_JSON,
	OPT_OUTCOMES, OPT_HISTORIES, OPT_TIME };

/* The comparison with SC is a remark: SC_TIMES the search's memory, within these bounds. */
#define SC_TIMES	4
#define SC_LEAST	(32u << 20)
#define SC_MOST		(256u << 20)

static const struct argp_option options[] = {
	{ "memory-model", OPT_MEMORY, "MODEL", 0, "tso or sc; the default is what the file says "
	  "('memory sc;' or 'memory tso;'), and tso where it says nothing", 0 },
	{ "threads", OPT_THREADS, "N", 0, "Threads of a client general(N)", 0 },
	{ "ops", OPT_OPS, "N", 0,
	  "Operations of each thread of a client general(N) or roles(...)", 0 },
	{ "memory-limit", OPT_LIMIT, "MIB", 0, "Bound of memory (default 4096); past it: UNKNOWN",
	  0 },
	{ "time-limit", OPT_TIME, "SECONDS", 0, "Give up (UNKNOWN) after so long", 0 },
	{ "no-reduce", OPT_NO_REDUCE, "WHAT", 0,
	  "Leave a reduction out: merge (local steps, markers), dead (registers), canon (names of "
	  "objects and data), hidden (objects that no other thread can reach), symmetry (of "
	  "threads), facts (variables that one thread writes, that never go back, ...), cover "
	  "(states that others stand for), known (steps that were made before, in another "
	  "state, are looked up: saves time, not states) or all; the answer stays the same", 0 },
	{ "histories", OPT_HISTORIES, NULL, 0,
	  "Print the implementation's histories instead of checking them: those of whole runs "
	  "that are the hardest to explain, one a line; behind each call and flush(call) how "
	  "many returns and flush(ret)s of each thread came before it", 0 },
	{ "shortest", OPT_SHORTEST, NULL, 0,
	  "Show a run with as few steps as there can be; without it the search is breadth first "
	  "too, but leaves out states for others found later, and a run may be a little longer",
	  0 },
	{ "hash-compact", OPT_COMPACT, NULL, 0,
	  "Keep a hash of 64 bits of each state instead of the state, which takes less memory; "
	  "two states may be taken for one, with a small probability that is told", 0 },
	{ "no-run", OPT_NO_RUN, NULL, 0, "Do not show the run that leads to a violation", 0 },
	{ "outcomes", OPT_OUTCOMES, NULL, 0,
	  "Compare what the client's threads can see in the end with the implementation and with "
	  "the specification in its place", 0 },
	{ "json", OPT_JSON, NULL, 0, "Print the answer and its run as JSON", 0 },
	{ "stats", OPT_STATS, NULL, 0,
	  "Print states, transitions, both a second of CPU time, bytes and seconds", 0 },
	{ 0 }
};

static bool reduction(struct kl_explore_options *o, const char *name)
{
	const bool all = !strcmp(name, "all");

	o->no_merge |= all || !strcmp(name, "merge");
	o->no_dead |= all || !strcmp(name, "dead");
	o->no_canon |= all || !strcmp(name, "canon");
	o->no_hidden |= all || !strcmp(name, "hidden");
	o->no_symmetry |= all || !strcmp(name, "symmetry");
	o->no_facts |= all || !strcmp(name, "facts");
	o->no_cover |= all || !strcmp(name, "cover");
	o->no_known |= all || !strcmp(name, "known");
	return all || !strcmp(name, "merge") || !strcmp(name, "dead") ||
	       !strcmp(name, "canon") || !strcmp(name, "hidden") ||
	       !strcmp(name, "symmetry") || !strcmp(name, "facts") || !strcmp(name, "cover") ||
	       !strcmp(name, "known");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct explore_args *a = state->input;

	switch (key) {
	case OPT_MEMORY:
		a->o.sc = kl_arg_sc(state, arg);
		a->model_given = true;
		break;
	case OPT_LIMIT:
		a->o.memory = kl_arg_mib(state, "memory-limit", arg);
		break;
	case OPT_TIME:
		a->lim.deadline_ns = kl_now_ns() + kl_arg_seconds(state, "time-limit", arg);
		break;
	case OPT_THREADS:
		a->o.threads = kl_arg_number(state, "threads", arg, 1, 8);
		break;
	case OPT_OPS:
		a->o.ops = kl_arg_number(state, "ops", arg, 1, 16);
		break;
	case OPT_NO_REDUCE:
		if (!reduction(&a->o, arg))
			argp_error(state, "--no-reduce=%s: merge, dead, canon, hidden, symmetry, "
				   "facts, cover, known or all expected", arg);
		break;
	case OPT_SHORTEST:
		a->o.shortest = true;
		break;
	case OPT_COMPACT:
		a->o.compact = true;
		break;
	case OPT_HISTORIES:
		a->o.histories = true;
		break;
	case OPT_NO_RUN:
		a->no_run = true;
		break;
	case OPT_OUTCOMES:
		a->outcomes = true;
		break;
	case OPT_JSON:
		a->json = true;
		break;
	case OPT_STATS:
		a->stats = true;
		break;
	case ARGP_KEY_ARG:
	case ARGP_KEY_NO_ARGS:
		kl_arg_only(state, "file", arg, &a->file);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "FILE.lin",
	.doc = "Search all runs of the implementation in FILE under its client on x86-TSO, or on "
	       "the memory model that FILE names, each beside what the specification allows "
	       "(linearizability on TSO, Burckhardt et al.). "
	       "The search is complete for the client: nothing bounds preemptions.  A violation is "
	       "shown as a run, and whether the same client fails on SC too.\v"
	       "Exit status: 0 linearizable for this client, 1 a violation (a run to it is "
	       "shown) or an outcome that the specification has not, 2 usage or input, 3 unknown: "
	       "the bound on memory or time was reached, or one of the explorer's own (entries of "
	       "a store buffer, objects, choices at once, how large a number is), or it was "
	       "interrupted, or the run to a violation cannot be made again to be shown; how far it came is told, and which variables grew all the time.\n\n"
	       "Examples:\n"
	       "  klin explore --stats specs/explore/seqlock.lin\n"
	       "  klin explore --threads=3 --ops=3 specs/explore/treiber.lin\n"
	       "  klin explore --outcomes specs/explore/fig5.lin",
};

static void show_progress(FILE *f, const void *arg)
{
	const struct kl_explore_progress *p = arg;

	fprintf(f, "%llu states, %llu not yet followed", (unsigned long long)p->states,
		(unsigned long long)(p->states - p->expanded));
}

/* The command line, as a shell takes it; NULL without memory. */
static char *command_line(int argc, char **argv)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-=./,:+@%";
	char *line = NULL;
	const char *c;
	struct kl_memstream m;
	FILE *f;
	int i;

	if (kl_memstream_open(&m))
		return NULL;
	f = m.f;
	fputs("klin explore", f);
	for (i = 1; i < argc; i++) {
		fputc(' ', f);
		if (*argv[i] && !argv[i][strspn(argv[i], plain)]) {
			fputs(argv[i], f);
			continue;
		}
		fputc('\'', f);
		for (c = argv[i]; *c; c++)
			fputs(*c == '\'' ? "'\\''" : (char[]){ *c, 0 }, f);
		fputc('\'', f);
	}
	kl_memstream_close(&m, &line, NULL);
	return line;
}

/* Does the same client fail on SC too?  In bounded memory: it is a remark. */
static void compare_with_sc(const struct explore_args *a, struct kl_spec *spec,
			    struct kl_explored *e)
{
	struct kl_explore_options o = a->o;
	struct kl_explorer *x = NULL;
	struct kl_explore_stats st;
	uint64_t most;

	kl_explore_stats(e->x, &st);
	most = st.all_bytes > SC_MOST / SC_TIMES ? SC_MOST : SC_TIMES * st.all_bytes;
	most = most > SC_LEAST ? most : SC_LEAST;
	o.sc = true;
	o.memory = o.memory < most ? o.memory : most;
	if (kl_explore(spec, &o, &e->on_sc, &x))
		e->on_sc = KL_EX_MEMORY;
	e->has_sc = true;
	kl_explorer_free(x);
}

static int explore(const struct explore_args *a, struct kl_spec *spec, struct kl_explored *e,
		   bool *violation)
{
	int ret = kl_explore(spec, &a->o, &e->verdict, &e->x);

	*violation = !ret && e->verdict != KL_EX_OK && !kl_explore_unknown(e->verdict);
	if (*violation && !a->o.sc && e->run)
		compare_with_sc(a, spec, e);
	return ret;
}

static int outcomes(const struct explore_args *a, struct kl_spec *spec, struct kl_explored *e,
		    bool *violation)
{
	int ret = kl_explore_outcomes(spec, &a->o, &e->outcomes);

	e->verdict = ret == -ETIME ? KL_EX_STOPPED : ret == -E2BIG ? KL_EX_LIMIT :
		     ret == -ENOSPC ? KL_EX_MEMORY : KL_EX_OK;
	*violation = !ret && kl_outcomes_wrong(e->outcomes);
	return kl_explore_unknown(e->verdict) ? 0 : ret;
}

static int out_of_memory(void)
{
	kl_err("out of memory");
	return KLIN_EXIT_SYSTEM;
}

static int cmd_explore(int argc, char **argv)
{
	struct kl_explore_progress progress = { 0 };
	struct explore_args a = { .o = { .memory = 4ull << 30, .progress = &progress } };
	struct kl_explored e = { 0 };
	struct progress_line *line;
	struct kl_spec *spec = NULL;
	int ret, code = KLIN_EXIT_USAGE;
	bool violation = false;
	char *again = command_line(argc, argv);

	ret = again ? kl_args(&argp, argc, argv, 0, &a) : out_of_memory();
	if (!ret)
		ret = kl_ending_error(kl_spec_load(a.file, &spec));
	if (ret) {
		free(again);
		return ret;
	}
	e.model = kl_explore_memory(spec);
	if (!a.model_given)
		a.o.sc = e.model == KL_EX_SAYS_SC;
	e.model_given = a.model_given;
	e.file = a.file;
	e.again = again;
	e.sc = a.o.sc;
	e.stats = a.stats;
	e.run = !a.no_run;
	e.shortest = a.o.shortest;
	e.compact = a.o.compact;
	e.histories = a.o.histories;
	a.lim.stop = stop_on_signals(false);
	a.o.lim = &a.lim;
	line = progress_start(show_progress, &progress);
	ret = a.outcomes ? outcomes(&a, spec, &e, &violation) :
			   explore(&a, spec, &e, &violation);
	progress_stop(line);
	stop_by_default();
	if (!ret)
		ret = a.json ? kl_explored_json(stdout, &e) : kl_explored_print(stdout, &e);
	if (!ret) {
		code = violation ? kl_ending_violation() :
		       kl_explore_unknown(e.verdict) ? KLIN_EXIT_UNKNOWN : KLIN_EXIT_OK;
	} else if (ret != -EINVAL) {
		kl_err("%s: %s", a.file, strerror(-ret));
		code = KLIN_EXIT_SYSTEM;
	}
	kl_outcomes_free(e.outcomes);
	kl_explorer_free(e.x);
	kl_spec_free(spec);
	free(again);
	return code;
}

KL_COMMAND("explore", cmd_explore, "search all runs of an implementation on x86-TSO");
