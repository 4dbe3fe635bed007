// SPDX-License-Identifier: GPL-2.0
/* The command line, see args.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/args.h"
#include "base/ending.h"
#include "base/err.h"

void (*kl_args_look)(const struct argp *argp, int argc, char **argv);
const char *kl_args_last_option;

void kl_args_missing(struct argp_state *state, const char *fmt, ...)
{
	va_list ap;

	fprintf(state->err_stream, "%s: ", state->name);
	va_start(ap, fmt);
	vfprintf(state->err_stream, fmt, ap);
	va_end(ap);
	if (kl_args_last_option)
		fprintf(state->err_stream, "; '%s' is the value of --%s",
			state->argv[state->argc - 1], kl_args_last_option);
	fputc('\n', state->err_stream);
	argp_state_help(state, state->err_stream,
			ARGP_HELP_SHORT_USAGE | ARGP_HELP_SEE | ARGP_HELP_EXIT_ERR);
}

int kl_args(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input)
{
	int err;

	argp_err_exit_status = KLIN_EXIT_USAGE;
	if (kl_args_look)
		kl_args_look(argp, argc, argv);
	err = argp_parse(argp, argc, argv, flags, NULL, input);
	if (!err)
		return 0;
	kl_err("the command line cannot be read: %s", strerror(err));
	return kl_ending_error(-err);
}
