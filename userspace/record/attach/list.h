/* SPDX-License-Identifier: GPL-2.0 */
/* All functions of the running kernel whose names match. */
#ifndef KL_RECORD_ATTACH_LIST_H
#define KL_RECORD_ATTACH_LIST_H

#include "record/attach/kernel.h"

/**
 * kl_func_list() - find the functions that match a pattern
 * @k: the kernel
 * @pattern: as a shell has it: * ? []; "module:pattern" for those of a module
 * @out: the functions, by name; free() them
 * @n: how many
 *
 * Return: 0 or -ENOMEM.
 */
int kl_func_list(struct kl_kernel *k, const char *pattern, struct kl_func **out, size_t *n);

#endif
