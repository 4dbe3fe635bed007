/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the text form's reader share; see text_read.c. */
#ifndef KL_HISTORY_TEXT_H
#define KL_HISTORY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/history.h"

#define KL_TEXT_VALUE	"a number, true, false, empty, full, absent or `?'"

/* Where the reader is, for messages, and the header lines that grow. */
struct kl_text_src {
	const char *name;
	unsigned int line, errors;
	char *attached, *spec_text;	/* lines so far */
	size_t nattached, cattached, nspec, cspec;
};

static inline bool kl_text_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static inline bool kl_text_end(char c)
{
	return kl_text_blank(c) || c == '\n';
}

static inline const char *kl_text_skip(const char *p)
{
	while (kl_text_blank(*p))
		p++;
	return p;
}

/* The header lines but for gaps. */
void kl_text_put_header(FILE *f, const struct kl_history *h);

/* Say that @expected was expected at @tok; counts it. Returns -EINVAL. */
int kl_text_bad(struct kl_text_src *s, const char *tok, const char *expected);

/* A decimal or 0x number that ends its token; *pp moves behind it. 0 or -EINVAL. */
int kl_text_number(struct kl_text_src *s, const char **pp, uint64_t *out, const char *what);

/* A header line behind its '#': a keyword that is known, or a comment. */
int kl_text_header(struct kl_history *h, struct kl_text_src *s, const char *p);
/* Hand the texts that header lines made up over to the history. */
void kl_text_header_end(struct kl_history *h, struct kl_text_src *s);

#endif
