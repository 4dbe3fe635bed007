// SPDX-License-Identifier: GPL-2.0
/* The code generator for methods and statements. */
#include <errno.h>

#include "spec/interp/gen.h"

#define CODE_MAX	65535	/* words of a method; targets of jumps have 16 bits */

static void gen_list(struct kl_gen *g, const struct kl_stmt *s);

unsigned int kl_gen_here(const struct kl_gen *g)
{
	return g->s->ncode - g->m->code;
}

unsigned int kl_gen_emit(struct kl_gen *g, uint32_t word)
{
	unsigned int at = kl_gen_here(g);
	struct kl_spec *s = g->s;

	if (g->err)
		return 0;
	if (at >= CODE_MAX) {
		kl_diag_err(g->d, g->m->pos, "'%s' is too long: more than %d words of code",
			    g->m->pub.name, CODE_MAX);
		g->err = -EINVAL;
		return 0;
	}
	g->err = kl_grow(s->code, s->ccode, s->ncode + 1);
	if (!g->err)
		g->err = kl_grow(s->lines, s->clines, s->ncode + 1);
	if (g->err)
		return 0;
	s->lines[s->ncode] = g->line;
	s->code[s->ncode++] = word;
	return at;
}

void kl_gen_patch(struct kl_gen *g, unsigned int at)
{
	uint32_t *word = &g->s->code[g->m->code + at];

	if (!g->err)
		*word = (*word & 0xffff) | kl_gen_here(g) << 16;
}

static bool branches(const struct kl_ast_expr *e)
{
	return e->kind == KL_A_COND ||
	       (e->kind == KL_A_BINARY && (e->op == KL_OP_AND || e->op == KL_OP_OR));
}

static void gen_local(struct kl_gen *g, unsigned int reg, const struct kl_ast_expr *e)
{
	if (branches(e))
		kl_gen_emit(g, kl_insn(KL_I_MOV, reg, kl_gen_operand(g, e), 0));
	else
		kl_gen_expr(g, e, reg);
}

static void gen_assign(struct kl_gen *g, const struct kl_stmt *s)
{
	const struct kl_ast_expr *lhs = s->lhs;
	unsigned int index = 0, value, old;
	uint32_t array;

	if (lhs->local && s->op == '=') {
		gen_local(g, lhs->local->reg, s->a);
		return;
	}
	if (lhs->local) {
		value = kl_gen_operand(g, s->a);
		kl_gen_arith(g, s->op, lhs->local->reg, lhs->local->reg, value);
		return;
	}
	array = lhs->var->slot | lhs->var->len << 16;
	if (lhs->kind == KL_A_INDEX)
		index = kl_gen_operand(g, lhs->a);
	value = kl_gen_operand(g, s->a);
	if (s->op != '=') {
		old = kl_gen_temp(g);
		if (lhs->kind == KL_A_INDEX) {
			kl_gen_emit(g, kl_insn(KL_I_LOADX, old, index, 0));
			kl_gen_emit(g, array);
		} else {
			kl_gen_emit(g, kl_insn_imm(KL_I_LOAD, old, lhs->var->slot));
		}
		kl_gen_arith(g, s->op, old, old, value);
		value = old;
	}
	if (lhs->kind == KL_A_INDEX) {
		kl_gen_emit(g, kl_insn(KL_I_STOREX, value, index, 0));
		kl_gen_emit(g, array);
	} else {
		kl_gen_emit(g, kl_insn_imm(KL_I_STORE, value, lhs->var->slot));
	}
}

static void gen_if(struct kl_gen *g, const struct kl_stmt *s)
{
	unsigned int to_else, to_end;

	to_else = kl_gen_emit(g, kl_insn_imm(KL_I_JZ, kl_gen_operand(g, s->a), 0));
	gen_list(g, s->body);
	if (!s->other) {
		kl_gen_patch(g, to_else);
		return;
	}
	to_end = kl_gen_emit(g, kl_insn_imm(KL_I_JMP, 0, 0));
	kl_gen_patch(g, to_else);
	gen_list(g, s->other);
	kl_gen_patch(g, to_end);
}

static void gen_while(struct kl_gen *g, const struct kl_stmt *s)
{
	unsigned int start = kl_gen_here(g), to_end;

	to_end = kl_gen_emit(g, kl_insn_imm(KL_I_JZ, kl_gen_operand(g, s->a), 0));
	gen_list(g, s->body);
	kl_gen_emit(g, kl_insn_imm(KL_I_JMP, 0, start));
	kl_gen_patch(g, to_end);
}

