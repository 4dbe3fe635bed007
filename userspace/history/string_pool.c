// SPDX-License-Identifier: GPL-2.0
/* Words for strings, see string_pool.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "history/string_pool.h"

static const char *text_of(const struct kl_word_entry *e)
{
	return e->len <= sizeof(e->here) ? e->here : e->there;
}

/* Return: the index of the string, which has this hash, or KL_TABLE_END. */
static uint32_t find(const struct kl_words *w, const char *s, size_t len, uint32_t hash)
{
	const struct kl_word_entry *e;
	uint32_t i;
	size_t at;

	kl_table_for_each(&w->table, hash, at, i) {
		e = &w->entry[i];
		if (e->len == len && !memcmp(text_of(e), s, len))
			break;
	}
	return i;
}

bool kl_words_find(const struct kl_words *w, const char *s, size_t len, uint64_t *word)
{
	uint32_t i;

	if (len && kl_words_number(s, len, word) == len)
		return true;
	if (len > UINT32_MAX)
		return false;
	i = find(w, s, len, kl_hash_bytes(s, len));
	*word = KL_WORDS_FIRST + i;
	return i != KL_TABLE_END;
}

int kl_words_get(struct kl_words *w, const char *s, size_t len, uint64_t *word)
{
	struct kl_word_entry *e;
	uint32_t hash, i;
	int ret;

	if (len && kl_words_number(s, len, word) == len)
		return 0;
	if (len > UINT32_MAX)
		return -EOVERFLOW;
	hash = kl_hash_bytes(s, len);
	i = find(w, s, len, hash);
	if (i != KL_TABLE_END) {
		*word = KL_WORDS_FIRST + i;
		return 0;
	}
	if (w->n >= UINT32_MAX / 4)
		return -EOVERFLOW;
	ret = kl_grow(w->entry, w->centry, w->n + 1) ?: kl_table_reserve(&w->table, 1);
	if (ret)
		return ret;
	e = &w->entry[w->n];
	e->len = len;
	if (len <= sizeof(e->here)) {
		memcpy(e->here, s, len);
	} else {
		e->there = kl_arena_strndup(&w->arena, s, len);
		if (!e->there)
			return -ENOMEM;
	}
	*word = KL_WORDS_FIRST + w->n;
	kl_table_put(&w->table, hash, w->n++);
	return 0;
}

void kl_words_free(struct kl_words *w)
{
	free(w->entry);
	kl_table_free(&w->table);
	kl_arena_free(&w->arena);
}
