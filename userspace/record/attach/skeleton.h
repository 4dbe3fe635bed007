/* SPDX-License-Identifier: GPL-2.0 */
/* Writes the skeleton of a specification for functions of a kernel. */
#ifndef KL_RECORD_ATTACH_SKELETON_H
#define KL_RECORD_ATTACH_SKELETON_H

#include <stdio.h>

#include "record/attach/kernel.h"

#define KL_SKELETON_MAX 32 /* most functions of a skeleton */

/**
 * kl_skeleton_put() - write a specification with a method and a probe clause for each function
 * @out: the stream
 * @name: the specification's name
 * @funcs: the functions, each with its type, and a name that the language does not reserve
 * @n: number of functions, at most KL_SKELETON_MAX
 *
 * The specification allows every result, until a person says what the operations do.  Numbers
 * among a function's parameters become arguments, and its result a result.  The object is a guess:
 * the pointer to a structure that most of the functions take.
 */
void kl_skeleton_put(FILE *out, const char *name, const struct kl_func *funcs, size_t n);

#endif
