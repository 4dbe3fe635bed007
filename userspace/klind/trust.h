/* SPDX-License-Identifier: GPL-2.0 */
/*
 * klind runs as root: who can write its configuration decides what is attached to, and who
 * can write the directory of its reports decides where root writes.
 */
#ifndef KLIND_TRUST_H
#define KLIND_TRUST_H

/**
 * klind_trust_file() - can nobody but root and the caller change this file?
 * @path: the file; links to it are followed
 *
 * The file and its directory have to belong to root or to the effective user, and be writable
 * by no group and not by others; a directory may be with the sticky bit, as /tmp.
 *
 * Return: 0, also where nothing is there; -EINVAL after a message that says how to mend it.
 */
int klind_trust_file(const char *path);

/**
 * klind_trust_directory() - the same for a directory that root writes into
 * @path: the directory; it may not be a symbolic link, nor have the sticky bit for an excuse
 *
 * Return: 0, also where nothing is there yet; -EINVAL after a message that says how to mend it.
 */
int klind_trust_directory(const char *path);

#endif
