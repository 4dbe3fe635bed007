/* SPDX-License-Identifier: GPL-2.0 */
/* Text with line breaks between words. */
#ifndef KL_REPORT_WORDS_H
#define KL_REPORT_WORDS_H

#include <stdio.h>

#define KL_REPORT_WIDTH	80	/* columns of the text */

/*
 * Print a word after column @at, on a new line if the line has no room.  Return: the column after
 * the word.
 */
int kl_put_word(FILE *f, const char *word, int len, int at, int indent, int width);

/* Print a text from column @at, with line breaks between words. */
void kl_put_words(FILE *f, const char *text, int at, int indent, int width);

/* Print @before, which begins a line, and then the sentence @text with its full stop. */
void kl_put_sentence(FILE *f, const char *before, const char *text);

#endif
