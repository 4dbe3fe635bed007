// SPDX-License-Identifier: GPL-2.0
/*
 * klin-replay: check the certificate of a verdict.  The Makefile lists the objects of this
 * program, which include no engine but the oracles.  `klin replay' runs this program.
 */
#include <argp.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/args.h"
#include "base/ending.h"
#include "base/err.h"
#include "klin/input.h"
#include "klin/replay_options.h"
#include "klin/stop.h"
#include "klin-replay/foreign.h"
#include "base/shipped.h"
#include "trusted/replay.h"

#define MAX_LOOKS	15000000000ull	/* about a minute */

struct replay_args {
	const char *cert, *history, *spec;
	struct kl_read_opts read;
	struct kl_limits lim;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct replay_args *a = state->input;

	switch (key) {
	case 'h':
		if (!*arg)
			argp_error(state, "--history=: expected a file name");
		a->history = arg;
		break;
	case 's':
		if (!*arg)
			argp_error(state, "--spec=: expected a file name, or a shipped name");
		a->spec = arg;
		break;
	case OPT_TIME:
		a->lim.deadline_ns = kl_now_ns() + kl_arg_seconds(state, "time-limit", arg);
		break;
	case OPT_FROM:
		a->read.form = foreign_form(arg);
		break;
	case OPT_INDEPENDENT:
		a->read.independent = kl_arg_independent(state, arg);
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
	.options = replay_options,
	.parser = parse,
	.args_doc = "CERTIFICATE",
	.doc = "Check what `klin check --certificate=FILE' wrote: orders are replayed through the "
	       "specification, counterexamples are given to the brute-force oracle.  A "
	       "history in another program's form is first converted by klin, which is not "
	       "checked.\v"
	       "Exit status:\n"
	       "  0  the verdict, LINEARIZABLE or VIOLATION, is right in all partitions\n"
	       "  1  the certificate is wrong: a claim of it does not hold\n"
	       "  2  usage or input: it is no certificate, or one of another history or specification\n"
	       "  3  nothing is wrong, and the verdict is not shown: it is UNKNOWN, or a partition "
	       "has no proof, or one that the replayer cannot follow (all counterexamples "
	       "together get about a minute's work)\n"
	       "  4  the system refused: memory, disk\n\n"
	       "Examples:\n"
	       "  # Decide a history, and check the verdict.\n"
	       "  klin check --certificate=run.cert queue run.txt\n"
	       "  klin replay run.cert\n"
	       "  # The history is somewhere else now.\n"
	       "  klin replay --history=moved/run.txt run.cert",
};

/*
 * The history's path: as the certificate names it, or, if no such file exists, an end of that path
 * in the certificate's directory, in case both were moved.  Return: a string to free, or NULL.
 */
static char *find_history(const struct kl_cert *c)
{
	const char *end = strrchr(c->path, '/'), *name = c->history;
	const int dir = end ? end + 1 - c->path : 0;
	char *path = strdup(name);

	while (path && name && strcmp(name, "-") && access(path, F_OK)) {
		free(path);
		path = asprintf(&path, "%.*s%s", dir, c->path, name) < 0 ? NULL : path;
		name = strchr(name, '/') ? strchr(name, '/') + 1 : NULL;
	}
	return path;
}

/*
 * Return: 0 if the file of the specification that the history names exists; 1 if it does not, or if
 * the history names none; or -ENOMEM.
 */
static int is_gone(const struct kl_history *h, const char *history_path)
{
	char *path;
	int ret;

	if (!h->spec_path)
		return 1;
	ret = kl_carried_path(h, history_path, &path);
	if (ret)
		return ret;
	ret = access(path, F_OK) && !kl_shipped_text(path);
	free(path);
	return ret;
}

/* Check that the specification that the user or the history names is the one in the certificate. */
static int check_named(const struct replay_args *a, const struct kl_cert *c,
		       const struct kl_history *h, const char *path)
{
	struct kl_spec *named = NULL;
	char *whose = NULL;
	int ret;

	/*
	 * If the named file no longer exists, there is nothing to compare: the certificate has the
	 * text.
	 */
	ret = a->spec || h->spec_text ? 0 : is_gone(h, path);
	if (ret)
		return ret < 0 ? ret : 0;
	ret = a->spec ? kl_spec_load(a->spec, &named) : kl_carried_spec(h, path, &named);
	if (!ret && a->spec)
		ret = kl_extended_spec(h, path, &named);
	if (!ret && asprintf(&whose, a->spec ? "'%s'" : "the specification that the history names "
							"(--spec names another)", a->spec) < 0) {
		kl_err("%s: out of memory", c->path);
		whose = NULL;
		ret = -ENOMEM;
	}
	if (!ret)
		ret = kl_cert_check_spec(c, named, whose);
	free(whose);
	kl_spec_free(named);
	return ret;
}

static void print_right(const struct kl_cert *c, const struct kl_history *h, const char *path,
			const struct kl_replay *r)
{
	printf("%s: right: %zu orders accepted, %zu violations confirmed, %zu parts without proof\n",
	       c->path, r->accepted, r->refuted, r->open);
	printf("  of spec %s (sha256 %.*s) and history %s (sha256 %.*s): %zu operations of %zu "
	       "objects, memory model %s, first state %s\n", c->spec_name, KL_SHA256_SHORT,
	       c->spec_sha256, path, KL_SHA256_SHORT, h->sha256, h->nops, h->nobjects,
	       c->classical ? "sc" : "tso", h->fresh ? "init" : "any");
	if (foreign_converted())
		puts("  klin converted the history from another program's form, which is not "
		     "checked; compare with `klin convert'");
}

static int replay(const struct replay_args *a, struct kl_cert *c, const char *path,
		  struct kl_replay *r)
{
	struct kl_history *h = NULL;
	struct kl_spec *spec = NULL;
	struct kl_limits lim = a->lim;
	int ret = kl_spec_parse(c->spec_name, c->spec_text, strlen(c->spec_text), &spec);

