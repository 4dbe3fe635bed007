/* SPDX-License-Identifier: GPL-2.0 */
/* Whole files, read at once. */
#ifndef KL_BASE_FILE_H
#define KL_BASE_FILE_H

#include <stddef.h>
#include <stdio.h>

/**
 * kl_read_file() - read a file (or "-", standard input) into memory
 * @path: the file
 * @data: receives the bytes, followed by a NUL that is not counted; free() them
 * @len: receives the number of bytes
 *
 * Return: 0 or a negative errno, without a message.
 */
int kl_read_file(const char *path, char **data, size_t *len);

/* Return: 0, or the negative errno of a failed write to @f; -EIO if the errno is not known. */
int kl_stream_err(FILE *f);

#define KL_FILES_MAX 8

/* Files that the user named. */
struct kl_files {
	const char *path[KL_FILES_MAX];
	unsigned int n;
};

#endif
