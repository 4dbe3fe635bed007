/* SPDX-License-Identifier: GPL-2.0 */
/* Names that people mistype: of methods, and of files that a command would both read and write. */
#ifndef KLIN_NAMES_H
#define KLIN_NAMES_H

#include <argp.h>
#include <stddef.h>

#include "spec/spec.h"

/*
 * Report that the specification has no method of the name @name, @len bytes long, that @option
 * gives; suggest one, or list all.
 */
void kl_no_method(const struct kl_spec *spec, const char *option, const char *name, size_t len);

/*
 * Refuse the file @out that --@option names if it is the same file as the input @in, which would be
 * lost.  Either may be NULL.
 */
void kl_arg_keep(struct argp_state *state, const char *option, const char *out, const char *in);

#endif