static void gen_either(struct kl_gen *g, const struct kl_stmt *s)
{
	const struct kl_stmt *alt;
	unsigned int n = 0, i, table, at, ends;

	for (alt = s->body; alt; alt = alt->next)
		n++;
	if (n > 255) {
		if (!g->err)
			kl_diag_err(g->d, s->pos, "more than 255 alternatives");
		g->err = g->err ? g->err : -EINVAL;
		return;
	}
	kl_gen_emit(g, kl_insn(KL_I_EITHER, n, 0, 0));
	table = kl_gen_here(g);
	for (i = 0; i < n; i++)
		kl_gen_emit(g, 0);
	/*
	 * Each alternative ends with a jump to the end, which is not known yet.  Until then the
	 * target of each jump holds the position of the jump before it.
	 */
	ends = 0;
	for (i = 0, alt = s->body; alt; alt = alt->next, i++) {
		if (!g->err)
			g->s->code[g->m->code + table + i] = kl_gen_here(g);
		gen_list(g, alt->body);
		ends = kl_gen_emit(g, kl_insn_imm(KL_I_JMP, 0, ends));
	}
	while (ends && !g->err) {
		at = ends;
		ends = g->s->code[g->m->code + at] >> 16;
		kl_gen_patch(g, at);
	}
}

static void gen_return(struct kl_gen *g, const struct kl_stmt *s)
{
	unsigned int first = g->top, i;

	if (s->nret == 1) {
		kl_gen_emit(g, kl_insn(KL_I_RETURN, 1, kl_gen_operand(g, s->ret[0]), 0));
		return;
	}
	for (i = 0; i < s->nret; i++)
		kl_gen_expr(g, s->ret[i], kl_gen_temp(g));
	kl_gen_emit(g, kl_insn(KL_I_RETURN, s->nret, first, 0));
}

static void gen_stmt(struct kl_gen *g, const struct kl_stmt *s)
{
	switch (s->kind) {
	case KL_S_BLOCK:
		gen_list(g, s->body);
		break;
	case KL_S_IF:
		gen_if(g, s);
		break;
	case KL_S_WHILE:
		gen_while(g, s);
		break;
	case KL_S_DECL:
		if (s->a)
			gen_local(g, s->local->reg, s->a);
		else
			kl_gen_expr(g, &(struct kl_ast_expr){ .kind = KL_A_NUM }, s->local->reg);
		break;
	case KL_S_ASSIGN:
		gen_assign(g, s);
		break;
	case KL_S_EXPR:
		kl_gen_call(g, s->lhs);
		break;
	case KL_S_RETURN:
		gen_return(g, s);
		break;
	case KL_S_ASSUME:
		kl_gen_emit(g, kl_insn(KL_I_ASSUME, kl_gen_operand(g, s->a), 0, 0));
		break;
	case KL_S_ASSERT:
		kl_gen_emit(g, kl_insn(KL_I_ASSERT, kl_gen_operand(g, s->a), 0, 0));
		kl_gen_emit(g, s->pos.line);
		break;
	case KL_S_CHOOSE:
		if (!s->a) {
			kl_gen_emit(g, kl_insn(KL_I_ANY, s->local->reg, 0, 0));
		} else {
			unsigned int a = kl_gen_operand(g, s->a), b = kl_gen_operand(g, s->b);

			kl_gen_emit(g, kl_insn(KL_I_CHOOSE, s->local->reg, a, b));
		}
		break;
	case KL_S_EITHER:
		gen_either(g, s);
		break;
	case KL_S_ATOMIC:
		kl_gen_emit(g, kl_insn(KL_I_BLOCK, s->flush, 0, 0));
		gen_list(g, s->body);
		break;
	case KL_S_FENCE:
		kl_gen_emit(g, kl_insn(KL_I_FENCE, 0, 0, 0));
		break;
	default:	/* occurs in implementations only */
		break;
	}
}

static void gen_list(struct kl_gen *g, const struct kl_stmt *s)
{
	for (; s; s = s->next) {
		g->top = g->m->nlocals;
		gen_stmt(g, s);
	}
}

int kl_spec_gen(struct kl_spec *s, struct kl_diag *d)
{
	struct kl_gen g = { .s = s, .d = d };
	size_t i;

	for (i = 0; i < s->nmethods && !g.err; i++) {
		g.m = &s->methods[i];
		g.m->code = s->ncode;
		gen_list(&g, g.m->body->body);
		/* Jumps past the last statement end here, even if the statement never does. */
		kl_gen_emit(&g, kl_insn(KL_I_RETURN, 0, 0, 0));
		g.m->ncode = kl_gen_here(&g);
		g.m->fast_path = !g.err && kl_fast_path_fits && kl_fast_path_fits(s, g.m);
	}
	return g.err;
}
