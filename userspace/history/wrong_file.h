/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hints for people who name a file that does not exist, or one of another kind.
 *
 * klin-replay, which is to be small, lacks these functions, so references to them are weak.
 */
#ifndef KL_HISTORY_WRONG_FILE_H
#define KL_HISTORY_WRONG_FILE_H

#include <stddef.h>

#define KL_FILE_HINT	512	/* size of a hint, in bytes */

/**
 * kl_spec_hint() - what to do about a specification that cannot be read
 * @path: the name that was given
 * @err: the negative errno of reading it
 * @hint: receives the text "; ...", or ""
 *
 * Return: @hint.
 */
const char *kl_spec_hint(const char *path, int err, char hint[KL_FILE_HINT])
	__attribute__((weak));

/* Return: a hint, as above, for a history that cannot be read. */
const char *kl_history_hint(const char *path, int err, char hint[KL_FILE_HINT])
	__attribute__((weak));

/* A kind of files that klin reads or writes. */
struct kl_file_kind {
	const char *what;	/* such as "a history" */
	const char *not_spec;	/* what to do where a specification is expected, or NULL */
	const char *not_history;	/* what to do where a history is expected, or NULL */
};

/* Return: the kind of a file that begins with @data, or NULL if it is not known. */
const struct kl_file_kind *kl_file_kind(const char *data, size_t len) __attribute__((weak));

#endif
