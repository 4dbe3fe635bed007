/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Texts of another program, made fit for a terminal.  A name or a story may come from a process
 * that is not klind, so nothing in it may reach the terminal as a command.
 */
#ifndef KL_TOP_TEXT_H
#define KL_TOP_TEXT_H

#include <stddef.h>
#include <stdint.h>

/**
 * top_text_clean() - copy a text without anything that acts on a terminal
 * @dst: gets the copy
 * @size: size of @dst
 * @src: the text, which should be UTF-8
 * @lines: keep newlines
 *
 * A question mark replaces each control character, wrong byte and mark of writing direction.  A
 * text that is too long is cut between two characters.
 */
void top_text_clean(char *dst, size_t size, const char *src, int lines);

/**
 * top_text_cut() - take as many characters of a clean text as fit into some columns
 * @dst: gets the characters
 * @size: size of @dst
 * @src: the text; ends at a newline, too
 * @width: number of columns
 * @next: gets the first byte of @src that was not taken; may be NULL
 *
 * A question mark replaces what the locale cannot show.
 *
 * Return: number of columns of the characters.
 */
int top_text_cut(char *dst, size_t size, const char *src, int width, const char **next);

/**
 * top_text_number() - print a number in at most six columns
 * @buf: gets the text, such as 99999, 123k or 4.5M
 * @size: size of @buf
 * @v: the number
 */
void top_text_number(char *buf, size_t size, double v);

/* Print a time in at most six columns: 0, 20us, 1.5s or 17m.  @ns: the time in ns. */
void top_text_time(char *buf, size_t size, uint64_t ns);

#endif
