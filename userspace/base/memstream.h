/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A stream into memory, in place of open_memstream(): that one loses bytes when memory runs
 * out, and neither ferror() nor fclose() says so.
 */
#ifndef KL_BASE_MEMSTREAM_H
#define KL_BASE_MEMSTREAM_H

#include <stddef.h>
#include <stdio.h>

struct kl_memstream {
	FILE *f;	/* to be written to */
	char *text;
	size_t len, cap;
};

/* Begin; 0 or -ENOMEM, after which there is nothing to close. */
int kl_memstream_open(struct kl_memstream *m);

/**
 * kl_memstream_close() - what was written
 * @m: the stream
 * @text: the bytes, followed by a NUL that is not counted; free() them
 * @len: how many; may be NULL
 *
 * Return: 0; or -ENOMEM, with NULL in @text, when a byte is missing.
 */
int kl_memstream_close(struct kl_memstream *m, char **text, size_t *len);

#endif
