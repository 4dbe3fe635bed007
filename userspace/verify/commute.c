// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a step.  A step has at most one access that does not commute with other threads'
 * accesses, and everything around it that commutes.  These accesses commute: registers; nodes that
 * no other thread knows; fields that are not written once others know their node; variables that
 * only `init' writes; and places that are accessed only under one lock.  Taking a lock commutes to
 * the right, releasing it to the left (Lipton).  A field or place is assumed to commute until an
 * access shows otherwise; then the search begins anew.
 *
 * An instruction that may wait for ever, such as assume(), begins a new step after that access,
 * because other threads see the access even if the instruction never ends.
 */
#include "verify/model.h"

/*
 * The class of an instruction: C_LOCAL if no other thread notices it; else whether it commutes with
 * other threads' instructions to both sides, to the right, to the left, or not at all.
 */
enum vf_class { C_LOCAL, C_BOTH, C_RIGHT, C_LEFT, C_NONE };

/* Classify an access to a place that locks may protect. */
static enum vf_class guarded(struct kl_verifier *x, const struct kl_vf_run *r, unsigned int place,
			     unsigned int node)
{
	uint64_t *prot = &x->m.prot[place];

	if (!*prot)
		return C_NONE;
	*prot &= kl_vf_held(x, r, node);
	if (*prot)
		return C_BOTH;
	x->restart = true;
	return C_NONE;
}

static enum vf_class field_class(struct kl_verifier *x, const struct kl_vf_run *r, uint8_t ptr,
				 unsigned int field, bool write)
{
	if (!kl_vf_is_ptr(ptr) || !(r->s.kind[ptr] & KF_ESC))
		return C_LOCAL;
	if (x->m.field[field] < KL_VF_FIELDS && !x->m.mutable[field]) {
		if (!write)
			return C_LOCAL;
		x->m.mutable[field] = x->restart = true;
	}
	return guarded(x, r, x->m.nslots + field, ptr);
}

/* Return: true if the range of `choose' may be empty. */
static bool may_be_empty(const struct kl_verifier *x, uint8_t lo, uint8_t hi)
{
	struct kl_val p, q;

	return !kl_vf_const_of(&x->m, lo, &p) || !kl_vf_const_of(&x->m, hi, &q) || p.v > q.v;
}

static enum vf_class class_of(struct kl_verifier *x, const struct kl_vf_run *r, uint32_t insn)
{
	const struct kl_vf_thread *th = &r->s.th[r->t];
	const unsigned int a = insn >> 8 & 0xff, b = insn >> 16 & 0xff, c = insn >> 24;
	struct kl_val v;

	switch ((enum kl_opcode)(insn & 0xff)) {
	case KL_I_LOAD:
		return x->m.written[insn >> 16] ? guarded(x, r, insn >> 16, 0) : C_LOCAL;
	case KL_I_STORE:
		if (!x->m.written[insn >> 16])
			x->m.written[insn >> 16] = x->restart = true;
		return guarded(x, r, insn >> 16, 0);
	case KL_I_LOADX:
	case KL_I_STOREX:
		return kl_vf_const_of(&x->m, th->reg[b], &v) && v.v < KL_IMPL_SLOTS ?
		       C_NONE : C_LOCAL;
	case KL_I_READ:
	case KL_I_WRITE:
		return field_class(x, r, th->reg[b], c, (insn & 0xff) == KL_I_WRITE);
	case KL_I_BLOCK:
		return C_NONE;
	case KL_I_LOCK:
	case KL_I_UNLOCK:
		if (a && kl_vf_is_ptr(th->reg[b]) && !(r->s.kind[th->reg[b]] & KF_ESC))
			return C_LOCAL;
		return (insn & 0xff) == KL_I_LOCK ? C_RIGHT : C_LEFT;
	case KL_I_ASSUME:
		return kl_vf_truth(x, th->reg[a]) == 1 ? C_LOCAL : C_NONE;
	case KL_I_CHOOSE:
		return may_be_empty(x, th->reg[b], th->reg[c]) ? C_NONE : C_LOCAL;
	case KL_I_LIN:
		return c & KL_LIN_ATTACHED ? C_LOCAL : C_NONE;
	default:
		return C_LOCAL;
	}
}

static bool accesses(uint32_t insn)
{
	switch ((enum kl_opcode)(insn & 0xff)) {
	case KL_I_READ:
	case KL_I_WRITE:
	case KL_I_NEW:
	case KL_I_LOCK:
	case KL_I_UNLOCK:
		return true;
	default:
		return false;
	}
}

bool kl_vf_stops(struct kl_verifier *x, struct kl_vf_run *r, uint32_t insn)
{
	const struct kl_vf_thread *th = &r->s.th[r->t];
	enum vf_class c;

	c = class_of(x, r, insn);
	if (!x->init && x->m.m[th->method].point[th->pc])
		c = C_NONE;
	if (r->block || (c == C_LOCAL && !(x->o.no_merge && accesses(insn))))
		return false;
	if (x->o.no_por || x->o.no_merge)
		c = C_NONE;
	if (r->commit && (c == C_NONE || c == C_RIGHT))
		return true;
	r->commit |= c == C_NONE || c == C_LEFT;
	return false;
}
