// SPDX-License-Identifier: GPL-2.0
/* klin explore: all runs of an implementation, checked against its specification. */
#include <argp.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "klin/cmd.h"
#include "klin/input.h"
#include "tso/explore.h"

struct explore_args {
	struct kl_explore_options o;
	bool stats, no_run;
	const char *file;
};

enum { OPT_MEMORY = 256, OPT_LIMIT, OPT_THREADS, OPT_OPS, OPT_NO_REDUCE, OPT_STATS, OPT_NO_RUN,
	OPT_SHORTEST, OPT_HISTORIES };

static const struct argp_option options[] = {
	{ "memory", OPT_MEMORY, "MODEL", 0, "tso (the default) or sc", 0 },
	{ "threads", OPT_THREADS, "N", 0, "Threads of a general client", 0 },
	{ "ops", OPT_OPS, "N", 0, "Operations of each thread of a general client", 0 },
	{ "memory-limit", OPT_LIMIT, "MIB", 0, "Bound of memory (default 4096); past it: UNKNOWN",
	  0 },
	{ "no-reduce", OPT_NO_REDUCE, "WHAT", 0,
	  "Leave a reduction out: merge (local steps, markers), dead (registers), canon (names of "
	  "objects and data), hidden (objects that no other thread can reach), symmetry (of "
	  "threads), facts (variables that one thread writes, that never go back, ...), cover "
	  "(states that others stand for) or all; the answer stays the same", 0 },
	{ "histories", OPT_HISTORIES, NULL, 0,
	  "Print the implementation's histories instead of checking them: those of whole runs "
	  "that are the hardest to explain, one a line; behind each call and flush(call) how "
	  "many returns and flush(ret)s of each thread came before it", 0 },
	{ "shortest", OPT_SHORTEST, NULL, 0,
	  "Show a run with as few steps as there can be; without it the search is breadth first "
	  "too, but leaves out states for others found later, and a run may be a little longer",
	  0 },
	{ "no-run", OPT_NO_RUN, NULL, 0, "Do not show the run that leads to a violation", 0 },
	{ "stats", OPT_STATS, NULL, 0, "Print states, transitions, bytes and seconds", 0 },
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
	return all || !strcmp(name, "merge") || !strcmp(name, "dead") ||
	       !strcmp(name, "canon") || !strcmp(name, "hidden") ||
	       !strcmp(name, "symmetry") || !strcmp(name, "facts") || !strcmp(name, "cover");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct explore_args *a = state->input;

	switch (key) {
	case OPT_MEMORY:
		if (strcmp(arg, "tso") && strcmp(arg, "sc"))
			argp_error(state, "--memory=%s: tso or sc expected", arg);
		a->o.sc = !strcmp(arg, "sc");
		break;
	case OPT_LIMIT:
		a->o.memory = kl_arg_number(state, "memory-limit", arg, 1, 1u << 24) << 20;
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
				   "facts, cover or all expected", arg);
		break;
	case OPT_SHORTEST:
		a->o.shortest = true;
		break;
	case OPT_HISTORIES:
		a->o.histories = true;
		break;
	case OPT_NO_RUN:
		a->no_run = true;
		break;
	case OPT_STATS:
		a->stats = true;
		break;
	case ARGP_KEY_ARG:
		if (a->file)
			argp_error(state, "one file expected, '%s' is too much", arg);
		a->file = arg;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no file given");
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
	.doc = "Search all runs of the implementation in FILE under its client on x86-TSO, each "
	       "beside what the specification allows (linearizability on TSO, Burckhardt et al.). "
	       "The search is complete for the client: nothing bounds preemptions.\v"
	       "Exit status: 0 linearizable for this client, 1 a violation (its shortest run is "
	       "shown), 2 usage or input, 3 unknown: the bound on memory was reached.",
};

static int report(const struct explore_args *a, struct kl_explorer *x,
		  enum kl_explore_verdict verdict)
{
	static const char *const what[] = {
		[KL_EX_NOT_LINEARIZABLE] = "not linearizable", [KL_EX_FAULT] = "a fault",
		[KL_EX_FINAL] = "a false final condition", [KL_EX_DEADLOCK] = "a deadlock",
		[KL_EX_ENDLESS] = "a run without end",
	};
	struct kl_explore_stats st;
	int64_t n;
	int ret;

