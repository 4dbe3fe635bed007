/* SPDX-License-Identifier: GPL-2.0 */
/* The prototypes that BTF has for one name: static functions of different files. */
#ifndef KL_RECORD_ATTACH_PROTOTYPES_H
#define KL_RECORD_ATTACH_PROTOTYPES_H

#include "record/attach/kernel.h"

/* How many different ones are there for functions of this name? */
unsigned int kl_prototypes_count(const struct btf *btf, const char *name);
/* All of them as C has them, ": A; B"; "" if memory is short. */
void kl_prototypes_text(const struct kl_func *f, char *buf, size_t size);

#endif
