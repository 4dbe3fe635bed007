/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes the prototypes of functions in C, and lists those that BTF has for one name.  Static
 * functions of different files may have the same name.
 */
#ifndef KL_RECORD_ATTACH_PROTOTYPES_H
#define KL_RECORD_ATTACH_PROTOTYPES_H

#include <stdio.h>

#include "record/attach/kernel.h"

struct btf_dump;

/* A stream for prototypes; all members but @f begin as 0. */
struct kl_prototype_writer {
	FILE *f;
	struct btf_dump *dump; /* of @btf, kept for the next function */
	const struct btf *btf;
};

/* Write the function's prototype, without a semicolon; nothing if BTF has none. */
void kl_prototype_put(struct kl_prototype_writer *w, const struct kl_func *f);
/* Free what the writer keeps; the stream stays open. */
void kl_prototype_end(struct kl_prototype_writer *w);

/* Return: the number of different prototypes of functions with this name. */
unsigned int kl_prototypes_count(const struct btf *btf, const char *name);
/* Print all prototypes of the function's name in C, as ": A; B"; "" without memory. */
void kl_prototypes_text(const struct kl_func *f, char *buf, size_t size);

#endif
