// SPDX-License-Identifier: GPL-2.0
/* klin explore: check all runs of an implementation against its specification. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/args.h"
#include "base/err.h"
#include "base/memstream.h"
#include "base/quote.h"
#include "klin/cmd.h"
#include "klin/input.h"
#include "klin/model.h"
#include "klin/output.h"
#include "klin/progress.h"
#include "klin/stop.h"
#include "report/explored.h"

struct explore_args {
	struct kl_explore_options o;
	struct kl_limits lim;
	bool stats, no_run, full, outcomes;
	enum kl_output output;
	bool model_given;		/* --memory-model was given */
	const char *file;
};

enum { OPT_MEMORY = 256, OPT_LIMIT, OPT_THREADS, OPT_OPS, OPT_NO_REDUCE, OPT_STATS, OPT_NO_RUN,
	OPT_SHORTEST, OPT_COMPACT, OPT_JSON, OPT_OUTPUT,
	OPT_OUTCOMES, OPT_HISTORIES, OPT_TIME, OPT_FULL };

/*
 * The comparison with SC only adds a remark to a verdict, so its memory has a bound.  The bound is
 * SC_TIMES the memory of the search on TSO, but between SC_LEAST and SC_MOST bytes.
 */
#define SC_TIMES	4
#define SC_LEAST	(32u << 20)
#define SC_MOST		(256u << 20)

static const struct argp_option options[] = {
	{ "memory-model", OPT_MEMORY, "MODEL", 0,
	  "tso or sc (default: the model that the file "
	  "names by 'memory sc;' or 'memory tso;', else tso)",
	  0 },
	{ "threads", OPT_THREADS, "N", 0, "Number of threads of a client general(N)", 0 },
	{ "ops", OPT_OPS, "N", 0, "Operations of each thread of a client general(N) or roles(...)",
	  0 },
	{ "memory-limit", OPT_LIMIT, "MIB", 0,
	  "Give up (UNKNOWN) if the search needs more memory "
	  "(default 4096)",
	  0 },
	{ "time-limit", OPT_TIME, "SECONDS", 0, "Give up (UNKNOWN) after SECONDS", 0 },
	{ "no-reduce", OPT_NO_REDUCE, "WHAT", 0,
	  "Turn a reduction off, which does not change the verdict: merge (local steps, markers), "
	  "dead (registers), canon (names of objects and data), hidden (objects that no other "
	  "thread can reach), symmetry (of threads), facts (variables that only one thread writes, "
	  "or that never return to an old value, ...), cover (states that another state "
	  "represents), known (steps that were already computed in another state, which saves "
	  "time, not states) or all",
	  0 },
	{ "histories", OPT_HISTORIES, NULL, 0,
	  "Print the implementation's histories instead of checking them.  Of the histories of "
	  "complete runs, print those that are hardest to explain, one a line.  After each call "
	  "and flush(call) are the numbers of returns and flush(ret)s of each thread before it",
	  0 },
	{ "shortest", OPT_SHORTEST, NULL, 0,
	  "Show a run with the least number of steps.  Without this option the search is breadth "
	  "first too, but reductions may make the run a little longer",
	  0 },
	{ "hash-compact", OPT_COMPACT, NULL, 0,
	  "Keep only a hash of 64 bits of each state, which takes less memory.  Two states may "
	  "have the same hash; a bound of this probability is printed",
	  0 },
	{ "full", OPT_FULL, NULL, 0,
	  "Print the whole story of a violation, and all steps of its run.  Without this option a "
	  "violation has at most 25 lines, with the last steps if they have room",
	  0 },
	{ "no-run", OPT_NO_RUN, NULL, 0, "Do not show the run that leads to a violation", 0 },
	{ "outcomes", OPT_OUTCOMES, NULL, 0,
	  "Compare the final values that the client's threads can see with the implementation, and "
	  "with the specification in its place",
	  0 },
	{ "output", OPT_OUTPUT, "FORM", 0, KLIN_OUTPUT, 0 },
	{ "json", OPT_JSON, NULL, 0, "The same as --output=json: the verdict and its run", 0 },
	{ "stats", OPT_STATS, NULL, 0,
	  "Print numbers of states and transitions, also per second of CPU time, bytes and "
	  "seconds",
	  0 },
	{ 0 }
};

static const char *const reductions[] = { "merge", "dead",  "canon", "hidden", "symmetry",
					  "facts", "cover", "known", "all",    NULL };

