/* SPDX-License-Identifier: GPL-2.0 */
/* The data flow and control flow of one instruction of byte code. */
#ifndef KL_SPEC_INTERP_FLOW_H
#define KL_SPEC_INTERP_FLOW_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Registers are bits; only the registers below 64 are supported.  The caller handles two
 * instructions itself: KL_I_EITHER, whose targets are in the words after it, and KL_I_CALL, whose
 * registers depend on the called method.
 */
struct kl_flow {
	uint64_t use, def;	/* registers that are read, and written */
	unsigned int words;	/* length of the instruction with its data */
	bool next;		/* execution may continue with the next instruction */
	int jump;		/* target of the jump from the start of the method, or -1 */
};

/* Return: the registers @first to @first + @n - 1 as bits. */
static inline uint64_t kl_flow_regs(unsigned int first, unsigned int n)
{
	return n ? ((2ULL << (n - 1)) - 1) << first : 0;
}

/**
 * kl_insn_flow() - get the registers that an instruction uses, and its successors
 * @code: the instruction, followed by its words of data
 * @f: the result
 */
void kl_insn_flow(const uint32_t *code, struct kl_flow *f);

#endif
