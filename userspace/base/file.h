/* SPDX-License-Identifier: GPL-2.0 */
/* Whole files: read at once, or written beside and renamed when complete. */
#ifndef KL_BASE_FILE_H
#define KL_BASE_FILE_H

#include <stddef.h>
#include <stdio.h>

/**
 * kl_read_file() - read a file (or "-", standard input) into memory
 * @path: the file
 * @data: the bytes, followed by a NUL that is not counted; free() them
 * @len: how many
 *
 * Return: 0 or a negative errno, without a message.
 */
int kl_read_file(const char *path, char **data, size_t *len);

/* Has writing to @f failed?  0, -ENOSPC, ..., or -EIO where that is not known. */
int kl_stream_err(FILE *f);

/* A file in the making: nothing is seen under its name before the commit. */
struct kl_outfile {
	FILE *f;
	char *tmp, *path;	/* NULL when writing to standard output */
};

int kl_outfile_open(struct kl_outfile *o, const char *path);
/**
 * kl_outfile_replace() - the same for who writes again and again, with nobody looking
 * @o: the file
 * @path: its name; what is there is never opened, and must be a file, no link to one
 *
 * Others may be able to make names in its directory: a FIFO there would be waited for, and
 * what a link names written to.
 *
 * Return: 0 or a negative errno, without a message.
 */
int kl_outfile_replace(struct kl_outfile *o, const char *path);
/* Flush, sync and rename; a negative errno leaves the old file as it was. */
int kl_outfile_commit(struct kl_outfile *o);
void kl_outfile_abort(struct kl_outfile *o);
/* The message that a file, or standard output ("-"), was not written; @err: a negative errno. */
void kl_cannot_write(const char *path, int err);

#define KL_FILES_MAX 8

/* Files that a user named. */
struct kl_files {
	const char *path[KL_FILES_MAX];
	unsigned int n;
};

#endif
