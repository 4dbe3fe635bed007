// SPDX-License-Identifier: GPL-2.0
/* Writes .klh, see klh.h and klh_format.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "base/memstream.h"
#include "base/outfile.h"
#include "history/internal.h"
#include "history/klh.h"
#include "history/klh_format.h"
#include "history/text.h"

#define ZSTD_LEVEL	1

struct column {
	uint8_t *p;
	size_t len, cap;
};

struct kl_klh {
	int fd;
	uint32_t version;
	ZSTD_CCtx *zstd;
	struct column col[KLH_COLUMNS];
	uint8_t *raw, *out; /* a block's data; its header and the compressed data */
	size_t craw, cout;
	size_t nmethods, nobjects, nthreads; /* entries of the history's tables written so far */
	uint64_t object, thread; /* the last object and thread written */
	uint64_t nops, bytes, floor;
	uint32_t nblocks;
	struct klh_last last;
};

/* Append a number; reserve() has made room for it. */
static inline void put(struct column *c, uint64_t v)
{
	while (v >= 0x80) {
		c->p[c->len++] = v | 0x80;
		v >>= 7;
	}
	c->p[c->len++] = v;
}

static int reserve(struct column *c, size_t numbers)
{
	return kl_grow(c->p, c->cap, c->len + numbers * KLH_VARINT);
}

