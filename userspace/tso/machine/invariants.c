// SPDX-License-Identifier: GPL-2.0
/* Assumed invariants of shared memory. */
#include <string.h>

#include "tso/machine/invariants.h"

/*
 * Give the bits of KL_VM_LEFT() to pointers that are known to move.  A pointer gets no bit during a
 * search, because objects that it left earlier would lack the bit, and the same step would lead to
 * different states.
 */
void kl_facts_begin(struct kl_vm_facts *f)
{
	uint8_t used = 0;
	unsigned int i, k;

	f->refuted = false;
	f->nleft = 0;
	for (i = 0; i < KL_VM_MEM; i++) {
		if (f->back[i])
			f->left[i] = 0;
		used |= f->left[i];
		f->nleft += !!f->left[i];
	}
	for (i = 0; i < KL_VM_MEM && f->nleft < KL_VM_LEFTS; i++) {
		if (!f->moves[i] || f->back[i] || f->left[i])
			continue;
		for (k = 0; used & KL_VM_LEFT(k); k++)
			;
		f->left[i] = KL_VM_LEFT(k);
		used |= f->left[i];
		f->nleft++;
	}
}

static void refute(struct kl_vm_facts *f, bool *fact)
{
	f->refuted |= !*fact;
	*fact = true;
}

static int object(const struct kl_vm *vm, uint64_t v)
{
	const uint32_t at = v - KL_VM_PTR;

	return kl_vm_is_ptr(v) && at >= vm->prog->nslots && at < vm->nmem ?
	       (int)((at - vm->prog->nslots) / vm->prog->stride) : -1;
}

/* The pointer at @addr becomes @val: mark the object that it leaves. */
static void note_move(struct kl_vm *vm, uint32_t addr, uint64_t val)
{
	struct kl_vm_facts *f = vm->prog->facts;
	int from = object(vm, vm->mem[addr]), to = object(vm, val);

	if (f->back[addr] || from == to)
		return;
	/* If a bit is free, begin anew, so that the next search has a bit for this pointer. */
	if (!f->moves[addr] && to >= 0) {
		f->moves[addr] = true;
		f->refuted |= f->nleft < KL_VM_LEFTS;
	}
	if (from >= 0)
		vm->type[from] |= f->left[addr];
	if (to >= 0 && vm->type[to] & f->left[addr])
		refute(f, &f->back[addr]);
}

void kl_facts_write(struct kl_vm *vm, unsigned int t, uint32_t addr, uint64_t val)
{
	const struct kl_vm_prog *p = vm->prog;
	struct kl_vm_facts *f = p->facts;
	const uint64_t old = vm->mem[addr];
	unsigned int i;

	vm->wrote = true;
	if (!f)
		return;
	if (addr < p->nslots) {
		if (!(f->writers[addr] >> t & 1)) {
			f->writers[addr] |= p->group[t];
			f->refuted = true;
		}
		if (old && old != val)
			refute(f, &f->many[addr]);
		if (val >= KL_VM_DATA || val < old)
			refute(f, &f->falls[addr]);
		note_move(vm, addr, val);
		return;
	}
	i = addr - p->nslots;
	i = (vm->type[i / p->stride] & KL_VM_STRUCT) * p->stride + i % p->stride;
	if (i >= KL_FACTS_FIELDS)
		return;
	refute(f, &f->set[i]);
	if (old && old != val)
		refute(f, &f->again[i]);
}

bool kl_facts_never(const struct kl_vm *vm, uint32_t addr, uint64_t val)
{
	const struct kl_vm_facts *f = vm->prog->facts;
	int obj;

	if (!f || addr >= vm->prog->nslots || vm->mem[addr] == val)
		return false;
	if (val < KL_VM_DATA)
		return !f->falls[addr] && vm->mem[addr] > val;
	obj = object(vm, val);
	return obj >= 0 && !f->back[addr] && f->left[addr] &&
	       val == KL_VM_PTR + vm->prog->nslots + obj * vm->prog->stride &&
	       vm->type[obj] & f->left[addr];
}
