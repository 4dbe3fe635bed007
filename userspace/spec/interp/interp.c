// SPDX-License-Identifier: GPL-2.0
/* The interpreter's main loop: it executes one path of a method. */
#include <errno.h>

#include "spec/interp/run.h"

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

static const int arith_op[KL_I_COUNT_] = {
	[KL_I_ADD] = '+', [KL_I_SUB] = '-', [KL_I_MUL] = '*', [KL_I_DIV] = '/', [KL_I_MOD] = '%',
	[KL_I_AND] = '&', [KL_I_OR] = '|', [KL_I_XOR] = '^', [KL_I_SHL] = KL_OP_SHL,
	[KL_I_SHR] = KL_OP_SHR,
};

static int arith(struct kl_run *r, enum kl_opcode op, struct kl_val *dst, struct kl_val a,
		 struct kl_val b)
{
	a = kl_sym_get(r, a);
	b = kl_sym_get(r, b);
	if (a.tag > KL_ANY || b.tag > KL_ANY)
		return kl_run_fault(r, "a special value (empty, full, absent) is used as a number");
	if ((op == KL_I_DIV || op == KL_I_MOD) && b.tag == KL_WORD && !b.v)
		return kl_run_fault(r, "division by zero");
	if (unlikely(a.tag == KL_ANY || b.tag == KL_ANY))
		return kl_sym_result(r, arith_op[op], a, b, dst);
	*dst = kl_word(kl_arith(arith_op[op], a.v, b.v));
	return 0;
}

static int less(struct kl_run *r, bool or_equal, struct kl_val *dst, struct kl_val a,
		struct kl_val b)
{
	int ret;

	a = kl_sym_get(r, a);
	b = kl_sym_get(r, b);
	if (a.tag > KL_ANY || b.tag > KL_ANY)
		return kl_run_fault(r, "a special value (empty, full, absent) is used as a number");
	if (likely(a.tag == KL_WORD && b.tag == KL_WORD)) {
		*dst = kl_word(or_equal ? a.v <= b.v : a.v < b.v);
		return 0;
	}
	if (kl_val_eq(a, b)) {
		*dst = kl_word(or_equal);
		return 0;
	}
	ret = kl_run_guess(r, 2);
	if (ret < 0)
		return ret;
	*dst = kl_word(ret);
	return ret ? kl_sym_at_most(r, a, b, !or_equal) : kl_sym_at_most(r, b, a, or_equal);
}

static int negate(struct kl_run *r, enum kl_opcode op, struct kl_val *dst, struct kl_val a)
{
	a = kl_sym_get(r, a);
	if (a.tag > KL_ANY)
		return kl_run_fault(r, "a special value (empty, full, absent) is used as a number");
	/* -a is 0 - a, ~a is a ^ all ones. */
	if (a.tag == KL_ANY && op == KL_I_NEG)
		return kl_sym_result(r, '-', kl_word(0), a, dst);
	if (a.tag == KL_ANY)
		return kl_sym_result(r, '^', a, kl_word(UINT64_MAX), dst);
	*dst = kl_word(op == KL_I_NEG ? -a.v : ~a.v);
	return 0;
}

static int equal_bools(struct kl_run *r, struct kl_val a, struct kl_val b, bool *equal)
{
	bool x, y;
	int ret;

	if (likely(a.tag == KL_WORD && b.tag == KL_WORD)) {
		*equal = a.v == b.v;
		return 0;
	}
	/* A container's method may have returned a special value in place of a bool. */
	a = kl_sym_get(r, a);
	b = kl_sym_get(r, b);
	if (a.tag > KL_ANY || b.tag > KL_ANY)
		return kl_sym_equal(r, a, b, equal);
	ret = kl_sym_truth(r, a, &x);
	if (!ret)
		ret = kl_sym_truth(r, b, &y);
	if (!ret)
		*equal = x == y;
	return ret;
}

static int choose(struct kl_run *r, struct kl_val *dst, struct kl_val lo, struct kl_val hi)
{
	int ret;

	lo = kl_sym_get(r, lo);
	hi = kl_sym_get(r, hi);
	if (lo.tag > KL_ANY || hi.tag > KL_ANY)
		return kl_run_fault(r, "a special value (empty, full, absent) is used as a number");
	if (lo.tag == KL_ANY || hi.tag == KL_ANY) {
		ret = kl_sym_fresh(r, dst);
		return ret ?: kl_sym_at_most(r, lo, *dst, false) ?:
		       kl_sym_at_most(r, *dst, hi, false);
	}
	if (lo.v > hi.v)
		return KL_DROP;
	if (hi.v - lo.v >= KL_PATHS_MAX)
		return kl_run_fail(r, -E2BIG, "'choose' among more than %u values", KL_PATHS_MAX);
	ret = kl_run_choose(r, hi.v - lo.v + 1);
	if (ret < 0)
		return ret;
	*dst = kl_word(lo.v + ret);
	return 0;
}

static int element(struct kl_run *r, uint32_t array, struct kl_val index, uint32_t *slot)
{
	uint32_t base = array & 0xffff, len = array >> 16;
	int ret;

	index = kl_sym_get(r, index);
	if (index.tag > KL_ANY)
		return kl_run_fault(r, "a special value (empty, full, absent) is used as an index");
	if (index.tag == KL_ANY) {
		ret = kl_run_guess(r, len);
		if (ret < 0)
			return ret;
		*slot = base + ret;
		return kl_sym_unify(r, index, kl_word(ret));
	}
	if (index.v >= len)
		return kl_run_fault(r, "index %llu is out of bounds of an array of %u elements",
				    (unsigned long long)index.v, len);
	*slot = base + index.v;
	return 0;
}

