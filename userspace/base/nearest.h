/* SPDX-License-Identifier: GPL-2.0 */
/* Suggestions for mistyped names. */
#ifndef KL_BASE_NEAREST_H
#define KL_BASE_NEAREST_H

#include <stddef.h>

#define KL_NEAREST_MAX	64	/* characters of a name; further ones are ignored */

/**
 * kl_edits() - count the typing errors between two names
 * @a: one name
 * @na: its length
 * @b: the other name
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
 * Return: the nearest of @names if it needs at most a third of its length of edits, or NULL.
 */
const char *kl_nearest(const char *name, const char *const *names, size_t n);

#endif
