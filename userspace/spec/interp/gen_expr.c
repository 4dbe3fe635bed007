// SPDX-License-Identifier: GPL-2.0
/* The code generator for expressions. */
#include <errno.h>

#include "spec/interp/gen.h"

#define POOL_MAX	65536	/* indices of constants have 16 bits */

unsigned int kl_gen_temp(struct kl_gen *g)
{
	if (g->top >= KL_REGS - 1) {
		if (!g->err)
			kl_diag_err(g->d, g->m->pos,
				    "'%s' has an expression that needs more than %d "
				    "intermediate values", g->m->pub.name, KL_REGS);
		g->err = g->err ? g->err : -EINVAL;
		return g->top;
	}
	if (++g->top > g->max)
		g->max = g->top;
	return g->top - 1;
}

unsigned int kl_gen_constant(struct kl_gen *g, struct kl_val v)
{
	struct kl_spec *s = g->s;
	const uint64_t key[] = { v.tag, v.tag == KL_WORD ? v.v : 0 };
	const int64_t i = kl_intern(&s->numbers, key, 2);
	int ret;

	if (i >= 0 && (size_t)i < s->npool)
		return i;
	if (i >= 0 && s->npool == POOL_MAX) {
		if (!g->err)
			kl_diag_err(g->d, g->m->pos, "more than %d different constants", POOL_MAX);
		g->err = g->err ? g->err : -EINVAL;
		return 0;
	}
	ret = i < 0 ? i : kl_grow(s->pool, s->cpool, s->npool + 1);
	if (ret) {
		g->err = g->err ? g->err : -ENOMEM;
		return 0;
	}
	s->pool[s->npool] = v;
	return s->npool++;
}

void kl_gen_arith(struct kl_gen *g, int op, unsigned int dst, unsigned int a, unsigned int b)
{
	static const struct {
		int op;
		enum kl_opcode code;
	} table[] = {
		{ '+', KL_I_ADD }, { '-', KL_I_SUB }, { '*', KL_I_MUL }, { '/', KL_I_DIV },
		{ '%', KL_I_MOD }, { '&', KL_I_AND }, { '|', KL_I_OR }, { '^', KL_I_XOR },
		{ KL_OP_SHL, KL_I_SHL }, { KL_OP_SHR, KL_I_SHR }, { '<', KL_I_LT },
		{ KL_OP_LE, KL_I_LE }, { KL_OP_EQ, KL_I_EQ }, { KL_OP_NE, KL_I_NE },
	};
	unsigned int i;

	if (op == '>' || op == KL_OP_GE) {
		kl_gen_emit(g, kl_insn(op == '>' ? KL_I_LT : KL_I_LE, dst, b, a));
		return;
	}
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].op == op)
			kl_gen_emit(g, kl_insn(table[i].code, dst, a, b));
}

unsigned int kl_gen_operand(struct kl_gen *g, const struct kl_ast_expr *e)
{
	unsigned int r;

	if (e->kind == KL_A_NAME && e->local)
		return e->local->reg;
	if (e->kind == KL_A_CALL)
		return kl_gen_call(g, e);
	r = kl_gen_temp(g);
	kl_gen_expr(g, e, r);
	return r;
}

unsigned int kl_gen_call(struct kl_gen *g, const struct kl_ast_expr *e)
{
	const struct kl_ast_expr *args[2] = { e->a, e->b };
	unsigned int first = kl_gen_temp(g), second, i;

	second = e->nargs > 1 ? kl_gen_temp(g) : 0;
	for (i = 0; i < e->nargs; i++) {
		unsigned int r = i ? second : first;

		kl_gen_expr(g, args[i], r);
		if (args[i]->type == KL_ET_BOOL)
			kl_gen_emit(g, kl_insn(KL_I_FORCE, r, 0, 0));
	}
	kl_gen_emit(g, kl_insn(KL_I_CONT, first, e->var->slot, e->cont_op));
	return first;
}

