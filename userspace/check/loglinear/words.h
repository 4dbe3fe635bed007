/* SPDX-License-Identifier: GPL-2.0 */
/* Words by number, in order of their first sights. */
#ifndef KL_CHECK_LOGLINEAR_WORDS_H
#define KL_CHECK_LOGLINEAR_WORDS_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "history/history.h"

struct mono_words {
	uint64_t *word;		/* by number */
	uint32_t n, most;
	uint32_t *direct;	/* word -> number + 1, of small words */
	uint64_t ndirect;
	uint32_t *table;	/* of the others: bits of the hash over the number + 1, */
	size_t mask;
	uint32_t numbers;	/* which this is a mask of */
};

/*
 * For at most @most words of @h, of which small ones are looked up directly, if they are
 * most of them; NULL: none is.  0 or -ENOMEM.
 */
int mono_words_init(struct mono_words *w, const struct kl_history *h, uint32_t most);
void mono_words_free(struct mono_words *w);
/* All but the words by number is not needed any more. */
void mono_words_close(struct mono_words *w);
/* One that is not looked up directly, of which @hash is mono_words_hash(). */
int mono_words_hashed(struct mono_words *w, uint64_t word, uint64_t hash, uint32_t *number);

static inline uint64_t mono_words_hash(uint64_t word)
{
	return kl_mix(word, 0);
}

/* It will be looked up soon.  Not inlined, that would be taken for nothing. */
__attribute__((always_inline))
static inline void mono_words_soon(const struct mono_words *w, uint64_t word, uint64_t hash)
{
	if (word < w->ndirect)
		__builtin_prefetch(&w->direct[word]);
	else if (w->table)
		__builtin_prefetch(&w->table[hash & w->mask]);
}

/* It will be looked up very soon: the number that it seems to have, or 0. */
static inline uint32_t mono_words_sooner(const struct mono_words *w, uint64_t word, uint64_t hash)
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
 * The number of @word, below @ndirect, a new one if it was not seen before: which, is
 * chance, and so nothing that could be guessed.
 */
static inline uint32_t mono_words_direct(struct mono_words *w, uint64_t word)
{
	uint32_t n = w->direct[word];

	w->word[w->n] = word;
	w->n += !n;
	n |= w->n & -(uint32_t)!n;
	w->direct[word] = n;
	return n - 1;
}

/* The same of any word; @hash matters only if it is not looked up directly.  0 or -ENOMEM. */
static inline int mono_words_number(struct mono_words *w, uint64_t word, uint64_t hash,
				    uint32_t *number)
{
	if (word >= w->ndirect)
		return mono_words_hashed(w, word, hash, number);
	*number = mono_words_direct(w, word);
	return 0;
}

#endif
