/* SPDX-License-Identifier: GPL-2.0 */
/* Shared declarations of the text form's reader and writer, see text_read.c. */
#ifndef KL_HISTORY_TEXT_H
#define KL_HISTORY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/history.h"
#include "history/scan.h"

#define KL_TEXT_VALUE	"a number, true, false, empty, full, absent or `?'"

/* The state of the reader: its position, and the contents of header lines. */
struct kl_text_src {
	struct kl_scan scan;
	char *attached, *spec_text;	/* the lines `# attached' and `# |' read so far */
	size_t nattached, cattached, nspec, cspec;
	uint64_t floor;		/* the time of the last `# floor' */
	bool has_floor, ended;	/* `# floor' was read; `# end' was read */
	unsigned int clock, first, memory; /* the lines that said this; 0 for none */
};

/*
 * Return: what is expected in place of the word of @n bytes at @p, which is no value.  klin-replay
 * lacks this function.
 */
const char *kl_text_wanted(const char *p, size_t n) __attribute__((weak));

/* Write all header lines except those of gaps. */
void kl_text_put_header(FILE *f, const struct kl_history *h);

/* Read a header line or a comment; @p is behind its '#'. */
int kl_text_header(struct kl_history *h, struct kl_text_src *s, const char *p);
/* Move the texts in @s to the history. */
void kl_text_header_end(struct kl_history *h, struct kl_text_src *s);

/* A reader of a text piece by piece, for streams; see stream.h. */
struct kl_text_reader;

struct kl_text_reader *kl_text_reader_new(const char *name);
void kl_text_reader_free(struct kl_text_reader *r);
/*
 * Read whole lines, which are kept for later messages about their operations.  Return: 0, -EINVAL
 * after a message, or another negative errno.
 */
int kl_text_reader_lines(struct kl_text_reader *r, const char *p, const char *end);
/* Move the contents of the header lines that were read to the history. */
void kl_text_reader_end(struct kl_text_reader *r);
struct kl_history *kl_text_reader_history(struct kl_text_reader *r);
int kl_text_reader_renew(struct kl_text_reader *r);
uint64_t kl_text_reader_floor(const struct kl_text_reader *r, bool *sure);
bool kl_text_reader_ended(const struct kl_text_reader *r);

#endif
