/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A machine written for the tests only: every transition of Burckhardt et al.,
 * Figure 2, by itself, of the implementation and of the specification, nothing
 * reduced.  It shares no code with the explorer and runs programs of its own
 * small form.
 */
#ifndef SELFTESTS_NAIVE_H
#define SELFTESTS_NAIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum n_op {
	N_LD,		/* reg a = variable b */
	N_ST,		/* variable a = reg b */
	N_LDF, N_STF,	/* reg a = field c of the object in reg b; that field = reg a */
	N_NEW,		/* reg a = a new object */
	N_CONST,	/* reg a = b */
	N_MOV,		/* reg a = reg b */
	N_INC,		/* reg a += b */
	N_FENCE,
	N_BEGIN,	/* an atomic block, a: with a flush */
	N_END,
	N_ASSUME0,	/* reg a is 0, or the block cannot be entered */
	N_JMP,		/* to a */
	N_JEQ, N_JNE,	/* to a if reg b == (!=) reg c */
	N_JODD,		/* to a if reg b is odd */
	N_ASSERT,	/* reg a == reg b */
	N_RET,		/* reg a, -1: no result */
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
	unsigned int may[N_THREADS_MAX];	/* methods, a bit for each */
	int values[2], nvalues;
};

enum {
	N_NOT_LINEARIZABLE = 1, N_FAULT = 2, N_DEADLOCK = 4, N_ENDLESS = 8,
	N_TOO_LARGE = 16,
};

/* What is wrong with the program: those bits; and how many states there are. */
unsigned int naive_check(const struct n_program *p, size_t max_states, size_t *states);

#endif
