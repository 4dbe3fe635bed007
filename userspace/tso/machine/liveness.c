// SPDX-License-Identifier: GPL-2.0
/*
 * Liveness analysis of byte code: the registers whose values may still be used, for each
 * instruction.  Dead registers are left out of states, so that more states are equal.
 */
#include <string.h>

#include "spec/interp/flow.h"
#include "tso/machine/vm.h"

/* The same as kl_insn_flow(), with the registers of arguments and results of a call. */
static void flow_of(const struct kl_vm_prog *p, uint32_t at, struct kl_flow *f)
{
	const unsigned int a = p->code[at] >> 8 & 0xff, imm = p->code[at] >> 16;

	kl_insn_flow(p->code + at, f);
	if ((p->code[at] & 0xff) == KL_I_CALL) {
		f->use = kl_flow_regs(a, p->methods[imm].nparams);
		f->def = kl_flow_regs(a, p->methods[imm].nresults);
	}
}

/* Go once backwards over the instructions at @starts.  Return: true if @live changed. */
static bool update_live(const struct kl_vm_prog *p, uint32_t base, uint64_t *live, uint64_t at_end,
			const uint32_t *starts, size_t n)
{
	bool changed = false;
	unsigned int i;
	struct kl_flow f;

	while (n--) {
		uint32_t at = starts[n];
		uint64_t out = 0;

		flow_of(p, at, &f);
		if (f.next && at + f.words < p->ncode)
			out |= live[at + f.words];
		if (f.jump >= 0 && base + f.jump < p->ncode)
			out |= live[base + f.jump];
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

static void analyse(const struct kl_vm_prog *p, uint32_t base, uint32_t end, uint64_t *live,
		    uint64_t at_end, uint32_t *starts)
{
	size_t n = 0;
	struct kl_flow f;
	uint32_t at;

	for (at = base; at < end; at += f.words) {
		flow_of(p, at, &f);
		starts[n++] = at;
	}
	while (update_live(p, base, live, at_end, starts, n))
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
		analyse(p, p->start[i], next_start(p, nmethods, p->start[i]), live, at_end,
			scratch);
	for (i = 0; i < nmethods; i++)
		analyse(p, p->methods[i].start, next_start(p, nmethods, p->methods[i].start), live,
			0, scratch);
}
