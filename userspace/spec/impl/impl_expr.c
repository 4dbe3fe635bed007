// SPDX-License-Identifier: GPL-2.0
/* The compiler of implementations: types and expressions. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "spec/impl/impl_gen.h"
#include "spec/lang/advice.h"

void kl_ig_err(struct kl_igen *g, struct kl_pos pos, const char *fmt, ...)
{
	char msg[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	kl_diag_err(g->g.d, pos, "%s", msg);
}

const char *kl_itype_name(const struct kl_igen *g, unsigned int type, char buf[80])
{
	static const char *const names[] = {
		"error", "nothing", "a word", "a bool", "a lock", "a special value", "null",
	};

	if (type < KL_IT_PTR)
		return names[type];
	snprintf(buf, 80, "a pointer to %s", g->im->structs[type - KL_IT_PTR].name);
	return buf;
}

unsigned int kl_ig_struct(struct kl_igen *g, const char *name, struct kl_pos pos)
{
	const char *names[KL_STRUCTS_MAX], *near;
	unsigned int i;

	for (i = 0; i < g->im->nstructs; i++) {
		names[i] = g->im->structs[i].name;
		if (!strcmp(names[i], name))
			return KL_IT_PTR + i;
	}
	near = kl_nearest(name, names, g->im->nstructs);
	if (near)
		kl_ig_err(g, pos, "no struct '%s'; did you mean '%s'?", name, near);
	else
		kl_ig_err(g, pos, "no struct '%s'", name);
	return KL_IT_ERR;
}

unsigned int kl_ig_emit(struct kl_igen *g, uint32_t word)
{
	return kl_gen_emit(&g->g, word);
}

bool kl_ig_fits(unsigned int have, unsigned int want)
{
	return have == want || have == KL_IT_ERR || want == KL_IT_ERR ||
	       (have == KL_IT_NULL && want >= KL_IT_PTR) ||
	       (have == KL_IT_SPECIAL && want == KL_IT_WORD);
}

unsigned int kl_ig_value(struct kl_igen *g, const struct kl_ast_expr *e, unsigned int type,
			 const char *what)
{
	unsigned int r, have, i;
	char want[80], found[80];

	if (e->kind == KL_A_NAME) {
		for (i = g->nlocals; i--;) {
			if (strcmp(g->local[i].name, e->name))
				continue;
			if (!kl_ig_fits(g->local[i].type, type))
				break;
			kl_ig_read(g, i, e->pos);
			if (e != g->later)
				kl_ig_lin(g, e->lin, e, true);
			return i;
		}
	}
	r = kl_gen_temp(&g->g);
	have = kl_ig_expr(g, e, r);
	if (!kl_ig_fits(have, type))
		kl_ig_err(g, e->pos, "%s must be %s, found %s%s", what,
			  kl_itype_name(g, type, want), kl_itype_name(g, have, found),
			  type != KL_IT_BOOL ? "" :
			  have >= KL_IT_PTR  ? "; compare it with null" :
			  have == KL_IT_WORD ? "; compare it, for example with '!= 0'" :
					       "");
	return r;
}

static void constant(struct kl_igen *g, unsigned int dst, struct kl_val v)
{
	kl_ig_emit(g, kl_insn_imm(KL_I_CONST, dst, kl_gen_constant(&g->g, v)));
}

static unsigned int name_expr(struct kl_igen *g, const struct kl_ast_expr *e, unsigned int dst)
{
	const struct kl_const *k = NULL;
	struct kl_place p;
	unsigned int i;

	if (e->kind == KL_A_NAME) {
		k = kl_ig_const_named(g, e->name);
		for (i = 0; i < g->nlocals; i++)
			if (!strcmp(g->local[i].name, e->name))
				k = NULL;
	}
	if (k) {
		constant(g, dst, k->val);
		return k->type == KL_ET_BOOL ? KL_IT_BOOL :
		       k->type == KL_ET_SPECIAL ? KL_IT_SPECIAL : KL_IT_WORD;
	}
	if (g->in_lin && g->rmw_type && e->kind == KL_A_NAME && !strcmp(e->name, "result")) {
		kl_ig_emit(g, kl_insn(KL_I_MOV, dst, g->rmw, 0));
		return g->rmw_type;
	}
	p = kl_ig_place(g, e);
	if (p.kind != KL_PL_NONE && p.type == KL_IT_LOCK)
		kl_ig_err(g, e->pos, "a lock is taken with lock() and released with unlock() only");
	if (p.kind != KL_PL_NONE && p.kind != KL_PL_LOCAL && g->in_lin)
		kl_ig_err(g, e->pos, "the condition of '@lin if' can use local variables only");
	if (p.kind == KL_PL_LOCAL)
		kl_ig_read(g, p.reg, e->pos);
	kl_ig_load(g, &p, dst);
	return p.kind == KL_PL_NONE ? KL_IT_ERR : p.type;
}

static bool is_comparison(int op)
{
	return op == '<' || op == '>' || op == KL_OP_LE || op == KL_OP_GE;
}

static unsigned int binary(struct kl_igen *g, const struct kl_ast_expr *e, unsigned int dst)
{
	const bool equality = e->op == KL_OP_EQ || e->op == KL_OP_NE;
	unsigned int a, b, ta, tb, jump;
	char x[80], y[80];

	if (e->op == KL_OP_AND || e->op == KL_OP_OR) {
		a = kl_ig_value(g, e->a, KL_IT_BOOL, "the operand");
		kl_ig_emit(g, kl_insn(KL_I_MOV, dst, a, 0));
		jump = kl_ig_emit(g, kl_insn_imm(e->op == KL_OP_AND ? KL_I_JZ : KL_I_JNZ, dst, 0));
		b = kl_ig_value(g, e->b, KL_IT_BOOL, "the operand");
		kl_ig_emit(g, kl_insn(KL_I_MOV, dst, b, 0));
		kl_gen_patch(&g->g, jump);
		return KL_IT_BOOL;
	}
	if (!equality) {
		a = kl_ig_value(g, e->a, KL_IT_WORD, "the operand");
		b = kl_ig_value(g, e->b, KL_IT_WORD, "the operand");
		kl_gen_arith(&g->g, e->op, dst, a, b);
		return is_comparison(e->op) ? KL_IT_BOOL : KL_IT_WORD;
	}
	a = kl_gen_temp(&g->g);
	ta = kl_ig_expr(g, e->a, a);
	b = kl_gen_temp(&g->g);
	tb = kl_ig_expr(g, e->b, b);
	if (!kl_ig_fits(ta, tb) && !kl_ig_fits(tb, ta))
		kl_ig_err(g, e->pos, "%s cannot be compared with %s", kl_itype_name(g, ta, x),
			  kl_itype_name(g, tb, y));
	kl_gen_arith(&g->g, e->op, dst, a, b);
	return KL_IT_BOOL;
}

static unsigned int cond(struct kl_igen *g, const struct kl_ast_expr *e, unsigned int dst)
{
	unsigned int to_else, to_end, a, b;
	char x[80], y[80];

	to_else = kl_ig_emit(g, kl_insn_imm(KL_I_JZ, kl_ig_value(g, e->a, KL_IT_BOOL,
								  "the condition"), 0));
	a = kl_ig_expr(g, e->b, dst);
	to_end = kl_ig_emit(g, kl_insn_imm(KL_I_JMP, 0, 0));
	kl_gen_patch(&g->g, to_else);
	b = kl_ig_expr(g, e->c, dst);
	kl_gen_patch(&g->g, to_end);
	if (kl_ig_fits(a, b))
		return b;
	if (!kl_ig_fits(b, a))
		kl_ig_err(g, e->pos, "'? :' chooses between %s and %s, expected one type",
			  kl_itype_name(g, a, x), kl_itype_name(g, b, y));
	return a;
}

/* Compile a locked instruction: the place and the operands are computed before it. */
static unsigned int read_modify_write(struct kl_igen *g, const struct kl_ast_expr *e,
				      unsigned int dst)
{
	struct kl_place p = kl_ig_place(g, e->a);
	const unsigned int word = e->kind == KL_A_FADD ? KL_IT_WORD : p.type;
	unsigned int b, c = 0, old, jump;

	if (p.kind == KL_PL_LOCAL) {
		kl_ig_err(g, e->a->pos, "'%s' is local: no other thread can change it",
			  e->a->name);
		return KL_IT_ERR;
	}
	if (g->in_lin)
		kl_ig_err(g, e->pos, "the condition of '@lin if' can use local variables only");
	if (g->atomic)
		kl_ig_err(g, e->pos, "a locked instruction inside the atomic block of line %u",
			  g->atomic);
	b = kl_ig_value(g, e->b, word, "the second argument");
	if (e->kind == KL_A_CAS)
		c = kl_ig_value(g, e->c, word, "the third argument");
	if (e->kind == KL_A_FADD && !kl_ig_fits(p.type, KL_IT_WORD))
		kl_ig_err(g, e->a->pos, "fadd works on words");
	old = kl_gen_temp(&g->g);
	kl_ig_emit(g, kl_insn(KL_I_BLOCK, 1, 0, 0));
	kl_ig_load(g, &p, old);
	if (e->kind == KL_A_CAS) {
		unsigned int equal = kl_gen_temp(&g->g);

		kl_ig_emit(g, kl_insn(KL_I_EQ, equal, old, b));
		jump = kl_ig_emit(g, kl_insn_imm(KL_I_JZ, equal, 0));
		kl_ig_store(g, &p, c);
		kl_gen_patch(&g->g, jump);
		old = equal;
	} else if (e->kind == KL_A_XCHG) {
		kl_ig_store(g, &p, b);
	} else {
		unsigned int sum = kl_gen_temp(&g->g);

		kl_gen_arith(&g->g, '+', sum, old, b);
		kl_ig_store(g, &p, sum);
	}
	kl_ig_emit(g, kl_insn(KL_I_END, 0, 0, 0));
	kl_ig_emit(g, kl_insn(KL_I_MOV, dst, old, 0));
	g->rmw = old;
	g->rmw_type = e->kind == KL_A_CAS ? KL_IT_BOOL : p.type;
	return g->rmw_type;
}

