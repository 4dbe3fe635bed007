/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the length of an x86-64 instruction, and the instruction that may run next. */
#ifndef KL_DWARF_INSN_H
#define KL_DWARF_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kl_flow {
	KL_FLOW_NEXT,		/* the next instruction runs; also after a call */
	KL_FLOW_JUMP,		/* a jump by rel */
	KL_FLOW_BRANCH,		/* a jump by rel, or on to the next instruction */
	KL_FLOW_INDIRECT,	/* a jump to an address in a register or in memory */
	KL_FLOW_END,		/* a return or a trap */
};

/**
 * struct kl_insn - an instruction
 * @len: number of bytes
 * @flow: the way on, an enum kl_flow
 * @nop: the instruction does nothing; compilers align code with such instructions
 * @rel: distance of a jump or branch, in bytes from the end of the instruction
 * @rel_at: offset of this distance in the instruction; a relocation may fill it in
 */
struct kl_insn {
	uint8_t len, flow, rel_at;
	bool nop;
	int32_t rel;
};

/**
 * kl_insn_decode() - decode one instruction in 64-bit mode
 * @code: bytes of the instruction and of what follows
 * @size: number of bytes
 * @out: gets the instruction
 *
 * Return: 0, or -EINVAL if the instruction is invalid or incomplete.
 */
int kl_insn_decode(const uint8_t *code, size_t size, struct kl_insn *out);

#endif
