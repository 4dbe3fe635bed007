/* SPDX-License-Identifier: GPL-2.0 */
/* Arrays of words, each kept once and known by a number. */
#ifndef KL_BASE_INTERN_H
#define KL_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

/* A set of arrays of words, each with a number, in one piece of memory; all zero at first. */
struct kl_intern {
	uint64_t *words;
	size_t *at;		/* start of each in words; at[n] is the end */
	uint64_t *table;	/* hash << 32 | number + 1; 0 is free */
	size_t nwords, cwords, n, cat, tsize;
};

void kl_intern_free(struct kl_intern *t);
/* The number of @words (0, 1, ... in order of arrival), added if new; negative errno. */
int64_t kl_intern(struct kl_intern *t, const uint64_t *words, size_t n);

/**
 * kl_intern_keep() - forget all others
 * @t: the set
 * @some: numbers that are kept and get the first new ones, in this order
 * @nsome: how many
 * @more: others that are kept; both get the new numbers
 * @n: how many
 *
 * Return: 0; negative errno: the set is as it was, and the numbers are of no use.
 */
int kl_intern_keep(struct kl_intern *t, uint32_t *some, size_t nsome, uint32_t *more, size_t n);

/* The words of @i; a word more can be read, which is whatever it is. */
static inline const uint64_t *kl_intern_get(const struct kl_intern *t, uint32_t i, size_t *n)
{
	*n = t->at[i + 1] - t->at[i];
	return t->words + t->at[i];
}

static inline size_t kl_intern_bytes(const struct kl_intern *t)
{
	return t->cwords * sizeof(*t->words) + t->cat * sizeof(*t->at) +
	       t->tsize * sizeof(*t->table);
}

#endif
