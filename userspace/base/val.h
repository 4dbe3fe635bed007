/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values of histories and specifications: a 64-bit word, or one of a few special values that
 * differ from all words.
 */
#ifndef KL_BASE_VAL_H
#define KL_BASE_VAL_H

#include <stdbool.h>
#include <stdint.h>

enum kl_tag {
	KL_WORD,	/* v is the word; a bool is 0 or 1 */
	KL_ANY,		/* not known; for a word in a state, v is the number of the unknown */
	KL_EMPTY,
	KL_FULL,
	KL_ABSENT,
};

/* Values are compared and hashed as two words, so pad is always 0. */
struct kl_val {
	uint64_t v;
	uint32_t tag;
	uint32_t pad;
};

static inline struct kl_val kl_word(uint64_t v)
{
	return (struct kl_val){ .v = v };
}

static inline struct kl_val kl_special(enum kl_tag tag)
{
	return (struct kl_val){ .tag = tag };
}

static inline bool kl_val_eq(struct kl_val a, struct kl_val b)
{
	return a.v == b.v && a.tag == b.tag;
}

#endif
