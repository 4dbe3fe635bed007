// SPDX-License-Identifier: GPL-2.0
/* Operators of probe expressions, with the promotions and conversions of C. */
#include <errno.h>

#include "record/expr/compiler.h"

static void promote(struct kl_ty *t)
{
	if (t->size < 4)
		*t = kl_ty_int(4, true);
}

/* Return: the type of an operation, by C's usual arithmetic conversions. */
static struct kl_ty common(struct kl_ty a, struct kl_ty b)
{
	promote(&a);
	promote(&b);
	if (a.size == b.size)
		return kl_ty_int(a.size, a.is_signed && b.is_signed);
	return a.size > b.size ? a : b;
}

static int convert(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_ty from,
		   const struct kl_ty *to)
{
	/* A type may widen without a step, since values in registers are extended to 64 bits. */
	if (from.size < to->size && (!from.is_signed || to->is_signed || to->size == 8))
		return 0;
	if (from.size == to->size && from.is_signed == to->is_signed)
		return 0;
	return kl_c_extend(c, e, reg, to);
}

static int scale(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, uint64_t size)
{
	int err;

	if (size == 1)
		return 0;
	err = kl_c_emit(c, e, KLIN_CODE(KLIN_IMM, reg + 1, 0, 0, 0), size);
	return err ? err : kl_c_alu(c, e, KLIN_MUL, reg, reg + 1);
}

/* Compile pointer + integer, integer + pointer, pointer - integer and pointer - pointer. */
static int pointer_sum(struct kl_comp *c, const struct kl_expr *e, unsigned int reg,
		       struct kl_cv *a, struct kl_cv *b, struct kl_cv *v)
{
	bool pa = kl_c_is_pointer(a->ty), pb = kl_c_is_pointer(b->ty);
	unsigned int op = e->op == '+' ? KLIN_ADD : KLIN_SUB;
	uint64_t size;
	int err;

	if (e->op == '-' && pa && pb) {
		size = kl_c_pointee_size(c, e, a->ty);
		err = size ? kl_c_alu(c, e, KLIN_SUB, reg, reg + 1) : -EINVAL;
		if (!err && size > 1) {
			err = kl_c_emit(c, e, KLIN_CODE(KLIN_IMM, reg + 1, 0, 0, 0), size);
			if (!err)
				err = kl_c_alu(c, e, KLIN_SDIV, reg, reg + 1);
		}
		v->ty = kl_ty_int(8, true);
		return err;
	}
	if ((pa && pb) || (pb && e->op == '-'))
		return kl_c_fail(c, e, pa && pb ? "two pointers cannot be added" :
				 "a pointer cannot be subtracted from an integer");
	size = kl_c_pointee_size(c, e, pa ? a->ty : b->ty);
	if (!size)
		return -EINVAL;
	if (!pa && size > 1) {
		/* The integer is in the lower register; swap the two, so that it can be scaled. */
		err = kl_c_alu(c, e, KLIN_MOV, reg + 2, reg);
		if (!err)
			err = kl_c_alu(c, e, KLIN_MOV, reg, reg + 1);
		if (!err)
			err = kl_c_alu(c, e, KLIN_MOV, reg + 1, reg + 2);
		if (err)
			return err;
	}
	err = pa || size > 1 ? scale(c, e, reg + 1, size) : 0;
	v->ty = pa ? a->ty : b->ty;
	return err ? err : kl_c_alu(c, e, op, reg, reg + 1);
}

static int logical(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v)
{
	struct kl_cv b;
	int err = kl_c_value(c, e->a, reg, v);

	if (!err)
		err = kl_c_truth(c, e, reg);
	if (!err)
		err = kl_c_value(c, e->b, reg + 1, &b);
	if (!err)
		err = kl_c_truth(c, e, reg + 1);
	if (!err)
		err = kl_c_alu(c, e, e->op == KL_OP_AND ? KLIN_LAND : KLIN_LOR, reg, reg + 1);
	v->ty = kl_ty_int(4, true);
	return err;
}

