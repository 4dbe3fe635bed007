/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An x86-TSO machine for the tests, as plain as it can be: one instruction at a time,
 * every store in a buffer, no state that is renamed, merged or left out.  It runs the
 * byte code of a model and shares no code with the explorer's machine.
 */
#ifndef SELFTESTS_PLAIN_TSO_H
#define SELFTESTS_PLAIN_TSO_H

#include "spec/impl/impl.h"
#include "tso/machine/vm.h"

#define PLAIN_BUFFER	256
#define PLAIN_EVENTS	600

struct plain_program {
	const struct kl_spec *spec;
	bool sc;
	uint32_t start[KL_IMPL_THREADS];
	unsigned int nthreads, nregs, stride;
};

struct plain_entry {
	enum kl_vm_kind kind;
	uint32_t addr;
	uint64_t val;
	bool more;		/* the next entry is of the same atomic block */
	bool secret;		/* the shown run has it in memory: nobody else can look there yet */
};

struct plain_thread {
	uint32_t pc[2];		/* of the client, of the method */
	int method;		/* -1: none */
	unsigned int args, first;
	bool done;
	enum { PLAIN_NO_BLOCK, PLAIN_BUFFERED, PLAIN_LOCKED } block;
	uint64_t reg[2][KL_VM_REGS];
	unsigned int nbuf;
	struct plain_entry buf[PLAIN_BUFFER];
};

/* The outcome of an instruction. */
enum plain_did {
	PLAIN_LOCAL,		/* nothing that anybody sees */
	PLAIN_ACCESS,		/* m->access */
	PLAIN_CALL,		/* the last event is the call */
	PLAIN_RET,
	PLAIN_CHOOSES,		/* nothing yet: m->choice of m->nchoices is to be set */
	PLAIN_WAITS,		/* nothing: it cannot go on now */
	PLAIN_OVER,		/* nothing: the thread has ended, or its run is none */
	PLAIN_FAULT,		/* m->error */
};

struct plain_access {
	uint32_t addr, line;
	uint64_t val;
	bool write, own, own_secret;
};

struct plain {
	const struct plain_program *p;
	unsigned int nobj, nmem;
	uint64_t mem[KL_VM_MEM];
	uint8_t type[KL_VM_OBJECTS];
	struct plain_thread thread[KL_IMPL_THREADS];
	struct plain_access access;
	unsigned int nchoices;
	int choice;		/* -1: none is made */
	unsigned int ndata;	/* data is one of so many values */
	char error[160];
	unsigned int nev;
	struct kl_vm_event ev[PLAIN_EVENTS];
};

/* The first state, after the model's `init'. */
void plain_init(struct plain *m, const struct plain_program *p);
/* One instruction of @t. */
enum plain_did plain_insn(struct plain *m, unsigned int t);
/* Which one would it be? */
enum kl_opcode plain_next(const struct plain *m, unsigned int t);
/* The oldest entry, marker or group of entries of one block, leaves @t's buffer. */
void plain_flush(struct plain *m, unsigned int t);
/* Code that runs alone, as of `final'.  Return: PLAIN_OVER, or what went wrong. */
enum plain_did plain_alone(struct plain *m, uint32_t code);

#endif
