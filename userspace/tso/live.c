// SPDX-License-Identifier: GPL-2.0
/* Liveness: the registers whose values may still be used, before each word of code. */
#include <string.h>

#include "tso/vm.h"

struct flow {
	uint64_t use, def;
	uint32_t next[2];	/* UINT32_MAX: none */
	unsigned int words;	/* of the instruction */
};

static uint64_t bits(unsigned int first, unsigned int n)
{
	return n ? ((2ULL << (n - 1)) - 1) << first : 0;
}

static uint64_t bit(unsigned int r)
{
	return 1ULL << r;
}

static void flow_of(const struct kl_vm_prog *p, uint32_t base, uint32_t at, struct flow *f)
{
	const uint32_t insn = p->code[at];
	const unsigned int a = insn >> 8 & 0xff, b = insn >> 16 & 0xff, c = insn >> 24;
	const unsigned int imm = insn >> 16;

	*f = (struct flow){ .words = 1, .next = { UINT32_MAX, UINT32_MAX } };
	switch ((enum kl_opcode)(insn & 0xff)) {
	case KL_I_MOV:
	case KL_I_NEG:
	case KL_I_INV:
	case KL_I_NOT:
	case KL_I_READ:
	case KL_I_FIELD:
		f->def = bit(a);
		f->use = bit(b);
		break;
	case KL_I_CONST:
	case KL_I_LOAD:
	case KL_I_ADDR:
	case KL_I_NEW:
	case KL_I_FRESH:
		f->def = bit(a);
		break;
	case KL_I_STORE:
	case KL_I_ASSUME:
		f->use = bit(a);
		break;
	case KL_I_ASSERT:
		f->use = bit(a);
		f->words = 2;
		break;
	case KL_I_LOADX:
	case KL_I_ADDRX:
		f->def = bit(a);
		f->use = bit(b);
		f->words = 2;
		break;
	case KL_I_STOREX:
		f->use = bit(a) | bit(b);
		f->words = 2;
		break;
	case KL_I_WRITE:
		f->use = bit(a) | bit(b);
		break;
	case KL_I_ADD ... KL_I_NEB:
	case KL_I_CHOOSE:
		f->def = bit(a);
		f->use = bit(b) | bit(c);
		break;
	case KL_I_JMP:
		f->next[0] = base + imm;
		return;
	case KL_I_JZ:
	case KL_I_JNZ:
		f->use = bit(a);
		f->next[1] = base + imm;
		break;
	case KL_I_EITHER:
		f->words = 1 + a;
		return;		/* its ways are looked at by the caller */
	case KL_I_CALL:
		f->use = bits(a, p->methods[imm].nparams);
		f->def = bits(a, p->methods[imm].nresults);
		break;
	case KL_I_RETURN:
		f->use = bits(b, a);
		return;
	case KL_I_STOP:
		return;
	default:
		break;
	}
	f->next[0] = at + f->words;
}

/* One pass backwards over the instructions at @starts; did anything change? */
static bool pass(const struct kl_vm_prog *p, uint32_t base, uint64_t *live, uint64_t at_end,
		 const uint32_t *starts, size_t n)
{
	bool changed = false;
	unsigned int i;
	struct flow f;

	while (n--) {
		uint32_t at = starts[n];
		uint64_t out = 0;

		flow_of(p, base, at, &f);
		for (i = 0; i < 2; i++)
			if (f.next[i] != UINT32_MAX && f.next[i] < p->ncode)
				out |= live[f.next[i]];
		if ((p->code[at] & 0xff) == KL_I_EITHER)
			for (i = 1; i < f.words; i++)
				out |= live[base + p->code[at + i]];
		if ((p->code[at] & 0xff) == KL_I_STOP)
			out = at_end;
		out = (out & ~f.def) | f.use;
		changed |= out != live[at];
		live[at] = out;
	}
	return changed;
}

static void region(const struct kl_vm_prog *p, uint32_t base, uint32_t end, uint64_t *live,
		   uint64_t at_end, uint32_t *starts)
{
	size_t n = 0;
	struct flow f;
	uint32_t at;

	for (at = base; at < end; at += f.words) {
		flow_of(p, base, at, &f);
		starts[n++] = at;
	}
	while (pass(p, base, live, at_end, starts, n))
		;
}

static uint32_t next_start(const struct kl_vm_prog *p, unsigned int nmethods, uint32_t base)
{
	uint32_t end = p->ncode;
	unsigned int i;

	for (i = 0; i < p->nthreads; i++)
		if (p->start[i] > base && p->start[i] < end)
			end = p->start[i];
	for (i = 0; i < nmethods; i++)
		if (p->methods[i].start > base && p->methods[i].start < end)
			end = p->methods[i].start;
	return end;
}

void kl_vm_live(const struct kl_vm_prog *p, unsigned int nmethods, uint64_t *live,
		uint64_t at_end, uint32_t *scratch)
{
	unsigned int i;

	memset(live, 0, p->ncode * sizeof(*live));
	for (i = 0; i < p->nthreads; i++)
		region(p, p->start[i], next_start(p, nmethods, p->start[i]), live, at_end, scratch);
	for (i = 0; i < nmethods; i++)
		region(p, p->methods[i].start, next_start(p, nmethods, p->methods[i].start), live,
		       0, scratch);
}
