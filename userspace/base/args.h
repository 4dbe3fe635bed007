/* SPDX-License-Identifier: GPL-2.0 */
/* The command line of every program and sub-command. */
#ifndef KL_BASE_ARGS_H
#define KL_BASE_ARGS_H

#include <argp.h>

#include "base/file.h"

/**
 * kl_args() - read the command line
 * @argp: as of argp_parse(), as are
 * @argc: how many arguments,
 * @argv: the arguments,
 * @flags: and its flags
 * @input: what the parser fills
 *
 * What a person got wrong ends the program, with KLIN_EXIT_USAGE.
 *
 * Return: 0; or the exit code after a message, when not all was read.
 */
int kl_args(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input);

/* The file @arg of the option --@option, which may be given KL_FILES_MAX times. */
void kl_args_file(struct argp_state *state, const char *option, struct kl_files *files,
		  const char *arg);

#endif
