/* SPDX-License-Identifier: GPL-2.0 */
/* Words for values of EDN that are no short integers, with their spellings. */
#ifndef KL_HISTORY_FORMATS_EDN_WORD_H
#define KL_HISTORY_FORMATS_EDN_WORD_H

#include "history/history.h"
#include "history/string_pool.h"

/**
 * kl_edn_word() - get the word of a value; equal values have equal words
 * @words: the words of the history
 * @h: the history, which gets the spelling of the word
 * @canon: the canonical text of the value
 * @len: length of @canon
 * @text: the value in the file; if it is more than a line, the spelling is the canonical text
 * @n: length of @text
 * @word: gets the word
 *
 * Return: 0, -ENOMEM or -EOVERFLOW.
 */
int kl_edn_word(struct kl_words *words, struct kl_history *h, const char *canon, size_t len,
		const char *text, size_t n, uint64_t *word);

#endif
