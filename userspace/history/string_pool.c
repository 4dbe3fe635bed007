// SPDX-License-Identifier: GPL-2.0
/* Strings as words, see string_pool.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "history/string_pool.h"

static uint64_t hash_string(const char *s, size_t len)
{
	uint64_t h = len, w;

	for (; len >= 8; s += 8, len -= 8) {
		memcpy(&w, s, 8);
		h = kl_mix(h, w);
	}
	for (w = 0; len; len--)
		w = w << 8 | (unsigned char)*s++;
	return kl_mix(h, w);
}

static int reserve(struct kl_words *w)
{
	size_t size = w->slot ? w->mask + 1 : 0, want = size ? size * 2 : 64, i, at;
	uint32_t *slot;

	if (w->n >= UINT32_MAX / 4)
		return -EOVERFLOW;
	if (w->n * 2 < size)
		return 0;
	slot = calloc(want, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	for (i = 0; i < w->n; i++) {
		for (at = w->entry[i].hash & (want - 1); slot[at]; at = (at + 1) & (want - 1))
			;
		slot[at] = i + 1;
	}
	free(w->slot);
	w->slot = slot;
	w->mask = want - 1;
	return 0;
}

static const char *text_of(const struct kl_word_entry *e)
{
	return e->len <= sizeof(e->here) ? e->here : e->there;
}

/* The slot of a string, of this hash, or that which it would get: there is a free one. */
static size_t find(const struct kl_words *w, const char *s, size_t len, uint32_t hash)
{
	const struct kl_word_entry *e;
	size_t at;

	for (at = hash & w->mask; w->slot[at]; at = (at + 1) & w->mask) {
		e = &w->entry[w->slot[at] - 1];
		if (e->hash == hash && e->len == len && !memcmp(text_of(e), s, len))
			break;
	}
	return at;
}

bool kl_words_find(const struct kl_words *w, const char *s, size_t len, uint64_t *word)
{
	size_t at;

	if (len && kl_words_number(s, len, word) == len)
		return true;
	if (!w->slot || len > UINT32_MAX)
		return false;
	at = find(w, s, len, hash_string(s, len));
	*word = KL_WORDS_FIRST + w->slot[at] - 1;
	return w->slot[at];
}

int kl_words_get(struct kl_words *w, const char *s, size_t len, uint64_t *word)
{
	struct kl_word_entry *e;
	uint32_t hash;
	size_t at;
	int ret;

	if (len && kl_words_number(s, len, word) == len)
		return 0;
	if (len > UINT32_MAX)
		return -EOVERFLOW;
	ret = reserve(w);
	if (ret)
		return ret;
	hash = hash_string(s, len);
	at = find(w, s, len, hash);
	if (w->slot[at]) {
		*word = KL_WORDS_FIRST + w->slot[at] - 1;
		return 0;
	}
	ret = kl_grow(w->entry, w->centry, w->n + 1);
	if (ret)
		return ret;
	e = &w->entry[w->n];
	e->len = len;
	e->hash = hash;
	if (len <= sizeof(e->here)) {
		memcpy(e->here, s, len);
	} else {
		e->there = kl_arena_strndup(&w->arena, s, len);
		if (!e->there)
			return -ENOMEM;
	}
	*word = KL_WORDS_FIRST + w->n;
	w->slot[at] = ++w->n;
	return 0;
}

void kl_words_free(struct kl_words *w)
{
	free(w->entry);
	free(w->slot);
	kl_arena_free(&w->arena);
}
