/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel that `klin list' and `klin new' look at: the running one, or that of --btf. */
#ifndef KLIN_KERNEL_H
#define KLIN_KERNEL_H

#include <argp.h>

#include "record/attach/kernel.h"

struct kernel_args {
	const char *btf, *symbols; /* NULL if not given */
};

/* A child parser for --btf and --symbols; its input is a struct kernel_args. */
extern const struct argp kernel_argp;

/* Open the kernel that the options name.  Return: an exit code. */
int kernel_open(const struct kernel_args *a, struct kl_kernel **k);

/*
 * Report that the kernel has no function of this name, and which ones are similar.  @spec is the
 * name of a specification that may have been meant, or NULL.
 */
void kernel_lacks(struct kl_kernel *k, const char *name, const char *spec);

#endif