static unsigned int unary(struct kl_igen *g, const struct kl_ast_expr *e, unsigned int dst)
{
	const enum kl_opcode op = e->op == '!' ? KL_I_NOT : e->op == '-' ? KL_I_NEG : KL_I_INV;
	const unsigned int type = e->op == '!' ? KL_IT_BOOL : KL_IT_WORD;

	kl_ig_emit(g, kl_insn(op, dst, kl_ig_value(g, e->a, type, "the operand"), 0));
	return type;
}

static const struct kl_ast_expr *find_cas(const struct kl_ast_expr *e)
{
	const struct kl_ast_expr *found;

	if (!e || e->kind == KL_A_CAS)
		return e;
	found = find_cas(e->a);
	if (!found)
		found = find_cas(e->b);
	return found ? found : find_cas(e->c);
}

static bool may_skip(const struct kl_ast_expr *e)
{
	return e->kind == KL_A_COND ||
	       (e->kind == KL_A_BINARY && (e->op == KL_OP_AND || e->op == KL_OP_OR));
}

void kl_ig_lin(struct kl_igen *g, const struct kl_lin *l, const struct kl_ast_expr *e,
	       bool attached)
{
	const struct kl_ast_expr *cas = find_cas(e);
	const unsigned int top = g->g.top, max = g->g.max;
	const size_t ncode = g->g.s->ncode;

	for (; l; l = l->next) {
		const unsigned int kind = (attached ? KL_LIN_ATTACHED : 0) |
					  (l->other ? KL_LIN_OTHER : 0);
		unsigned int r = 0;

		if (e && may_skip(e))
			kl_ig_err(g, l->pos, "'@lin' marks one access, but this expression may "
					     "skip some of its accesses: write '(cas(...) @lin)'");
		if (l->cond) {
			g->in_lin = true;
			r = kl_ig_value(g, l->cond, KL_IT_BOOL, "the condition");
			g->in_lin = false;
		} else if (cas && !l->other) {
			r = g->rmw;
		}
		kl_ig_emit(g, kl_insn(KL_I_LIN, r, l->cond || (cas && !l->other), kind));
	}
	if (!g->lin && !g->g.err) {
		g->g.s->ncode = ncode;
		g->g.max = max;
	}
	g->g.top = top;
}

