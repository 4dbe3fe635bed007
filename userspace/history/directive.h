/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Distinguishes header lines of the text form from comments: `# first init' is a header line,
 * `# first we write 1' is a comment, and `# frist init' is a header line with a typing error.
 */
#ifndef KL_HISTORY_DIRECTIVE_H
#define KL_HISTORY_DIRECTIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "history/text.h"

#define KL_DIRECTIVE_ANY	255 /* every line with this first word is a header line */

/**
 * struct kl_directive - a kind of header line
 * @word: the first word of the line
 * @read: reads the rest of the line.  Return: 0, or -EINVAL after a message
 * @next: words that can follow, separated by blanks; `#' is any number, `#.' a version, `0x' a
 *	hexadecimal number, `/' a file; NULL if anything can follow
 * @at: which word after @word must be in @next, counted from 0
 * @words: maximal number of words after @word; 0: no maximum
 * @few: a line with at most this number of words after @word is a header line, unless @wordy
 * @wordy: words of @next are common in prose: a line with more than @few words after @word is a
 *	comment, even with a word of @next
 * @bare: a line with nothing but a misspelt @word is a header line with a typing error
 * @later: words that only a header line has, separated by blanks; `#' is any number; or NULL
 * @others: words that resemble @word and are no typing errors, or NULL
 * @aside: a wrong word that people often put after @word, or NULL
 */
struct kl_directive {
	const char *word;
	int (*read)(struct kl_history *h, struct kl_text_src *s, const char *p);
	const char *next;
	unsigned char at, words, few;
	bool wordy, bare;
	const char *later, *others, *aside;
};

/*
 * Find the directive of the line at *pp, which moves behind the first word.
 * Return: NULL if the line is a comment.
 */
const struct kl_directive *kl_directive_find(const struct kl_directive *d, size_t n,
					     const char **pp);

/*
 * Find the directive that the line at *pp was probably meant to be.  The line may misspell the
 * first word, lack the blank before it, or have other characters than blanks between words.  *pp
 * moves to the first word.  Return: NULL if the line is a comment.
 */
const struct kl_directive *kl_directive_meant(const struct kl_directive *d, size_t n,
					      const char **pp);

#endif
