/* SPDX-License-Identifier: GPL-2.0 */
/* Lists the functions of a kernel whose names match a pattern. */
#ifndef KL_RECORD_ATTACH_LIST_H
#define KL_RECORD_ATTACH_LIST_H

#include "record/attach/kernel.h"

/**
 * kl_func_list() - list the functions that match a pattern
 * @k: the kernel
 * @pattern: a shell pattern (* ? []); "MODULE:PATTERN" for functions of a module
 * @out: gets the functions, sorted by name; the caller frees them with free()
 * @n: gets the number of functions
 *
 * Return: 0 or -ENOMEM.
 */
int kl_func_list(struct kl_kernel *k, const char *pattern, struct kl_func **out, size_t *n);

#endif
