/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scanning of forms that consist of lines of words.  Every line ends with a newline, which no word
 * contains, and KL_INPUT_BEHIND readable bytes follow the last line.  So scanners check no other
 * bound.
 */
#ifndef KL_HISTORY_SCAN_H
#define KL_HISTORY_SCAN_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "history/input.h"

/* Kinds of entries that a reader skips, apart from comments and empty lines. */
enum kl_skip {
	KL_SKIP_FOREIGN,	/* lines of other programs */
	KL_SKIP_NAMED,		/* entries of processes with names */
	KL_SKIP_REMARK,		/* :info of processes without an open operation */
	KL_SKIPS
};

/* The position of a reader, for messages. */
struct kl_scan {
	const char *name;
	unsigned int line, errors, before; /* @before: number of lines before @text */
	bool stop;		/* set by a reader that cannot understand the rest of the input */
	bool quiet;		/* errors are counted, without messages */
	/* the whole text if it is in memory, so that messages can show lines of it */
	const char *text, *end;
	const char *start;	/* the present line, if @text is NULL */
	size_t skipped[KL_SKIPS];
	unsigned int skip_line;	/* line of the first skipped entry */
	char skip_text[48];	/* begin of the first skipped entry */
	struct kl_history *h;	/* the history that is being read, to make room in; or NULL */
	struct kl_history *spelled; /* gets the spellings of numbers, or NULL */
};

/* Classes of characters in one table, since reading a file mostly consists of such tests. */
#define KL_SCAN_BLANK	1
#define KL_SCAN_END	2	/* a character that ends a word */
#define KL_SCAN_NAME	4	/* letters, digits and _ */

extern const unsigned char kl_scan_class[256];

static inline bool kl_scan_blank(char c)
{
	return kl_scan_class[(unsigned char)c] & KL_SCAN_BLANK;
}

/* Return: true if this character ends a word. */
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

/* Return: the eight characters at @p as a number, whose lowest byte is the first character. */
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

	/*
	 * A character that ends a word is not above a blank.  @found marks such characters.  Only
	 * the lowest mark is certain, because the subtraction borrows.
	 */
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

/* Return: true if @word is the word of @len characters at @p. */
__attribute__((always_inline))
static inline bool kl_scan_is(const char *p, size_t len, const char *word)
{
	size_t i;

	/* The compiler compares a literal by a few integer instructions. */
	if (__builtin_constant_p(__builtin_strlen(word)))
		return len == __builtin_strlen(word) &&
		       !__builtin_memcmp(p, word, __builtin_strlen(word));
	for (i = 0; i < len; i++)
		if (!word[i] || p[i] != word[i])
			return false;
	return !word[len];
}

/* Return: the end of the word at @p if it is @word, else NULL. */
static inline const char *kl_scan_past(const char *p, const char *word)
{
	while (*word && *p == *word) {
		p++;
		word++;
	}
	return *word || !kl_scan_end(*p) ? NULL : p;
}

/* Return: advice on odd characters in the word at @tok, or "".  klin-replay lacks this function. */
const char *kl_scan_odd(const char *tok) __attribute__((weak));

/*
 * Report that @expected was expected at @tok, show the place, and count the error.  Return:
 * -EINVAL.
 */
int kl_scan_bad(struct kl_scan *s, const char *tok, const char *expected);

/* As kl_scan_bad(), but with the message @what about the word at @tok. */
int kl_scan_bad_shown(struct kl_scan *s, const char *tok, const char *what);

/* As kl_scan_bad(), for an error after which nothing can be understood. */
int kl_scan_stop(struct kl_scan *s, const char *tok, const char *expected);

/* Count the entry at @tok as skipped. */
void kl_scan_skipped(struct kl_scan *s, enum kl_skip kind, const char *tok);

/* Warn about all skipped entries, and record their number and kinds in the history. */
void kl_scan_note_skipped(const struct kl_scan *s, struct kl_history *h);

/* Return: the number of digits with which the eight characters begin. */
__attribute__((always_inline))
static inline unsigned int kl_scan_digits(uint64_t w)
{
	const uint64_t v = w ^ 0x3030303030303030;
	/* Bits above the first character that is no digit may be wrong, by carries. */
	const uint64_t others = ((v + 0x7676767676767676) | v) & 0x8080808080808080;

	return others ? __builtin_ctzll(others) / 8 : 8;
}

/* Return: the number in the first @n of the eight characters.  Pairs of digits are joined first. */
__attribute__((always_inline))
static inline uint64_t kl_scan_number(uint64_t w, unsigned int n)
{
	const uint64_t four = 0x000000ff000000ff;

	w = (w & 0x0f0f0f0f0f0f0f0f) << (32 - 4 * n) << (32 - 4 * n);
	w = w * 10 + (w >> 8);
	return ((w & four) * (100 + (1000000ull << 32)) +
		(w >> 16 & four) * (1 + (10000ull << 32))) >> 32;
}

/* The part of kl_scan_u64() for numbers that are not short and decimal. */
int kl_scan_u64_slow(struct kl_scan *s, const char **pp, uint64_t *out, const char *what);

/* Read a word that is a decimal or 0x number, and move *pp behind it.  Return: 0 or -EINVAL. */
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
		/* Copies let the caller's variables stay in registers. */
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

/* As kl_scan_u64(), for numbers that often have one digit: threads, objects, CPUs. */
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

/* The part of kl_scan_word64() for numbers with a sign. */
int kl_scan_negative(struct kl_scan *s, const char **pp, uint64_t *out, const char *what);

/* Read a number that may have a sign, as two's complement; it must not be below -2^63. */
__attribute__((always_inline))
static inline int kl_scan_word64(struct kl_scan *s, const char **pp, uint64_t *out,
				 const char *what)
{
	return **pp == '-' ? kl_scan_negative(s, pp, out, what) : kl_scan_short(s, pp, out, what);
}

/* As kl_scan_word64(), but a number from 2^63 on is an error, because it would become negative. */
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

/* Move *pp over blanks to the end of the line.  Return: 0, or -EINVAL if something else is left. */
static inline int kl_scan_eol(struct kl_scan *s, const char **pp)
{
	*pp = kl_scan_skip(*pp);
	return **pp == '\n' ? 0 : kl_scan_bad(s, *pp, "the end of the line");
}

/**
 * kl_scan_lines() - call a function for each line that is not empty
 * @s: position of the reader; the function counts lines
 * @in: the input
 * @line: gets the first word of a line and moves to a place in the line or to its end.  After
 *	-EINVAL, with a message, the next line is read; any other error ends the loop
 * @ctx: first argument of @line
 *
 * Return: 0, -EINVAL if there was a message, or another negative errno.
 */
int kl_scan_lines(struct kl_scan *s, struct kl_input *in,
		  int (*line)(void *ctx, const char **pp), void *ctx);

/* As kl_scan_lines(), for the lines of @s->text. */
int kl_scan_text(struct kl_scan *s, int (*line)(void *ctx, const char **pp), void *ctx);

#endif