static void store(struct kl_run *r, uint32_t slot, struct kl_val v)
{
	r->slots[slot] = v;
	if (r->mark[slot] == r->path)
		return;
	r->mark[slot] = r->path;
	r->wrote[r->nwrote++] = slot;
}

static int count_steps(struct kl_run *r, uint32_t n)
{
	r->steps += n;
	if (r->steps > KL_STEPS_MAX)
		return kl_run_fail(r, -E2BIG, "'%s' takes more than %u steps", r->m->pub.name,
				   KL_STEPS_MAX);
	return 0;
}

int kl_run_exec(struct kl_run *r)
{
	const uint32_t *code = r->s->code + r->m->code;
	const uint32_t *pc = code + (r->before ? r->before->at : 0);
	struct kl_val *reg = r->reg;
	bool truth;
	int ret;

	for (;;) {
		uint32_t insn = *pc++;
		enum kl_opcode op = insn & 0xff;
		unsigned int a = insn >> 8 & 0xff, b = insn >> 16 & 0xff, c = insn >> 24;
		unsigned int imm = insn >> 16;
		uint32_t slot;

		ret = 0;
		switch (op) {
		case KL_I_MOV:
			reg[a] = reg[b];
			break;
		case KL_I_CONST:
			reg[a] = r->s->pool[imm];
			break;
		case KL_I_LOAD:
			reg[a] = r->slots[imm];
			break;
		case KL_I_STORE:
			store(r, imm, reg[a]);
			break;
		case KL_I_LOADX:
			ret = element(r, *pc++, reg[b], &slot);
			if (likely(!ret))
				reg[a] = r->slots[slot];
			break;
		case KL_I_STOREX:
			ret = element(r, *pc++, reg[b], &slot);
			if (likely(!ret))
				store(r, slot, reg[a]);
			break;
		case KL_I_ADD ... KL_I_SHR:
			ret = arith(r, op, &reg[a], reg[b], reg[c]);
			break;
		case KL_I_LT:
		case KL_I_LE:
			ret = less(r, op == KL_I_LE, &reg[a], reg[b], reg[c]);
			break;
		case KL_I_EQ:
		case KL_I_NE:
			ret = kl_sym_equal(r, reg[b], reg[c], &truth);
			reg[a] = kl_word(truth == (op == KL_I_EQ));
			break;
		case KL_I_EQB:
		case KL_I_NEB:
			ret = equal_bools(r, reg[b], reg[c], &truth);
			if (likely(!ret))
				reg[a] = kl_word(truth == (op == KL_I_EQB));
			break;
		case KL_I_NEG:
		case KL_I_INV:
			ret = negate(r, op, &reg[a], reg[b]);
			break;
		case KL_I_NOT:
			ret = kl_sym_truth(r, reg[b], &truth);
			if (likely(!ret))
				reg[a] = kl_word(!truth);
			break;
		case KL_I_JMP:
			if (code + imm < pc)
				ret = count_steps(r, pc - (code + imm));
			pc = code + imm;
			break;
		case KL_I_JZ:
		case KL_I_JNZ:
			ret = kl_sym_truth(r, reg[a], &truth);
			if (likely(!ret) && truth == (op == KL_I_JNZ))
				pc = code + imm;
			break;
		case KL_I_FORCE:
			ret = kl_sym_truth(r, reg[a], &truth);
			break;
		case KL_I_CHOOSE:
			ret = choose(r, &reg[a], reg[b], reg[c]);
			break;
		case KL_I_ANY:
			ret = kl_sym_any(r, 0, &reg[a], &truth);
			break;
		case KL_I_EITHER:
			ret = kl_run_choose(r, a);
			if (ret < 0)
				return ret;
			pc = code + pc[ret];
			continue;
		case KL_I_ASSUME:
			ret = kl_sym_truth(r, reg[a], &truth);
			if (likely(!ret) && !truth)
				return KL_DROP;
			break;
		case KL_I_ASSERT:
			ret = kl_sym_truth(r, reg[a], &truth);
			if (likely(!ret) && !truth)
				ret = kl_run_fault(r, "the assertion in line %u fails", *pc);
			pc++;
			break;
		case KL_I_BLOCK:
			if (unlikely(r->stepwise && r->entered)) {
				r->next_at = pc - 1 - code;
				r->insns += pc - code;
				return 0;
			}
			r->entered = true;
			r->barrier |= a;
			r->through |= a;
			break;
		case KL_I_FENCE:
			r->barrier = true;
			break;
		case KL_I_CONT:
			ret = count_steps(r, 16 + r->conts[b].n);
			if (!ret)
				ret = kl_cont_call(r, b, c, &reg[a]);
			break;
		case KL_I_RETURN:
			for (slot = 0; slot < a; slot++)
				r->results[slot] = reg[b + slot];
			r->insns += pc - code;
			return 0;
		default:	/* occurs in implementations only */
			return -EINVAL;
		}
		if (unlikely(ret))
			return ret;
	}
}
