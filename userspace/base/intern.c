// SPDX-License-Identifier: GPL-2.0
/* Interned arrays of words, see intern.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "base/mem.h"

void kl_intern_free(struct kl_intern *t)
{
	free(t->words);
	free(t->at);
	kl_table_free(&t->table);
	memset(t, 0, sizeof(*t));
}

/*
 * Return: true if two arrays of @n words are equal.  Most arrays are short, and a call of memcmp()
 * takes longer than this loop for a short array.
 */
static bool same(const uint64_t *a, const uint64_t *b, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

int64_t kl_intern(struct kl_intern *t, const uint64_t *words, size_t n)
{
	const uint32_t hash = kl_hash_words(words, n, 0);
	uint32_t i;
	size_t at;
	int ret;

	kl_table_for_each(&t->table, hash, at, i)
		if (t->at[i + 1] - t->at[i] == n && same(t->words + t->at[i], words, n))
			return i;
	if (t->n >= UINT32_MAX - 2)
		return -EOVERFLOW;
	/* kl_intern_get() promises that one more word can be read. */
	ret = kl_grow(t->words, t->cwords, t->nwords + n + 1) ?:
	      kl_grow(t->at, t->cat, t->n + 2);
	if (ret)
		return ret;
	if (!t->n)
		t->at[0] = 0;
	ret = kl_table_add(&t->table, hash, t->n);
	if (ret)
		return ret;
	if (n)
		memcpy(t->words + t->nwords, words, n * sizeof(*words));
	t->nwords += n;
	t->at[++t->n] = t->nwords;
	return t->n - 1;
}

/* Add the arrays of @t with these @n numbers to @to, and replace the numbers by those of @to. */
static int keep(const struct kl_intern *t, struct kl_intern *to, uint32_t *numbers, size_t n)
{
	const uint64_t *words;
	size_t i, len;
	int64_t id;

	for (i = 0; i < n; i++) {
		words = kl_intern_get(t, numbers[i], &len);
		id = kl_intern(to, words, len);
		if (id < 0)
			return id;
		numbers[i] = id;
	}
	return 0;
}

int kl_intern_keep(struct kl_intern *t, uint32_t *some, size_t nsome, uint32_t *more, size_t n)
{
	struct kl_intern kept = { 0 };
	int ret = keep(t, &kept, some, nsome) ?: keep(t, &kept, more, n);

	if (ret) {
		kl_intern_free(&kept);
		return ret;
	}
	kl_intern_free(t);
	*t = kept;
	return 0;
}
