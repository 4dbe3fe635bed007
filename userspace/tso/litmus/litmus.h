/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Litmus tests in herd's format for X86 and X86_64.  A test becomes a program
 * of the explorer's machine, all of whose runs are searched.
 *
 * What is not understood, or would have to be guessed (accesses of different
 * sizes to one location, arithmetic on addresses, flags that no instruction set), is
 * refused with a message that names it.
 */
#ifndef KL_TSO_LITMUS_LITMUS_H
#define KL_TSO_LITMUS_LITMUS_H

#include "base/mem.h"
#include "check/budget.h"
#include "tso/machine/vm.h"

#define KL_LIT_GPRS	16
#define KL_LIT_FLAG_A	16	/* the flags are those of comparing these two registers */
#define KL_LIT_FLAG_B	17
#define KL_LIT_OTHER	18	/* registers that no instruction here sets */
#define KL_LIT_TEMP	25
#define KL_LIT_REGS	56
#define KL_LIT_LOCS	64
#define KL_LIT_ITEMS	128
#define KL_LIT_NODES	4096
#define KL_LIT_TEXT_MAX	(1u << 20)

struct kl_lit_loc {
	const char *name;
	uint64_t init;
	unsigned int size;	/* bytes: as declared, or as first accessed; 0 if neither */
	unsigned int len;	/* elements of an array from this one on, 0: it is none */
	bool is_unsigned;
	bool addressed;		/* some word is its address, or an array's that it is in */
};

/* What a final state shows: a register of a thread, or a location. */
struct kl_lit_item {
	int thread;		/* -1: a location */
	unsigned int index;
	bool is_unsigned;
};

enum kl_lit_op {
	KL_LIT_TRUE, KL_LIT_FALSE, KL_LIT_NOT, KL_LIT_AND, KL_LIT_OR, KL_LIT_IMPLIES,
	KL_LIT_EQ,		/* item a is val, in the bits of mask */
	KL_LIT_SAME,		/* item a is item b */
};

struct kl_lit_node {
	enum kl_lit_op op;
	unsigned int a, b;
	uint64_t val, mask;
};

enum kl_lit_quantifier { KL_LIT_EXISTS, KL_LIT_NOT_EXISTS, KL_LIT_FORALL };

struct kl_litmus {
	struct kl_arena arena;
	const char *path, *name;
	bool x64;
	unsigned int nthreads;
	struct kl_lit_loc locs[KL_LIT_LOCS];
	unsigned int nlocs;
	uint64_t reg[KL_VM_THREADS][KL_LIT_TEMP];
	struct kl_lit_item items[KL_LIT_ITEMS];
	unsigned int nitems;
	struct kl_lit_node *nodes;
	size_t nnodes, cnodes;
	unsigned int condition;
	int filter;		/* a node, or -1 */
	enum kl_lit_quantifier quantifier;
	/* The program. */
	uint32_t *code;
	uint64_t *pool, *live;
	size_t ncode, ccode, npool, cpool;
	unsigned int nregs;		/* the machine's and those for values in between */
	struct kl_vm_prog prog;
};

/**
 * kl_litmus_parse() - read a litmus test
 * @path: its file, for messages
 * @text: its text, ended by a NUL
 * @out: the test
 *
 * Return: 0, -EINVAL after a message, -ENOMEM.
 */
int kl_litmus_parse(const char *path, const char *text, struct kl_litmus **out);
void kl_litmus_free(struct kl_litmus *l);

struct kl_litmus_options {
	bool sc, unreduced;
	uint64_t memory;	/* bytes */
	const struct kl_limits *lim;	/* its deadline and its stop are looked at; may be NULL */
};

/* The final states: nitems words each, in ascending order. */
struct kl_litmus_result {
	uint64_t *states;
	bool *holds;		/* the proposition does in it */
	size_t nstates, cstates, cholds;
	size_t positive, negative;
	uint64_t explored, transitions;
	uint64_t open, levels;	/* if it was given up: states not followed, levels that are whole */
	char why[400];		/* and why; the location or register that grows */
};

/**
 * kl_litmus_run() - all final states of a test
 * @l: the test
 * @o: how to search
 * @r: the result; kl_litmus_result_free() it
 *
 * Return: 0; at the memory bound -ENOSPC, when it was stopped -ETIME, for a state that is
 * too large -E2BIG, all with r->why; -EINVAL after a message (an access to no location);
 * -ENOMEM.
 */
int kl_litmus_run(const struct kl_litmus *l, const struct kl_litmus_options *o,
		  struct kl_litmus_result *r);
void kl_litmus_result_free(struct kl_litmus_result *r);
/* Is what the test's quantifier says so? */
bool kl_litmus_ok(const struct kl_litmus *l, const struct kl_litmus_result *r);
bool kl_litmus_eval(const struct kl_litmus *l, unsigned int node, const uint64_t *state);

/* The bits of so many bytes; 0 bytes: of an int. */
static inline uint64_t kl_lit_mask(unsigned int size)
{
	return size == 8 ? UINT64_MAX : (1ULL << (size ? 8 * size : 32)) - 1;
}

/* Names as herd prints them. */
const char *kl_litmus_reg(bool x64, unsigned int reg);
/* The value of item @i as text. */
const char *kl_litmus_value(const struct kl_litmus *l, unsigned int i, uint64_t v, char buf[32]);

/* litmus_x86.c: one instruction of thread @t, in [@text, @text + len). */
struct kl_lit_asm;

struct kl_lit_asm *kl_lit_asm_new(struct kl_litmus *l);
void kl_lit_asm_free(struct kl_lit_asm *a);
void kl_lit_asm_thread(struct kl_lit_asm *a, unsigned int t);
/* Return: 0, -EINVAL after a message, -ENOMEM. */
int kl_lit_asm_cell(struct kl_lit_asm *a, const char *text, size_t len, unsigned int line);
int kl_lit_asm_end(struct kl_lit_asm *a);
/* The register of that name, and the bytes of it that the name means; -1 if it is none. */
int kl_lit_register(bool x64, const char *name, size_t len, unsigned int *size);
/* The same of those that no instruction here has to do with: segments, rip. */
int kl_lit_other_register(bool x64, const char *name, size_t len, unsigned int *size);
/* The index of the location of that name, made if there is none; -1 if there are too many. */
int kl_lit_location(struct kl_litmus *l, const char *name, size_t len);

#endif
