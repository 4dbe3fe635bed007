/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lists the prototypes that BTF has for one function name.  Static functions of different files
 * may have the same name.
 */
#ifndef KL_RECORD_ATTACH_PROTOTYPES_H
#define KL_RECORD_ATTACH_PROTOTYPES_H

#include "record/attach/kernel.h"

/* Return: the number of different prototypes of functions with this name. */
unsigned int kl_prototypes_count(const struct btf *btf, const char *name);
/* Print all prototypes of the function's name in C, as ": A; B"; "" without memory. */
void kl_prototypes_text(const struct kl_func *f, char *buf, size_t size);

#endif
