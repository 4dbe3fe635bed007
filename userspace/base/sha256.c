// SPDX-License-Identifier: GPL-2.0
/* SHA-256 in hexadecimal, see sha256.h. */
#include <stdio.h>

#include "base/sha256.h"

void kl_sha256_hex(struct sha256_ctx *ctx, char hex[KL_SHA256_HEX])
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	size_t i;

	sha256_digest(ctx, sizeof(digest), digest);
	for (i = 0; i < sizeof(digest); i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

void kl_sha256(const void *data, size_t len, char hex[KL_SHA256_HEX])
{
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	sha256_update(&ctx, len, data);
	kl_sha256_hex(&ctx, hex);
}
