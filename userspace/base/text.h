/* SPDX-License-Identifier: GPL-2.0 */
/* Files that should be texts; those that are none are refused, with advice. */
#ifndef KL_BASE_TEXT_H
#define KL_BASE_TEXT_H

#include <stddef.h>

/**
 * kl_text_start() - refuse a file that is no text in ASCII or UTF-8
 * @name: the file
 * @data: its first bytes
 * @len: number of these bytes
 *
 * Return: the length of a byte order mark of UTF-8, which readers skip, or -EINVAL after a message.
 */
int kl_text_start(const char *name, const char *data, size_t len);

/**
 * kl_text_zero() - refuse a text that has a zero byte, where C strings would end
 * @name: the file
 * @line: number of the line that @text begins with
 * @text: whole lines of the file
 * @len: length of @text
 *
 * Return: 0, or -EINVAL after a message.
 */
int kl_text_zero(const char *name, unsigned int line, const char *text, size_t len);

/* Return: the length of a character of UTF-8 by its first byte; 0 if none begins with it. */
static inline unsigned int kl_utf8_length(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

#endif
