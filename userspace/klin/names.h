/* SPDX-License-Identifier: GPL-2.0 */
/* Names that people mistype: of methods, and of files that a command would both read and write. */
#ifndef KLIN_NAMES_H
#define KLIN_NAMES_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "spec/spec.h"

/*
 * Report that the specification has no method of the name @name, @len bytes long, that @option
 * gives; suggest one, or list all.
 */
void kl_no_method(const struct kl_spec *spec, const char *option, const char *name, size_t len);

/* Return: true if both are the same regular file. */
bool kl_same_file(const char *a, const char *b);

/*
 * Refuse the file @out that --@option names if it cannot be written: it is a directory or in none.
 * A command would otherwise find this out after its work.  @out may be NULL.
 */
void kl_arg_out(struct argp_state *state, const char *option, const char *out);

/*
 * Refuse what kl_arg_out() refuses, and also the input @in, which would be lost.  Either file may
 * be NULL.
 */
void kl_arg_keep(struct argp_state *state, const char *option, const char *out, const char *in);

#endif
