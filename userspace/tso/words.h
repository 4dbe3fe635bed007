/* SPDX-License-Identifier: GPL-2.0 */
/* Strings of words, each kept once and known by a number. */
#ifndef KL_TSO_WORDS_H
#define KL_TSO_WORDS_H

#include <stddef.h>
#include <stdint.h>

struct kl_words {
	uint64_t *words;
	size_t nwords, cwords;
	size_t *at;		/* where each begins; one more than there are */
	size_t n, cat;
	uint32_t *table;	/* number plus 1, 0 if free */
	size_t nslots;
};

/* The number of a string; a negative errno. */
int64_t kl_words_add(struct kl_words *in, const uint64_t *words, size_t n);
void kl_words_free(struct kl_words *in);

static inline const uint64_t *kl_words_get(const struct kl_words *in, uint32_t id, size_t *n)
{
	*n = in->at[id + 1] - in->at[id];
	return in->words + in->at[id];
}

static inline size_t kl_words_bytes(const struct kl_words *in)
{
	return (in->cwords + in->cat) * 8 + in->nslots * 4;
}

#endif
