// SPDX-License-Identifier: GPL-2.0
/* Numbering words, see words.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/mono/words.h"

int mono_words_init(struct mono_words *w, uint32_t most, uint64_t ndirect)
{
	memset(w, 0, sizeof(*w));
	w->most = most;
	w->ndirect = ndirect;
	w->word = kl_big_alloc(((size_t)most + 1) * sizeof(*w->word));
	w->direct = calloc(w->ndirect + 1, sizeof(*w->direct));
	return w->word && w->direct ? 0 : -ENOMEM;
}

void mono_words_close(struct mono_words *w)
{
	free(w->direct);
	free(w->table);
	w->direct = NULL;
	w->table = NULL;
	w->ndirect = 0;
}

void mono_words_free(struct mono_words *w)
{
	mono_words_close(w);
	free(w->word);
	w->word = NULL;
}

static int make_table(struct mono_words *w)
{
	size_t size = 64;

	while (size < 2 * (size_t)w->most)
		size *= 2;
	w->table = kl_big_zalloc(size, sizeof(*w->table));
	if (!w->table)
		return -ENOMEM;
	w->mask = size - 1;
	return 0;
}

int mono_words_hashed(struct mono_words *w, uint64_t word, uint32_t *number)
{
	const uint64_t hash = kl_mix(word, 0);
	size_t at;

	if (!w->table && make_table(w))
		return -ENOMEM;
	for (at = hash & w->mask; w->table[at]; at = (at + 1) & w->mask) {
		*number = (uint32_t)w->table[at] - 1;
		if (!((w->table[at] ^ hash) >> 32) && w->word[*number] == word)
			return 0;
	}
	*number = w->n;
	w->word[w->n++] = word;
	w->table[at] = (hash & ~(uint64_t)UINT32_MAX) | w->n;
	return 0;
}
