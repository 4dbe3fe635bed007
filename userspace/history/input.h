/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bytes of a history, from a file or from memory: whole, or a run of whole
 * lines at a time, so that a text never needs to be in memory at once.
 */
#ifndef KL_HISTORY_INPUT_H
#define KL_HISTORY_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sha256.h"
#include "history/history.h"

#define KL_INPUT_BEHIND	8	/* bytes behind lines that can be read, whatever they are */

struct kl_input {
	const char *name;	/* as messages call it */
	int fd;			/* -1: from memory */
	const char *mem;
	char *buf;
	size_t cap, at, len;	/* of buf, or of mem: what is handed out, what is there */
	bool end;		/* there is no more than that */
	unsigned int independent;	/* enum kl_independent */
	uint64_t size;		/* of a file, 0: not known */
	bool file;		/* @name can be read again */
	enum kl_place_kind places;	/* of the form that it is of */
	size_t skipped;		/* bytes, by kl_input_skip() */
	size_t runs, whole;	/* of lines handed out; all bytes, if they are few and in @buf */
	struct sha256_ctx *sha;	/* given all bytes that are read, or NULL */
};

/* Begin to read @path, "-" for standard input; 0 or a negative errno without a message. */
int kl_input_open(struct kl_input *in, const char *path);
void kl_input_memory(struct kl_input *in, const char *name, const char *data, size_t len);
void kl_input_close(struct kl_input *in);

/**
 * kl_input_peek() - look at the first bytes, before anything else is done
 * @in: the input
 * @data: the bytes
 * @len: how many: all, or at least 64 KiB
 *
 * Return: 0 or a negative errno.
 */
int kl_input_peek(struct kl_input *in, const char **data, size_t *len);

/* Leave out the first @n of these bytes. */
void kl_input_skip(struct kl_input *in, size_t n);

/**
 * kl_input_lines() - the next run of whole lines
 * @in: the input
 * @p: the first line
 * @end: behind the newline of the last line; a last line without one is given one
 *
 * Behind @end there are KL_INPUT_BEHIND bytes more that can be read.
 *
 * What the run before held is overwritten.
 *
 * Return: 1; 0 when there are no more; a negative errno.
 */
int kl_input_lines(struct kl_input *in, const char **p, const char **end);

/* All bytes at once, valid until kl_input_close(); 0 or a negative errno. */
int kl_input_all(struct kl_input *in, const char **data, size_t *len);

/*
 * The same as whole lines: a last one without a newline is given one.  Behind @end there are
 * a zero byte and KL_INPUT_BEHIND - 1 more that can be read.
 */
int kl_input_text(struct kl_input *in, const char **p, const char **end);

/**
 * kl_input_sha256() - the hash of a file's bytes
 * @in: the input, whose @sha was set before the first byte was read
 * @hex: the hash
 *
 * Bytes that the reader has left are read and count.  What was handed out is overwritten.
 *
 * Return: 0 or a negative errno.
 */
int kl_input_sha256(struct kl_input *in, char hex[KL_SHA256_HEX]);

#endif
