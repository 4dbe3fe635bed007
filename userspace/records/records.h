/* SPDX-License-Identifier: GPL-2.0 */
/* Histories in EDN, JSON or CSV, read by the history block of a spec. */
#ifndef KL_RECORDS_RECORDS_H
#define KL_RECORDS_RECORDS_H

#include "history/history.h"
#include "history/input.h"
#include "history/stream.h"
#include "spec/spec.h"

/*
 * A program may lack this reader (klin-replay does, and asks klin), so references to it are weak.
 *
 * kl_records_open() - read a history that may be in the form of records
 * @path: the file, "-" for standard input
 * @opts: options for reading the history
 * @spec: the specification, which has a history block
 * @h: gets the history
 *
 * A file in a form of klin or of another checker is read in this form.  EDN, which several tools
 * write, is read by the history block, unless @opts names the form.
 *
 * Return: 0, -EINVAL after a message, or another negative errno after a message.
 */
int kl_records_open(const char *path, const struct kl_read_opts *opts, const struct kl_spec *spec,
		    struct kl_history **h) __attribute__((weak));

/* Read a history from memory, by the history block of @spec.  Return: as kl_records_open(). */
int kl_records_parse(const char *name, const char *data, size_t len, const struct kl_spec *spec,
		     struct kl_history **h);

/*
 * Make a reader for kl_stream_use() of a log that grows.  Texts other than decimal numbers are kept
 * as long as it lives, because equal ones are one value.  Return: 0 or -ENOMEM.
 */
int kl_records_follow(const char *path, const struct kl_spec *spec, struct kl_stream_log **out);

#endif