static unsigned int expr_code(struct kl_igen *g, const struct kl_ast_expr *e, unsigned int dst)
{
	unsigned int type;

	switch (e->kind) {
	case KL_A_NUM:
		constant(g, dst, kl_word(e->num));
		return KL_IT_WORD;
	case KL_A_BOOL:
		constant(g, dst, kl_word(e->num));
		return KL_IT_BOOL;
	case KL_A_SPECIAL:
		constant(g, dst, kl_special(e->num));
		return KL_IT_SPECIAL;
	case KL_A_NULL:
		constant(g, dst, kl_word(0));
		return KL_IT_NULL;
	case KL_A_SELF:
		if (g->code != KL_IC_THREAD)
			kl_ig_err(g, e->pos, "'self' is the number of a client's thread; methods "
					     "have no 'self'");
		constant(g, dst, kl_word(g->self));
		return KL_IT_WORD;
	case KL_A_NEW:
		type = kl_ig_struct(g, e->name, e->pos);
		if (type != KL_IT_ERR)
			kl_ig_emit(g, kl_insn_imm(KL_I_NEW, dst, type - KL_IT_PTR));
		return type;
	case KL_A_NAME:
	case KL_A_INDEX:
	case KL_A_FIELD:
		return name_expr(g, e, dst);
	case KL_A_UNARY:
		return unary(g, e, dst);
	case KL_A_BINARY:
		return binary(g, e, dst);
	case KL_A_COND:
		return cond(g, e, dst);
	case KL_A_CAS:
	case KL_A_XCHG:
	case KL_A_FADD:
		return read_modify_write(g, e, dst);
	case KL_A_CALL:
		break;
	}
	kl_ig_err(g, e->pos, "an expression that implementations do not have");
	return KL_IT_ERR;
}

