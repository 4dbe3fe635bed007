// SPDX-License-Identifier: GPL-2.0
/* klin convert: a history from one form to another. */
#include <argp.h>
#include <errno.h>

#include "base/args.h"
#include "history/history.h"
#include "klin/cmd.h"
#include "klin/input.h"

struct env {
	const char *in, *out;
	const struct kl_form *to;
	struct kl_read_opts read;
};

static const struct argp_option options[] = {
	{ "to", 't', "FORM", 0, "The form of OUT, --to=help lists them; by default klh if OUT "
	  "ends in .klh, else text", 0 },
	{ "from", 'f', "FORM", 0, "The form of IN; by default what it begins like", 0 },
	{ "independent", 'i', "yes|no", 0, KLIN_INDEPENDENT, 0 },
	{ 0 }
};

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	switch (key) {
	case 't':
		env->to = kl_arg_to(state, arg);
		break;
	case 'f':
		env->read.form = kl_arg_from(state, arg);
		break;
	case 'i':
		env->read.independent = kl_arg_independent(state, arg);
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0)
			env->in = arg;
		else if (state->arg_num == 1)
			env->out = arg;
		else
			argp_error(state, "'%s': expected only IN and OUT", arg);
		break;
	case ARGP_KEY_END:
		if (!env->out)
			argp_error(state, "expected IN and OUT");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int run(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse_opt,
		.args_doc = "IN OUT",
		.doc = "Convert a history from one form to another.\v"
		       "The form of IN is told by its first bytes; `-' is standard input or "
		       "output.\n"
		       "A .klh that was cut short is read as far as its whole blocks go.\n\n"
		       "  klin convert run.klh -             print a recording\n"
		       "  klin convert run.txt run.klh       pack a text history\n"
		       "  klin convert --to=linp run.klh -   for another checker",
	};
	struct env env = { .read.form = KL_FORM_AUTO, .to = KL_FORM_AUTO };
	struct kl_history *h;
	int ret;

	ret = kl_args(&argp, argc, argv, 0, &env);
	if (ret)
		return ret;
	ret = kl_history_read_with(env.in, &env.read, &h);
	if (ret)
		return kl_ending_error(ret);
	ret = kl_history_write(h, env.out, env.to);
	kl_history_free(h);
	if (!ret)
		return KLIN_EXIT_OK;
	return ret == -EINVAL ? KLIN_EXIT_USAGE : KLIN_EXIT_SYSTEM;
}

KL_COMMAND("convert", run, "convert a history from one form to another");
