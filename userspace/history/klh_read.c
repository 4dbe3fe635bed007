// SPDX-License-Identifier: GPL-2.0
/*
 * Reads .klh, see klh_format.h.  Nothing in the file is trusted: before use, lengths are checked
 * against the file and against bounds, checksums against the data, and indices against the tables.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "base/err.h"
#include "base/limit.h"
#include "base/mem.h"
#include "history/internal.h"
#include "history/klh.h"
#include "history/klh_format.h"
#include "history/klh_numbers.h"
#include "history/klh_ops.h"
#include "history/klh_reader.h"
#include "history/text.h"

/* maximum of bytes that are allocated at once, for each byte of the file */
#define EXPECT	64
/* number of operations after which the memory for all operations is estimated */
#define FIRST	8192

bool kl_klh_is(const void *data, size_t len)
{
	return len >= 4 && !memcmp(data, KLH_MAGIC, 4);
}

int klh_damaged(const struct kl_klh_reader *r, const char *what)
{
	kl_err("%s: offset %zu: %s: the file is damaged", r->name, r->at, what);
	return -EINVAL;
}

static int read_methods(struct kl_klh_reader *r, struct klh_cursor *c)
{
	uint64_t len;
	int64_t i;

	while (c->p < c->end) {
		if (!klh_next(c, &len) || len > (size_t)(c->end - c->p))
			return klh_damaged(r, "a method's name is truncated");
		i = kl_history_method(r->h, (const char *)c->p, len);
		if (i == -EINVAL || (i >= 0 && (size_t)i + 1 != r->h->nmethods))
			return klh_damaged(r, "bad method name");
		if (i < 0)
			return i;
		c->p += len;
	}
	return 0;
}

static int read_keys(struct kl_klh_reader *r, struct klh_cursor *c, uint64_t *last, size_t *n,
		     int64_t (*index)(struct kl_history *h, uint64_t raw))
{
	uint64_t v;
	size_t old;
	int64_t i;

	while (c->p < c->end) {
		if (!klh_next(c, &v))
			return klh_damaged(r, "bad object or thread");
		*last += klh_unfold(v);
		old = *n;
		i = index(r->h, *last);
		if (i < 0)
			return i;
		if (*n == old)
			return klh_damaged(r, "an object or thread occurs twice");
	}
	return 0;
}

static int read_gaps(struct kl_klh_reader *r, struct klh_cursor *c)
{
	uint64_t len, object, cpu, reason;
	struct kl_gap g;
	int ret;

	while (c->p < c->end) {
		if (!klh_next(c, &g.from) || !klh_next(c, &len) || !klh_next(c, &g.lost) ||
		    !klh_next(c, &object) || !klh_next(c, &cpu) || !klh_next(c, &reason) ||
		    len > UINT64_MAX - g.from || object > r->h->nobjects || cpu > KL_NO_CPU ||
		    reason > KL_GAP_CUT)
			return klh_damaged(r, "bad gap");
		g.to = g.from + len;
		g.object = object ? object - 1 : KL_ALL_OBJECTS;
		g.cpu = cpu ? cpu - 1 : KL_NO_CPU;
		g.reason = reason;
		ret = kl_history_add_gap(r->h, &g);
		if (ret)
			return ret;
	}
	return 0;
}

/* Make room for all operations of a whole file, by the headers of its blocks. */
static void expect(struct kl_klh_reader *r)
{
	uint64_t nops = 0;
	size_t at = r->at;

	while (r->len - at >= KLH_BLOCK_HEADER && klh_get32(r->data + at) == KLH_BLOCK) {
		const uint32_t len = klh_get32(r->data + at + 12);

		if (len > r->len - at - KLH_BLOCK_HEADER)
			break;
		nops += klh_get32(r->data + at + 4);
		at += KLH_BLOCK_HEADER + len;
	}
	if (r->h->nops)
		kl_history_expect(r->h, (double)nops / r->h->nops + 0.01, EXPECT * r->len);
}

/* Read the operations of a block.  The first operations show how much memory the others need. */
static int read_ops(struct kl_klh_reader *r, struct klh_cursor *col, uint32_t nops)
{
	const uint32_t first = r->whole && !r->h->nops && nops > FIRST ? FIRST : nops;
	const char *what;
	int ret;

	klh_ops_begin(r->ops);
	ret = klh_ops_read(r->ops, r->h, col, first, &what);
	if (!ret && first < nops) {
		expect(r);
		ret = klh_ops_read(r->ops, r->h, col, nops - first, &what);
	}
	return ret == -EINVAL ? klh_damaged(r, what) : ret;
}