static int write_all(struct kl_klh *k, const uint8_t *p, size_t len)
{
	while (len) {
		ssize_t n = write(k->fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		len -= n;
		k->bytes += n;
	}
	return 0;
}

static int put_methods(struct kl_klh *k, const struct kl_history *h)
{
	struct column *c = &k->col[KLH_METHODS];
	size_t len;
	int ret;

	for (; k->nmethods < h->nmethods; k->nmethods++) {
		len = strlen(h->methods[k->nmethods]);
		ret = kl_grow(c->p, c->cap, c->len + KLH_VARINT + len);
		if (ret)
			return ret;
		put(c, len);
		memcpy(c->p + c->len, h->methods[k->nmethods], len);
		c->len += len;
	}
	return 0;
}

/*
 * Put the keys from number *@done on into column @c, at most KLH_BLOCK_KEYS.  *@done moves behind
 * them, and *@last becomes the last of them.
 */
static int put_keys(struct column *c, const uint64_t *keys, size_t n, size_t *done, uint64_t *last)
{
	size_t end = n - *done > KLH_BLOCK_KEYS ? *done + KLH_BLOCK_KEYS : n;
	int ret;

	ret = reserve(c, end - *done);
	if (ret)
		return ret;
	for (; *done < end; ++*done) {
		put(c, klh_fold(keys[*done] - *last));
		*last = keys[*done];
	}
	return 0;
}

static int write_block(struct kl_klh *k, uint32_t nops, uint64_t floor);

/*
 * Put new entries of the tables into the next block.  Entries that do not fit are written
 * before it, in blocks without operations.
 */
static int put_tables(struct kl_klh *k, const struct kl_history *h)
{
	int ret;

	for (;;) {
		ret = put_methods(k, h);
		if (!ret)
			ret = put_keys(&k->col[KLH_OBJECTS], h->objects, h->nobjects, &k->nobjects,
				       &k->object);
		if (!ret)
			ret = put_keys(&k->col[KLH_THREADS], h->threads, h->nthreads, &k->nthreads,
				       &k->thread);
		if (ret || (k->nobjects == h->nobjects && k->nthreads == h->nthreads))
			return ret;
		ret = write_block(k, 0, k->floor);
		if (ret)
			return ret;
	}
}

static void put_op(struct kl_klh *k, const struct kl_history *h, const struct kl_op *op,
		   uint64_t prev)
{
	const struct kl_opsig *s = kl_op_sig(h, op);
	bool pending = op->flags & KL_OP_PENDING;
	unsigned int n = s->nargs + (pending ? 0 : s->nres), i;
	const struct kl_val *v = kl_op_args(h, op);
	const uint64_t point = kl_op_point(h, op), drain = kl_op_drain(h, op);
	const uint32_t stack = k->version == KLH_VERSION ? 0 : kl_op_stack(h, op);
	struct column *col = k->col;

	put(&col[KLH_FLAGS], (op->flags & KL_OP_UNSEEN) |
	    (point != KL_TIME_MAX ? KLH_HAS_POINT : 0) |
	    (drain != KL_TIME_MAX ? KLH_HAS_DRAIN : 0) | (stack ? KLH_HAS_STACK : 0));
	put(&col[KLH_CALL], klh_fold(op->call - prev));
	if (!pending)
		put(&col[KLH_RET], op->ret - op->call);
	if (point != KL_TIME_MAX)
		put(&col[KLH_POINT], klh_fold(point - op->call));
	if (drain != KL_TIME_MAX)
		put(&col[KLH_DRAIN], klh_fold(drain - op->call));
	if (stack)
		put(&col[KLH_STACK], stack);
	put(&col[KLH_THREAD], op->thread);
	put(&col[KLH_OBJECT], op->object);
	put(&col[KLH_METHOD], s->method);
	put(&col[KLH_CPU], op->cpu == KL_NO_CPU ? 0 : op->cpu + 1);
	put(&col[KLH_SHAPE], s->nargs << 4 | s->nres);
	for (i = 0; i < n; i++) {
		put(&col[KLH_TAGS], v[i].tag);
		if (v[i].tag == KL_WORD) {
			uint64_t *last = klh_place(&k->last, s->method, i);

			put(&col[KLH_VALUES], klh_fold(v[i].v - *last));
			*last = v[i].v;
		}
	}
}

/* Write the contents of the columns as a block, and empty the columns. */
static int write_block(struct kl_klh *k, uint32_t nops, uint64_t floor)
{
	const size_t ncols = klh_columns(k->version);
	size_t raw = ncols * 4, at, len, i;
	uint8_t *p;
	int ret;

	for (i = 0; i < ncols; i++)
		raw += k->col[i].len;
	if (raw > KLH_MAX_RAW)
		return -E2BIG;
	ret = kl_grow(k->raw, k->craw, raw);
	if (!ret)
		ret = kl_grow(k->out, k->cout, KLH_BLOCK_HEADER + ZSTD_compressBound(raw));
	if (ret)
		return ret;
	at = ncols * 4;
	for (i = 0; i < ncols; i++) {
		klh_put32(k->raw + 4 * i, k->col[i].len);
		if (k->col[i].len)
			memcpy(k->raw + at, k->col[i].p, k->col[i].len);
		at += k->col[i].len;
		k->col[i].len = 0;
	}
	p = k->out;
	len = ZSTD_compressCCtx(k->zstd, p + KLH_BLOCK_HEADER, k->cout - KLH_BLOCK_HEADER, k->raw,
				raw, ZSTD_LEVEL);
	if (ZSTD_isError(len))
		return -ENOMEM;
	klh_put32(p, KLH_BLOCK);
	klh_put32(p + 4, nops);
	klh_put32(p + 8, raw);
	klh_put32(p + 12, len);
	klh_put64(p + 16, floor);
	klh_put32(p + 24, crc32(0, p + KLH_BLOCK_HEADER, len));
	klh_put32(p + 28, crc32(0, p, 28));
	ret = write_all(k, p, KLH_BLOCK_HEADER + len);
	if (ret)
		return ret;
	k->nblocks++;
	k->nops += nops;
	k->floor = floor;
	return 0;
}

static int append_block(struct kl_klh *k, const struct kl_history *h, size_t first, size_t n,
			uint64_t floor)
{
	size_t nvals = 0, i;
	uint64_t prev = 0;
	int ret;

	if (k->nops + n > KLH_MAX_OPS)
		return -EFBIG;
	ret = put_tables(k, h);
	for (i = 0; i < n; i++)
		nvals += kl_op_sig(h, &h->ops[first + i])->nargs +
			 kl_op_sig(h, &h->ops[first + i])->nres;
	for (i = KLH_FLAGS; i < KLH_TAGS && !ret; i++)
		ret = reserve(&k->col[i], n);
	for (i = KLH_TAGS; i <= KLH_VALUES && !ret; i++)
		ret = reserve(&k->col[i], nvals);
	if (!ret && k->version == KLH_VERSION_STACKS)
		ret = reserve(&k->col[KLH_STACK], n);
	if (ret)
		return ret;
	memset(&k->last, 0, sizeof(k->last));
	for (i = 0; i < n; i++) {
		put_op(k, h, &h->ops[first + i], prev);
		prev = h->ops[first + i].call;
	}
	return write_block(k, n, floor);
}

/* Return: the least call of @n operations, or KL_TIME_MAX if @n is 0. */
static uint64_t least_call(const struct kl_op *op, size_t n)
{
	uint64_t t = KL_TIME_MAX;

	for (; n; n--, op++)
		if (op->call < t)
			t = op->call;
	return t;
}

int kl_klh_append(struct kl_klh *k, const struct kl_history *h, size_t first, size_t n,
		  uint64_t floor)
{
	size_t nblocks = n / KLH_BLOCK_OPS + (n % KLH_BLOCK_OPS > 0), i, len;
	uint64_t *floors;
	int ret = 0;

	if (!n)
		return 0;
	floors = malloc(nblocks * sizeof(*floors));
	if (!floors)
		return -ENOMEM;
	/*
	 * The floor of a block is a lower bound of the calls in all later blocks.  @floor bounds
	 * the calls in blocks that are appended later.
	 */
	for (i = nblocks; i-- > 0;) {
		floors[i] = floor;
		len = n - i * KLH_BLOCK_OPS < KLH_BLOCK_OPS ? n - i * KLH_BLOCK_OPS : KLH_BLOCK_OPS;
		if (i) {
			uint64_t t = least_call(h->ops + first + i * KLH_BLOCK_OPS, len);

			if (t < floor)
				floor = t;
		}
	}
	for (i = 0; i < nblocks && !ret; i++) {
		len = n - i * KLH_BLOCK_OPS < KLH_BLOCK_OPS ? n - i * KLH_BLOCK_OPS : KLH_BLOCK_OPS;
		ret = append_block(k, h, first + i * KLH_BLOCK_OPS, len, floors[i]);
	}
	free(floors);
	return ret;
}

int kl_klh_append_gaps(struct kl_klh *k, const struct kl_history *h, size_t first, size_t n)
{
	struct column *c = &k->col[KLH_GAPS];
	const struct kl_gap *g = n ? h->gaps + first : NULL;
	int ret = 0;

	while (n && !ret) {
		size_t len = n < KLH_BLOCK_OPS ? n : KLH_BLOCK_OPS, i;

		ret = put_tables(k, h);
		if (!ret)
			ret = reserve(c, 6 * len);
		if (ret)
			break;
		for (i = 0; i < len; i++, g++) {
			put(c, g->from);
			put(c, g->to - g->from);
			put(c, g->lost);
			put(c, g->object == KL_ALL_OBJECTS ? 0 : (uint64_t)g->object + 1);
			put(c, g->cpu == KL_NO_CPU ? 0 : g->cpu + 1);
			put(c, g->reason);
		}
		n -= len;
		ret = write_block(k, 0, k->floor);
	}
	return ret;
}

static int write_header(struct kl_klh *k, const struct kl_history *h)
{
	uint8_t *p = NULL;
	char *text = NULL;
	size_t len = 0;
	struct kl_memstream m;
	int ret = kl_memstream_open(&m);

	if (ret)
		return ret;
	kl_text_put_header(m.f, h);
	ret = kl_memstream_close(&m, &text, &len);
	if (ret)
		return ret;
	ret = -E2BIG;
	if (len > KLH_MAX_TEXT)
		goto out;
	ret = -ENOMEM;
	p = malloc(KLH_HEADER + len);
	if (!p)
		goto out;
	memcpy(p, KLH_MAGIC, 8);
	klh_put32(p + 8, k->version);
	klh_put32(p + 12, len);
	klh_put32(p + 16, crc32(0, (const uint8_t *)text, len));
	klh_put32(p + 20, crc32(0, p, 20));
	memcpy(p + KLH_HEADER, text, len);
	ret = write_all(k, p, KLH_HEADER + len);
out:
	free(p);
	free(text);
	return ret;
}

static void klh_free(struct kl_klh *k)
{
	size_t i;

	for (i = 0; i < KLH_COLUMNS; i++)
		free(k->col[i].p);
	free(k->raw);
	free(k->out);
	ZSTD_freeCCtx(k->zstd);
	free(k);
}

static int begin(int fd, const struct kl_history *h, struct kl_klh **out)
{
	struct kl_klh *k = calloc(1, sizeof(*k));
	int ret;

	if (!k)
		return -ENOMEM;
	k->fd = fd;
	k->version = h->stacks ? KLH_VERSION_STACKS : KLH_VERSION;
	k->zstd = ZSTD_createCCtx();
	ret = k->zstd ? write_header(k, h) : -ENOMEM;
	if (ret) {
		klh_free(k);
		return ret;
	}
	*out = k;
	return 0;
}

static int write_end(struct kl_klh *k)
{
	uint8_t p[KLH_BLOCK_HEADER] = { 0 };

	klh_put32(p, KLH_END);
	klh_put32(p + 8, k->nblocks);
	klh_put64(p + 16, k->nops);
	klh_put32(p + 28, crc32(0, p, 28));
	return write_all(k, p, sizeof(p));
}

int kl_klh_open(const char *path, const struct kl_history *h, struct kl_klh **out)
{
	int fd, ret;

	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	ret = begin(fd, h, out);
	if (ret)
		close(fd);
	return ret;
}

int kl_klh_close(struct kl_klh *k, bool complete)
{
	int ret = complete ? write_end(k) : 0;

	if (!ret && complete && fsync(k->fd) && errno != EINVAL && errno != EROFS)
		ret = -errno;
	if (close(k->fd) && !ret)
		ret = -errno;
	klh_free(k);
	return ret;
}

uint64_t kl_klh_bytes(const struct kl_klh *k)
{
	return k->bytes;
}

int kl_klh_write(const struct kl_history *h, const char *path)
{
	struct kl_outfile o;
	struct kl_klh *k;
	int ret;

	ret = kl_outfile_open(&o, path);
	if (ret)
		return ret;
	ret = begin(fileno(o.f), h, &k);
	if (!ret) {
		ret = kl_klh_append_gaps(k, h, 0, h->ngaps);
		if (!ret)
			ret = kl_klh_append(k, h, 0, h->nops, KL_TIME_MAX);
		if (!ret)
			ret = write_end(k);
		klh_free(k);
	}
	if (!ret)
		return kl_outfile_commit(&o);
	kl_outfile_abort(&o);
	return ret;
}
