// SPDX-License-Identifier: GPL-2.0
/* The command line, see args.h. */
#include <string.h>

#include "base/args.h"
#include "base/ending.h"
#include "base/err.h"

void (*kl_args_look)(const struct argp *argp, int argc, char **argv);

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
