// SPDX-License-Identifier: GPL-2.0
/*
 * klin verify: verify an implementation for any number of operations, by comparison under
 * abstraction.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/args.h"
#include "base/digits.h"
#include "base/err.h"
#include "base/outfile.h"
#include "klin/cmd.h"
#include "klin/input.h"
#include "klin/model.h"
#include "klin/names.h"
#include "klin/out_file.h"
#include "klin/output.h"
#include "klin/stop.h"
#include "report/verified.h"

#define ROLES_MAX	KL_VF_THREADS

struct verify_args {
	struct kl_verify_options o;
	struct kl_limits lim;
	const char *file, *dot, *roles;
	/* @given: --threads was given */
	bool given, stats, no_trail, no_confirm, full;
	enum kl_output output;
};

enum { OPT_THREADS = 256, OPT_ROLES, OPT_LIMIT, OPT_NO_REDUCE, OPT_STATS, OPT_NO_TRAIL,
	OPT_NO_CONFIRM, OPT_DOT, OPT_JSON, OPT_TIME, OPT_OUTPUT, OPT_FULL };

static const struct argp_option options[] = {
	{ "threads", OPT_THREADS, "N", 0,
	  "1 to 8 threads, or any (the default), each calling any method any number of times", 0 },
	{ "roles", OPT_ROLES, "LIST", 0,
	  "Threads that call only some methods: METHOD[|METHOD...][:COUNT], separated by commas, "
	  "such as push:2,pop:2",
	  0 },
	{ "memory-limit", OPT_LIMIT, "MIB", 0,
	  "Give up (UNKNOWN) if the proof needs more memory "
	  "(default 4096).  The search for a concrete run may take a part of the rest",
	  0 },
	{ "time-limit", OPT_TIME, "SECONDS", 0,
	  "Give up (UNKNOWN) after SECONDS, which include the search for a concrete run", 0 },
	{ "no-reduce", OPT_NO_REDUCE, "WHAT", 0,
	  "Turn a reduction off, which does not change the verdict: merge (steps on nodes that no "
	  "other thread knows), por (accesses under locks), symmetry (of threads) or all",
	  0 },
	{ "output", OPT_OUTPUT, "FORM", 0, KLIN_OUTPUT, 0 },
	{ "json", OPT_JSON, NULL, 0,
	  "The same as --output=json: the verdict, the trail and the run", 0 },
	{ "dot", OPT_DOT, "FILE", 0, "Write the abstract run to an alarm to FILE, for Graphviz",
	  0 },
	{ "full", OPT_FULL, NULL, 0,
	  "Print all of an alarm: the abstract run and the concrete one.  Without this option an "
	  "alarm has at most 25 lines, with the last steps of one run if they have room",
	  0 },
	{ "no-trail", OPT_NO_TRAIL, NULL, 0, "Do not show the abstract run to an alarm", 0 },
	{ "no-confirm", OPT_NO_CONFIRM, NULL, 0, "Do not search for a concrete wrong run", 0 },
	{ "stats", OPT_STATS, NULL, 0, "Print numbers of states and steps, bytes and seconds", 0 },
	{ 0 }
};

static const char *const reductions[] = { "merge", "por", "symmetry", "all", NULL };

