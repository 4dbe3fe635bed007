/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Facts: assumed invariants of shared memory, such as
 *	- only one thread writes a variable;
 *	- a word is written once;
 *	- a counter never decreases;
 *	- a pointer never returns to an object that it has left.
 *
 * A search under these facts needs fewer steps.  Each store is checked against them.  If a store
 * refutes a fact, the search begins anew without this fact.  This is sound: take any run up to its
 * first store that refutes a fact.  Until then it obeys all facts, so the reduced search has a run
 * with the same store, and finds the refutation.
 */
#ifndef KL_TSO_MACHINE_INVARIANTS_H
#define KL_TSO_MACHINE_INVARIANTS_H

#include <stdbool.h>

#include "tso/machine/vm.h"

#define KL_FACTS_FIELDS	256		/* fields of all structs: struct * stride + field */

/*
 * Each array records events of all runs so far, for each variable or field.  A fact is that an
 * event has not happened: @many, @falls, @back, @set and @again while they are false, and @writers
 * with at most one thread.
 */
struct kl_vm_facts {
	uint8_t writers[KL_VM_MEM];	/* threads that write the variable, a bit for each */
	bool many[KL_VM_MEM];		/* the variable changed when it was not 0 */
	bool falls[KL_VM_MEM];		/* the variable decreased, or became other than a number */
	bool back[KL_VM_MEM];		/* the pointer returned to an object */
	bool moves[KL_VM_MEM];		/* the pointer was set to another object */
	uint8_t left[KL_VM_MEM];	/* the KL_VM_LEFT() bit of the pointer, or 0 */
	unsigned int nleft;		/* number of pointers with such a bit */
	bool set[KL_FACTS_FIELDS];	/* other threads could read the field when it was written */
	bool again[KL_FACTS_FIELDS];	/* such a write changed the field when it was not 0 */
	bool refuted;			/* a member above has changed in this search */
};

/* Begin a search: assign KL_VM_LEFT() bits, which then stay for the whole search. */
void kl_facts_begin(struct kl_vm_facts *f);
/* Check the facts before thread @t stores @val to a word that others can reach. */
void kl_facts_write(struct kl_vm *vm, unsigned int t, uint32_t addr, uint64_t val);

/* Return: true if by the facts no thread but @t changes the value at @addr any more. */
static inline bool kl_facts_constant(const struct kl_vm *vm, unsigned int t, uint32_t addr)
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

/* Return: true if by the facts the variable at @addr is not @val now, and never is again. */
bool kl_facts_never(const struct kl_vm *vm, uint32_t addr, uint64_t val);

#endif
