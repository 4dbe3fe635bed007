/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers for words, in order of their first occurrence. */
#ifndef KL_CHECK_LOGLINEAR_WORDS_H
#define KL_CHECK_LOGLINEAR_WORDS_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "history/history.h"

struct ll_words {
	uint64_t *word;		/* each word by its number */
	uint32_t n, most;	/* number of words, and its bound */
	uint32_t *direct;	/* number + 1 of each word below @ndirect, or 0 */
	uint64_t ndirect;
	/* entries of other words: bits of the hash, and below them the number + 1 */
	uint32_t *table;
	size_t mask;
	uint32_t numbers;	/* mask of the number in an entry */
};

/*
 * Prepare for at most @most words of @h.  If most words of @h are small, small words are looked up
 * directly.  If @h is NULL, none is.  Return: 0, or -ENOMEM.
 */
int ll_words_init(struct ll_words *w, const struct kl_history *h, uint32_t most);
void ll_words_free(struct ll_words *w);
/* Free everything but the words by number. */
void ll_words_close(struct ll_words *w);
/* Number a word that is not below @ndirect; @hash is its ll_words_hash().  0, or -ENOMEM. */
int ll_words_hashed(struct ll_words *w, uint64_t word, uint64_t hash, uint32_t *number);

static inline uint64_t ll_words_hash(uint64_t word)
{
	return kl_mix(word, 0);
}

/* Prefetch for a word that is looked up soon.  Without inlining, the prefetch would be dropped. */
__attribute__((always_inline)) static inline void ll_words_soon(const struct ll_words *w,
								uint64_t word, uint64_t hash)
{
	if (word < w->ndirect)
		__builtin_prefetch(&w->direct[word]);
	else if (w->table)
		__builtin_prefetch(&w->table[hash & w->mask]);
}

/*
 * Guess the number of a word that is looked up very soon, and prefetch what is compared with the
 * word.  Return: the number, or 0 if there is no guess.
 */
static inline uint32_t ll_words_sooner(const struct ll_words *w, uint64_t word, uint64_t hash)
{
	uint32_t n;

	if (word < w->ndirect || !w->table)
		return 0;
	n = w->table[hash & w->mask] & w->numbers;
	n -= !!n;
	__builtin_prefetch(&w->word[n]);
	return n;
}

/*
 * Number @word, which is below @ndirect.  Whether the word is new cannot be predicted, so there is
 * no branch on it.
 */
static inline uint32_t ll_words_direct(struct ll_words *w, uint64_t word)
{
	uint32_t n = w->direct[word];

	w->word[w->n] = word;
	w->n += !n;
	n |= w->n & -(uint32_t)!n;
	w->direct[word] = n;
	return n - 1;
}

/* Number any word; @hash is not used if the word is below @ndirect.  Return: 0, or -ENOMEM. */
static inline int ll_words_number(struct ll_words *w, uint64_t word, uint64_t hash,
				  uint32_t *number)
{
	if (word >= w->ndirect)
		return ll_words_hashed(w, word, hash, number);
	*number = ll_words_direct(w, word);
	return 0;
}

#endif
