// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the lengths of x86-64 instructions, and the targets of jumps, after the opcode maps of
 * the Intel SDM, volume 2, appendix A.  All instructions that kernels use are decoded, also with
 * VEX and EVEX prefixes.  Operands other than the targets of jumps are skipped.
 */
#include <errno.h>

#include "dwarf/insn.h"

#define INSN_MAX 15	/* bytes of an instruction */

struct bytes {
	const uint8_t *code;
	size_t size, at;
	bool short_operand, short_address, wide;	/* prefixes 66, 67 and REX.W */
};

/* Return: the next byte, or -1 if there is none. */
static int next_byte(struct bytes *b)
{
	return b->at < b->size && b->at < INSN_MAX ? b->code[b->at++] : -1;
}

/*
 * Return: true if @map has the opcode @op.  A map has a word for each 16 opcodes, and in it a bit
 * for each opcode.
 */
static bool in_map(const uint16_t *map, unsigned int op)
{
	return map[op >> 4] >> (op & 15) & 1;
}

/* The one-byte opcodes with a ModRM byte, with an immediate byte, and with a longer immediate: */
static const uint16_t one_modrm[16] = {
	0x0f0f, 0x0f0f, 0x0f0f, 0x0f0f, 0, 0, 0x0a08, 0, 0xffff, 0, 0, 0, 0x00c3, 0xff0f, 0, 0xc0c0,
};
static const uint16_t one_imm8[16] = {
	0x1010, 0x1010, 0x1010, 0x1010, 0, 0, 0x0c00, 0xffff, 0x000d, 0, 0x0100, 0x00ff, 0x2043, 0,
	0x08ff, 0,
};
static const uint16_t one_imm[16] = {
	0x2020, 0x2020, 0x2020, 0x2020, 0, 0, 0x0300, 0, 0x0002, 0, 0x0200, 0, 0x0080, 0, 0, 0,
};
/* The opcodes that are invalid in 64-bit mode; prefixes and escapes are decoded before. */
static const uint16_t one_invalid[16] = {
	0x40c0, 0x40c0, 0x4040, 0x8080, 0, 0, 0x0007, 0, 0x0004, 0x0400, 0, 0, 0x4000, 0x0070,
	0x0400, 0,
};
/* The opcodes after 0f without a ModRM byte, and those with an immediate byte: */
static const uint16_t two_no_modrm[16] = {
	0x4be0, 0, 0, 0x00ff, 0, 0, 0, 0x0080, 0xffff, 0, 0x0707, 0, 0xff00, 0, 0, 0,
};
static const uint16_t two_imm8[16] = {
	0x8000, 0, 0, 0, 0, 0, 0, 0x000f, 0, 0, 0x1010, 0x0400, 0x0074, 0, 0, 0,
};

/* Read a ModRM byte, with its SIB byte and displacement.  Return: the ModRM byte, or -1. */
static int read_modrm(struct bytes *b)
{
	int m = next_byte(b), sib;
	unsigned int mod, rm;

	if (m < 0)
		return -1;
	mod = m >> 6;
	rm = m & 7;
	if (mod == 3)
		return m;
	if (rm == 4) {
		sib = next_byte(b);
		if (sib < 0)
			return -1;
		if (!mod && (sib & 7) == 5)
			b->at += 4;
	} else if (!mod && rm == 5) {
		b->at += 4;
	}
	b->at += mod == 1 ? 1 : mod == 2 ? 4 : 0;
	return m;
}

static int read_displacement(struct bytes *b, struct kl_insn *out, unsigned int size)
{
	const uint8_t *p = b->code + b->at;

	if (b->at + size > b->size)
		return -EINVAL;
	out->rel_at = b->at;
	out->rel = size == 1 ? (int8_t)p[0] :
		   (int32_t)(p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24);
	b->at += size;
	return 0;
}

/* Decode the rest of an instruction with a VEX or EVEX prefix, which names the opcode map. */
static int decode_vector(struct bytes *b, unsigned int map)
{
	int op = next_byte(b);

	if (op < 0 || !map || map > 6)
		return -EINVAL;
	if (map == 1 && op == 0x77)	/* vzeroupper */
		return 0;
	if (read_modrm(b) < 0)
		return -EINVAL;
	b->at += map == 3 || (map == 1 && in_map(two_imm8, op));
	return 0;
}

