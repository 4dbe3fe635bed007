/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How words were spelled in the input.  A value that is no number, as "7", :x or [1 2] of
 * an EDN history, becomes a word that nothing else has; people see its spelling.
 *
 * Copies of a history share one table; what is added to one of them is in that one alone.
 */
#ifndef KL_HISTORY_SPELL_H
#define KL_HISTORY_SPELL_H

#include "history/history.h"

/**
 * kl_history_spell() - say how a word is spelled
 * @h: the history
 * @word: the word; a word that has a spelling keeps it
 * @text: its spelling, without a newline or a zero byte
 * @len: of @text
 *
 * Return: 0, -ENOMEM, -EOVERFLOW.
 */
int kl_history_spell(struct kl_history *h, uint64_t word, const char *text, size_t len);

/* The spelling of a word, NULL if it has none. */
const char *kl_history_spelling(const struct kl_history *h, uint64_t word);

/* @to, which has no spellings, has those of @from from now on. */
void kl_history_share_spellings(struct kl_history *to, const struct kl_history *from);

/* @to has them in the place of @from, which has none afterwards. */
void kl_history_move_spellings(struct kl_history *to, struct kl_history *from);

/* Write a header line for each, with @prefix in front. */
void kl_history_put_spellings(FILE *f, const struct kl_history *h, const char *prefix);

void kl_history_free_spellings(struct kl_history *h);

/*
 * Put spellings in the place of the numbers in @text that are words of @h, as far as they
 * fit @size bytes.  Numbers below KL_WORDS_FIRST stay: they may be counts and times.
 */
void kl_history_spell_out(const struct kl_history *h, char *text, size_t size);

#endif
