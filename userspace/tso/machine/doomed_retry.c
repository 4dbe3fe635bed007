// SPDX-License-Identifier: GPL-2.0
/*
 * Recognizes a thread whose next comparison must fail.  The thread compares a variable with a value
 * that the variable never has again (invariants.h), as in this retry loop:
 *
 *	old = head;			another thread moves head away from old, for good
 *	next = old->next;		this read has no effect, so its time does not matter
 *	if (cas(&head, old, next))	this must fail, and the loop begins again
 *
 * Reads before the comparison have no effect if the retry discards their values.
 */
#include "tso/machine/invariants.h"

#define INSNS_MAX	64	/* instructions to follow a thread for */

/*
 * The registers of the method's frame while thread @t is followed.  A value that @t reads is
 * unknown, unless no other thread can change it.
 */
struct view {
	const struct kl_vm *vm;
	const struct kl_vm_thread *th;
	unsigned int t;
	uint64_t reg[KL_VM_REGS];
	uint64_t unknown;		/* a bit for each register with an unknown value */
	uint32_t from[KL_VM_REGS];	/* address where an unknown value was read, or UINT32_MAX */
	unsigned int reads;		/* number of reads so far */
	bool block;			/* the thread is in an atomic block */
};

static bool is_known(const struct view *w, unsigned int r)
{
	return !(w->unknown >> r & 1);
}

static void set(struct view *w, unsigned int r, uint64_t v)
{
	w->reg[r] = v;
	w->unknown &= ~(1ULL << r);
}

static void set_unknown(struct view *w, unsigned int r, uint32_t from)
{
	w->from[r] = from;
	w->unknown |= 1ULL << r;
}

static bool read(struct view *w, unsigned int r, uint32_t addr)
{
	unsigned int i;

	if (addr == UINT32_MAX)
		return false;
	for (i = 0; i < w->th->nbuf; i++)
		if (w->th->buf[i].kind == KL_VM_WRITE && w->th->buf[i].addr == addr)
			return false;
	w->reads++;
	if (kl_vm_hidden(w->vm, addr) || kl_facts_constant(w->vm, w->t, addr))
		set(w, r, w->vm->mem[addr]);
	else
		set_unknown(w, r, addr);
	return true;
}

static void compare(struct view *w, unsigned int a, unsigned int b, unsigned int c, bool equal)
{
	if (is_known(w, b) && is_known(w, c))
		set(w, a, (w->reg[b] == w->reg[c]) == equal);
	else if ((is_known(w, b) && w->from[c] != UINT32_MAX &&
		  kl_facts_never(w->vm, w->from[c], w->reg[b])) ||
		 (is_known(w, c) && w->from[b] != UINT32_MAX &&
		  kl_facts_never(w->vm, w->from[b], w->reg[c])))
		set(w, a, !equal);
	else
		set_unknown(w, a, UINT32_MAX);
}

/*
 * Follow the instruction at @pc.  Return: false if its effect is not known, or other threads may
 * notice it.
 */
static bool follow(struct view *w, uint32_t *pc, uint32_t base)
{
	const struct kl_vm_prog *p = w->vm->prog;
	const uint32_t insn = p->code[*pc];
	const enum kl_opcode op = insn & 0xff;
	const unsigned int a = insn >> 8 & 0xff, b = insn >> 16 & 0xff, c = insn >> 24;

	++*pc;
	switch (op) {
	case KL_I_MOV:
		set(w, a, w->reg[b]);
		if (!is_known(w, b))
			set_unknown(w, a, w->from[b]);
		return true;
	case KL_I_CONST:
		set(w, a, p->pool[insn >> 16]);
		return true;
	case KL_I_ADDR:
		set(w, a, KL_VM_PTR + (insn >> 16));
		return true;
	case KL_I_LOAD:
		return read(w, a, insn >> 16);
	case KL_I_LOADX:
		return is_known(w, b) && read(w, a, kl_vm_element(p->code[(*pc)++], w->reg[b]));
	case KL_I_READ:
		return is_known(w, b) && read(w, a, kl_vm_address(w->vm, w->reg[b], c));
	case KL_I_EQ:
	case KL_I_EQB:
		compare(w, a, b, c, true);
		return true;
	case KL_I_NE:
	case KL_I_NEB:
		compare(w, a, b, c, false);
		return true;
	case KL_I_NOT:
		set(w, a, !w->reg[b]);
		if (!is_known(w, b))
			set_unknown(w, a, UINT32_MAX);
		return true;
	case KL_I_JMP:
		*pc = base + (insn >> 16);
		return true;
	case KL_I_JZ:
	case KL_I_JNZ:
		if (!is_known(w, a))
			return false;
		if (!w->reg[a] == (op == KL_I_JZ))
			*pc = base + (insn >> 16);
		return true;
	case KL_I_BLOCK:
		/* A barrier with a marker in the buffer would cause an event. */
		w->block = true;
		return !a || p->sc || !w->th->nbuf;
	case KL_I_END:
		w->block = false;
		return true;
	case KL_I_FENCE:
		return p->sc || !w->th->nbuf;
	default:
		return false;
	}
}

unsigned int kl_vm_doomed_insns(const struct kl_vm *vm, unsigned int t)
{
	const struct kl_vm_prog *p = vm->prog;
	struct view w;
	uint32_t pc, base;
	unsigned int i;

	w.vm = vm;
	w.th = &vm->thread[t];
	w.t = t;
	w.unknown = 0;
	w.reads = 0;
	w.block = false;
	if (!p->facts || w.th->method < 0)
		return 0;
	base = p->methods[w.th->method].start;
	pc = w.th->pc[1];
	switch ((enum kl_opcode)(p->code[pc] & 0xff)) {
	case KL_I_READ:
	case KL_I_LOAD:
	case KL_I_LOADX:
		break;
	case KL_I_BLOCK:
		if (!w.th->nbuf)
			break;
		/* fall through */
	default:
		return 0;
	}
	for (i = 0; i < p->nregs[1]; i++)
		w.reg[i] = w.th->reg[1][i];
	for (i = 0; i < INSNS_MAX; i++) {
		if (w.reads && !w.block && !(w.unknown & p->live[pc]))
			return pc == w.th->pc[1] ? 0 : i;
		if (!follow(&w, &pc, base))
			return 0;
	}
	return 0;
}
