/* SPDX-License-Identifier: GPL-2.0 */
/* Files that a command writes: those that it cannot write, or should not, are found at once. */
#ifndef KLIN_OUT_FILE_H
#define KLIN_OUT_FILE_H

#include <argp.h>
#include <stdbool.h>

/* Return: true if both are the same regular file. */
bool kl_same_file(const char *a, const char *b);

/* Return: true if both outputs would be one file, whether it exists or not. */
bool kl_one_output(const char *a, const char *b);

/*
 * Refuse the file @out that --@option names, or an argument if @option is NULL, if it cannot be
 * written: it is a directory or in none.  A command would otherwise find this out after its work.
 * @out may be NULL.
 */
void kl_arg_out(struct argp_state *state, const char *option, const char *out);

/*
 * Refuse what kl_arg_out() refuses, and also the input @in, which would be lost.  Either file may
 * be NULL.
 */
void kl_arg_keep(struct argp_state *state, const char *option, const char *out, const char *in);

#endif
