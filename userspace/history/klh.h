/* SPDX-License-Identifier: GPL-2.0 */
/* The binary form of histories: as a stream of blocks, see klh_format.h. */
#ifndef KL_HISTORY_KLH_H
#define KL_HISTORY_KLH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/history.h"

struct kl_klh;

/**
 * kl_klh_open() - begin a .klh file that is written as a recording goes on
 * @path: the file; written in place, so that a crash leaves the blocks so far
 * @h: clock, error, first state, release, spec and attachments go to the header
 * @out: the writer
 *
 * Return: 0, or a negative errno without a message.
 */
int kl_klh_open(const char *path, const struct kl_history *h, struct kl_klh **out);

/**
 * kl_klh_append() - write operations, each 64k of them a block
 * @k: the writer
 * @h: the history that holds them; always the same one, whose tables of methods,
 *	objects and threads only grow.  Its operations may be dropped afterwards.
 * @first: index of the first
 * @n: how many
 * @floor: every operation still to be written is called at this time or later, and every
 *	gap still to be written begins then or later.
 *	Where the file is cut short, its reader takes everything from the last
 *	floor on as not known.  KL_TIME_MIN if there is no such bound.
 *
 * Return: 0, or a negative errno; then only kl_klh_close() makes sense.
 */
int kl_klh_append(struct kl_klh *k, const struct kl_history *h, size_t first, size_t n,
		  uint64_t floor);

/* Write gaps first .. first + n - 1 of @h. */
int kl_klh_append_gaps(struct kl_klh *k, const struct kl_history *h, size_t first, size_t n);

/*
 * Write the end, sync and close, and free @k in any case.  Without @complete no
 * end is written: a reader takes the file for one cut short by a crash.
 */
int kl_klh_close(struct kl_klh *k, bool complete);

/* Bytes written so far. */
uint64_t kl_klh_bytes(const struct kl_klh *k);

/* Reading a file piece by piece, for streams: see stream.h. */
struct kl_klh_reader;

struct kl_klh_reader *kl_klh_reader_new(const char *name);
void kl_klh_reader_free(struct kl_klh_reader *r);
/*
 * Read the header, or one block, or the end, if it is there as a whole; @used: bytes of
 * it.  0; -EINVAL after a message; another negative errno.
 */
int kl_klh_reader_feed(struct kl_klh_reader *r, const void *data, size_t len, size_t *used);
struct kl_history *kl_klh_reader_history(struct kl_klh_reader *r);
int kl_klh_reader_renew(struct kl_klh_reader *r);
uint64_t kl_klh_reader_floor(const struct kl_klh_reader *r);
bool kl_klh_reader_begun(const struct kl_klh_reader *r);
bool kl_klh_reader_ended(const struct kl_klh_reader *r);

/* Do these first bytes of a file begin a .klh? */
bool kl_klh_is(const void *data, size_t len);

#endif
