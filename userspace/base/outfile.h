/* SPDX-License-Identifier: GPL-2.0 */
/* Files that are written under a temporary name, and renamed when they are complete. */
#ifndef KL_BASE_OUTFILE_H
#define KL_BASE_OUTFILE_H

#include <stdio.h>

/* A file that is being written.  It does not appear under its name before the commit. */
struct kl_outfile {
	FILE *f;
	char *tmp, *path; /* NULL if the output is standard output */
};

int kl_outfile_open(struct kl_outfile *o, const char *path);
/**
 * kl_outfile_replace() - open a file that a daemon replaces again and again
 * @o: receives the open file
 * @path: its name; an existing file of this name must be a regular file, and is not opened
 *
 * Other users may be able to create names in the directory.  Opening a FIFO there would block,
 * and opening a symbolic link would write to its target.
 *
 * Return: 0 or a negative errno, without a message.
 */
int kl_outfile_replace(struct kl_outfile *o, const char *path);
/* Flush, sync and rename the file.  Return: 0, or a negative errno with the old file unchanged. */
int kl_outfile_commit(struct kl_outfile *o);
void kl_outfile_abort(struct kl_outfile *o);
/* Report that a file, or standard output ("-"), could not be written; @err is a negative errno. */
void kl_cannot_write(const char *path, int err);

#endif