static int shift(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v)
{
	struct kl_ty from;
	struct kl_cv b;
	int err = kl_c_integer(c, e->a, reg, v);

	if (!err)
		err = kl_c_integer(c, e->b, reg + 1, &b);
	if (err)
		return err;
	from = v->ty;
	promote(&v->ty);
	err = convert(c, e, reg, from, &v->ty);
	if (!err)
		err = kl_c_alu(c, e, e->op == KL_OP_SHL ? KLIN_SHL : v->ty.is_signed ? KLIN_SAR :
			       KLIN_SHR, reg, reg + 1);
	return err || e->op != KL_OP_SHL ? err : kl_c_extend(c, e, reg, &v->ty);
}

static int compare(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, bool is_signed)
{
	unsigned int lt = is_signed ? KLIN_LTS : KLIN_LTU;
	int err;

	switch (e->op) {
	case KL_OP_EQ:
		return kl_c_alu(c, e, KLIN_EQ, reg, reg + 1);
	case KL_OP_NE:
		err = kl_c_alu(c, e, KLIN_EQ, reg, reg + 1);
		return err ? err : kl_c_alu(c, e, KLIN_LNOT, reg, 0);
	case '<':
		return kl_c_alu(c, e, lt, reg, reg + 1);
	case KL_OP_GE:
		err = kl_c_alu(c, e, lt, reg, reg + 1);
		return err ? err : kl_c_alu(c, e, KLIN_LNOT, reg, 0);
	}
	/* a > b is compiled as b < a. */
	err = kl_c_alu(c, e, lt, reg + 1, reg);
	if (!err)
		err = kl_c_alu(c, e, KLIN_MOV, reg, reg + 1);
	return err || e->op == '>' ? err : kl_c_alu(c, e, KLIN_LNOT, reg, 0);
}

static int alu_op(int op, bool is_signed)
{
	switch (op) {
	case '+': return KLIN_ADD;
	case '-': return KLIN_SUB;
	case '*': return KLIN_MUL;
	case '/': return is_signed ? KLIN_SDIV : KLIN_DIV;
	case '%': return is_signed ? KLIN_SMOD : KLIN_MOD;
	case '&': return KLIN_AND;
	case '|': return KLIN_OR;
	case '^': return KLIN_XOR;
	default: return -1;
	}
}

int kl_c_binary(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v)
{
	char an[128], bn[128];
	struct kl_cv a, b;
	struct kl_ty t;
	int err, op;

	err = kl_c_deeper(c, e, reg);
	if (err)
		return err;
	if (e->op == KL_OP_AND || e->op == KL_OP_OR)
		return logical(c, e, reg, v);
	if (e->op == KL_OP_SHL || e->op == KL_OP_SHR)
		return shift(c, e, reg, v);
	err = kl_c_value(c, e->a, reg, &a);
	if (!err)
		err = kl_c_value(c, e->b, reg + 1, &b);
	if (err)
		return err;
	op = alu_op(e->op, false);
	if (kl_c_is_pointer(a.ty) || kl_c_is_pointer(b.ty)) {
		if (op < 0) {
			v->ty = kl_ty_int(4, true);
			return compare(c, e, reg, false);
		}
		if (e->op != '+' && e->op != '-')
			return kl_c_fail(c, e, "'%c' needs integers, found '%s' and '%s'; cast the "
					 "pointer",
				    e->op, kl_ty_name(a.ty, an, sizeof(an)),
				    kl_ty_name(b.ty, bn, sizeof(bn)));
		return pointer_sum(c, e, reg, &a, &b, v);
	}
	if (kl_ty_kind(&a.ty) != KL_TY_INT || kl_ty_kind(&b.ty) != KL_TY_INT)
		return kl_c_fail(c, e, "expected integers or pointers, found '%s' and '%s'",
			    kl_ty_name(a.ty, an, sizeof(an)), kl_ty_name(b.ty, bn, sizeof(bn)));
	t = common(a.ty, b.ty);
	err = convert(c, e->a, reg, a.ty, &t);
	if (!err)
		err = convert(c, e->b, reg + 1, b.ty, &t);
	if (err)
		return err;
	if (op < 0) {
		v->ty = kl_ty_int(4, true);
		return compare(c, e, reg, t.is_signed);
	}
	v->ty = t;
	err = kl_c_alu(c, e, alu_op(e->op, t.is_signed), reg, reg + 1);
	/* The results of bitwise operations and divisions of extended values are extended. */
	if (!err && (e->op == '+' || e->op == '-' || e->op == '*'))
		err = kl_c_extend(c, e, reg, &t);
	return err;
}

