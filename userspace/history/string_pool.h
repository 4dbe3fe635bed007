/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Strings as words: equal strings are equal words.  Decimal numbers below 10^18
 * are their own words, other strings get words from KL_WORDS_FIRST on in the
 * order in which they are first seen.
 */
#ifndef KL_HISTORY_STRING_POOL_H
#define KL_HISTORY_STRING_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

#define KL_WORDS_FIRST	((uint64_t)1 << 62)

struct kl_words {
	struct kl_arena arena;
	struct kl_word_entry {
		union {
			char here[16];		/* a short one, */
			const char *there;	/* a longer one */
		};
		uint32_t len, hash;
	} *entry;
	size_t n, centry;
	uint32_t *slot;		/* open addressing: index + 1 */
	size_t mask;
};

/*
 * The number at @s, of at most @most characters: how many it has.  As a person would write
 * it, with no sign and no zeros in front; 0: there is none that is its own word.
 */
static inline size_t kl_words_number(const char *s, size_t most, uint64_t *word)
{
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < most && (unsigned int)(s[i] - '0') < 10; i++)
		v = v * 10 + (s[i] - '0');
	if (i > 18 || (*s == '0' && i > 1))
		return 0;
	*word = v;
	return i;
}

/* The word of a string; 0 or -ENOMEM, -EOVERFLOW. */
int kl_words_get(struct kl_words *w, const char *s, size_t len, uint64_t *word);
/* The same of one that has a word, false if it has none. */
bool kl_words_find(const struct kl_words *w, const char *s, size_t len, uint64_t *word);
void kl_words_free(struct kl_words *w);

#endif
