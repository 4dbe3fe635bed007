/* SPDX-License-Identifier: GPL-2.0 */
/* What an instruction reads and sets, and where it goes on. */
#ifndef KL_SPEC_INTERP_FLOW_H
#define KL_SPEC_INTERP_FLOW_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Sets of registers, of those below 64.  KL_I_EITHER goes on at each of the words behind
 * it; what KL_I_CALL passes is its method's to say.
 */
struct kl_flow {
	uint64_t use, def;
	unsigned int words;	/* of the instruction */
	bool next;		/* may go on behind itself */
	int jump;		/* and there, counted from the start of the method; -1: nowhere */
};

/* The registers @first to @first + @n - 1. */
static inline uint64_t kl_flow_regs(unsigned int first, unsigned int n)
{
	return n ? ((2ULL << (n - 1)) - 1) << first : 0;
}

/**
 * kl_insn_flow - what one instruction reads and sets, and where it goes on
 * @code: the instruction, with the words of data behind it
 * @f: filled in
 */
void kl_insn_flow(const uint32_t *code, struct kl_flow *f);

#endif