static void gen_place(struct kl_gen *g, const struct kl_ast_expr *e, unsigned int dst)
{
	unsigned int index;

	if (e->konst) {
		kl_gen_emit(g, kl_insn_imm(KL_I_CONST, dst, kl_gen_constant(g, e->konst->val)));
	} else if (e->local) {
		if (dst != e->local->reg)
			kl_gen_emit(g, kl_insn(KL_I_MOV, dst, e->local->reg, 0));
	} else if (e->kind == KL_A_INDEX) {
		index = kl_gen_operand(g, e->a);
		kl_gen_emit(g, kl_insn(KL_I_LOADX, dst, index, 0));
		kl_gen_emit(g, e->var->slot | e->var->len << 16);
	} else {
		kl_gen_emit(g, kl_insn_imm(KL_I_LOAD, dst, e->var->slot));
	}
}

static void gen_binary(struct kl_gen *g, const struct kl_ast_expr *e, unsigned int dst)
{
	bool equality = e->op == KL_OP_EQ || e->op == KL_OP_NE;
	unsigned int a, b, jump;

	if (e->op == KL_OP_AND || e->op == KL_OP_OR) {
		kl_gen_expr(g, e->a, dst);
		jump = kl_gen_emit(g, kl_insn_imm(e->op == KL_OP_AND ? KL_I_JZ : KL_I_JNZ, dst, 0));
		kl_gen_expr(g, e->b, dst);
		kl_gen_patch(g, jump);
		return;
	}
	a = kl_gen_operand(g, e->a);
	b = kl_gen_operand(g, e->b);
	if (equality && e->a->type == KL_ET_BOOL && e->b->type == KL_ET_BOOL)
		kl_gen_emit(g, kl_insn(e->op == KL_OP_EQ ? KL_I_EQB : KL_I_NEB, dst, a, b));
	else
		kl_gen_arith(g, e->op, dst, a, b);
}

static void gen_cond(struct kl_gen *g, const struct kl_ast_expr *e, unsigned int dst)
{
	unsigned int to_else, to_end, cond = kl_gen_operand(g, e->a);

	to_else = kl_gen_emit(g, kl_insn_imm(KL_I_JZ, cond, 0));
	kl_gen_expr(g, e->b, dst);
	to_end = kl_gen_emit(g, kl_insn_imm(KL_I_JMP, 0, 0));
	kl_gen_patch(g, to_else);
	kl_gen_expr(g, e->c, dst);
	kl_gen_patch(g, to_end);
}

static void gen_unary(struct kl_gen *g, const struct kl_ast_expr *e, unsigned int dst)
{
	enum kl_opcode op = e->op == '!' ? KL_I_NOT : e->op == '-' ? KL_I_NEG : KL_I_INV;

	kl_gen_emit(g, kl_insn(op, dst, kl_gen_operand(g, e->a), 0));
}

void kl_gen_expr(struct kl_gen *g, const struct kl_ast_expr *e, unsigned int dst)
{
	unsigned int top = g->top, r;

	switch (e->kind) {
	case KL_A_NUM:
	case KL_A_BOOL:
		kl_gen_emit(g, kl_insn_imm(KL_I_CONST, dst, kl_gen_constant(g, kl_word(e->num))));
		break;
	case KL_A_SPECIAL:
		kl_gen_emit(g,
			    kl_insn_imm(KL_I_CONST, dst, kl_gen_constant(g, kl_special(e->num))));
		break;
	case KL_A_NAME:
	case KL_A_INDEX:
		gen_place(g, e, dst);
		break;
	case KL_A_CALL:
		r = kl_gen_call(g, e);
		kl_gen_emit(g, kl_insn(KL_I_MOV, dst, r, 0));
		break;
	case KL_A_UNARY:
		gen_unary(g, e, dst);
		break;
	case KL_A_BINARY:
		gen_binary(g, e, dst);
		break;
	case KL_A_COND:
		gen_cond(g, e, dst);
		break;
	default:	/* occurs in implementations only */
		break;
	}
	g->top = top;
}
