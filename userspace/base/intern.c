// SPDX-License-Identifier: GPL-2.0
/* Interned arrays of words, see intern.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "base/mem.h"

void kl_intern_free(struct kl_intern *t)
{
	free(t->words);
	free(t->at);
	free(t->table);
	memset(t, 0, sizeof(*t));
}

static int intern_init(struct kl_intern *t)
{
	t->table = calloc(256, sizeof(*t->table));
	if (!t->table || kl_grow(t->at, t->cat, 2)) {
		kl_intern_free(t);
		return -ENOMEM;
	}
	t->tsize = 256;
	t->at[0] = 0;
	return 0;
}

static int intern_rehash(struct kl_intern *t)
{
	size_t size = t->tsize * 2, i, at;
	uint32_t *table = calloc(size, sizeof(*table));

	if (!table)
		return -ENOMEM;
	for (i = 0; i < t->n; i++) {
		at = kl_hash_words(t->words + t->at[i], t->at[i + 1] - t->at[i], 0) & (size - 1);
		while (table[at])
			at = (at + 1) & (size - 1);
		table[at] = i + 1;
	}
	free(t->table);
	t->table = table;
	t->tsize = size;
	return 0;
}

int64_t kl_intern(struct kl_intern *t, const uint64_t *words, size_t n)
{
	size_t at;
	int ret = t->table ? 0 : intern_init(t);

	if (ret)
		return ret;
	at = kl_hash_words(words, n, 0) & (t->tsize - 1);
	for (; t->table[at]; at = (at + 1) & (t->tsize - 1)) {
		uint32_t i = t->table[at] - 1;

		if (t->at[i + 1] - t->at[i] == n &&
		    (!n || !memcmp(t->words + t->at[i], words, n * sizeof(*words))))
			return i;
	}
	if (t->n >= UINT32_MAX - 2)
		return -EOVERFLOW;
	ret = kl_grow(t->words, t->cwords, t->nwords + n);
	if (!ret)
		ret = kl_grow(t->at, t->cat, t->n + 2);
	if (ret)
		return ret;
	if (n)
		memcpy(t->words + t->nwords, words, n * sizeof(*words));
	t->nwords += n;
	t->at[t->n + 1] = t->nwords;
	t->table[at] = ++t->n;
	if (t->n * 2 > t->tsize) {
		ret = intern_rehash(t);
		if (ret)
			return ret;
	}
	return t->n - 1;
}
