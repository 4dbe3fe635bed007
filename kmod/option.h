/* SPDX-License-Identifier: GPL-2.0 */
/* Settings written to debugfs as words "name=value". */
#ifndef KLIN_OPTION_H
#define KLIN_OPTION_H

#include <linux/types.h>

/* The reason why the last settings were refused; empty if they were accepted. */
struct klin_complaint {
	char text[200];
};

/**
 * struct klin_option - a setting that may be given
 * @name: the word before '='
 * @word: true if the value is a string (const char *), false if it is a number (u64)
 * @offset: offset of the value in the structure that is filled
 * @min: smallest number
 * @max: largest number
 */
struct klin_option {
	const char *name;
	bool word;
	size_t offset;
	u64 min, max;
};

#define KLIN_OPTION_NUMBER(type, field, lo, hi)	\
	{ .name = #field, .offset = offsetof(type, field), .min = (lo), .max = (hi) }
#define KLIN_OPTION_WORD(type, field)		\
	{ .name = #field, .offset = offsetof(type, field), .word = true }

__printf(2, 3)
int klin_complain(struct klin_complaint *c, const char *fmt, ...);
int klin_options_parse(char *text, const struct klin_option *options, unsigned int n, void *into,
		       struct klin_complaint *c);

#endif
