/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel that `klin list' and `klin new' look at. */
#ifndef KLIN_KERNEL_H
#define KLIN_KERNEL_H

#include "record/attach/kernel.h"

/* Open the kernel of --btf and --symbols; @btf is NULL: the running one.  Return: an exit code. */
int kernel_open(const char *btf, const char *symbols, struct kl_kernel **k);

/* Report that the kernel has no function of this name, and which ones are similar. */
void kernel_lacks(struct kl_kernel *k, const char *name);

#endif
