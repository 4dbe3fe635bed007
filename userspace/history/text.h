/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the text form's reader share; see text_read.c. */
#ifndef KL_HISTORY_TEXT_H
#define KL_HISTORY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/history.h"
#include "history/scan.h"

#define KL_TEXT_VALUE	"a number, true, false, empty, full, absent or `?'"

/* Where the reader is, and the header lines that grow. */
struct kl_text_src {
	struct kl_scan scan;
	char *attached, *spec_text;	/* lines so far */
	size_t nattached, cattached, nspec, cspec;
	uint64_t floor;		/* of the last `# floor' */
	bool has_floor, ended;	/* there was one; `# end' */
};

/* The header lines but for gaps. */
void kl_text_put_header(FILE *f, const struct kl_history *h);

/* A header line behind its '#': a keyword that is known, or a comment. */
int kl_text_header(struct kl_history *h, struct kl_text_src *s, const char *p);
/* Hand the texts that header lines made up over to the history. */
void kl_text_header_end(struct kl_history *h, struct kl_text_src *s);

/* Reading a text piece by piece, for streams: see stream.h. */
struct kl_text_reader;

struct kl_text_reader *kl_text_reader_new(const char *name);
void kl_text_reader_free(struct kl_text_reader *r);
/*
 * Read whole lines, which messages about their operations show, later too.  0; -EINVAL after a
 * message; another negative errno.
 */
int kl_text_reader_lines(struct kl_text_reader *r, const char *p, const char *end);
/* There will be no more lines. */
void kl_text_reader_end(struct kl_text_reader *r);
struct kl_history *kl_text_reader_history(struct kl_text_reader *r);
int kl_text_reader_renew(struct kl_text_reader *r);
uint64_t kl_text_reader_floor(const struct kl_text_reader *r, bool *sure);
bool kl_text_reader_ended(const struct kl_text_reader *r);

#endif
