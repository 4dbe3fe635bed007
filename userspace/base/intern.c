// SPDX-License-Identifier: GPL-2.0
/* Interned arrays of words, see intern.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "base/mem.h"

#define FIRST_SLOTS	64

void kl_intern_free(struct kl_intern *t)
{
	free(t->words);
	free(t->at);
	free(t->table);
	memset(t, 0, sizeof(*t));
}

static int intern_init(struct kl_intern *t)
{
	t->table = calloc(FIRST_SLOTS, sizeof(*t->table));
	if (!t->table || kl_grow(t->at, t->cat, 2)) {
		kl_intern_free(t);
		return -ENOMEM;
	}
	t->tsize = FIRST_SLOTS;
	t->at[0] = 0;
	return 0;
}

static int intern_rehash(struct kl_intern *t)
{
	size_t size = t->tsize * 2, i, at;
	uint64_t *table = calloc(size, sizeof(*table));

	if (!table)
		return -ENOMEM;
	kl_big_hint(table, size * sizeof(*table));
	for (i = 0; i < t->tsize; i++) {
		if (!t->table[i])
			continue;
		at = t->table[i] >> 32 & (size - 1);
		while (table[at])
			at = (at + 1) & (size - 1);
		table[at] = t->table[i];
	}
	free(t->table);
	t->table = table;
	t->tsize = size;
	return 0;
}

/* Most arrays are short: a call of memcmp() would take longer than this. */
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
	uint32_t hash, i;
	size_t at;
	int ret = t->table ? 0 : intern_init(t);

	if (ret)
		return ret;
	hash = kl_hash_words(words, n, 0);
	at = hash & (t->tsize - 1);
	for (; t->table[at]; at = (at + 1) & (t->tsize - 1)) {
		if (t->table[at] >> 32 != hash)
			continue;
		i = (uint32_t)t->table[at] - 1;
		if (t->at[i + 1] - t->at[i] == n && same(t->words + t->at[i], words, n))
			return i;
	}
	if (t->n >= UINT32_MAX - 2)
		return -EOVERFLOW;
	/* A word more, as is promised of kl_intern_get(). */
	ret = kl_grow(t->words, t->cwords, t->nwords + n + 1);
	if (!ret)
		ret = kl_grow(t->at, t->cat, t->n + 2);
	if (ret)
		return ret;
	if (n)
		memcpy(t->words + t->nwords, words, n * sizeof(*words));
	t->nwords += n;
	t->at[t->n + 1] = t->nwords;
	t->table[at] = (uint64_t)hash << 32 | ++t->n;
	if (t->n * 2 > t->tsize) {
		ret = intern_rehash(t);
		if (ret)
			return ret;
	}
	return t->n - 1;
}

/* Add those to @to as well, and renumber them. */
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