unsigned int kl_ig_expr(struct kl_igen *g, const struct kl_ast_expr *e, unsigned int dst)
{
	const unsigned int type = expr_code(g, e, dst);

	if (e->lin && e != g->later)
		kl_ig_lin(g, e->lin, e, true);
	return type;
}

bool kl_ig_const(struct kl_igen *g, const struct kl_ast_expr *e, uint64_t *v)
{
	const struct kl_const *k;
	uint64_t a, b;

	switch (e->kind) {
	case KL_A_NUM:
	case KL_A_BOOL:
		*v = e->num;
		return true;
	case KL_A_NULL:
		*v = 0;
		return true;
	case KL_A_NAME:
		k = kl_ig_const_named(g, e->name);
		if (k && !k->val.tag) {
			*v = k->val.v;
			return true;
		}
		break;
	case KL_A_UNARY:
		if (!kl_ig_const(g, e->a, &a))
			return false;
		*v = e->op == '-' ? -a : e->op == '~' ? ~a : !a;
		return true;
	case KL_A_BINARY:
		if (!kl_ig_const(g, e->a, &a) || !kl_ig_const(g, e->b, &b))
			return false;
		if ((e->op != '/' && e->op != '%') || b) {
			*v = e->op == KL_OP_EQ ? a == b : e->op == KL_OP_NE ? a != b :
			     kl_arith(e->op, a, b);
			return true;
		}
		break;
	default:
		break;
	}
	kl_ig_err(g, e->pos, "expected a constant%s",
		  e->kind == KL_A_NAME ? kl_advise_word(e->name, strlen(e->name), true) : "");
	return false;
}
