/* SPDX-License-Identifier: GPL-2.0 */
/* Recognises the clones that compilers make of a function, by the names of their symbols. */
#ifndef KL_RECORD_ATTACH_CLONE_H
#define KL_RECORD_ATTACH_CLONE_H

#include "record/attach/kernel.h"

/* Return: true if @symbol is a clone of the function @name, or a part split off from it. */
bool kl_is_clone(const char *symbol, const char *name);
/*
 * Return: true if @symbol is a part split off from the function @name.  The rest of the function
 * calls the part, and may be inlined elsewhere.
 */
bool kl_is_part(const char *symbol, const char *name);

/**
 * kl_clone_find() - look for a clone among the kernel's symbols
 * @k: the kernel
 * @f: the function; a clone is in the same module
 * @parts: true if split-off parts count as clones
 *
 * Return: the symbol of a clone, or NULL.
 */
const char *kl_clone_find(const struct kl_kernel *k, const struct kl_func *f, bool parts);

#endif
