/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which comments of the text form are header lines: `# first init' is one, `# first we
 * write 1' is not, and `# frist init' is one with a typing error.
 */
#ifndef KL_HISTORY_DIRECTIVE_H
#define KL_HISTORY_DIRECTIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "history/text.h"

#define KL_DIRECTIVE_ANY	255	/* a header line, whatever is in it */

/**
 * struct kl_directive - a kind of header line
 * @word: its first word
 * @read: reads what is behind that word; -EINVAL after a message
 * @next: the words that can follow, with blanks between them; `#' is any number, `#.' a
 *	version, `0x' a hexadecimal number, `/' a file; NULL if anything can follow
 * @at: which of the words behind the first one is to be one of @next
 * @words: more words are never behind the first one; 0: there may be any number
 * @few: with at most so many words it is a header line, whatever they are, if it is not @wordy
 * @wordy: words of @next are common in prose, and mean nothing in a long line by themselves
 * @bare: it is one without any word behind it, and a typing error in that is looked for
 * @later: words that only a header line has, with blanks between them, `#' is any number; or
 *	NULL
 * @others: words that are near @word and are no typing errors, or NULL
 * @aside: a word that people put behind @word although it does not belong there, or NULL
 */
struct kl_directive {
	const char *word;
	int (*read)(struct kl_history *h, struct kl_text_src *s, const char *p);
	const char *next;
	unsigned char at, words, few;
	bool wordy, bare;
	const char *later, *others, *aside;
};

/* The directive that the line at *pp is; *pp moves behind its word.  NULL if it is none. */
const struct kl_directive *kl_directive_find(const struct kl_directive *d, size_t n,
					     const char **pp);

/*
 * The directive that the line at *pp, which is none, seems to be with a typing error in its
 * first word, without the blank in front of it, or with something else than blanks between its
 * words; *pp moves to its first word.  NULL if none.
 */
const struct kl_directive *kl_directive_meant(const struct kl_directive *d, size_t n,
					      const char **pp);

#endif
