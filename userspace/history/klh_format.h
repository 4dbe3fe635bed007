/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layout of .klh, versions 1 and 2.  All numbers are little-endian.  Files with stacks have
 * version 2, whose blocks have the column KLH_STACK.
 *
 * A file is a header, blocks, and an end:
 *
 *	header	magic[8], u32 version, u32 length of the text, u32 CRC-32 of the
 *		text, u32 CRC-32 of the 20 bytes before; then the text: header
 *		lines as in the text form (text_header.c).  A file without `# memory'
 *		was written before that line existed, by a recorder, so it means tso
 *	block	u32 KLH_BLOCK, u32 operations, u32 raw length, u32 length, u64 floor,
 *		u32 CRC-32 of the data, u32 CRC-32 of the 28 bytes before; then the
 *		data: a zstd frame
 *	end	the same 32 bytes with KLH_END; floor holds the number of operations
 *		in all blocks, raw length the number of blocks, length is 0
 *
 * A block's raw data are klh_columns() u32 lengths and the columns in that order.
 * Each column holds LEB128 numbers; `signed' ones are folded (0, -1, 1, -2, ...).
 * Methods, objects and threads that a block is the first to use come with it,
 * so that any number of whole blocks from the start can be read.  The floor says
 * that operations of later blocks are called at that time or after it.
 */
#ifndef KL_HISTORY_KLH_FORMAT_H
#define KL_HISTORY_KLH_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define KLH_MAGIC	"\x89" "KLH\r\n\x1a\n"
#define KLH_VERSION	1
#define KLH_VERSION_STACKS	2
#define KLH_HEADER	24
#define KLH_BLOCK_HEADER	32
#define KLH_BLOCK	0x424b4c4b	/* "KLKB" */
#define KLH_END		0x454b4c4b	/* "KLKE" */

#define KLH_MAX_TEXT	(16u << 20)
#define KLH_BLOCK_OPS	65536u
#define KLH_BLOCK_KEYS	(1u << 20) /* maximal number of new objects, or threads, of a block */
#define KLH_MAX_RAW	(64u << 20)
#define KLH_MAX_OPS	(1ULL << 31)

enum klh_column {
	KLH_METHODS,	/* new names: length and bytes */
	KLH_OBJECTS,	/* new objects: difference to the previous object, signed */
	KLH_THREADS,
	KLH_GAPS,	/* from, to - from, lost, object + 1 (0: all), cpu + 1 (0: none), reason */
	KLH_FLAGS,	/* flags of an operation: kl_op_flags, KLH_HAS_... */
	KLH_CALL,	/* call: difference to the previous operation's, signed */
	KLH_RET,	/* ret - call; missing for a pending operation */
	KLH_POINT,	/* point - call, signed; only where it is known */
	KLH_DRAIN,
	KLH_THREAD,
	KLH_OBJECT,
	KLH_METHOD,
	KLH_CPU,	/* cpu + 1, or 0 if it is unknown */
	KLH_SHAPE,	/* arguments * 16 + results */
	KLH_TAGS,	/* tags of values; none for the results of a pending operation */
	KLH_VALUES,	/* words: difference to the last word at the same place, signed */
	KLH_STACK,	/* number of the call's stack, only where it is known */
	KLH_COLUMNS,
};

#define KLH_HAS_POINT	0x10
#define KLH_HAS_DRAIN	0x20
#define KLH_HAS_STACK	0x40
#define KLH_FLAGS_KNOWN	(KL_OP_UNSEEN | KLH_HAS_POINT | KLH_HAS_DRAIN | KLH_HAS_STACK)

/* Return: the number of columns of a block in a file of this version. */
static inline unsigned int klh_columns(uint32_t version)
{
	return version == KLH_VERSION ? KLH_STACK : KLH_COLUMNS;
}

#define KLH_VARINT	10 /* maximal number of bytes of a number */

/*
 * A word is stored as its difference to the last word at the same place (number of the argument
 * or result) of the same method, since counters and keys grow slowly.  Methods beyond this number
 * share places with others, in the writer and in the reader.
 */
#define KLH_PLACES	64u

struct klh_last {
	uint64_t v[KLH_PLACES][16];
};

static inline uint64_t *klh_place(struct klh_last *l, unsigned int method, unsigned int i)
{
	return &l->v[method % KLH_PLACES][i];
}

static inline uint32_t klh_get32(const uint8_t *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t klh_get64(const uint8_t *p)
{
	return klh_get32(p) | (uint64_t)klh_get32(p + 4) << 32;
}

static inline void klh_put32(uint8_t *p, uint32_t v)
{
	p[0] = v;
	p[1] = v >> 8;
	p[2] = v >> 16;
	p[3] = v >> 24;
}

static inline void klh_put64(uint8_t *p, uint64_t v)
{
	klh_put32(p, v);
	klh_put32(p + 4, v >> 32);
}

static inline uint64_t klh_fold(uint64_t v)
{
	return v << 1 ^ -(v >> 63);
}

static inline uint64_t klh_unfold(uint64_t v)
{
	return v >> 1 ^ -(v & 1);
}

#endif
