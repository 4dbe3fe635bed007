/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The byte code.  An instruction is one 32-bit word, op | a << 8 | b << 16 | c << 24, or
 * op | a << 8 | imm << 16.  Words of data follow some instructions.  Operands are registers; the
 * first ones hold the method's parameters.  The target of a jump is a word's offset from the start
 * of the method.
 */
#ifndef KL_SPEC_INTERP_CODE_H
#define KL_SPEC_INTERP_CODE_H

#include <stdint.h>

#include "spec/probe/probe.h"

#define KL_REGS		256

enum kl_opcode {
	KL_I_MOV,	/* a = b */
	KL_I_CONST,	/* a = pool[imm] */
	KL_I_LOAD,	/* a = slot imm */
	KL_I_STORE,	/* slot imm = a */
	KL_I_LOADX,	/* a = element b of the array in the next word: base | length << 16 */
	KL_I_STOREX,	/* element b of the array in the next word = a, as for KL_I_LOADX */
	KL_I_ADD, KL_I_SUB, KL_I_MUL, KL_I_DIV, KL_I_MOD, KL_I_AND, KL_I_OR, KL_I_XOR, KL_I_SHL,
	KL_I_SHR,	/* a = b op c */
	KL_I_LT, KL_I_LE,	/* a = b < c, b <= c: bool */
	KL_I_EQ, KL_I_NE,	/* a = b == c, b != c, of words and special values */
	KL_I_EQB, KL_I_NEB,	/* a = b == c, b != c, of bools */
	KL_I_NEG, KL_I_INV,	/* a = -b, ~b */
	KL_I_NOT,	/* a = !b */
	KL_I_JMP,	/* jump to imm */
	KL_I_JZ,	/* jump to imm if a is false */
	KL_I_JNZ,	/* jump to imm if a is true */
	KL_I_FORCE,	/* decide the bool in a, with a choice if it is unknown */
	KL_I_CHOOSE,	/* a = any word of b..c */
	KL_I_ANY,	/* a = any word */
	KL_I_EITHER,	/* go on at any of the a targets in the next a words */
	KL_I_ASSUME,	/* a must be true, else the path has no outcome */
	KL_I_ASSERT,	/* a must be true, else the method has an error; next word: line */
	KL_I_BLOCK,	/* an atomic block begins; a is 1 for atomic_flush */
	KL_I_FENCE,	/* the CPU's store buffer is empty here */
	KL_I_CONT,	/* container b, method c, arguments in registers from a on, result in a */
	KL_I_RETURN,	/* return the a results in the registers from b on */
	/* Only in implementations, clients and litmus tests: */
	KL_I_READ,	/* a = the word at address b plus c */
	KL_I_WRITE,	/* the word at address b plus c = a */
	KL_I_ADDR,	/* a = the address of slot imm */
	KL_I_ADDRX,	/* a = the address of element b of the array in the next word */
	KL_I_FIELD,	/* a = address b plus c */
	KL_I_NEW,	/* a = the address of a new object of struct imm */
	KL_I_END,	/* the atomic block ends */
	KL_I_FRESH,	/* a = a data value that occurs nowhere yet */
	KL_I_CALL,	/* call method imm, arguments and results in registers from a on */
	KL_I_STOP,	/* the thread ends */
	/* Only in implementations compiled for the verifier, see kl_impl_lin(): */
	KL_I_LIN,	/* a linearization point, of kind c; if b, only when a is true */
	KL_I_LOCK,	/* take the lock in slot b; if a, the lock at address b plus c */
	KL_I_UNLOCK,	/* release the lock, given as for KL_I_LOCK */
	KL_I_COUNT_
};

/* Kinds of KL_I_LIN. */
#define KL_LIN_ATTACHED	1	/* the access before it is the linearization point */
#define KL_LIN_OTHER	2	/* the linearization point is in another thread's step */

static inline uint32_t kl_insn(enum kl_opcode op, unsigned int a, unsigned int b, unsigned int c)
{
	return op | a << 8 | b << 16 | c << 24;
}

static inline uint32_t kl_insn_imm(enum kl_opcode op, unsigned int a, unsigned int imm)
{
	return op | a << 8 | imm << 16;
}

/* Apply a binary operator to words; a division needs @b != 0.  Shifts by 64 and more give 0. */
static inline uint64_t kl_arith(int op, uint64_t a, uint64_t b)
{
	switch (op) {
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '*':
		return a * b;
	case '/':
		return a / b;
	case '%':
		return a % b;
	case '&':
		return a & b;
	case '|':
		return a | b;
	case '^':
		return a ^ b;
	case KL_OP_SHL:
		return b < 64 ? a << b : 0;
	case KL_OP_SHR:
		return b < 64 ? a >> b : 0;
	case '<':
		return a < b;
	case '>':
		return a > b;
	case KL_OP_LE:
		return a <= b;
	case KL_OP_GE:
		return a >= b;
	case KL_OP_AND:
		return a && b;
	case KL_OP_OR:
		return a || b;
	default:
		return 0;
	}
}

#endif