/* Turn the reduction @name off. */
static void turn_off(struct kl_explore_options *o, const char *name)
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
		turn_off(&a->o, reductions[kl_arg_choice(state, "no-reduce", arg, reductions)]);
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
	case OPT_FULL:
		a->full = true;
		break;
	case OPT_OUTCOMES:
		a->outcomes = true;
		break;
	case OPT_OUTPUT:
		a->output = kl_arg_output(state, arg);
		break;
	case OPT_JSON:
		a->output = KL_OUTPUT_JSON;
		break;
	case OPT_STATS:
		a->stats = true;
		break;
	case ARGP_KEY_ARG:
	case ARGP_KEY_NO_ARGS:
		kl_arg_only(state, "file", arg, &a->file);
		break;
	case ARGP_KEY_END:
		if (a->outcomes && a->o.histories)
			argp_error(state, "--outcomes and --histories exclude each other");
		if ((a->outcomes || a->o.histories) && (a->o.shortest || a->no_run))
			kl_warn("--%s has no effect with --%s, which shows no run",
				a->o.shortest ? "shortest" : "no-run",
				a->outcomes ? "outcomes" : "histories");
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
	.doc = "Search all runs of the implementation in FILE under its client, and check each "
	       "against the specification (linearizability on TSO, Burckhardt et al.).  The memory "
	       "model is x86-TSO, or the one that FILE names.  FILE may also be the name of a "
	       "shipped model, such as treiber (`klin spec --list').  "
	       "The search is complete for the client: it does not bound preemptions.  For a "
	       "violation klin shows a run, why no order explains its operations, which store was "
	       "in a buffer while another thread loaded the old value, and whether the same client "
	       "fails on SC too; for a fault, the value that an instruction fails on, and who stored "
	       "it; for threads that never end, what they wait for.\v"
	       "Exit status: 0 linearizable for this client; 1 a violation, or an outcome that the "
	       "specification does not have; 2 usage or input; 3 unknown: a limit of memory or "
	       "time, or a bound of the explorer was reached (entries of a store buffer, objects, "
	       "choices at once, size of a number), or the search was interrupted, or the run to a "
	       "violation cannot be repeated; 4 the system refused.  If the verdict is unknown, "
	       "klin prints how far the search came, and which variables grew all the time.\n\n"
	       "Examples:\n"
	       "  # All runs of the client in the file, and how many states they have.\n"
	       "  klin explore --stats explore/seqlock\n"
	       "  # A larger client.\n"
	       "  klin explore --threads=3 --ops=3 explore/treiber\n"
	       "  # What the threads can see in the end.\n"
	       "  klin explore --outcomes explore/fig5",
};

static void show_progress(FILE *f, const void *arg)
{
	const struct kl_explore_progress *p = arg;

	fprintf(f, "%llu states, %llu not yet followed", (unsigned long long)p->states,
		(unsigned long long)(p->states - p->expanded));
}

/*
 * Return: the command line that repeats the run, quoted for a shell, to be freed by free(), or NULL
 * when out of memory.
 */
static char *command_line(int argc, char **argv)
{
	char *line = NULL;
	struct kl_memstream m;
	int i;

	if (kl_memstream_open(&m))
		return NULL;
	fputs("klin explore", m.f);
	for (i = 1; i < argc; i++) {
		fputc(' ', m.f);
		kl_put_quoted(m.f, argv[i]);
	}
	kl_memstream_close(&m, &line, NULL);
	return line;
}

/* Search the same client on SC, in bounded memory, to see whether it fails there too. */
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

/* Search for a violation; *@violation says if there is one.  Return: 0 or a negative errno. */
static int explore(const struct explore_args *a, struct kl_spec *spec, struct kl_explored *e,
		   bool *violation)
{
	int ret = kl_explore(spec, &a->o, &e->verdict, &e->x);

	*violation = !ret && e->verdict != KL_EX_OK && !kl_explore_unknown(e->verdict);
	if (*violation && !a->o.sc && e->run)
		compare_with_sc(a, spec, e);
	return ret;
}

/* Compare outcomes, for --outcomes.  Return: 0 with a verdict in @e, or a negative errno. */
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
	static const char *const folders[] = { "explore", "verify", NULL };
	struct kl_explore_progress progress = { 0 };
	struct explore_args a = { .o = { .memory = 4ull << 30, .progress = &progress } };
	struct kl_explored e = { 0 };
	struct progress_line *line;
	struct kl_spec *spec = NULL;
	int ret, code = KLIN_EXIT_USAGE;
	bool violation = false;
	char *command = command_line(argc, argv);

	ret = command ? kl_args(&argp, argc, argv, 0, &a) : out_of_memory();
	if (!ret) {
		a.file = kl_model_name(a.file, folders);
		ret = kl_ending_error(kl_spec_load(a.file, &spec));
	}
	if (ret) {
		free(command);
		return ret;
	}
	e.model = kl_explore_memory(spec);
	if (!a.model_given)
		a.o.sc = e.model == KL_EX_SAYS_SC;
	e.model_given = a.model_given;
	e.file = a.file;
	e.command = command;
	e.sc = a.o.sc;
	e.stats = a.stats;
	e.run = !a.no_run;
	e.full = a.full;
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
		ret = a.output ? kl_explored_put(stdout, &e, a.output) :
				 kl_explored_print(stdout, &e);
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
	free(command);
	return code;
}

KL_COMMAND("explore", cmd_explore, "search all runs of an implementation on x86-TSO");
