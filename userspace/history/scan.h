/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scanning of the forms that are lines of words.  Scanners rely on every line
 * ending in a newline, which no word contains, and on KL_INPUT_BEHIND bytes that can
 * be read behind the last one; they need no other bound.
 */
#ifndef KL_HISTORY_SCAN_H
#define KL_HISTORY_SCAN_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "history/input.h"

/* What a reader passes over, but for comments and empty lines. */
enum kl_skip {
	KL_SKIP_FOREIGN,	/* lines of other programs */
	KL_SKIP_NAMED,		/* entries of processes that have a name */
	KL_SKIP_REMARK,		/* :info of processes that do nothing */
	KL_SKIPS
};

/* Where the reader is, for messages. */
struct kl_scan {
	const char *name;
	unsigned int line, errors;
	bool stop;		/* set it where what follows cannot be understood */
	bool quiet;		/* what is wrong is counted, and not said */
	const char *text, *end;	/* all of it, if it is in memory: messages show the place */
	const char *start;	/* of the line that is read, where @text is not set */
	size_t skipped[KL_SKIPS];
	unsigned int skip_line;	/* of the first that was skipped, */
	char skip_text[48];	/* and how it begins */
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

/* The eight characters at @p, the first one lowest. */
__attribute__((always_inline))
static inline uint64_t kl_scan_eight(const char *p)
{
	uint64_t w;

	_Static_assert(sizeof(w) <= KL_INPUT_BEHIND, "behind a newline they can be read");
	memcpy(&w, p, sizeof(w));
	return le64toh(w);
}

__attribute__((always_inline))
static inline size_t kl_scan_word(const char *p)
{
	const uint64_t ones = 0x0101010101010101;
	const char *start = p;
	uint64_t w, found;

	/* What ends a word, and little else, is not above a blank; the lowest one is certain. */
	for (;; p += sizeof(w)) {
		w = kl_scan_eight(p);
		found = (w - ones * (' ' + 1)) & ~w & ones * 0x80;
		if (found)
			break;
	}
	for (p += __builtin_ctzll(found) / 8; !kl_scan_end(*p); p++)
		;
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

/* Say that @expected was expected at @tok, and show the place; counts it.  Returns -EINVAL. */
int kl_scan_bad(struct kl_scan *s, const char *tok, const char *expected);

/* The same with other words: say @what of the word at @tok. */
int kl_scan_bad_shown(struct kl_scan *s, const char *tok, const char *what);

/* The same, and nothing can be understood without it. */
int kl_scan_stop(struct kl_scan *s, const char *tok, const char *expected);

/* Count what is passed over, at @tok, so that nobody takes it for read. */
void kl_scan_skipped(struct kl_scan *s, enum kl_skip kind, const char *tok);

/* Warn of all that was passed over, and note it in the history. */
void kl_scan_note_skipped(const struct kl_scan *s, struct kl_history *h);

/* How many of the eight characters are digits, in front of the first that is none. */
__attribute__((always_inline))
static inline unsigned int kl_scan_digits(uint64_t w)
{
	const uint64_t v = w ^ 0x3030303030303030;
	/* Behind the first other one there may be carries. */
	const uint64_t others = ((v + 0x7676767676767676) | v) & 0x8080808080808080;

	return others ? __builtin_ctzll(others) / 8 : 8;
}

/* The number that the first @n of the eight characters are: one, two, four digits at a time. */
__attribute__((always_inline))
static inline uint64_t kl_scan_number(uint64_t w, unsigned int n)
{
	const uint64_t four = 0x000000ff000000ff;

	w = (w & 0x0f0f0f0f0f0f0f0f) << (32 - 4 * n) << (32 - 4 * n);
	w = w * 10 + (w >> 8);
	return ((w & four) * (100 + (1000000ull << 32)) +
		(w >> 16 & four) * (1 + (10000ull << 32))) >> 32;
}

/* kl_scan_u64() when it is not short and decimal. */
int kl_scan_u64_slow(struct kl_scan *s, const char **pp, uint64_t *out, const char *what);

/* A decimal or 0x number that ends its word; *pp moves behind it.  0 or -EINVAL. */
__attribute__((always_inline))
static inline int kl_scan_u64(struct kl_scan *s, const char **pp, uint64_t *out, const char *what)
{
	static const uint32_t tens[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000 };
	const char *p = *pp;
	uint64_t w = kl_scan_eight(p), v = 0;
	unsigned int n = kl_scan_digits(w), more = 0;
	int ret = 0;

	v = kl_scan_number(w, n);
	p += n;
	if (n == 8) {
		w = kl_scan_eight(p);
		more = kl_scan_digits(w);
		v = v * tens[more % 8] + kl_scan_number(w, more);
		p += more;
	}
	if (!n || more == 8 || !kl_scan_end(*p)) {
		/* What the caller has can stay in registers. */
		const char *slow = *pp;
		uint64_t number = 0;

		ret = kl_scan_u64_slow(s, &slow, &number, what);
		p = slow;
		v = number;
	}
	*pp = p;
	*out = v;
	return ret;
}

/* The same, of what is often a digit: threads, objects, CPUs. */
__attribute__((always_inline))
static inline int kl_scan_short(struct kl_scan *s, const char **pp, uint64_t *out,
				const char *what)
{
	const char *p = *pp;

	if (!kl_scan_digit(*p) || !kl_scan_end(p[1]))
		return kl_scan_u64(s, pp, out, what);
	*out = *p - '0';
	*pp = p + 1;
	return 0;
}

/* kl_scan_word64() of what begins with a sign. */
int kl_scan_negative(struct kl_scan *s, const char **pp, uint64_t *out, const char *what);

/* The same with a sign, in two's complement; not below -2^63. */
__attribute__((always_inline))
static inline int kl_scan_word64(struct kl_scan *s, const char **pp, uint64_t *out,
				 const char *what)
{
	return **pp == '-' ? kl_scan_negative(s, pp, out, what) : kl_scan_short(s, pp, out, what);
}

/* The same of a number that is no word: one from 2^63 on would be a negative one. */
__attribute__((always_inline))
static inline int kl_scan_int64(struct kl_scan *s, const char **pp, uint64_t *out,
				const char *what)
{
	const char *tok = *pp;
	const int ret = kl_scan_word64(s, pp, out, what);

	if (ret || *tok == '-' || *out <= INT64_MAX)
		return ret;
	return kl_scan_bad(s, tok, "a number below 2^63");
}

/* Nothing but blanks is left of the line; *pp moves to its end.  0 or -EINVAL. */
static inline int kl_scan_eol(struct kl_scan *s, const char **pp)
{
	*pp = kl_scan_skip(*pp);
	return **pp == '\n' ? 0 : kl_scan_bad(s, *pp, "the end of the line");
}

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

/* The same of the lines of the scanner's text, all of which is in memory. */
int kl_scan_text(struct kl_scan *s, int (*line)(void *ctx, const char **pp), void *ctx);

#endif
