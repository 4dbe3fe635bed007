/* SPDX-License-Identifier: GPL-2.0 */
/* How long an x86-64 instruction is, and where it leads. */
#ifndef KL_DWARF_INSN_H
#define KL_DWARF_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kl_flow {
	KL_FLOW_NEXT,		/* to the next instruction; calls, too */
	KL_FLOW_JUMP,		/* to rel */
	KL_FLOW_BRANCH,		/* to the next one or to rel */
	KL_FLOW_INDIRECT,	/* a jump to what a register or memory says */
	KL_FLOW_END,		/* it returns, or it must not be executed */
};

/**
 * struct kl_insn - an instruction
 * @len: its bytes
 * @flow: where it leads
 * @nop: it does nothing: code is aligned with these
 * @rel: of jumps and branches: from its end
 * @rel_at: where in it the displacement is, that a relocation may fill in
 */
struct kl_insn {
	uint8_t len, flow, rel_at;
	bool nop;
	int32_t rel;
};

/**
 * kl_insn_decode() - decode one instruction in 64-bit mode
 * @code: its bytes
 * @size: how many there are
 * @out: what it is
 *
 * Return: 0, or -EINVAL if it is none or does not end.
 */
int kl_insn_decode(const uint8_t *code, size_t size, struct kl_insn *out);

#endif