static int decode_two_bytes(struct bytes *b, struct kl_insn *out)
{
	int op = next_byte(b), third;

	if (op < 0)
		return -EINVAL;
	if (op == 0x38 || op == 0x3a) {
		third = next_byte(b);
		if (third < 0 || read_modrm(b) < 0)
			return -EINVAL;
		b->at += op == 0x3a;
		return 0;
	}
	if (op >> 4 == 8) {
		out->flow = KL_FLOW_BRANCH;
		return read_displacement(b, out, 4);
	}
	if (op == 0x07)		/* sysret */
		out->flow = KL_FLOW_END;
	out->nop = op == 0x1f;
	if (!in_map(two_no_modrm, op) && read_modrm(b) < 0)
		return -EINVAL;
	b->at += in_map(two_imm8, op);
	return 0;
}

/*
 * Decode opcodes that are extended by the reg field of the ModRM byte @m.  Opcode ff has indirect
 * jumps.  Opcodes f6 and f7 have an immediate only in their first two instructions.
 */
static void decode_group(struct bytes *b, struct kl_insn *out, int op, int m)
{
	unsigned int reg = m >> 3 & 7;

	if (op == 0xff && (reg == 4 || reg == 5))
		out->flow = KL_FLOW_INDIRECT;
	else if ((op == 0xf6 || op == 0xf7) && reg < 2)
		b->at += op == 0xf6 ? 1 : b->short_operand ? 2 : 4;
}

static int decode_one_byte(struct bytes *b, struct kl_insn *out, int op)
{
	int m = 0;

	if (in_map(one_invalid, op))
		return -EINVAL;
	out->nop = op == 0x90;
	if (op >> 4 == 7 || (op & 0xfc) == 0xe0 || op == 0xeb) {
		out->flow = op == 0xeb ? KL_FLOW_JUMP : KL_FLOW_BRANCH;
		return read_displacement(b, out, 1);
	}
	if (op == 0xe8 || op == 0xe9) {
		int err = read_displacement(b, out, 4);

		out->flow = op == 0xe9 ? KL_FLOW_JUMP : KL_FLOW_NEXT;
		return err;
	}
	if (in_map(one_modrm, op)) {
		m = read_modrm(b);
		if (m < 0)
			return -EINVAL;
		decode_group(b, out, op, m);
	}
	if (in_map(one_imm8, op))
		b->at++;
	else if (in_map(one_imm, op))
		b->at += b->short_operand ? 2 : 4;
	else if (op >= 0xb8 && op <= 0xbf)
		b->at += b->wide ? 8 : b->short_operand ? 2 : 4;
	else if (op >= 0xa0 && op <= 0xa3)
		b->at += b->short_address ? 4 : 8;
	else if (op == 0xc2 || op == 0xca)
		b->at += 2;
	else if (op == 0xc8)
		b->at += 3;
	if (op == 0xc2 || op == 0xc3 || op == 0xca || op == 0xcb || op == 0xcc || op == 0xcf)
		out->flow = KL_FLOW_END;
	return 0;
}

/* Read the prefixes.  Return: the first byte of the opcode, or -1. */
static int read_opcode(struct bytes *b)
{
	int op;

	while ((op = next_byte(b)) >= 0) {
		switch (op) {
		case 0x66:
			b->short_operand = true;
			continue;
		case 0x67:
			b->short_address = true;
			continue;
		case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65:
		case 0xf0: case 0xf2: case 0xf3:
			continue;
		}
		break;
	}
	if (op >= 0 && op >> 4 == 4) {
		b->wide = op & 8;
		op = next_byte(b);
	}
	return op;
}

int kl_insn_decode(const uint8_t *code, size_t size, struct kl_insn *out)
{
	struct bytes b = { .code = code, .size = size };
	int op = read_opcode(&b), second, err;

	*out = (struct kl_insn){ .flow = KL_FLOW_NEXT };
	if (op < 0)
		return -EINVAL;
	if (op == 0x0f) {
		err = decode_two_bytes(&b, out);
	} else if (op == 0xc5) {
		b.at++;
		err = decode_vector(&b, 1);
	} else if (op == 0xc4 || op == 0x62) {
		second = next_byte(&b);
		b.at += op == 0xc4 ? 1 : 2;
		err = second < 0 ? -EINVAL : decode_vector(&b, second & (op == 0xc4 ? 31 : 7));
	} else {
		err = decode_one_byte(&b, out, op);
	}
	if (err || b.at > size || b.at > INSN_MAX)
		return -EINVAL;
	out->len = b.at;
	return 0;
}