/* Turn the reduction @name off. */
static void turn_off(struct kl_verify_options *o, const char *name)
{
	const bool all = !strcmp(name, "all");

	o->no_merge |= all || !strcmp(name, "merge");
	o->no_por |= all || !strcmp(name, "por");
	o->no_symmetry |= all || !strcmp(name, "symmetry");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct verify_args *a = state->input;

	switch (key) {
	case OPT_THREADS:
		a->given = true;
		a->o.threads = strcmp(arg, "any") ? kl_arg_amount(state, "threads", arg,
								  " (or any)", 1, KL_VF_THREADS) :
						    0;
		break;
	case OPT_ROLES:
		a->roles = arg;
		break;
	case OPT_LIMIT:
		a->o.memory = kl_arg_mib(state, "memory-limit", arg);
		break;
	case OPT_TIME:
		a->lim.deadline_ns = kl_now_ns() + kl_arg_seconds(state, "time-limit", arg);
		break;
	case OPT_NO_REDUCE:
		turn_off(&a->o, reductions[kl_arg_choice(state, "no-reduce", arg, reductions)]);
		break;
	case OPT_DOT:
		a->dot = arg;
		break;
	case OPT_OUTPUT:
		a->output = kl_arg_output(state, arg);
		break;
	case OPT_JSON:
		a->output = KL_OUTPUT_JSON;
		break;
	case OPT_FULL:
		a->full = true;
		break;
	case OPT_NO_TRAIL:
		a->no_trail = true;
		break;
	case OPT_NO_CONFIRM:
		a->no_confirm = true;
		break;
	case OPT_STATS:
		a->stats = true;
		break;
	case ARGP_KEY_ARG:
	case ARGP_KEY_NO_ARGS:
		kl_arg_only(state, "file", arg, &a->file);
		break;
	case ARGP_KEY_END:
		if (a->given && a->roles)
			argp_error(state, "--threads and --roles exclude each other");
		kl_arg_keep(state, "dot", a->dot, a->file);
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
	.doc = "Verify that the implementation in FILE is linearizable for any number of "
	       "operations, on heaps of any size, by comparison under abstraction (Amit, "
	       "Rinetzky, Reps, Sagiv and Yahav).  FILE may also be the name of a shipped model, "
	       "such as treiber (`klin spec --list').\v"
	       "The model marks where each method takes effect: by '@lin' after a step, or by "
	       "'@lin if (CONDITION)', which is evaluated after the step.  After a cas, '@lin' "
	       "applies only if the cas succeeded.  In a method of a set, '@lin other' means a "
	       "step of another thread.  A model with wrong linearization points is never "
	       "verified.  If a model is not proved, klin searches for a concrete wrong run.  If "
	       "it finds none, it tries the proof again for some seconds.  --no-confirm "
	       "omits both.\n\n"
	       "Memory is sequentially consistent, whatever model the file names, and is never "
	       "freed.  Nodes are of one struct with one pointer.  The specification has stacks, "
	       "queues and scalars; or one set with 'partition by' its key.  The implementation of "
	       "a set is a list sorted by a field of type 'key', between nodes with the keys 0 and "
	       "~0; operations with these two keys are not verified.\n\n"
	       "If all operations take their locks in one order, klin reports that there is no "
	       "deadlock.  Otherwise it searches for deadlocks of 2 threads with up to 2 "
	       "operations.  If a fixed number of threads has very many states, klin verifies the "
	       "model for any number of threads, which implies the result for the fixed number.\n\n"
	       "Exit status: 0 verified; 1 a violation: a concrete wrong run was found, with 2 or "
	       "3 threads of up to 3 operations; 2 usage or input; 3 not proved, or unknown: a "
	       "limit of memory or time was reached, or klin was interrupted; 4 the "
	       "system refused.\n\n"
	       "Examples:\n"
	       "  # Any number of threads, each calling any method.\n"
	       "  klin verify verify/lazy\n"
	       "  # Two threads that only push, and two that only pop.\n"
	       "  klin verify --roles=push:2,pop:2 explore/treiber\n"
	       "  # The trail to an alarm, if there is one, as a graph.\n"
	       "  klin verify --dot=trail.dot verify/twolock",
};

/* Parse METHOD|METHOD:COUNT,..., changing @list.  Return: 0, or -EINVAL after a message. */
static int read_roles(const struct kl_spec *spec, char *list, struct kl_verify_options *o)
{
	char *role, *method, *count, *rest = NULL, *at = NULL;
	const char *end;
	uint64_t methods, n;
	int m;

	const size_t len = strlen(list);

	o->roles = true;
	if (len && (*list == ',' || list[len - 1] == ',' || strstr(list, ",,"))) {
		kl_err("--roles=%s: expected a method before and after each comma", list);
		return -EINVAL;
	}
	for (role = strtok_r(list, ",", &rest); role; role = strtok_r(NULL, ",", &rest)) {
		n = 1;
		count = strchr(role, ':');
		if (count) {
			*count++ = 0;
			end = kl_digits(count, &n);
			if (!end || *end || !n || n > KL_VF_THREADS) {
				kl_err("--roles: '%s': expected a number of threads of 1 to %d",
				       count, KL_VF_THREADS);
				return -EINVAL;
			}
		}
		methods = 0;
		for (method = strtok_r(role, "|", &at); method; method = strtok_r(NULL, "|", &at)) {
			m = kl_spec_find_method(spec, method);
			if (m < 0 || m > 63) {
				kl_no_method(spec, "roles", method, strcspn(method, "="));
				return -EINVAL;
			}
			methods |= 1ULL << m;
		}
		if (!methods || n > KL_VF_THREADS - o->threads) {
			kl_err("--roles: expected 1 to %d threads and a method for each",
			       KL_VF_THREADS);
			return -EINVAL;
		}
		while (n--)
			o->methods[o->threads++] = methods;
	}
	if (!o->threads) {
		kl_err("--roles: expected methods, such as push:2,pop:2");
		return -EINVAL;
	}
	return 0;
}

static int write_dot(const struct verify_args *a, struct kl_verifier *x)
{
	struct kl_outfile o;
	int ret = kl_outfile_open(&o, a->dot);

	if (!ret) {
		kl_verify_print_dot(x, o.f);
		ret = kl_outfile_commit(&o);
	}
	if (ret)
		kl_cannot_write(a->dot, ret);
	return ret;
}

/*
 * Return: the memory that the search for a concrete run may take, in bytes.  It is a part of the
 * memory that the verifier has left of --memory-limit.
 */
static uint64_t search_memory(const struct verify_args *a, const struct kl_verifier *x,
			      enum kl_verify_verdict v)
{
	const uint64_t most = v == KL_VF_ALARM ? 1ull << 30 : 16ull << 20, least = 1ull << 20;
	struct kl_verify_stats st;

	kl_verify_stats(x, &st);
	if (a->o.memory < st.bytes + least)
		return least;
	return a->o.memory - st.bytes < most ? a->o.memory - st.bytes : most;
}

/*
 * Search concrete runs, then print the verdict.  The search is useful in both cases: a model that
 * was not proved may be wrong, and a linearizable model may still deadlock.  Return: the exit code.
 */
static int report(const struct verify_args *a, struct kl_verifier *x, enum kl_verify_verdict v,
		  enum kl_explore_memory model)
{
	struct kl_verified r = {
		.file = a->file, .x = x, .verdict = v, .trail = !a->no_trail, .stats = a->stats,
		.full = a->full,
		.model = model,
		.searched = !a->no_confirm && v != KL_VF_MEMORY && v != KL_VF_STOPPED,
	};
	int ret = 0, code;

	if (r.searched)
		ret = kl_verify_confirm(x, search_memory(a, x, v), v == KL_VF_ALARM ? 5 : 2,
					&r.search, &r.run);
	if (!ret && r.searched && v == KL_VF_ALARM)
		ret = kl_verify_longer(x, &v);
	r.verdict = v;
	code = r.run		   ? kl_ending_violation() :
	       v == KL_VF_VERIFIED ? KLIN_EXIT_OK :
				     KLIN_EXIT_UNKNOWN;
	if (ret >= 0)
		ret = a->output ? kl_verified_put(stdout, &r, a->output) :
				  kl_verified_print(stdout, &r);
	kl_explorer_free(r.run);
	if (ret < 0) {
		kl_err("%s: %s", a->file, strerror(-ret));
		return KLIN_EXIT_SYSTEM;
	}
	if (v == KL_VF_ALARM && a->dot && write_dot(a, x))
		return KLIN_EXIT_SYSTEM;
	return code;
}

static int cmd_verify(int argc, char **argv)
{
	static const char *const folders[] = { "verify", "explore", NULL };
	struct verify_args a = { .o = { .memory = 4ull << 30 } };
	enum kl_verify_verdict verdict;
	struct kl_verifier *x = NULL;
	struct kl_spec *spec = NULL;
	char *roles = NULL;
	int ret, code = KLIN_EXIT_USAGE;

	ret = kl_args(&argp, argc, argv, 0, &a);
	if (ret)
		return ret;
	a.file = kl_model_name(a.file, folders);
	ret = kl_spec_load(a.file, &spec);
	if (ret)
		return kl_ending_error(ret);
	if (a.roles) {
		roles = strdup(a.roles);
		ret = roles ? read_roles(spec, roles, &a.o) : -ENOMEM;
	} else if (!a.given) {
		kl_verify_roles(spec, &a.o);
	}
	a.lim.stop = stop_on_signals(false);
	a.o.lim = &a.lim;
	if (!ret)
		ret = kl_verify(spec, &a.o, &verdict, &x);
	if (!ret) {
		code = report(&a, x, verdict, kl_explore_memory(spec));
	} else if (ret != -EINVAL) {
		kl_err("%s: %s", a.file, strerror(-ret));
		code = KLIN_EXIT_SYSTEM;
	}
	kl_verifier_free(x);
	kl_spec_free(spec);
	free(roles);
	return code;
}

KL_COMMAND("verify", cmd_verify, "verify an implementation for any number of operations");
