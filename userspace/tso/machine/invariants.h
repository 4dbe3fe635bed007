/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is taken to be true of shared memory until some run refutes it: a variable
 * that only one thread writes, a word written once, a counter that never goes
 * back, a pointer that never returns to an object that it has left.  A search
 * under these facts makes fewer steps; every store to memory is held against
 * them, and when one is refuted the search begins anew without it.  A run of the
 * whole machine up to the first store that refutes a fact obeys all facts, so
 * that the smaller search has a run which makes that store too: it cannot end
 * without having found it.
 */
#ifndef KL_TSO_MACHINE_INVARIANTS_H
#define KL_TSO_MACHINE_INVARIANTS_H

#include <stdbool.h>

#include "tso/machine/vm.h"

#define KL_FACTS_FIELDS	256		/* fields of all structs: struct * stride + field */

struct kl_vm_facts {
	uint8_t writers[KL_VM_MEM];	/* of a variable: threads that write it, a bit for each */
	bool many[KL_VM_MEM];		/* written when it was not 0 */
	bool falls[KL_VM_MEM];		/* has been smaller than before, or no number */
	bool back[KL_VM_MEM];		/* has returned to an object */
	bool moves[KL_VM_MEM];		/* has pointed to an object when it was written */
	uint8_t left[KL_VM_MEM];	/* KL_VM_LEFT() of a pointer, 0: it has none */
	unsigned int nleft;
	bool set[KL_FACTS_FIELDS];	/* fields: written while others could see them */
	bool again[KL_FACTS_FIELDS];	/* and not 0 at that time */
	bool refuted;			/* something above has changed */
};

/* Before a search: nothing is refuted in it so far, and nothing else changes until the next one. */
void kl_facts_begin(struct kl_vm_facts *f);
/* Before the value of a word that others can reach becomes @val. */
void kl_facts_write(struct kl_vm *vm, unsigned int t, uint32_t addr, uint64_t val);

/* Will @t always read from @addr what it reads now? */
static inline bool kl_facts_quiet(const struct kl_vm *vm, unsigned int t, uint32_t addr)
{
	const struct kl_vm_prog *p = vm->prog;
	const struct kl_vm_facts *f = p->facts;
	unsigned int i;

	if (!f)
		return false;
	if (addr < p->nslots)
		return !(f->writers[addr] & ~(1u << t)) || (!f->many[addr] && vm->mem[addr]);
	i = addr - p->nslots;
	i = (vm->type[i / p->stride] & KL_VM_STRUCT) * p->stride + i % p->stride;
	return i < KL_FACTS_FIELDS && (!f->set[i] || (!f->again[i] && vm->mem[addr]));
}

/* Has the variable at @addr been @val, is it not and will it never be again? */
bool kl_facts_never(const struct kl_vm *vm, uint32_t addr, uint64_t val);

#endif