static int read_columns(struct kl_klh_reader *r, size_t raw, uint32_t nops)
{
	const size_t ncols = klh_columns(r->version);
	struct klh_cursor col[KLH_COLUMNS] = { 0 };
	size_t at = ncols * 4, i;
	int ret;

	if (raw < at)
		return klh_damaged(r, "a block is too short for its columns");
	for (i = 0; i < ncols; i++) {
		size_t len = klh_get32(r->raw + 4 * i);

		if (len > raw - at)
			return klh_damaged(r, "a column is longer than its block");
		col[i].p = r->raw + at;
		col[i].end = col[i].p + len;
		at += len;
	}
	ret = read_methods(r, &col[KLH_METHODS]);
	if (!ret)
		ret = read_keys(r, &col[KLH_OBJECTS], &r->object, &r->h->nobjects,
				kl_history_object);
	if (!ret)
		ret = read_keys(r, &col[KLH_THREADS], &r->thread, &r->h->nthreads,
				kl_history_thread);
	if (!ret)
		ret = read_gaps(r, &col[KLH_GAPS]);
	if (ret)
		return ret;
	ret = read_ops(r, col, nops);
	if (ret)
		return ret;
	for (i = 0; i < ncols; i++)
		if (col[i].p != col[i].end)
			return klh_damaged(r, "a column is longer than its operations");
	return at == raw ? 0 : klh_damaged(r, "a block is longer than its columns");
}

int klh_read_block(struct kl_klh_reader *r, const uint8_t *p, size_t len)
{
	uint32_t nops = klh_get32(p + 4);
	size_t raw = klh_get32(p + 8), n;
	int ret;

	if (crc32(0, p + KLH_BLOCK_HEADER, len) != klh_get32(p + 24))
		return klh_damaged(r, "a block's checksum does not match");
	if (raw > KLH_MAX_RAW || nops > KLH_BLOCK_OPS || r->nops + nops > KLH_MAX_OPS)
		return klh_damaged(r, "a block is too large");
	n = ZSTD_getFrameContentSize(p + KLH_BLOCK_HEADER, len);
	if (n != raw)
		return klh_damaged(r, "a block's lengths do not match");
	ret = kl_limit_look("operation", r->nops) ?: kl_grow(r->raw, r->craw, raw + KLH_BEHIND);
	if (ret)
		return ret;
	memset(r->raw + raw, 0, KLH_BEHIND);
	n = ZSTD_decompressDCtx(r->zstd, r->raw, raw, p + KLH_BLOCK_HEADER, len);
	if (ZSTD_isError(n) || n != raw)
		return klh_damaged(r, "a block cannot be decompressed");
	ret = read_columns(r, raw, nops);
	if (ret)
		return ret;
	r->nblocks++;
	r->nops += nops;
	r->floor = klh_get64(p + 16);
	return 0;
}

/* Note that the end of the file is missing: everything after the last floor is unknown. */
static int cut_short(struct kl_klh_reader *r)
{
	struct kl_gap gap = {
		.from = r->floor, .to = KL_TIME_MAX, .object = KL_ALL_OBJECTS, .cpu = KL_NO_CPU,
		.reason = KL_GAP_LOST,
	};

	/* No operation follows a floor of KL_TIME_MAX, so only the end itself is missing. */
	kl_warn(r->floor == KL_TIME_MAX ?
			"%s: truncated at offset %zu, in its end behind all %zu operations" :
			"%s: truncated at offset %zu after %zu operations: operations that may have "
			"followed, from time %" PRIu64 " on, count as lost",
		r->name, r->at, r->h->nops, r->floor);
	return r->floor == KL_TIME_MAX ? 0 : kl_history_add_gap(r->h, &gap);
}

/* Return: true if all bytes are 0, as the last bytes of a file may be after a machine's crash. */
static bool only_zeros(const uint8_t *p, size_t len)
{
	while (len && !*p) {
		p++;
		len--;
	}
	return !len;
}

int klh_check_end(const struct kl_klh_reader *r, const uint8_t *p)
{
	if (klh_get64(p + 16) == r->nops && klh_get32(p + 8) == r->nblocks)
		return 0;
	return klh_damaged(r, "blocks are missing");
}

