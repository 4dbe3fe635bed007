/* SPDX-License-Identifier: GPL-2.0 */
/* As much of EDN (Clojure's data notation) as histories are written in. */
#ifndef KL_HISTORY_EDN_H
#define KL_HISTORY_EDN_H

#include <stdbool.h>
#include <stdint.h>

#include "history/scan.h"

struct kl_edn {
	struct kl_scan scan;
	const char *p, *end;	/* the last character is a newline, behind it is a zero byte */
	unsigned int discards;	/* `#_' around the place */
	bool bad;		/* what `#_' discards could not be read: there was a message */
};

struct kl_edn_val {
	enum {
		KL_EDN_NIL,
		KL_EDN_INT,
		KL_EDN_STRING,	/* s, len: between the quotes, escapes as they are written */
		KL_EDN_WORD,	/* a keyword with its colon, a symbol */
		KL_EDN_PAIR,	/* a vector of two: pair[0], pair[1]: kinds above or OTHER */
		KL_EDN_OTHER,
	} kind;
	const char *tok;	/* where it is */
	const char *s;
	size_t len;
	int64_t v;
	struct kl_edn_atom {
		int kind;
		const char *s;
		size_t len;
		int64_t v;
	} pair[2];
};

/* What each character is, as in scan.h. */
#define KL_EDN_BLANK	1	/* a blank as is usual, or a comma */
#define KL_EDN_ENDS	2	/* an atom ends here */
#define KL_EDN_PLAIN	4	/* neither blank, nor the start of a comment or `#' */
#define KL_EDN_ATOM	8	/* one of those that an atom begins with */

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

/* The next value; 0, or -EINVAL after a message. */
int kl_edn_value(struct kl_edn *e, struct kl_edn_val *v);
/* The same behind kl_edn_skip(), which found something. */
int kl_edn_value_here(struct kl_edn *e, struct kl_edn_val *v);

#endif