	foreign_rules(!ret && kl_spec_maps(spec) ? c->spec_text : NULL);
	if (!ret)
		ret = kl_load_input(NULL, path, &a->read, &spec, &h);
	if (!ret)
		ret = check_named(a, c, h, path);
	if (!ret) {
		lim.stop = stop_on_signals(false);
		ret = kl_cert_replay(c, spec, h, &lim, r);
		if (!ret)
			print_right(c, h, path, r);
		else if (ret != -EBADMSG && ret != -EINVAL)
			kl_err("%s: %s", c->path, strerror(-ret));
	}
	kl_history_free(h);
	kl_spec_free(spec);
	return ret;
}

static int replay_certificate(int argc, char **argv)
{
	struct replay_args a = {
		.lim = { .work = MAX_LOOKS }, .read = { .form = KL_FORM_AUTO, .hashed = true },
	};
	struct kl_cert *c = NULL;
	struct kl_replay r;
	char *path = NULL;
	int ret;

	ret = kl_args(&argp, argc, argv, 0, &a);
	if (ret)
		return ret;
	ret = kl_cert_open(a.cert, &c);
	if (!ret) {
		path = a.history ? strdup(a.history) : find_history(c);
		if (path && !a.history && strcmp(path, "-") && access(path, F_OK)) {
			kl_err("%s: cannot read the history '%s': %s; --history=FILE names another",
			       a.cert, c->history, strerror(errno));
			ret = -EINVAL;
		} else if (path) {
			ret = replay(&a, c, path, &r);
		} else {
			kl_err("%s: out of memory", a.cert);
			ret = -ENOMEM;
		}
	}
	free(path);
	kl_cert_close(c);
	if (ret == -EBADMSG)
		return kl_ending_violation();
	if (ret)
		return kl_ending_error(ret);
	return r.open || r.unknown ? KLIN_EXIT_UNKNOWN : KLIN_EXIT_OK;
}

int main(int argc, char **argv)
{
	kl_ending_guard();
	setlocale(LC_CTYPE, "");
	return kl_ending(replay_certificate(argc, argv));
}
