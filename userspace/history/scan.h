/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scanning of the forms that are lines of words.  Scanners rely on every line
 * ending in a newline, which no word contains, and need no other bound.
 */
#ifndef KL_HISTORY_SCAN_H
#define KL_HISTORY_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/input.h"

/* Where the reader is, for messages. */
struct kl_scan {
	const char *name;
	unsigned int line, errors;
	bool stop;		/* set it where what follows cannot be understood */
	struct kl_history *h;	/* what is made of it, to make room in, or NULL */
};

/* What each character is: one look, as most of a file's time is spent asking. */
#define KL_SCAN_BLANK	1
#define KL_SCAN_END	2	/* a word ends here */
#define KL_SCAN_NAME	4	/* letters, digits and _ */

extern const unsigned char kl_scan_class[256];

static inline bool kl_scan_blank(char c)
{
	return kl_scan_class[(unsigned char)c] & KL_SCAN_BLANK;
}

/* Does a word end here? */
static inline bool kl_scan_end(char c)
{
	return kl_scan_class[(unsigned char)c] & KL_SCAN_END;
}

static inline bool kl_scan_name(char c)
{
	return kl_scan_class[(unsigned char)c] & KL_SCAN_NAME;
}

static inline bool kl_scan_digit(char c)
{
	return (unsigned int)(c - '0') < 10;
}

static inline const char *kl_scan_skip(const char *p)
{
	while (kl_scan_blank(*p))
		p++;
	return p;
}

static inline size_t kl_scan_word(const char *p)
{
	const char *start = p;

	while (!kl_scan_end(*p))
		p++;
	return p - start;
}

/* Is the word at @p, of @len characters, @word? */
__attribute__((always_inline))
static inline bool kl_scan_is(const char *p, size_t len, const char *word)
{
	size_t i;

	/* A literal is compared as a number. */
	if (__builtin_constant_p(__builtin_strlen(word)))
		return len == __builtin_strlen(word) &&
		       !__builtin_memcmp(p, word, __builtin_strlen(word));
	for (i = 0; i < len; i++)
		if (!word[i] || p[i] != word[i])
			return false;
	return !word[len];
}

/* Behind @word if that is the word at @p, else NULL. */
static inline const char *kl_scan_past(const char *p, const char *word)
{
	while (*word && *p == *word) {
		p++;
		word++;
	}
	return *word || !kl_scan_end(*p) ? NULL : p;
}

/* Say that @expected was expected at @tok; counts it.  Returns -EINVAL. */
int kl_scan_bad(struct kl_scan *s, const char *tok, const char *expected);

/* The same, and nothing can be understood without it. */
int kl_scan_stop(struct kl_scan *s, const char *tok, const char *expected);

/* kl_scan_u64() when it is not short and decimal. */
int kl_scan_u64_slow(struct kl_scan *s, const char **pp, uint64_t *out, const char *what);

/* A decimal or 0x number that ends its word; *pp moves behind it.  0 or -EINVAL. */
static inline int kl_scan_u64(struct kl_scan *s, const char **pp, uint64_t *out, const char *what)
{
	const char *p = *pp;
	uint64_t v = 0;
	unsigned int d;

	for (; (d = (unsigned int)(*p - '0')) < 10; p++)
		v = v * 10 + d;
	/* Nineteen digits fit. */
	if ((size_t)(p - *pp) - 1 >= 19 || !kl_scan_end(*p))
		return kl_scan_u64_slow(s, pp, out, what);
	*pp = p;
	*out = v;
	return 0;
}

/* The same with a sign, in two's complement; not below -2^63. */
int kl_scan_word64(struct kl_scan *s, const char **pp, uint64_t *out, const char *what);

/* Nothing but blanks is left of the line; *pp moves to its end.  0 or -EINVAL. */
int kl_scan_eol(struct kl_scan *s, const char **pp);

/**
 * kl_scan_lines() - call a function for each line that is not empty
 * @s: where the reader is; its line is counted here
 * @in: the input
 * @line: is given the first word of a line, and moves on to the line's end, or
 *	to any place in it; -EINVAL after a message lets the next line be read,
 *	any other error ends it all
 * @ctx: its first argument
 *
 * Return: 0; -EINVAL when there was a message, another negative errno.
 */
int kl_scan_lines(struct kl_scan *s, struct kl_input *in,
		  int (*line)(void *ctx, const char **pp), void *ctx);

#endif
