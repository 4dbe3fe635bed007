/* SPDX-License-Identifier: GPL-2.0 */
/* Interning: a set stores each array of words once and numbers the arrays. */
#ifndef KL_BASE_INTERN_H
#define KL_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

/* A set of numbered arrays of words, in one block of memory; all zero at first. */
struct kl_intern {
	uint64_t *words;
	size_t *at;		/* index in words of the begin of each array; at[n] is the end */
	struct kl_table table;	/* the arrays' numbers, by hash */
	/* words in use, and allocated; number of arrays, and allocated elements of at */
	size_t nwords, cwords, n, cat;
};

void kl_intern_free(struct kl_intern *t);
/*
 * Add the array of @n words unless the set has an equal array.
 * Return: the number of the array (0, 1, ... in order of arrival), or a negative errno.
 */
int64_t kl_intern(struct kl_intern *t, const uint64_t *words, size_t n);

/**
 * kl_intern_keep() - remove all arrays except the given ones
 * @t: the set
 * @some: numbers of arrays to keep, which become 0, 1, ... in this order
 * @nsome: number of elements of @some
 * @more: further numbers of arrays to keep
 * @n: number of elements of @more
 *
 * Each number in @some and @more is replaced by the new number of its array.
 *
 * Return: 0, or a negative errno.  After an error the set is unchanged, but the contents of
 * @some and @more are undefined.
 */
int kl_intern_keep(struct kl_intern *t, uint32_t *some, size_t nsome, uint32_t *more, size_t n);

/*
 * Return: the words of array @i; @n receives their number.  The caller may read one word beyond
 * the array, whose value is undefined.
 */
static inline const uint64_t *kl_intern_get(const struct kl_intern *t, uint32_t i, size_t *n)
{
	*n = t->at[i + 1] - t->at[i];
	return t->words + t->at[i];
}

static inline size_t kl_intern_bytes(const struct kl_intern *t)
{
	return t->cwords * sizeof(*t->words) + t->cat * sizeof(*t->at) +
	       kl_table_bytes(&t->table);
}

#endif
