/* SPDX-License-Identifier: GPL-2.0 */
/* Names of methods on the command line. */
#ifndef KLIN_NAMES_H
#define KLIN_NAMES_H

#include <stddef.h>

#include "spec/spec.h"

/*
 * Report that the specification has no method of the name @name, @len bytes long, that @option
 * gives; suggest one, or list all.
 */
void kl_no_method(const struct kl_spec *spec, const char *option, const char *name, size_t len);

#endif
