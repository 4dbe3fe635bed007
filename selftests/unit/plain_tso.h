/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A simple x86-TSO machine for the tests.  It runs one instruction at a time, puts every store
 * into a buffer, and renames, merges or omits no state.  It runs the byte code of a model and
 * shares no code with the explorer's machine.
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
	bool more;		/* the next entry belongs to the same atomic block */
	/* the shown run has it in memory already, since no other thread can read there yet */
	bool secret;
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

/* Outcome of an instruction. */
enum plain_did {
	PLAIN_LOCAL,		/* no visible effect */
	PLAIN_ACCESS,		/* an access to memory: m->access */
	PLAIN_CALL,		/* a call: the last event */
	PLAIN_RET,
	PLAIN_CHOOSES,		/* no effect yet: set m->choice below m->nchoices */
	PLAIN_WAITS,		/* no effect: the instruction cannot run now */
	PLAIN_OVER,		/* no effect: the thread has ended, or the run is infeasible */
	PLAIN_FAULT,		/* a fault: m->error */
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
	int choice;		/* -1: none */
	unsigned int ndata;	/* number of data values */
	char error[160];
	unsigned int nev;
	struct kl_vm_event ev[PLAIN_EVENTS];
};

/* Create the first state, after the model's `init'. */
void plain_init(struct plain *m, const struct plain_program *p);
/* Run one instruction of @t. */
enum plain_did plain_insn(struct plain *m, unsigned int t);
/* Return: the opcode of the next instruction of @t. */
enum kl_opcode plain_next(const struct plain *m, unsigned int t);
/* Flush the oldest entry of @t's buffer: a store, a marker, or the stores of one block. */
void plain_flush(struct plain *m, unsigned int t);
/* Run code that runs alone, such as `final'.  Return: PLAIN_OVER, or the reason of a failure. */
enum plain_did plain_alone(struct plain *m, uint32_t code);

#endif
