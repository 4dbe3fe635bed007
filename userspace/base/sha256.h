/* SPDX-License-Identifier: GPL-2.0 */
/* SHA-256, which identifies a specification or a history by its bytes. */
#ifndef KL_BASE_SHA256_H
#define KL_BASE_SHA256_H

#include <nettle/sha2.h>
#include <stddef.h>

#define KL_SHA256_HEX	(2 * SHA256_DIGEST_SIZE + 1)	/* bytes of a hash in text, with a NUL */
#define KL_SHA256_SHORT	12	/* hexadecimal digits that are shown to people */

/* Write the hash of all bytes that sha256_update() added to @ctx, in hexadecimal. */
void kl_sha256_hex(struct sha256_ctx *ctx, char hex[KL_SHA256_HEX]);

/* Write the hash of the given bytes, in hexadecimal. */
void kl_sha256(const void *data, size_t len, char hex[KL_SHA256_HEX]);

#endif
