// SPDX-License-Identifier: GPL-2.0
/*
 * The reader of .klh behind its checksums.  The input is the text of the header, a line "%%",
 * and uncompressed blocks.  A text with "# stack" has version 2.  Two bytes with its length precede each block, and two more bytes
 * give its number of operations.  The target reads the file as a whole and as a stream.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "history/history.h"
#include "history/klh_format.h"
#include "selftests/fuzz/fuzz.h"

#define MAX_SIZE	(1u << 20)

static size_t put_header(uint8_t *out, const char *text)
{
	const size_t n = strlen(text);

	memcpy(out, KLH_MAGIC, 8);
	klh_put32(out + 8, strstr(text, "# stack") ? KLH_VERSION_STACKS : KLH_VERSION);
	klh_put32(out + 12, n);
	klh_put32(out + 16, crc32(0, (const uint8_t *)text, n));
	klh_put32(out + 20, crc32(0, out, 20));
	memcpy(out + KLH_HEADER, text, n);
	return KLH_HEADER + n;
}

static size_t put_block(uint8_t *out, size_t room, const uint8_t *raw, size_t n, uint32_t ops)
{
	size_t len;

	if (room < KLH_BLOCK_HEADER)
		return 0;
	len = ZSTD_compress(out + KLH_BLOCK_HEADER, room - KLH_BLOCK_HEADER, raw, n, 1);
	if (ZSTD_isError(len))
		return 0;
	klh_put32(out, KLH_BLOCK);
	klh_put32(out + 4, ops);
	klh_put32(out + 8, n);
	klh_put32(out + 12, len);
	klh_put64(out + 16, 0);
	klh_put32(out + 24, crc32(0, out + KLH_BLOCK_HEADER, len));
	klh_put32(out + 28, crc32(0, out, 28));
	return KLH_BLOCK_HEADER + len;
}

static size_t put_end(uint8_t *out, uint64_t ops, uint32_t blocks)
{
	memset(out, 0, KLH_BLOCK_HEADER);
	klh_put32(out, KLH_END);
	klh_put32(out + 8, blocks);
	klh_put64(out + 16, ops);
	klh_put32(out + 28, crc32(0, out, 28));
	return KLH_BLOCK_HEADER;
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static uint8_t out[MAX_SIZE];
	struct kl_history *h;
	uint32_t blocks = 0;
	uint64_t ops = 0;
	size_t len, n;
	char *text;
	int ret;

	if (size > MAX_SIZE / 4)
		return;
	text = fuzz_part(&data, &size);
	len = put_header(out, text);
	free(text);
	while (size >= 4) {
		n = data[0] | data[1] << 8;
		n = n < size - 4 ? n : size - 4;
		n = put_block(out + len, MAX_SIZE - KLH_BLOCK_HEADER - len, data + 4, n,
			      data[2] | data[3] << 8);
		if (!n)
			break;
		blocks++;
		len += n;
		ops += data[2] | data[3] << 8;
		n = data[0] | data[1] << 8;
		n = n < size - 4 ? n : size - 4;
		data += 4 + n;
		size -= 4 + n;
	}
	len += put_end(out + len, ops, blocks);
	ret = kl_klh_read("fuzz", out, len, &h);
	if (fuzz_stream(out, len, &n) && !ret && n != h->nops)
		fuzz_broken("a stream has other operations than the whole");
	if (!ret)
		kl_history_free(h);
}