	kl_explore_stats(x, &st);
	if (verdict == KL_EX_OK && a->o.histories) {
		n = kl_explore_print_histories(x, stdout);
		if (n < 0) {
			kl_err("%s: cannot print the histories: %s", a->file, strerror(-n));
			return KLIN_EXIT_SYSTEM;
		}
		printf("%s: %lld histories that are the hardest to explain\n", a->file, (long long)n);
	} else if (verdict == KL_EX_OK)
		printf("%s: LINEARIZABLE: %u threads on %s, all %llu states\n", a->file,
		       st.threads, a->o.sc ? "SC" : "TSO", (unsigned long long)st.states);
	else if (verdict == KL_EX_MEMORY)
		printf("%s: UNKNOWN: the bound on memory was reached after %llu states, %llu of "
		       "them not yet followed; no violation so far\n", a->file,
		       (unsigned long long)st.states, (unsigned long long)st.open);
	else
		printf("%s: VIOLATION: %s: %s\n", a->file, what[verdict], kl_explore_message(x));
	if (a->stats)
		printf("%llu states, %llu transitions, %.0f states/s, %.1f bytes/state, %.1f MiB, "
		       "%llu sets of %llu configurations, %.3f s\n",
		       (unsigned long long)st.states, (unsigned long long)st.transitions,
		       st.states / (st.seconds > 0 ? st.seconds : 1e-9),
		       (double)st.bytes / st.states, st.all_bytes / 1048576.0,
		       (unsigned long long)st.sets, (unsigned long long)st.configs, st.seconds);
	if (verdict == KL_EX_OK)
		return KLIN_EXIT_OK;
	if (verdict == KL_EX_MEMORY)
		return KLIN_EXIT_UNKNOWN;
	if (!a->no_run) {
		printf("The shortest run, %u steps ([n]: line n of the file):\n", st.steps);
		ret = kl_explore_print_run(x, stdout);
		if (ret) {
			kl_err("%s: cannot show the run: %s", a->file, strerror(-ret));
			return KLIN_EXIT_SYSTEM;
		}
	}
	return KLIN_EXIT_VIOLATION;
}

/* A line on the terminal, once a second. */
struct line {
	struct kl_explore_progress p;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t stop;
	bool started, stopped;
};

static void *show(void *arg)
{
	struct line *l = arg;
	unsigned int seconds = 0;
	struct timespec ts;

	pthread_mutex_lock(&l->lock);
	clock_gettime(CLOCK_REALTIME, &ts);
	while (!l->stopped) {
		ts.tv_sec++;
		while (!l->stopped && !pthread_cond_timedwait(&l->stop, &l->lock, &ts))
			;
		if (l->stopped)
			break;
		fprintf(stderr, "\r%llu states, %llu not yet followed, %u s\033[K",
			(unsigned long long)l->p.states,
			(unsigned long long)(l->p.states - l->p.expanded), ++seconds);
	}
	if (seconds)
		fputs("\r\033[K", stderr);
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

static void start_line(struct line *l)
{
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->stop, NULL);
	l->started = isatty(STDERR_FILENO) && !pthread_create(&l->thread, NULL, show, l);
}

static void stop_line(struct line *l)
{
	pthread_mutex_lock(&l->lock);
	l->stopped = true;
	pthread_cond_signal(&l->stop);
	pthread_mutex_unlock(&l->lock);
	if (l->started)
		pthread_join(l->thread, NULL);
}

static int cmd_explore(int argc, char **argv)
{
	struct line line = { 0 };
	struct explore_args a = { .o = { .memory = 4ull << 30, .progress = &line.p } };
	enum kl_explore_verdict verdict;
	struct kl_explorer *x = NULL;
	struct kl_spec *spec = NULL;
	int ret, code = KLIN_EXIT_USAGE;

	argp_err_exit_status = KLIN_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &a);
	ret = kl_spec_load(a.file, &spec);
	if (!ret) {
		start_line(&line);
		ret = kl_explore(spec, &a.o, &verdict, &x);
		stop_line(&line);
	}
	if (!ret) {
		code = report(&a, x, verdict);
	} else if (ret != -EINVAL) {
		kl_err("%s: %s", a.file, strerror(-ret));
		code = KLIN_EXIT_SYSTEM;
	}
	kl_explorer_free(x);
	kl_spec_free(spec);
	return code;
}

KL_COMMAND("explore", cmd_explore, "search all runs of an implementation on x86-TSO");
