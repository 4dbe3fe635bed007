/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Strings as words: equal strings are equal words.  Decimal numbers below 10^18
 * are their own words, other strings get words from KL_WORDS_FIRST on in the
 * order in which they are first seen.
 */
#ifndef KL_HISTORY_WORDS_H
#define KL_HISTORY_WORDS_H

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

/* The word of a string; 0 or -ENOMEM, -EOVERFLOW. */
int kl_words_get(struct kl_words *w, const char *s, size_t len, uint64_t *word);
void kl_words_free(struct kl_words *w);

#endif
