// SPDX-License-Identifier: GPL-2.0
/* klin convert: a history from one form to the other. */
#include <argp.h>
#include <errno.h>

#include "history/history.h"
#include "klin/cmd.h"
#include "klin/form.h"

struct env {
	const char *in, *out;
	enum kl_form form;
};

static const struct argp_option options[] = {
	{ "to", 't', "FORM", 0, "text or klh; by default klh if OUT ends in .klh, else text", 0 },
	{ 0 }
};

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	switch (key) {
	case 't':
		if (!klin_form(arg, &env->form))
			argp_error(state, "--to=%s: expected text or klh", arg);
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
		.doc = "Convert a history between the text form and .klh.\v"
		       "The form of IN is told by its first bytes; `-' is standard input or output.\n"
		       "A .klh that was cut short is read as far as its whole blocks go.\n\n"
		       "  klin convert run.klh -             print a recording\n"
		       "  klin convert run.txt run.klh       pack a text history",
	};
	struct env env = { .form = KL_FORM_AUTO };
	struct kl_history *h;
	int ret;

	argp_err_exit_status = KLIN_EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, 0, NULL, &env))
		return KLIN_EXIT_USAGE;
	ret = kl_history_read(env.in, &h);
	if (ret)
		return ret == -ENOMEM ? KLIN_EXIT_SYSTEM : KLIN_EXIT_USAGE;
	ret = kl_history_write(h, env.out, env.form);
	kl_history_free(h);
	if (!ret)
		return KLIN_EXIT_OK;
	return ret == -EINVAL ? KLIN_EXIT_USAGE : KLIN_EXIT_SYSTEM;
}

KL_COMMAND("convert", run, "convert a history between text and .klh");