static int read_blocks(struct kl_klh_reader *r)
{
	for (;;) {
		const uint8_t *p = r->data + r->at;
		size_t left = r->len - r->at, len;
		int ret;

		if (left < KLH_BLOCK_HEADER || only_zeros(p, left))
			return cut_short(r);
		if (crc32(0, p, 28) != klh_get32(p + 28))
			return klh_damaged(r, "the checksum of a block's header does not match");
		len = klh_get32(p + 12);
		if (klh_get32(p) == KLH_END) {
			ret = klh_check_end(r, p);
			if (ret)
				return ret;
			if (left > KLH_BLOCK_HEADER)
				return klh_damaged(r, "unexpected bytes after the end");
			return 0;
		}
		if (klh_get32(p) != KLH_BLOCK)
			return klh_damaged(r, "a block of an unknown kind");
		if (len > left - KLH_BLOCK_HEADER)
			return cut_short(r);
		ret = klh_read_block(r, p, len);
		if (ret)
			return ret;
		r->at += KLH_BLOCK_HEADER + len;
	}
}

/* Read the header's text, line by line as in the text form. */
static int read_text(struct kl_klh_reader *r, const char *p, size_t len)
{
	struct kl_text_src src = { .scan.name = r->name };
	const char *end;
	char *text;
	int ret = 0;

	if (!len || p[len - 1] != '\n')
		return klh_damaged(r, "the header's text does not end");
	/* Scanners read up to KL_INPUT_BEHIND bytes after the last line. */
	text = calloc(1, len + KL_INPUT_BEHIND);
	if (!text)
		return -ENOMEM;
	p = memcpy(text, p, len);
	end = p + len;
	while (p < end && !ret) {
		src.scan.line++;
		src.scan.start = p;
		if (*p != '#')
			ret = klh_damaged(r, "the header has lines that are not header lines");
		else
			ret = kl_text_header(r->h, &src, p + 1);
		p = (const char *)memchr(p, '\n', end - p) + 1;
	}
	kl_text_header_end(r->h, &src);
	free(text);
	return ret;
}

int klh_read_header(struct kl_klh_reader *r)
{
	const uint8_t *p = r->data;
	uint32_t len;
	int ret;

	if (r->len < KLH_HEADER) {
		kl_err("%s: truncated inside its header: expected at least %d bytes, found %zu",
		       r->name, KLH_HEADER, r->len);
		return -EINVAL;
	}
	if (memcmp(p, KLH_MAGIC, 4)) {
		kl_err("%s: not a .klh file; leave out --from=klh", r->name);
		return -EINVAL;
	}
	if (memcmp(p, KLH_MAGIC, 8))
		return klh_damaged(r, "not the first bytes of a .klh file");
	r->version = klh_get32(p + 8);
	if (r->version != KLH_VERSION && r->version != KLH_VERSION_STACKS) {
		kl_err("%s: .klh version %" PRIu32 ": expected version %d or %d, the only ones "
		       "this klin reads", r->name, r->version, KLH_VERSION, KLH_VERSION_STACKS);
		return -EINVAL;
	}
	if (crc32(0, p, 20) != klh_get32(p + 20))
		return klh_damaged(r, "the header's checksum does not match");
	len = klh_get32(p + 12);
	if (len > KLH_MAX_TEXT)
		return klh_damaged(r, "the header is too large");
	if (len > r->len - KLH_HEADER) {
		kl_err("%s: truncated inside its header: expected %" PRIu32
		       " bytes of text, found %zu", r->name, len, r->len - KLH_HEADER);
		return -EINVAL;
	}
	if (crc32(0, p + KLH_HEADER, len) != klh_get32(p + 16))
		return klh_damaged(r, "the checksum of the header's text does not match");
	ret = read_text(r, (const char *)p + KLH_HEADER, len);
	r->at = KLH_HEADER + len;
	return ret;
}

int kl_klh_read(const char *name, const void *data, size_t len, struct kl_history **out)
{
	struct kl_klh_reader *r = kl_klh_reader_new(name);
	int ret;

	if (!r)
		return -ENOMEM;
	r->data = data;
	r->len = len;
	r->whole = true;
	ret = klh_read_header(r) ?: read_blocks(r);
	if (!ret && (klh_ops_unordered(r->ops) || r->h->ngaps))
		ret = kl_history_finish(r->h);
	if (!ret) {
		*out = r->h;
		r->h = NULL;
	}
	kl_klh_reader_free(r);
	return ret;
}

struct kl_klh_reader *kl_klh_reader_new(const char *name)
{
	struct kl_klh_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->name = name;
	r->h = kl_history_new();
	r->zstd = ZSTD_createDCtx();
	r->ops = klh_ops_new();
	if (r->h && r->zstd && r->ops)
		return r;
	kl_klh_reader_free(r);
	return NULL;
}

void kl_klh_reader_free(struct kl_klh_reader *r)
{
	if (!r)
		return;
	kl_history_free(r->h);
	ZSTD_freeDCtx(r->zstd);
	free(r->raw);
	klh_ops_free(r->ops);
	free(r);
}
