/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Words for strings: equal strings have equal words.  Decimal numbers below 10^18 are their own
 * words; other strings get words from KL_WORDS_FIRST on, in order of their first occurrence.
 */
#ifndef KL_HISTORY_STRING_POOL_H
#define KL_HISTORY_STRING_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/table.h"

#define KL_WORDS_FIRST	((uint64_t)1 << 62)

struct kl_words {
	struct kl_arena arena;
	struct kl_word_entry {
		union {
			char here[16];		/* a short string */
			const char *there;	/* a longer string */
		};
		uint32_t len;
	} *entry;
	size_t n, centry;
	struct kl_table table;
};

/*
 * Read the number at @s, of at most @most characters, without a sign and without leading zeros.
 * Return: the length of the number, or 0 if there is no number that is its own word.
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

/* Get the word of a string, a new one for a new string.  Return: 0, -ENOMEM or -EOVERFLOW. */
int kl_words_get(struct kl_words *w, const char *s, size_t len, uint64_t *word);
/* Find the word of a string.  Return: false if it has none. */
bool kl_words_find(const struct kl_words *w, const char *s, size_t len, uint64_t *word);
void kl_words_free(struct kl_words *w);

#endif
