/* SPDX-License-Identifier: GPL-2.0 */
/*
 * EDN, Clojure's data notation.  Each value has a canonical text, see edn_form.c: two values have
 * the same text if and only if Clojure's `=' calls them equal.
 */
#ifndef KL_HISTORY_FORMATS_EDN_H
#define KL_HISTORY_FORMATS_EDN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "history/scan.h"

struct kl_edn {
	struct kl_scan scan;
	const char *p, *end;	/* the text ends with a newline, and a zero byte follows */
	unsigned int discards;	/* number of forms being discarded (`#_') that enclose p */
	bool bad;		/* a discarded form had an error, and a message was printed */
	char *canon;		/* canonical texts of values; the user of the scanner empties it */
	size_t ncanon, ccanon;
	struct kl_arena arena;	/* contents of strings with escapes */
};

struct kl_edn_val {
	enum {
		KL_EDN_NIL,
		KL_EDN_INT,	/* an integer of up to 18 digits: v */
		KL_EDN_STRING,	/* a string with the contents s of len bytes */
		KL_EDN_WORD,	/* a keyword with its colon, or a symbol: s, len */
		KL_EDN_PAIR,	/* a vector or a list of two, see kl_edn_item() */
		KL_EDN_OTHER,
	} kind;
	const char *tok, *end;	/* the value's begin and end in the text */
	const char *s;
	size_t len;
	int64_t v;
	const char *item[2];
	/*
	 * index and length of the canonical text in kl_edn.canon; length 0: the text from tok to
	 * end is canonical
	 */
	size_t canon, ncanon;
};

/* Classes of characters, as in scan.h. */
#define KL_EDN_BLANK	1	/* an ordinary blank or a comma */
#define KL_EDN_ENDS	2	/* a character that ends an atom */
#define KL_EDN_PLAIN	4	/* neither blank, nor the start of a comment or `#' */
#define KL_EDN_ATOM	8	/* a character of symbols and numbers, except `#' */

extern const unsigned char kl_edn_class[256];

static inline bool kl_edn_is(char c, unsigned char class)
{
	return kl_edn_class[(unsigned char)c] & class;
}

/* Return: true if an atom ends before this character. */
static inline bool kl_edn_ends(char c)
{
	return kl_edn_is(c, KL_EDN_ENDS);
}

/* The part of kl_edn_skip() that skips comments and discarded forms. */
bool kl_edn_skip_some(struct kl_edn *e);

/*
 * Skip blanks, commas, comments and discarded forms.  Return: false at the end of the text, else
 * true, also after an error in a discarded form, which sets e->bad.
 */
static inline bool kl_edn_skip(struct kl_edn *e)
{
	const char *p = e->p;

	/* The zero byte at the end of the text is no blank. */
	while (kl_edn_is(*p, KL_EDN_BLANK))
		p++;
	e->p = p;
	return kl_edn_is(*p, KL_EDN_PLAIN) || kl_edn_skip_some(e);
}

/* Read the next value.  Return: 0, -EINVAL after a message, or another negative errno. */
int kl_edn_value(struct kl_edn *e, struct kl_edn_val *v);
/* As kl_edn_value(), at a position to which kl_edn_skip() has moved. */
int kl_edn_value_here(struct kl_edn *e, struct kl_edn_val *v);

/* Read item @i of the pair @v, which was read without an error.  Return: as kl_edn_value(). */
int kl_edn_item(struct kl_edn *e, const struct kl_edn_val *v, unsigned int i,
		struct kl_edn_val *out);
/* Return: the canonical text of a value, valid until the next value is read. */
const char *kl_edn_canon(const struct kl_edn *e, const struct kl_edn_val *v, size_t *len);
void kl_edn_free(struct kl_edn *e);

#endif
