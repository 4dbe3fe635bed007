/* SPDX-License-Identifier: GPL-2.0 */
/* The interface of klin's sub-commands.  main.c finds them through a linker section. */
#ifndef KLIN_CMD_H
#define KLIN_CMD_H

#include "base/ending.h"

struct kl_command {
	const char *name;
	const char *help;	/* one line of help */
	/* Run the sub-command; argv[0] is "klin NAME".  Return: the exit code. */
	int (*run)(int argc, char **argv);
};

/* Register the sub-command @_name, in the file that defines @_run. */
#define KL_COMMAND(_name, _run, _help)						\
	static const struct kl_command kl_command_##_run = {			\
		.name = _name, .help = _help, .run = _run,			\
	};									\
	static const struct kl_command *const kl_command_p_##_run		\
	__attribute__((used, section("kl_commands"))) = &kl_command_##_run

#endif
