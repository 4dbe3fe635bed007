/* SPDX-License-Identifier: GPL-2.0 */
/*
 * klind runs as root.  A user who can write klind's configuration chooses where probes are
 * attached.  A user who can write the directory of reports chooses where root writes.
 * These functions refuse such files and directories.
 */
#ifndef KLIND_TRUST_H
#define KLIND_TRUST_H

/**
 * klind_trust_file() - check that only root and the effective user can change a file
 * @path: path of the file; symbolic links are followed
 *
 * The file and its directory must belong to root or to the effective user.  Neither the group nor
 * others may have write permission.  A directory with the sticky bit, such as /tmp, is accepted.
 *
 * Return: 0 if so, or if there is no file; -EINVAL after a message that says how to correct the
 * permissions; -ENOMEM.
 */
int klind_trust_file(const char *path);

/**
 * klind_trust_directory() - check that only root and the effective user can change a directory
 * @path: path of the directory; a symbolic link is refused
 *
 * The rules of klind_trust_file() hold, but the directory itself must not be writable for group or
 * others even if it has the sticky bit.
 *
 * Return: 0 if so, or if there is no directory; -EINVAL after a message that says how to correct
 * the permissions; -ENOMEM.
 */
int klind_trust_directory(const char *path);

#endif
