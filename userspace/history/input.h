/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bytes of a history, from a file or from memory: all at once, or a run of whole lines at a
 * time, so that a text need not fit into memory.
 */
#ifndef KL_HISTORY_INPUT_H
#define KL_HISTORY_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/sha256.h"
#include "history/history.h"

#define KL_INPUT_BEHIND	8 /* number of readable bytes after the last line, of any value */

/* The identity of a regular file when it was opened, to find out whether it has changed. */
struct kl_input_id {
	uint64_t dev, ino, size;
	int64_t sec, nsec; /* of its last change */
};

/* Return: the identity of a file, from what fstat() says of it. */
static inline struct kl_input_id kl_input_id(const struct stat *st)
{
	return (struct kl_input_id){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.size = st->st_size,
		.sec = st->st_mtim.tv_sec,
		.nsec = st->st_mtim.tv_nsec,
	};
}

struct kl_input {
	const char *name;	/* the input's name in messages */
	int fd;			/* -1: the input is in memory */
	const char *mem;
	char *buf;
	/* size of buf; in buf or mem: the end of the last run, and the end of the data */
	size_t cap, at, len;
	bool end;		/* all bytes have been read */
	unsigned int independent;	/* enum kl_independent */
	uint64_t size;		/* size of the file in bytes, or 0 if it is unknown */
	bool file;		/* @name is a file, which can be read again */
	struct kl_input_id id; /* of that file */
	enum kl_place_kind places;	/* kind of places of the history's form */
	const struct kl_form *form; /* the history's form, or NULL */
	size_t skipped;		/* number of bytes skipped by kl_input_skip() */
	/* runs handed out; length of the input if it was one short run, in buf; else 0 */
	size_t runs, whole;
	struct sha256_ctx *sha;	/* hash of all bytes that are read, or NULL */
};

/* Open @path, "-" for standard input.  Return: 0, or a negative errno without a message. */
int kl_input_open(struct kl_input *in, const char *path);
void kl_input_memory(struct kl_input *in, const char *name, const char *data, size_t len);
void kl_input_close(struct kl_input *in);

/**
 * kl_input_peek() - look at the first bytes, before any other function reads the input
 * @in: the input
 * @data: the bytes
 * @len: number of the bytes: the whole input, or at least 64 KiB
 *
 * Return: 0 or a negative errno.
 */
int kl_input_peek(struct kl_input *in, const char **data, size_t *len);

/* Skip the first @n bytes, which kl_input_peek() has returned. */
void kl_input_skip(struct kl_input *in, size_t n);

/**
 * kl_input_lines() - get the next run of whole lines
 * @in: the input
 * @p: the first line
 * @end: the end of the last line's newline, which is added if the file has none
 *
 * KL_INPUT_BEHIND readable bytes follow @end.  The call overwrites the previous run.
 *
 * Return: 1, 0 if there are no more lines, or a negative errno.
 */
int kl_input_lines(struct kl_input *in, const char **p, const char **end);

/* Get all bytes at once, valid until kl_input_close().  Return: 0 or a negative errno. */
int kl_input_all(struct kl_input *in, const char **data, size_t *len);

/*
 * Get all bytes as whole lines: a newline is added if the last line has none.  A zero byte and
 * KL_INPUT_BEHIND - 1 readable bytes follow @end.
 */
int kl_input_text(struct kl_input *in, const char **p, const char **end);

/**
 * kl_input_sha256() - compute the hash of a file's bytes
 * @in: the input, whose @sha was set before the first byte was read
 * @hex: the hash
 *
 * The function first reads the rest of the input, and overwrites the last run.
 *
 * Return: 0 or a negative errno.
 */
int kl_input_sha256(struct kl_input *in, char hex[KL_SHA256_HEX]);

#endif
