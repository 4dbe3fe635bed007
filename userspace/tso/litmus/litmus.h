/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Litmus tests in herd's format for X86 and X86_64.  A test is compiled to byte code, and all runs
 * of it on the machine of tso/machine/vm.h are searched.
 *
 * A test is refused, with a message, if a part of it is not understood or has no certain meaning.
 * Examples are accesses of different sizes to one location, arithmetic on addresses, and flags that
 * no instruction has set.
 */
#ifndef KL_TSO_LITMUS_LITMUS_H
#define KL_TSO_LITMUS_LITMUS_H

#include "base/mem.h"
#include "check/budget.h"
#include "tso/machine/vm.h"

#define KL_LIT_GPRS	16
/* Numbers of further registers of a thread: */
#define KL_LIT_FLAG_A	16	/* the flags are the result of comparing FLAG_A with FLAG_B */
#define KL_LIT_FLAG_B	17
#define KL_LIT_OTHER	18	/* the first register that no supported instruction sets */
#define KL_LIT_TEMP	25	/* the first register for intermediate values */
#define KL_LIT_REGS	56
#define KL_LIT_LOCS	64
#define KL_LIT_ITEMS	128
#define KL_LIT_NODES	4096
#define KL_LIT_TEXT_MAX	(1u << 20)
#define KL_LIT_BARRIERS	32
#define KL_LIT_INSNS	64

struct kl_lit_loc {
	const char *name;
	uint64_t init;
	unsigned int size;	/* bytes, as declared or as first accessed; 0 if neither */
	unsigned int len;	/* number of elements of the array from this one on, or 0 */
	bool is_unsigned;
	bool given; /* the initial state gives it a value */
	bool addressed;		/* a word holds its address, or the address of its array */
};

/* A member of a final state: a register of a thread, or a location. */
struct kl_lit_item {
	int thread;		/* -1 for a location */
	unsigned int index;	/* of the register, or of the location */
	bool is_unsigned;
};

enum kl_lit_op {
	KL_LIT_TRUE, KL_LIT_FALSE, KL_LIT_NOT, KL_LIT_AND, KL_LIT_OR, KL_LIT_IMPLIES,
	KL_LIT_EQ,		/* item a equals val in the bits of mask */
	KL_LIT_SAME,		/* item a equals item b */
};

struct kl_lit_node {
	enum kl_lit_op op;
	unsigned int a, b;
	uint64_t val, mask;
};

enum kl_lit_quantifier { KL_LIT_EXISTS, KL_LIT_NOT_EXISTS, KL_LIT_FORALL };

/* An instruction of the program: the place of its cell in the text. */
struct kl_lit_place {
	size_t at;
	unsigned int thread;
	bool lock;		/* it is about the instruction's lock, not about a fence */
};

/* Changes that are made to a test while it is read. */
struct kl_lit_change {
	const char *condition;	/* instead of the test's condition, with `exists'; or NULL */
	/* Cells that get a fence before their instruction, or a lock. */
	struct kl_lit_place more[KL_LIT_BARRIERS];
	size_t nmore;
	bool weaken;		/* the cell @weak loses its fence or its lock */
	size_t weak;
	bool swaps;		/* these two cells change places */
	size_t swap[2];
	bool alone; /* only the thread @thread has instructions */
	unsigned int thread;
};

struct kl_litmus {
	struct kl_arena arena;
	const char *path, *name;
	/* a copy of the test with blanks for comments; the text to show in messages */
	const char *copy, *text;
	bool x64;
	unsigned int nthreads;
	struct kl_lit_loc locs[KL_LIT_LOCS];
	unsigned int nlocs;
	uint64_t reg[KL_VM_THREADS][KL_LIT_TEMP];
	uint32_t has_init[KL_VM_THREADS]; /* bits of the registers with a first value */
	const char *init_at[KL_VM_THREADS]; /* the first of them in the initial state, or NULL */
	unsigned int nprogram; /* number of locations of the initial state and program */
	struct kl_lit_item items[KL_LIT_ITEMS];
	unsigned int nitems;
	struct kl_lit_node *nodes;
	size_t nnodes, cnodes;
	unsigned int condition;	/* index of the root node */
	int filter;		/* index of the filter's root node, or -1 */
	enum kl_lit_quantifier quantifier;
	const struct kl_lit_change *change;	/* while the test is read */
	/* the first fences and locked instructions */
	struct kl_lit_place barrier[KL_LIT_BARRIERS];
	size_t nbarriers;
	/* the first instructions, in the order of each thread's program */
	struct kl_lit_place insn[KL_LIT_INSNS];
	size_t ninsns;
	/* The program. */
	uint32_t *code;
	const char **cell;		/* for each word of code: its cell in @copy, or NULL */
	uint64_t *pool, *live;
	size_t ncode, ccode, ccell, npool, cpool;
	/* registers of a thread, with those for intermediate values */
	unsigned int nregs;
	struct kl_vm_prog prog;
};

/**
 * kl_litmus_parse() - read a litmus test
 * @path: name of the file, for messages
 * @text: the text of the test, ended by a NUL
 * @out: set to the test
 *
 * Return: 0, -EINVAL after a message, -ENOMEM.
 */
