// SPDX-License-Identifier: GPL-2.0
/* klin replay: check a verdict's certificate without the engines. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/args.h"
#include "base/err.h"
#include "klin/cmd.h"
#include "klin/input.h"
#include "tso/replay.h"

#define MAX_LOOKS	15000000000ull	/* about a minute */

struct replay_args {
	const char *cert, *history, *spec;
	struct kl_limits lim;
};

enum { OPT_TIME = 256 };

static const struct argp_option options[] = {
	{ "history", 'h', "FILE", 0, "The history, if not where the certificate says", 0 },
	{ "spec", 's', "FILE", 0, "The specification, if not the one in the history", 0 },
	{ "time-limit", OPT_TIME, "SECONDS", 0, "Leave open (UNKNOWN) what is not "
	  "done after so long", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct replay_args *a = state->input;

	switch (key) {
	case 'h':
		a->history = arg;
		break;
	case 's':
		a->spec = arg;
		break;
	case OPT_TIME:
		a->lim.deadline_ns = kl_now_ns() +
			kl_arg_number(state, "time-limit", arg, 1, 1u << 30) * 1000000000ull;
		break;
	case ARGP_KEY_ARG:
	case ARGP_KEY_NO_ARGS:
		kl_arg_only(state, "certificate", arg, &a->cert);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "CERTIFICATE",
	.doc = "Check what `klin check --certificate=FILE' wrote: orders are replayed through the "
	       "specification, counterexamples are given to the brute-force oracle.\v"
	       "Exit status:\n"
	       "  0  the verdict, LINEARIZABLE or VIOLATION, is right in all partitions\n"
	       "  1  the certificate is wrong: a claim of it does not hold\n"
	       "  2  usage or input: it is no certificate, or one of another history\n"
	       "  3  nothing is wrong, and the verdict is not shown: it is UNKNOWN, or a partition "
	       "has no proof, or one that the replayer cannot follow (all counterexamples "
	       "together get about a minute's work)\n"
	       "  4  the system refused: memory, disk",
};

/* Where the certificate says it is; or beside the certificate, when both were moved. */
static int find_history(const char *cert, char **path)
{
	const char *dir = strrchr(cert, '/');
	int ret = kl_cert_history(cert, path);
	char *beside;

	if (ret || **path == '/' || !dir || !access(*path, F_OK))
		return ret;
	if (asprintf(&beside, "%.*s/%s", (int)(dir - cert), cert, *path) < 0) {
		kl_err("%s: out of memory", cert);
		return -ENOMEM;
	}
	free(*path);
	*path = beside;
	return 0;
}

static int cmd_replay(int argc, char **argv)
{
	struct replay_args a = { .lim = { .work = MAX_LOOKS } };
	struct kl_history *h = NULL;
	struct kl_spec *spec = NULL;
	struct kl_replay r;
	char *path = NULL;
	int ret, code = KLIN_EXIT_USAGE;

	ret = kl_args(&argp, argc, argv, 0, &a);
	if (ret)
		return ret;
	if (!a.history) {
		ret = find_history(a.cert, &path);
		if (ret) {
			code = kl_ending_error(ret);
			goto out;
		}
	}
	ret = kl_load_input(a.spec, a.history ? a.history : path, &spec, &h);
	if (ret) {
		code = kl_ending_error(ret);
		goto out;
	}
	ret = kl_cert_replay(a.cert, spec, h, &a.lim, &r);
	if (!ret) {
		printf("%s: right%s: %zu orders accepted, %zu violations confirmed, %zu parts "
		       "without proof\n", a.cert, r.classical ? " on sequential consistency" : "",
		       r.accepted, r.refuted, r.open);
		code = r.open || r.unknown ? KLIN_EXIT_UNKNOWN : KLIN_EXIT_OK;
	} else if (ret == -EBADMSG) {
		code = kl_ending_violation();
	} else if (ret != -EINVAL) {
		kl_err("%s: %s", a.cert, strerror(-ret));
		code = KLIN_EXIT_SYSTEM;
	}
out:
	free(path);
	kl_history_free(h);
	kl_spec_free(spec);
	return code;
}

KL_COMMAND("replay", cmd_replay, "check a verdict's certificate");
