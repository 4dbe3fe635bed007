/* SPDX-License-Identifier: GPL-2.0 */
/* Names that were mistyped, and what they were most likely meant to be. */
#ifndef KL_BASE_NEAREST_H
#define KL_BASE_NEAREST_H

#include <stddef.h>

#define KL_NEAREST_MAX	64	/* characters of a name; others behind them do not count */

/**
 * kl_edits() - count the typing errors between two names
 * @a: one name
 * @na: its length
 * @b: the other name
 *
 * Return: how many characters to insert, to delete, to replace or to swap with the next
 * one lead from @a to @b.
 */
unsigned int kl_edits(const char *a, size_t na, const char *b);

/**
 * kl_nearest() - the name that a person most likely meant
 * @name: what was written
 * @names: what exists
 * @n: how many
 *
 * Return: one of @names within a third of its length of edits, or NULL.
 */
const char *kl_nearest(const char *name, const char *const *names, size_t n);

#endif
