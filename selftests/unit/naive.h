/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A machine written for the tests only.  It makes every transition of Burckhardt et al.,
 * Figure 2, of the implementation and of the specification, without any reduction.  It shares
 * no code with the explorer and runs programs of its own small form.
 */
#ifndef SELFTESTS_NAIVE_H
#define SELFTESTS_NAIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum n_op {
	N_LD,		/* reg a = variable b */
	N_ST,		/* variable a = reg b */
	N_LDF, N_STF,	/* reg a = field c of the object in reg b; the reverse */
	N_NEW,		/* reg a = a new object */
	N_CONST,	/* reg a = b */
	N_MOV,		/* reg a = reg b */
	N_INC,		/* reg a += b */
	N_FENCE,
	N_BEGIN,	/* an atomic block; a: with a flush */
	N_END,
	N_ASSUME0,	/* the block can be entered only if reg a is 0 */
	N_JMP,		/* jump to a */
	N_JEQ, N_JNE,	/* jump to a if reg b == (!=) reg c */
	N_JODD,		/* jump to a if reg b is odd */
	N_ASSERT,	/* a fault unless reg a == reg b */
	N_RET,		/* result: reg a; -1: none */
};

enum { N_X, N_Y, N_Z, N_P, N_M, N_VARS };	/* variables */
enum { R_V, R_A, R_B, R_C, R_N, R_Q, R_0, R_T, N_REGS };	/* R_0 is always 0 */

#define N_CODE_MAX	64
#define N_THREADS_MAX	4

struct n_insn {
	enum n_op op;
	int o[3];	/* a, b, c */
};

struct n_method {
	struct n_insn code[N_CODE_MAX];
	int n;
	bool has_arg, has_result;
};

struct n_program {
	struct n_method impl[2], spec[2];
	bool sc, data;
	int nthreads, ops;
	/* for each thread, a bit for each method that it may call */
	unsigned int may[N_THREADS_MAX];
	int values[2], nvalues;
};

enum {
	N_NOT_LINEARIZABLE = 1, N_FAULT = 2, N_DEADLOCK = 4, N_ENDLESS = 8,
	N_TOO_LARGE = 16,
};

/* Explore @p.  Return: the faults found, as bits; @states receives the number of states. */
unsigned int naive_check(const struct n_program *p, size_t max_states, size_t *states);

#endif
