/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A table from words to numbers of items.  The items are in an array, and begin with their word.
 * A removed word leaves no hole, so the table grows only with the words that it holds.
 */
#ifndef KL_CHECK_ONLINE_WORDS_H
#define KL_CHECK_ONLINE_WORDS_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/hash.h"

struct on_words {
	uint32_t *at;		/* number + 1, 0 is free */
	size_t size, n;
};

/* Return: the word of item @i; items have @each bytes. */
static inline uint64_t on_word_of(const void *items, size_t each, uint32_t i)
{
	return *(const uint64_t *)((const char *)items + i * each);
}

/* Return: the index at which the search for the word begins. */
static inline size_t on_words_home(const struct on_words *w, uint64_t word)
{
	return kl_mix(word, 0) & (w->size - 1);
}

/* Return: the index of the word's entry in @at, or of the free entry for it. */
static inline size_t on_words_find(const struct on_words *w, const void *items, size_t each,
				   uint64_t word)
{
	size_t at = on_words_home(w, word);

	while (w->at[at] && on_word_of(items, each, w->at[at] - 1) != word)
		at = (at + 1) & (w->size - 1);
	return at;
}

/* Make room for one more word.  Return: 0, or -ENOMEM. */
static inline int on_words_room(struct on_words *w, const void *items, size_t each)
{
	struct on_words wide = { .size = w->size ? 2 * w->size : 64, .n = w->n };
	size_t i;

	if (2 * (w->n + 1) <= w->size)
		return 0;
	wide.at = calloc(wide.size, sizeof(*wide.at));
	if (!wide.at)
		return -ENOMEM;
	for (i = 0; i < w->size; i++)
		if (w->at[i])
			wide.at[on_words_find(&wide, items, each,
					      on_word_of(items, each, w->at[i] - 1))] = w->at[i];
	free(w->at);
	*w = wide;
	return 0;
}

/* Remove the entry at @hole, and close the hole. */
static inline void on_words_unlink(struct on_words *w, const void *items, size_t each, size_t hole)
{
	size_t at = hole;

	w->n--;
	for (;;) {
		at = (at + 1) & (w->size - 1);
		if (!w->at[at])
			break;
		if (((at - on_words_home(w, on_word_of(items, each, w->at[at] - 1))) &
		     (w->size - 1)) >= ((at - hole) & (w->size - 1))) {
			w->at[hole] = w->at[at];
			hole = at;
		}
	}
	w->at[hole] = 0;
}

#endif
