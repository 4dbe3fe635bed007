// SPDX-License-Identifier: GPL-2.0
/* klin convert: convert a history from one form to another. */
#include <argp.h>
#include <errno.h>

#include "base/args.h"
#include "base/err.h"
#include "history/history.h"
#include "klin/cmd.h"
#include "klin/input.h"
#include "klin/out_file.h"

struct convert_args {
	const char *in, *out, *spec;
	const struct kl_form *to;
	struct kl_read_opts read;
};

enum { OPT_NAME = 256, OPT_SPEC };

static const struct argp_option options[] = {
	{ "to", 't', "FORM", 0,
	  "The form of OUT; --to=help lists all forms (default: klh if OUT "
	  "ends in .klh, else text)",
	  0 },
	{ "from", 'f', "FORM", 0,
	  "The form of IN; --from=help lists all forms (default: "
	  "recognized by the first bytes)",
	  0 },
	{ "independent", 'i', "yes|no", 0, KLIN_INDEPENDENT, 0 },
	{ "spec", OPT_SPEC, "SPEC.lin", 0,
	  "Read IN by the history block of this specification, see klin-spec(5)", 0 },
	{ "name", OPT_NAME, "NAME", 0, "The name of IN in messages, for example if IN is a pipe",
	  0 },
	{ 0 }
};

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct convert_args *args = state->input;

	switch (key) {
	case 't':
		args->to = kl_arg_to(state, arg);
		break;
	case 'f':
		args->read.form = kl_arg_from(state, arg);
		break;
	case 'i':
		args->read.independent = kl_arg_independent(state, arg);
		break;
	case OPT_SPEC:
		args->spec = arg;
		args->read.rules = true;
		break;
	case OPT_NAME:
		if (!*arg)
			argp_error(state, "--name=: expected a name");
		args->read.name = arg;
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0)
			args->in = arg;
		else if (state->arg_num == 1)
			args->out = arg;
		else
			argp_error(state, "expected IN and OUT, found also '%s'", arg);
		break;
	case ARGP_KEY_END:
		if (!args->out)
			kl_args_missing(state, "expected IN and OUT%s%s%s",
					args->in ? ", found only '" : "", args->in ?: "",
					args->in ? "'" : "");
		kl_arg_keep(state, NULL, args->out, args->in);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int cmd_convert(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse_opt,
		.args_doc = "IN OUT",
		.doc = "Convert a history from one form to another.\v"
		       "klin recognizes the form of IN by its first bytes; `-' is standard input "
		       "or output.\n"
		       "Of a truncated .klh file, klin reads all complete blocks.\n"
		       "klin's own forms keep how a foreign file spells a value, as 0x1f or \"a\", "
		       "once for all its operations.  They have the specification's names of methods "
		       "and results, as enq for enqueue and 1 for :ok, and nothing of further keys, "
		       "lines and entries that are no operations: reports show these of the foreign "
		       "file only.\n\n"
		       "Exit status: 0 converted, 2 usage or input, 4 the system refused.\n\n"
		       "Examples:\n"
		       "  # Pack a text history.\n"
		       "  klin convert run.txt run.klh\n"
		       "  # Print a recording.\n"
		       "  klin convert run.klh -\n"
		       "  # Read a log by the rules in a specification.\n"
		       "  klin convert --spec=mine.lin log.json log.klh\n"
		       "  # Write a form that another checker reads.\n"
		       "  klin convert --to=linp run.klh run.linp",
	};
	struct convert_args args = { .read.form = KL_FORM_AUTO, .to = KL_FORM_AUTO };
	struct kl_spec *spec = NULL;
	struct kl_history *h;
	int ret;

	ret = kl_args(&argp, argc, argv, 0, &args);
	if (ret)
		return ret;
	ret = args.spec ? kl_spec_load(args.spec, &spec) : 0;
	if (!ret && args.spec && (!kl_spec_maps(spec) || args.read.form)) {
		kl_err(args.read.form ? "--spec and --from exclude each other: each says how to "
					"read IN" :
					"--spec=%s: this specification has no history block; "
					"omit --spec, or name one that has, such as logs/tally",
		       args.spec);
		ret = -EINVAL;
	}
	ret = ret ?: kl_read_by(spec, args.in, &args.read, &h);
	kl_spec_free(spec);
	if (ret)
		return kl_ending_error(ret);
	ret = kl_history_write(h, args.out, args.to);
	kl_history_free(h);
	if (!ret)
		return KLIN_EXIT_OK;
	return ret == -EINVAL ? KLIN_EXIT_USAGE : KLIN_EXIT_SYSTEM;
}

KL_COMMAND("convert", cmd_convert, "convert a history from one form to another");
