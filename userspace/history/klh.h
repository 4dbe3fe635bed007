/* SPDX-License-Identifier: GPL-2.0 */
/* Writing and reading .klh, the packed form of histories, block by block; see klh_format.h. */
#ifndef KL_HISTORY_KLH_H
#define KL_HISTORY_KLH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/history.h"

struct kl_klh;

/**
 * kl_klh_open() - begin a .klh file that is written during a recording
 * @path: the file; it is written in place, so that a crash leaves the blocks so far
 * @h: the history whose clock, error, first state, release, spec and attachments go to the header
 * @out: the writer
 *
 * Return: 0, or a negative errno without a message.
 */
int kl_klh_open(const char *path, const struct kl_history *h, struct kl_klh **out);

/**
 * kl_klh_append() - write operations, in blocks of 64k
 * @k: the writer
 * @h: the history that has the operations, the same one in all calls.  Its tables of methods,
 *	objects and threads must only grow.  Its operations may be dropped after the call.
 * @first: index of the first operation
 * @n: number of operations
 * @floor: a lower bound of the calls and gaps that are written later, or KL_TIME_MIN.  If the file
 *	is cut short, everything from the last floor on is unknown.
 *
 * Return: 0, or a negative errno, after which only kl_klh_close() may be called.
 */
int kl_klh_append(struct kl_klh *k, const struct kl_history *h, size_t first, size_t n,
		  uint64_t floor);

/* Write the gaps first .. first + n - 1 of @h. */
int kl_klh_append_gaps(struct kl_klh *k, const struct kl_history *h, size_t first, size_t n);

/*
 * Write the end, sync and close.  @k is freed in any case.  Without @complete no end is written,
 * so a reader sees a file that was cut short.
 */
int kl_klh_close(struct kl_klh *k, bool complete);

/* Return: the number of bytes written so far. */
uint64_t kl_klh_bytes(const struct kl_klh *k);

/* A reader of a file piece by piece, for streams; see stream.h. */
struct kl_klh_reader;

struct kl_klh_reader *kl_klh_reader_new(const char *name);
void kl_klh_reader_free(struct kl_klh_reader *r);
/*
 * Read the header, a block, or the end, if all of its bytes are in @data.  @used receives the
 * number of bytes read, or 0 if more bytes are needed.
 * Return: 0, -EINVAL after a message, or another negative errno.
 */
int kl_klh_reader_feed(struct kl_klh_reader *r, const void *data, size_t len, size_t *used);
struct kl_history *kl_klh_reader_history(struct kl_klh_reader *r);
int kl_klh_reader_renew(struct kl_klh_reader *r);
uint64_t kl_klh_reader_floor(const struct kl_klh_reader *r);
bool kl_klh_reader_begun(const struct kl_klh_reader *r);
bool kl_klh_reader_ended(const struct kl_klh_reader *r);

/* Return: true if these are the first bytes of a .klh file. */
bool kl_klh_is(const void *data, size_t len);

#endif
