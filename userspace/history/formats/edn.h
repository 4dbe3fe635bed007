/* SPDX-License-Identifier: GPL-2.0 */
/*
 * EDN, Clojure's data notation.  Values have a canonical text, which is the same for two of
 * them if and only if Clojure's `=' calls them equal; edn_form.c says how it looks.
 */
#ifndef KL_HISTORY_FORMATS_EDN_H
#define KL_HISTORY_FORMATS_EDN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "history/scan.h"

struct kl_edn {
	struct kl_scan scan;
	const char *p, *end;	/* the last character is a newline, behind it is a zero byte */
	unsigned int discards;	/* `#_' around the place */
	bool bad;		/* what `#_' discards could not be read: there was a message */
	char *canon;		/* canonical texts of values; who reads them empties it */
	size_t ncanon, ccanon;
	struct kl_arena arena;	/* what strings with escapes say */
};

struct kl_edn_val {
	enum {
		KL_EDN_NIL,
		KL_EDN_INT,	/* of up to 18 digits: v */
		KL_EDN_STRING,	/* s, len: what it says */
		KL_EDN_WORD,	/* a keyword with its colon, a symbol: s, len */
		KL_EDN_PAIR,	/* a vector or a list of two, see kl_edn_item() */
		KL_EDN_OTHER,
	} kind;
	const char *tok, *end;	/* where it is in the text */
	const char *s;
	size_t len;
	int64_t v;
	const char *item[2];
	size_t canon, ncanon;	/* its canonical text in the scanner's, 0: it is written so */
};

/* What each character is, as in scan.h. */
#define KL_EDN_BLANK	1	/* a blank as is usual, or a comma */
#define KL_EDN_ENDS	2	/* an atom ends here */
#define KL_EDN_PLAIN	4	/* neither blank, nor the start of a comment or `#' */
#define KL_EDN_ATOM	8	/* one of those that symbols and numbers have, but for `#' */

extern const unsigned char kl_edn_class[256];

static inline bool kl_edn_is(char c, unsigned char class)
{
	return kl_edn_class[(unsigned char)c] & class;
}

/* Does an atom end at this character? */
static inline bool kl_edn_ends(char c)
{
	return kl_edn_is(c, KL_EDN_ENDS);
}

/* kl_edn_skip() where there is more to skip than blanks. */
bool kl_edn_skip_some(struct kl_edn *e);

/*
 * Move over blanks, commas, comments and forms behind `#_'; false at the end of the text.
 * True also when e->bad is set.
 */
static inline bool kl_edn_skip(struct kl_edn *e)
{
	const char *p = e->p;

	/* What is at the end is none of them. */
	while (kl_edn_is(*p, KL_EDN_BLANK))
		p++;
	e->p = p;
	return kl_edn_is(*p, KL_EDN_PLAIN) || kl_edn_skip_some(e);
}

/* The next value; 0, -EINVAL after a message, another negative errno. */
int kl_edn_value(struct kl_edn *e, struct kl_edn_val *v);
/* The same behind kl_edn_skip(), which found something. */
int kl_edn_value_here(struct kl_edn *e, struct kl_edn_val *v);

/* Item @i of the pair @v, which was read without an error.  The same. */
int kl_edn_item(struct kl_edn *e, const struct kl_edn_val *v, unsigned int i,
		struct kl_edn_val *out);
/* The canonical text, good until the next value is read. */
const char *kl_edn_canon(const struct kl_edn *e, const struct kl_edn_val *v, size_t *len);
void kl_edn_free(struct kl_edn *e);

#endif
