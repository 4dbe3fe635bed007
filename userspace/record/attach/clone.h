/* SPDX-License-Identifier: GPL-2.0 */
/* Clones that compilers make of a function, by the names of their symbols. */
#ifndef KL_RECORD_ATTACH_CLONE_H
#define KL_RECORD_ATTACH_CLONE_H

#include "record/attach/kernel.h"

/* Is @symbol a clone of the function @name, or a part that was split off from it? */
bool kl_is_clone(const char *symbol, const char *name);
/* Is it a part?  What is left of the function calls it, and may be inlined elsewhere. */
bool kl_is_part(const char *symbol, const char *name);

/**
 * kl_clone_find() - look for a clone among the kernel's symbols
 * @k: the kernel
 * @f: the function, whose module the clone is in, too
 * @parts: parts count as clones
 *
 * Return: the clone's symbol, or NULL.
 */
const char *kl_clone_find(const struct kl_kernel *k, const struct kl_func *f, bool parts);

#endif
