/* SPDX-License-Identifier: GPL-2.0 */
/* The reader of .klh, which klh_read.c gives a whole file, and klh_feed.c a piece at a time. */
#ifndef KL_HISTORY_KLH_READER_H
#define KL_HISTORY_KLH_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

struct kl_klh_reader {
	const char *name;
	const uint8_t *data;
	uint32_t version;
	size_t len, at; /* length of the file; offset of the present block */
	struct kl_history *h;
	ZSTD_DCtx *zstd;
	uint8_t *raw;
	size_t craw;
	uint64_t object, thread, floor; /* the last object, thread and floor that were read */
	uint64_t nops; /* number of operations in all blocks so far */
	uint32_t nblocks;
	bool whole; /* the whole file is in memory */
	bool begun, ended; /* the header was read; the end was read */
	struct klh_ops *ops;
};

/* Say that the file is damaged at r->at.  Return: -EINVAL. */
int klh_damaged(const struct kl_klh_reader *r, const char *what);
/* Read the header at r->data.  Return: 0, -EINVAL after a message, or -ENOMEM. */
int klh_read_header(struct kl_klh_reader *r);
/* Read the block at @p, with @len bytes of data.  Return: as klh_read_header(). */
int klh_read_block(struct kl_klh_reader *r, const uint8_t *p, size_t len);
/* Compare the end at @p with what was read.  Return: 0, or -EINVAL after a message. */
int klh_check_end(const struct kl_klh_reader *r, const uint8_t *p);

#endif
