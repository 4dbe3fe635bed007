/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A stream that writes into memory.  It replaces open_memstream(), which loses bytes when
 * memory runs out and does not report the loss by ferror() or fclose().
 */
#ifndef KL_BASE_MEMSTREAM_H
#define KL_BASE_MEMSTREAM_H

#include <stddef.h>
#include <stdio.h>

struct kl_memstream {
	FILE *f;	/* the stream */
	char *text;	/* the bytes that f has written */
	size_t len, cap;	/* bytes written, and allocated */
};

/* Open the stream.  Return: 0, or -ENOMEM with nothing to close. */
int kl_memstream_open(struct kl_memstream *m);

/**
 * kl_memstream_close() - close the stream and get its contents
 * @m: the stream
 * @text: receives the bytes, followed by a NUL that is not counted; free() them
 * @len: receives the number of bytes; may be NULL
 *
 * Return: 0, or -ENOMEM with NULL in @text if a byte was lost.
 */
int kl_memstream_close(struct kl_memstream *m, char **text, size_t *len);

#endif