int kl_litmus_parse(const char *path, const char *text, struct kl_litmus **out);
/* As kl_litmus_parse(), with changes.  The message about @change->condition names --explain. */
int kl_litmus_parse_changed(const char *path, const char *text, const struct kl_lit_change *change,
			    struct kl_litmus **out);
void kl_litmus_free(struct kl_litmus *l);

struct kl_litmus_options {
	bool sc, unreduced;
	bool quiet;		/* no message about an access to no location */
	uint64_t memory;	/* bytes */
	const struct kl_limits *lim;	/* only the deadline and the stop are used; may be NULL */
};

/* The final states, with nitems words each, in ascending order. */
struct kl_litmus_result {
	uint64_t *states;
	bool *holds;		/* for each state: the condition holds */
	size_t nstates, cstates, cholds;
	size_t positive, negative;	/* number of states in which the condition holds, or not */
	uint64_t explored, transitions;
	/* After an incomplete search: */
	uint64_t open, levels;	/* number of states not followed; number of complete levels */
	char why[400];		/* the reason, and a location or register that grows */
};

/**
 * kl_litmus_run() - find all final states of a test
 * @l: the test
 * @o: options of the search
 * @r: the result, to be freed with kl_litmus_result_free()
 *
 * Return: 0; -ENOSPC at the memory bound, -ETIME if the search was stopped, -E2BIG if a state is
 * too large, all three with r->why; -EINVAL after a message, for an access to no location;
 * -ENOMEM.
 */
int kl_litmus_run(const struct kl_litmus *l, const struct kl_litmus_options *o,
		  struct kl_litmus_result *r);
void kl_litmus_result_free(struct kl_litmus_result *r);

/* The states of a run, packed, one after the other; and the final state's items. */
struct kl_lit_path {
	uint8_t *bytes;
	size_t *end;		/* the end of each state in @bytes */
	size_t n;		/* 0: there is no such run */
	uint64_t outcome[KL_LIT_ITEMS];
	uint64_t explored;	/* number of states of the search */
};

/**
 * kl_litmus_reach() - find a run with the least number of steps to a final state
 * @l: the test
 * @o: options of the search
 * @holds: the condition holds in the final state, or does not hold there
 * @path: the run, to be freed with kl_lit_path_free()
 * @r: why the search is incomplete, to be freed with kl_litmus_result_free()
 *
 * Return: as kl_litmus_run().
 */
int kl_litmus_reach(const struct kl_litmus *l, const struct kl_litmus_options *o, bool holds,
		    struct kl_lit_path *path, struct kl_litmus_result *r);
void kl_lit_path_free(struct kl_lit_path *path);
/* Make the program of @l for a search with these options, and the memory of the first state. */
void kl_litmus_program(const struct kl_litmus *l, const struct kl_litmus_options *o,
		       struct kl_vm_prog *prog, uint64_t init[KL_LIT_LOCS]);
/* Return: true if the condition holds with its quantifier. */
bool kl_litmus_ok(const struct kl_litmus *l, const struct kl_litmus_result *r);
/* Return: the value of a condition's node in a final state. */
bool kl_litmus_eval(const struct kl_litmus *l, unsigned int node, const uint64_t *state);

/* Return: a mask of the bits in @size bytes; 0 means the size of an int. */
static inline uint64_t kl_lit_mask(unsigned int size)
{
	return size == 8 ? UINT64_MAX : (1ULL << (size ? 8 * size : 32)) - 1;
}

/* Return: the name of a register as herd prints it. */
const char *kl_litmus_reg(bool x64, unsigned int reg);
/* Print the value of item @i; of location @loc.  Return: @buf. */
const char *kl_litmus_value(const struct kl_litmus *l, unsigned int i, uint64_t v, char buf[32]);
const char *kl_litmus_word(const struct kl_litmus *l, unsigned int loc, uint64_t v, char buf[32]);

/* Print a message about the position @at in l->copy, with the line of the text and a caret. */
void kl_lit_error(const struct kl_litmus *l, const char *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same for a warning, unless the test is read with a change. */
void kl_lit_warn(const struct kl_litmus *l, const char *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The assembler (litmus_x86.c). */
struct kl_lit_asm;

struct kl_lit_asm *kl_lit_asm_new(struct kl_litmus *l);
void kl_lit_asm_free(struct kl_lit_asm *a);
/* Begin the code of thread @t. */
void kl_lit_asm_thread(struct kl_lit_asm *a, unsigned int t);
/*
 * Assemble a cell of the program: labels and an instruction, in [@text, @text + len).
 * Return: 0, -EINVAL after a message, -ENOMEM.
 */
int kl_lit_asm_cell(struct kl_lit_asm *a, const char *text, size_t len);
/* End the code of the thread.  Return: as kl_lit_asm_cell(). */
int kl_lit_asm_end(struct kl_lit_asm *a);
/*
 * Find a register, and set @size to the number of its bytes that the name means.
 * Return: the register, or -1.
 */
int kl_lit_register(bool x64, const char *name, size_t len, unsigned int *size);
/* As kl_lit_register(), for registers that no supported instruction uses: segments and rip. */
int kl_lit_other_register(bool x64, const char *name, size_t len, unsigned int *size);
/* Find a location by its name, or make it.  Return: its index, or -1 if there are too many. */
int kl_lit_location(struct kl_litmus *l, const char *name, size_t len);

#endif
