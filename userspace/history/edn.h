/* SPDX-License-Identifier: GPL-2.0 */
/* As much of EDN (Clojure's data notation) as histories are written in. */
#ifndef KL_HISTORY_EDN_H
#define KL_HISTORY_EDN_H

#include <stdint.h>

#include "history/scan.h"

struct kl_edn {
	struct kl_scan scan;
	const char *p, *end;	/* the last character is a newline */
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

/* Does an atom end at this character? */
static inline bool kl_edn_ends(char c)
{
	static const bool ends[256] = {
		[' '] = true, ['\t'] = true, ['\r'] = true, ['\n'] = true, [','] = true,
		[';'] = true, ['"'] = true, ['('] = true, [')'] = true, ['['] = true,
		[']'] = true, ['{'] = true, ['}'] = true,
	};

	return ends[(unsigned char)c];
}

/* kl_edn_skip() where there is something to skip. */
bool kl_edn_skip_some(struct kl_edn *e);

/* Move over blanks, commas and comments; false at the end of the text. */
static inline bool kl_edn_skip(struct kl_edn *e)
{
	while (e->p < e->end && (*e->p == ' ' || *e->p == ','))
		e->p++;
	if (e->p < e->end && *e->p > ' ' && *e->p != ';')
		return true;
	return kl_edn_skip_some(e);
}

/* The next value; 0, or -EINVAL after a message. */
int kl_edn_value(struct kl_edn *e, struct kl_edn_val *v);

#endif
