/* SPDX-License-Identifier: GPL-2.0 */
/* Suggestions for mistyped names. */
#ifndef KL_BASE_NEAREST_H
#define KL_BASE_NEAREST_H

#include <stddef.h>

#define KL_NEAREST_MAX	64	/* bytes of a name that are compared; further ones are ignored */

/**
 * kl_edits() - count the typing errors between two names
 * @a: one name
 * @na: length of @a in bytes
 * @b: the other name, ending with a NUL
 *
 * Return: the least number of insertions, deletions, replacements and swaps of neighbours that
 * turn @a into @b.
 */
unsigned int kl_edits(const char *a, size_t na, const char *b);

/**
 * kl_nearest() - find the name that a person most likely meant
 * @name: the name that was written
 * @names: the existing names
 * @n: number of existing names
 *
 * Return: the element of @names that differs in upper and lower case only; else that which takes
 * the fewest edits, if these are at most a third of the element's length and fewer than the length
 * of @name; or NULL.
 */
const char *kl_nearest(const char *name, const char *const *names, size_t n);

#endif
