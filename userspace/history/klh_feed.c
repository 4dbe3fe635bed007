// SPDX-License-Identifier: GPL-2.0
/* Reads .klh piece by piece, for streams; klh_read.c reads whole files. */
#include <zlib.h>
#include <zstd.h>

#include "history/internal.h"
#include "history/klh.h"
#include "history/klh_format.h"
#include "history/klh_reader.h"

static int feed_header(struct kl_klh_reader *r, const uint8_t *p, size_t len, size_t *used)
{
	int ret;

	/* Wait for more bytes, unless the header is damaged, which klh_read_header() reports. */
	if (len < KLH_HEADER ||
	    (klh_get32(p + 12) <= KLH_MAX_TEXT && crc32(0, p, 20) == klh_get32(p + 20) &&
	     len - KLH_HEADER < klh_get32(p + 12)))
		return 0;
	r->data = p;
	r->len = len;
	ret = klh_read_header(r);
	if (ret)
		return ret;
	*used = r->at;
	r->begun = true;
	return 0;
}

int kl_klh_reader_feed(struct kl_klh_reader *r, const void *data, size_t len, size_t *used)
{
	const uint8_t *p = data;
	size_t size;
	int ret;

	*used = 0;
	if (!r->begun)
		return feed_header(r, p, len, used);
	if (len < KLH_BLOCK_HEADER)
		return 0;
	if (crc32(0, p, 28) != klh_get32(p + 28))
		return klh_damaged(r, "the checksum of a block's header does not match");
	size = klh_get32(p + 12);
	if (klh_get32(p) == KLH_END) {
		ret = klh_check_end(r, p);
		if (ret)
			return ret;
		*used = KLH_BLOCK_HEADER;
		r->at += *used;
		r->floor = KL_TIME_MAX;
		r->ended = true;
		return 0;
	}
	if (klh_get32(p) != KLH_BLOCK)
		return klh_damaged(r, "a block of an unknown kind");
	if (size > ZSTD_compressBound(KLH_MAX_RAW))
		return klh_damaged(r, "a block is too large");
	if (size > len - KLH_BLOCK_HEADER)
		return 0;
	ret = klh_read_block(r, p, size);
	if (ret)
		return ret;
	*used = KLH_BLOCK_HEADER + size;
	r->at += *used;
	return 0;
}

struct kl_history *kl_klh_reader_history(struct kl_klh_reader *r)
{
	return r->h;
}

int kl_klh_reader_renew(struct kl_klh_reader *r)
{
	return kl_history_renew(&r->h);
}

uint64_t kl_klh_reader_floor(const struct kl_klh_reader *r)
{
	return r->floor;
}

bool kl_klh_reader_begun(const struct kl_klh_reader *r)
{
	return r->begun;
}

bool kl_klh_reader_ended(const struct kl_klh_reader *r)
{
	return r->ended;
}
