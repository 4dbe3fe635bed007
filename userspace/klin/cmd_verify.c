// SPDX-License-Identifier: GPL-2.0
/* klin verify: an implementation for any number of operations, by comparison under abstraction. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "klin/cmd.h"
#include "klin/input.h"
#include "verify/verify.h"

struct verify_args {
	struct kl_verify_options o;
	const char *file;
	bool stats;
};

enum { OPT_THREADS = 256, OPT_LIMIT, OPT_NO_REDUCE, OPT_STATS };

static const struct argp_option options[] = {
	{ "threads", OPT_THREADS, "N", 0, "N threads", 0 },
	{ "stats", OPT_STATS, NULL, 0, "Print states", 0 },
	{ "no-reduce", OPT_NO_REDUCE, "WHAT", 0, "merge, por, symmetry", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct verify_args *a = state->input;

	switch (key) {
	case OPT_THREADS:
		a->o.threads = strcmp(arg, "any") ? kl_arg_number(state, "threads", arg, 1, KL_VF_THREADS) : 0;
		break;
	case OPT_STATS:
		a->stats = true;
		break;
	case OPT_NO_REDUCE:
		a->o.no_merge |= !strcmp(arg, "merge");
		a->o.no_por |= !strcmp(arg, "por");
		a->o.no_symmetry |= !strcmp(arg, "symmetry");
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
	.options = options, .parser = parse, .args_doc = "FILE.lin", .doc = "Verify.",
};

static int cmd_verify(int argc, char **argv)
{
	struct verify_args a = { 0 };
	enum kl_verify_verdict v;
	struct kl_verifier *x = NULL;
	struct kl_spec *spec = NULL;
	struct kl_verify_stats st;
	int ret, code = KLIN_EXIT_USAGE;

	argp_err_exit_status = KLIN_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &a);
	ret = kl_spec_load(a.file, &spec);
	if (!ret)
		ret = kl_verify(spec, &a.o, &v, &x);
	if (!ret) {
		kl_verify_stats(x, &st);
		printf("%d %s states %llu steps %llu rounds %u %.3f s %.1f MiB\n", v, kl_verify_message(x),
		       (unsigned long long)st.states, (unsigned long long)st.steps, st.rounds, st.seconds,
		       st.bytes / 1048576.0);
		if (getenv("COVER")) { char why[200] = ""; uint64_t n; int T = atoi(getenv("COVER")), r = kl_verify_cover(x, T / 10, T % 10, &n, why, 200); printf("cover %d %s, %llu concrete states\n", r, why, (unsigned long long)n); }
		if (getenv("DUMP")) { void kl_verify_dump(struct kl_verifier *, FILE *); kl_verify_dump(x, stdout); }
		if (v) kl_verify_print_trail(x, stdout);
		code = v == KL_VF_VERIFIED ? 0 : 3;
	}
	kl_verifier_free(x);
	kl_spec_free(spec);
	return code;
}

KL_COMMAND("verify", cmd_verify, "verify an implementation for any number of operations");