int kl_c_unary(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v)
{
	char name[128];
	struct kl_ty from;
	int err;

	switch (e->op) {
	case '*':
		err = kl_c_value(c, e->a, reg, v);
		if (err)
			return err;
		if (!kl_c_is_pointer(v->ty))
			return kl_c_fail(c, e, "'*' needs a pointer, found '%s'",
				    kl_ty_name(v->ty, name, sizeof(name)));
		v->ty = kl_ty_target(v->ty);
		v->lvalue = true;
		return 0;
	case '&':
		err = kl_c_expr(c, e->a, reg, v);
		if (err)
			return err;
		if (!v->lvalue)
			return kl_c_fail(c, e, "'&' needs a value in memory, not a computed one");
		if (v->off) {
			err = kl_c_emit(c, e, KLIN_CODE(KLIN_IMM, reg + 1, 0, 0, 0), v->off);
			if (!err)
				err = kl_c_alu(c, e, KLIN_ADD, reg, reg + 1);
		}
		v->ty = kl_ty_address(v->ty);
		v->lvalue = false;
		v->off = 0;
		return err;
	case '!':
		err = kl_c_value(c, e->a, reg, v);
		v->ty = kl_ty_int(4, true);
		return err ? err : kl_c_alu(c, e, KLIN_LNOT, reg, 0);
	}
	err = kl_c_deeper(c, e, reg);
	if (!err)
		err = kl_c_integer(c, e->a, reg, v);
	if (err)
		return err;
	from = v->ty;
	promote(&v->ty);
	err = convert(c, e, reg, from, &v->ty);
	if (!err && e->op == '-')
		err = kl_c_alu(c, e, KLIN_MOV, reg + 1, reg);
	if (!err)
		err = kl_c_emit(c, e, KLIN_CODE(KLIN_IMM, e->op == '-' ? reg : reg + 1, 0, 0, 0),
			   e->op == '-' ? 0 : ~0ULL);
	if (!err)
		err = kl_c_alu(c, e, e->op == '-' ? KLIN_SUB : KLIN_XOR, reg, reg + 1);
	return err ? err : kl_c_extend(c, e, reg, &v->ty);
}

int kl_c_conditional(struct kl_comp *c, const struct kl_expr *e, unsigned int reg,
		       struct kl_cv *v)
{
	struct kl_cv cond, b;
	int err = kl_c_deeper(c, e, reg);

	if (!err)
		err = kl_c_value(c, e->a, reg, &cond);
	if (!err)
		err = kl_c_value(c, e->b, reg + 1, v);
	if (!err)
		err = kl_c_value(c, e->c, reg + 2, &b);
	if (err)
		return err;
	if (!kl_c_is_pointer(v->ty) && !kl_c_is_pointer(b.ty)) {
		struct kl_ty t = common(v->ty, b.ty);

		err = convert(c, e->b, reg + 1, v->ty, &t);
		if (!err)
			err = convert(c, e->c, reg + 2, b.ty, &t);
		v->ty = t;
	} else if (!kl_c_is_pointer(v->ty)) {
		v->ty = b.ty;
	}
	return err ? err : kl_c_emit(c, e, KLIN_CODE(KLIN_SELECT, reg, reg + 1, 0, reg + 2), 0);
}

