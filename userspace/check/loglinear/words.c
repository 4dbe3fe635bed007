// SPDX-License-Identifier: GPL-2.0
/* Numbering words, see words.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/loglinear/words.h"

#define DIRECT	4	/* words below this many times the operations are looked up directly */
#define SAMPLES	64	/* values of a history that mostly_direct() looks at, about */

static size_t direct_bytes(const struct ll_words *w)
{
	return (w->ndirect + 1) * sizeof(*w->direct);
}

/* Return: true if most words of a sample of @h are below @ndirect. */
static bool mostly_direct(const struct kl_history *h, uint64_t ndirect)
{
	const size_t each = h->nvals / SAMPLES + 1;
	size_t i, direct = 0, others = 0;

	for (i = 0; i < h->nvals; i += each) {
		if (h->vals[i].tag != KL_WORD)
			continue;
		direct += h->vals[i].v < ndirect;
		others += h->vals[i].v >= ndirect;
	}
	return direct > others;
}

int ll_words_init(struct ll_words *w, const struct kl_history *h, uint32_t most)
{
	memset(w, 0, sizeof(*w));
	w->most = most;
	w->numbers = UINT32_MAX >> __builtin_clz(most + 1);
	w->ndirect = DIRECT * (uint64_t)most;
	/* A few small words far from each other would take a page each. */
	if (!h || !mostly_direct(h, w->ndirect))
		w->ndirect = 0;
	w->word = kl_big_alloc(((size_t)most + 1) * sizeof(*w->word));
	w->direct = kl_zero_map(direct_bytes(w), ((size_t)most + 1) * sizeof(*w->direct));
	return w->word && w->direct ? 0 : -ENOMEM;
}

void ll_words_close(struct ll_words *w)
{
	kl_zero_unmap(w->direct, direct_bytes(w));
	kl_zero_unmap(w->table, (w->mask + 1) * sizeof(*w->table));
	w->direct = NULL;
	w->table = NULL;
	w->ndirect = 0;
}

void ll_words_free(struct ll_words *w)
{
	ll_words_close(w);
	free(w->word);
	w->word = NULL;
}

/* Return: the table's entry for a word with this hash and number. */
static inline uint32_t entry(const struct ll_words *w, uint64_t hash, uint32_t number)
{
	return ((uint32_t)(hash >> 32) & ~w->numbers) | (number + 1);
}

/*
 * Return: the index of @word in the table, or of a free entry.  Whether the word is there cannot be
 * predicted, so the only branch asks whether the entry has another word.
 */
static inline size_t place_of(const struct ll_words *w, uint64_t word, uint64_t hash)
{
	size_t at = hash & w->mask;

	for (;; at = (at + 1) & w->mask) {
		const uint32_t e = w->table[at];
		const uint64_t taken = -(uint64_t)!!e;

		/* Bits of the hash are compared first, since words are far away in memory. */
		if (!((e ^ hash >> 32) & ~w->numbers & taken) &&
		    !((w->word[(e & w->numbers) + taken] ^ word) & taken))
			return at;
	}
}

/*
 * Make the table, or make it larger.  It is first made for half as many words as operations: most
 * histories have no more, since words are added and removed.
 */
static int make_table(struct ll_words *w)
{
	size_t size = w->table ? 2 * (w->mask + 1) : 64;
	uint32_t i;

	while (size < w->most || size < 2 * ((size_t)w->n + 1))
		size *= 2;
	kl_zero_unmap(w->table, (w->mask + 1) * sizeof(*w->table));
	w->table = kl_zero_map(size * sizeof(*w->table), size * sizeof(*w->table));
	if (!w->table)
		return -ENOMEM;
	w->mask = size - 1;
	for (i = 0; i < w->n; i++) {
		const uint64_t word = w->word[i], hash = ll_words_hash(word);

		if (word >= w->ndirect)
			w->table[place_of(w, word, hash)] = entry(w, hash, i);
	}
	return 0;
}

int ll_words_hashed(struct ll_words *w, uint64_t word, uint64_t hash, uint32_t *number)
{
	uint32_t new;
	size_t at;

	if ((!w->table || 2 * (size_t)w->n > w->mask) && make_table(w))
		return -ENOMEM;
	at = place_of(w, word, hash);
	new = -(uint32_t)!w->table[at];
	w->word[w->n] = word;
	w->table[at] |= entry(w, hash, w->n) & new;
	w->n -= new;
	*number = (w->table[at] & w->numbers) - 1;
	return 0;
}
