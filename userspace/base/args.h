/* SPDX-License-Identifier: GPL-2.0 */
/* The command line of every program and sub-command. */
#ifndef KL_BASE_ARGS_H
#define KL_BASE_ARGS_H

#include <argp.h>

#include "base/file.h"

/**
 * kl_args() - parse the command line
 * @argp: as for argp_parse(), like the next three arguments
 * @argc: number of arguments
 * @argv: the arguments
 * @flags: flags of argp_parse()
 * @input: the structure that the parser fills
 *
 * A usage error ends the program with KLIN_EXIT_USAGE.
 *
 * Return: 0, or an exit code after a message if parsing failed for another reason.
 */
int kl_args(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input);

/*
 * kl_args() calls this function first if a program sets it; klin-replay, which is to be small, does
 * not.
 */
extern void (*kl_args_look)(const struct argp *argp, int argc, char **argv);

/**
 * kl_args_missing() - refuse a command line without an argument that the command needs
 * @state: the parser's state
 * @fmt: what was expected, as for printf()
 *
 * Print the message and the usage line, and end the program with KLIN_EXIT_USAGE.
 */
void kl_args_missing(struct argp_state *state, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The option whose value is the last argument, which is not joined to it by `='; or NULL. */
extern const char *kl_args_last_option;

/* A flag of options that may be given several times; of others the last one counts. */
#define KL_ARGS_SEVERAL 0x100

/*
 * Look for mistakes that getopt() does not report.  End the program if a long option does not exist
 * but another has nearly the same name, or if an option stands where another's value should be.
 * Warn of an option that has no effect since it follows again.
 */
void kl_args_suggest(const struct argp *argp, int argc, char **argv);

/* Refuse the file @path of --@option if it cannot be read.  NULL: the option was not given. */
void kl_args_readable(struct argp_state *state, const char *option, const char *path);

/*
 * Add the file @arg of --@option, which must be an ELF file, to @files.  More than KL_FILES_MAX
 * files are a usage error.
 */
void kl_args_file(struct argp_state *state, const char *option, struct kl_files *files,
		  const char *arg);

#endif
