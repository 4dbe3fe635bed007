// SPDX-License-Identifier: GPL-2.0
/*
 * Probe clauses to fetch programs.  Expressions mean what they mean in C on
 * x86-64: integers are promoted and converted as there.  Registers are a stack:
 * an expression leaves its value, or the address of its lvalue, in the register
 * it was told to, and uses those above.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "probe/compile.h"
#include "probe/ctype.h"

struct compiler {
	const char *path;
	struct kl_kernel *k;
	const struct kl_probe_target *target;
	const struct kl_func *f;
	struct klin_insn *prog;
	unsigned int n;
	unsigned int nparams;	/* highest parameter used, plus one */
	bool at_return;
};

/* The value of an expression: of @ty, or an lvalue of @ty at the address + @off. */
struct value {
	struct kl_ty ty;
	bool lvalue;
	int64_t off;
};

__attribute__((format(printf, 3, 4)))
static int fail(const struct compiler *c, const struct kl_expr *e, const char *fmt, ...)
{
	char msg[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	kl_err_at(c->path, e->pos.line, e->pos.col, "%s", msg);
	return -EINVAL;
}

static int emit(struct compiler *c, const struct kl_expr *e, uint64_t code, uint64_t imm)
{
	/* The last instruction stays KLIN_END. */
	if (c->n + 1 >= KLIN_INSNS)
		return fail(c, e, "the expressions of this clause are too long for one probe: "
			    "more than %u steps at the %s", KLIN_INSNS - 1,
			    c->at_return ? "return" : "call");
	c->prog[c->n++] = (struct klin_insn){ code, imm };
	return 0;
}

static int emit_alu(struct compiler *c, const struct kl_expr *e, unsigned int op, unsigned int dst,
		    unsigned int src)
{
	return emit(c, e, KLIN_CODE(op, dst, src, 0, 0), 0);
}

static int emit_ext(struct compiler *c, const struct kl_expr *e, unsigned int reg,
		    const struct kl_ty *t)
{
	if (t->size >= 8)
		return 0;
	return emit(c, e, KLIN_CODE(KLIN_EXT, reg, 0, t->size | (t->is_signed ? KLIN_SIGNED : 0), 0),
		    0);
}

static int compile(struct compiler *c, const struct kl_expr *e, unsigned int reg, struct value *v);

static int load(struct compiler *c, const struct kl_expr *e, unsigned int reg, struct value *v)
{
	struct kl_ty t = v->ty;
	char name[128];
	int err = 0;

	switch (kl_ty_kind(&t)) {
	case KL_TY_INT:
		err = emit(c, e, KLIN_CODE(KLIN_LOAD, reg, reg,
					   t.size | (t.is_signed ? KLIN_SIGNED : 0), v->off), 0);
		v->ty = kl_ty_int(t.size, t.is_signed);
		break;
	case KL_TY_PTR:
		err = emit(c, e, KLIN_CODE(KLIN_LOAD, reg, reg, 8, v->off), 0);
		break;
	case KL_TY_ARRAY:
		if (v->off) {
			err = emit(c, e, KLIN_CODE(KLIN_IMM, reg + 1, 0, 0, 0), v->off);
			if (!err)
				err = emit_alu(c, e, KLIN_ADD, reg, reg + 1);
		}
		v->ty = kl_ty_address(kl_ty_target(t));
		break;
	case KL_TY_STRUCT:
		return fail(c, e, "'%s' is not a value; name one of its members",
			    kl_ty_name(v->ty, name, sizeof(name)));
	default:
		return fail(c, e, "a value of type '%s' cannot be read",
			    kl_ty_name(v->ty, name, sizeof(name)));
	}
	v->lvalue = false;
	v->off = 0;
	return err;
}

/* The value of @e in @reg; integers come as such, not as enums or typedefs. */
static int rvalue(struct compiler *c, const struct kl_expr *e, unsigned int reg, struct value *v)
{
	int err = compile(c, e, reg, v);

	if (!err && v->lvalue)
		err = load(c, e, reg, v);
	if (!err && kl_ty_kind(&v->ty) == KL_TY_VOID)
		err = fail(c, e, "this has no value: its type is void");
	return err;
}

static int integer(struct compiler *c, const struct kl_expr *e, unsigned int reg, struct value *v)
{
	char name[128];
	int err = rvalue(c, e, reg, v);

	if (!err && kl_ty_kind(&v->ty) != KL_TY_INT)
		err = fail(c, e, "expected an integer, this is '%s'",
			   kl_ty_name(v->ty, name, sizeof(name)));
	return err;
}

/* Sub-expressions use higher registers; two are kept for scaling. */
static int deeper(struct compiler *c, const struct kl_expr *e, unsigned int reg)
{
	if (reg + 2 >= KLIN_REGS)
		return fail(c, e, "expression too deep: split it into several values");
	return 0;
}

static void promote(struct kl_ty *t)
{
	if (t->size < 4)
		*t = kl_ty_int(4, true);
}

/* C's usual arithmetic conversions. */
static struct kl_ty common(struct kl_ty a, struct kl_ty b)
{
	promote(&a);
	promote(&b);
	if (a.size == b.size)
		return kl_ty_int(a.size, a.is_signed && b.is_signed);
	return a.size > b.size ? a : b;
}

static int convert(struct compiler *c, const struct kl_expr *e, unsigned int reg, struct kl_ty from,
		   const struct kl_ty *to)
{
	/* Widening keeps the 64-bit value; only changes of sign and narrowing do not. */
	if (from.size < to->size && (!from.is_signed || to->is_signed || to->size == 8))
		return 0;
	if (from.size == to->size && from.is_signed == to->is_signed)
		return 0;
	return emit_ext(c, e, reg, to);
}

static bool wide(struct kl_ty t)
{
	return kl_ty_kind(&t) == KL_TY_PTR;
}

static int scale(struct compiler *c, const struct kl_expr *e, unsigned int reg, uint64_t size)
{
	int err;

	if (size == 1)
		return 0;
	err = emit(c, e, KLIN_CODE(KLIN_IMM, reg + 1, 0, 0, 0), size);
	return err ? err : emit_alu(c, e, KLIN_MUL, reg, reg + 1);
}

static uint64_t pointee_size(struct compiler *c, const struct kl_expr *e, struct kl_ty ptr)
{
	char name[128];
	uint64_t size = kl_ty_size(kl_ty_target(ptr));

	if (!size)
		fail(c, e, "the size of what '%s' points to is not known",
		     kl_ty_name(ptr, name, sizeof(name)));
	return size;
}

/* Pointer + integer, integer + pointer, pointer - integer, pointer - pointer. */
static int pointer_sum(struct compiler *c, const struct kl_expr *e, unsigned int reg,
		       struct value *a, struct value *b, struct value *v)
{
	bool pa = wide(a->ty), pb = wide(b->ty);
	unsigned int op = e->op == '+' ? KLIN_ADD : KLIN_SUB;
	uint64_t size;
	int err;

	if (e->op == '-' && pa && pb) {
		size = pointee_size(c, e, a->ty);
		err = size ? emit_alu(c, e, KLIN_SUB, reg, reg + 1) : -EINVAL;
		if (!err && size > 1) {
			err = emit(c, e, KLIN_CODE(KLIN_IMM, reg + 1, 0, 0, 0), size);
			if (!err)
				err = emit_alu(c, e, KLIN_SDIV, reg, reg + 1);
		}
		v->ty = kl_ty_int(8, true);
		return err;
	}
	if ((pa && pb) || (pb && e->op == '-'))
		return fail(c, e, "a pointer cannot be %s that",
			    e->op == '+' ? "added to" : "subtracted from");
	size = pointee_size(c, e, pa ? a->ty : b->ty);
	if (!size)
		return -EINVAL;
	if (!pa && size > 1) {
		/* The integer is below: swap, so that it can be scaled. */
		err = emit_alu(c, e, KLIN_MOV, reg + 2, reg);
		if (!err)
			err = emit_alu(c, e, KLIN_MOV, reg, reg + 1);
		if (!err)
			err = emit_alu(c, e, KLIN_MOV, reg + 1, reg + 2);
		if (err)
			return err;
	}
	err = pa || size > 1 ? scale(c, e, reg + 1, size) : 0;
	v->ty = pa ? a->ty : b->ty;
	return err ? err : emit_alu(c, e, op, reg, reg + 1);
}

static int truth(struct compiler *c, const struct kl_expr *e, unsigned int reg)
{
	int err = emit_alu(c, e, KLIN_LNOT, reg, 0);

	return err ? err : emit_alu(c, e, KLIN_LNOT, reg, 0);
}

static int logical(struct compiler *c, const struct kl_expr *e, unsigned int reg, struct value *v)
{
	struct value b;
	int err = rvalue(c, e->a, reg, v);

	if (!err)
		err = truth(c, e, reg);
	if (!err)
		err = rvalue(c, e->b, reg + 1, &b);
	if (!err)
		err = truth(c, e, reg + 1);
	if (!err)
		err = emit_alu(c, e, e->op == KL_OP_AND ? KLIN_LAND : KLIN_LOR, reg, reg + 1);
	v->ty = kl_ty_int(4, true);
	return err;
}

static int shift(struct compiler *c, const struct kl_expr *e, unsigned int reg, struct value *v)
{
	struct kl_ty from;
	struct value b;
	int err = integer(c, e->a, reg, v);

	if (!err)
		err = integer(c, e->b, reg + 1, &b);
	if (err)
		return err;
	from = v->ty;
	promote(&v->ty);
	err = convert(c, e, reg, from, &v->ty);
	if (!err)
		err = emit_alu(c, e, e->op == KL_OP_SHL ? KLIN_SHL : v->ty.is_signed ? KLIN_SAR :
			       KLIN_SHR, reg, reg + 1);
	return err || e->op != KL_OP_SHL ? err : emit_ext(c, e, reg, &v->ty);
}

static int compare(struct compiler *c, const struct kl_expr *e, unsigned int reg, bool is_signed)
{
	unsigned int lt = is_signed ? KLIN_LTS : KLIN_LTU;
	int err;

	switch (e->op) {
	case KL_OP_EQ:
		return emit_alu(c, e, KLIN_EQ, reg, reg + 1);
	case KL_OP_NE:
		err = emit_alu(c, e, KLIN_EQ, reg, reg + 1);
		return err ? err : emit_alu(c, e, KLIN_LNOT, reg, 0);
	case '<':
		return emit_alu(c, e, lt, reg, reg + 1);
	case KL_OP_GE:
		err = emit_alu(c, e, lt, reg, reg + 1);
		return err ? err : emit_alu(c, e, KLIN_LNOT, reg, 0);
	}
	/* a > b is b < a. */
	err = emit_alu(c, e, lt, reg + 1, reg);
	if (!err)
		err = emit_alu(c, e, KLIN_MOV, reg, reg + 1);
	return err || e->op == '>' ? err : emit_alu(c, e, KLIN_LNOT, reg, 0);
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

static int binary(struct compiler *c, const struct kl_expr *e, unsigned int reg, struct value *v)
{
	char an[128], bn[128];
	struct value a, b;
	struct kl_ty t;
	int err, op;

	err = deeper(c, e, reg);
	if (err)
		return err;
	if (e->op == KL_OP_AND || e->op == KL_OP_OR)
		return logical(c, e, reg, v);
	if (e->op == KL_OP_SHL || e->op == KL_OP_SHR)
		return shift(c, e, reg, v);
	err = rvalue(c, e->a, reg, &a);
	if (!err)
		err = rvalue(c, e->b, reg + 1, &b);
	if (err)
		return err;
	op = alu_op(e->op, false);
	if (wide(a.ty) || wide(b.ty)) {
		if (op < 0) {
			v->ty = kl_ty_int(4, true);
			return compare(c, e, reg, false);
		}
		if (e->op != '+' && e->op != '-')
			return fail(c, e, "'%c' on '%s' and '%s': expected integers; cast the pointer",
				    e->op, kl_ty_name(a.ty, an, sizeof(an)),
				    kl_ty_name(b.ty, bn, sizeof(bn)));
		return pointer_sum(c, e, reg, &a, &b, v);
	}
	if (kl_ty_kind(&a.ty) != KL_TY_INT || kl_ty_kind(&b.ty) != KL_TY_INT)
		return fail(c, e, "expected integers or pointers, these are '%s' and '%s'",
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
	err = emit_alu(c, e, alu_op(e->op, t.is_signed), reg, reg + 1);
	/* Bitwise operations and divisions of extended values stay extended. */
	if (!err && (e->op == '+' || e->op == '-' || e->op == '*'))
		err = emit_ext(c, e, reg, &t);
	return err;
}

static int unary(struct compiler *c, const struct kl_expr *e, unsigned int reg, struct value *v)
{
	char name[128];
	struct kl_ty from;
	int err;

	switch (e->op) {
	case '*':
		err = rvalue(c, e->a, reg, v);
		if (err)
			return err;
		if (!wide(v->ty))
			return fail(c, e, "'*' on '%s', which is not a pointer",
				    kl_ty_name(v->ty, name, sizeof(name)));
		v->ty = kl_ty_target(v->ty);
		v->lvalue = true;
		return 0;
	case '&':
		err = compile(c, e->a, reg, v);
		if (err)
			return err;
		if (!v->lvalue)
			return fail(c, e, "'&' on something that is not in memory");
		if (v->off) {
			err = emit(c, e, KLIN_CODE(KLIN_IMM, reg + 1, 0, 0, 0), v->off);
			if (!err)
				err = emit_alu(c, e, KLIN_ADD, reg, reg + 1);
		}
		v->ty = kl_ty_address(v->ty);
		v->lvalue = false;
		v->off = 0;
		return err;
	case '!':
		err = rvalue(c, e->a, reg, v);
		v->ty = kl_ty_int(4, true);
		return err ? err : emit_alu(c, e, KLIN_LNOT, reg, 0);
	}
	err = deeper(c, e, reg);
	if (!err)
		err = integer(c, e->a, reg, v);
	if (err)
		return err;
	from = v->ty;
	promote(&v->ty);
	err = convert(c, e, reg, from, &v->ty);
	if (!err && e->op == '-')
		err = emit_alu(c, e, KLIN_MOV, reg + 1, reg);
	if (!err)
		err = emit(c, e, KLIN_CODE(KLIN_IMM, e->op == '-' ? reg : reg + 1, 0, 0, 0),
			   e->op == '-' ? 0 : ~0ULL);
	if (!err)
		err = emit_alu(c, e, e->op == '-' ? KLIN_SUB : KLIN_XOR, reg, reg + 1);
	return err ? err : emit_ext(c, e, reg, &v->ty);
}

/* @v is the struct's lvalue and becomes the member's. */
static int member(struct compiler *c, const struct kl_expr *e, struct value *v, const char *name,
		  size_t len)
{
	char shown[128], wrong[128];
	const char *nearest;
	struct kl_ty type, t = v->ty;
	bool bitfield = false;
	uint64_t bits;
	int err;

	kl_ty_name(v->ty, shown, sizeof(shown));
	snprintf(wrong, sizeof(wrong), "%.*s", (int)len, name);
	if (kl_ty_kind(&t) != KL_TY_STRUCT)
		return fail(c, e, "member '%s' of '%s', which is not a struct or union", wrong, shown);
	err = kl_ty_member(t, name, len, &type, &bits, &bitfield);
	if (err == -ENODATA)
		return fail(c, e, "the members of '%s' are not known: the BTF of %s only declares it",
			    shown, c->f->module[0] ? c->f->module : "the kernel");
	if (err) {
		nearest = kl_ty_suggest(t, wrong);
		return fail(c, e, "%s has no member '%s' in kernel %s%s%s%s", shown, wrong,
			    c->k->release, nearest ? "; did you mean '" : "",
			    nearest ? nearest : "", nearest ? "'?" : "");
	}
	if (bitfield)
		return fail(c, e, "'%s' of %s is a bit-field, which cannot be read yet by name: read "
			    "the word that holds it through a cast, then shift and mask", wrong, shown);
	v->ty = type;
	v->off += bits / 8;
	return 0;
}

static int resolve(struct compiler *c, const struct kl_expr *e, struct kl_ty *t)
{
	const struct kl_ctype *ct = &e->type;

	if (!kl_ty_resolve(c->f->btf, ct, t))
		return 0;
	return fail(c, e, "kernel %s has no type '%s%s%s'", c->k->release, ct->kind,
		    *ct->kind ? " " : "", ct->name);
}

/* offsetof(type, a.b.c) */
static int offset_of(struct compiler *c, const struct kl_expr *e, uint64_t *off)
{
	struct value v = { .lvalue = true };
	const char *at = e->name;
	size_t len;
	int err;

	err = resolve(c, e, &v.ty);
	while (!err && *at) {
		len = strcspn(at, ".");
		err = member(c, e, &v, at, len);
		at += len + (at[len] == '.');
	}
	*off = v.off;
	return err;
}

static int cast(struct compiler *c, const struct kl_expr *e, unsigned int reg, struct value *v)
{
	char from[128], to[128];
	struct kl_ty t, shape;
	int err = resolve(c, e, &t);

	if (!err)
		err = rvalue(c, e->a, reg, v);
	if (err)
		return err;
	shape = t;
	switch (kl_ty_kind(&shape)) {
	case KL_TY_PTR:
		/* A 64-bit register holds it already. */
		v->ty = t;
		return 0;
	case KL_TY_INT:
		v->ty = kl_ty_int(shape.size, shape.is_signed);
		if (!strcmp(e->type.name, "bool") || !strcmp(e->type.name, "_Bool"))
			return truth(c, e, reg);
		return emit_ext(c, e, reg, &v->ty);
	default:
		return fail(c, e, "'%s' cannot be cast to '%s'",
			    kl_ty_name(v->ty, from, sizeof(from)), kl_ty_name(t, to, sizeof(to)));
	}
}

static int param(struct compiler *c, const struct kl_expr *e, unsigned int reg, struct value *v)
{
	const struct btf_param *p = btf_params(c->f->proto);
	struct kl_ty t;
	int err;

	if (e->index >= btf_vlen(c->f->proto))
		return fail(c, e, "%s() has only %u parameters", c->f->name,
			    btf_vlen(c->f->proto));
	if (e->index >= KLIN_MAX_PARAMS)
		return fail(c, e, "parameter %u of %s() is on the stack; only the first %u, which are "
			    "in registers, can be read", e->index + 1, c->f->name, KLIN_MAX_PARAMS);
	if (e->index >= c->nparams)
		c->nparams = e->index + 1;
	v->ty = t = kl_ty_btf(c->f->btf, p[e->index].type);
	err = emit(c, e, KLIN_CODE(KLIN_ARG, reg, e->index, 0, 0), 0);
	if (!err && kl_ty_kind(&t) == KL_TY_INT) {
		v->ty = kl_ty_int(t.size, t.is_signed);
		err = emit_ext(c, e, reg, &v->ty);
	}
	return err;
}

static int return_value(struct compiler *c, const struct kl_expr *e, unsigned int reg,
			struct value *v)
{
	struct kl_ty t = kl_ty_btf(c->f->btf, c->f->proto->type);
	int err;

	if (!c->f->proto->type)
		return fail(c, e, "%s() returns nothing", c->f->name);
	v->ty = t;
	err = emit(c, e, KLIN_CODE(KLIN_RETVAL, reg, 0, 0, 0), 0);
	if (!err && kl_ty_kind(&t) == KL_TY_INT) {
		v->ty = kl_ty_int(t.size, t.is_signed);
		err = emit_ext(c, e, reg, &v->ty);
	}
	return err;
}

static int conditional(struct compiler *c, const struct kl_expr *e, unsigned int reg,
		       struct value *v)
{
	struct value cond, b;
	int err = deeper(c, e, reg);

	if (!err)
		err = rvalue(c, e->a, reg, &cond);
	if (!err)
		err = rvalue(c, e->b, reg + 1, v);
	if (!err)
		err = rvalue(c, e->c, reg + 2, &b);
	if (err)
		return err;
	if (!wide(v->ty) && !wide(b.ty)) {
		struct kl_ty t = common(v->ty, b.ty);

		err = convert(c, e->b, reg + 1, v->ty, &t);
		if (!err)
			err = convert(c, e->c, reg + 2, b.ty, &t);
		v->ty = t;
	} else if (!wide(v->ty)) {
		v->ty = b.ty;
	}
	return err ? err : emit(c, e, KLIN_CODE(KLIN_SELECT, reg, reg + 1, 0, reg + 2), 0);
}

static int subscript(struct compiler *c, const struct kl_expr *e, unsigned int reg, struct value *v)
{
	struct kl_expr sum = { .kind = KL_E_BINARY, .op = '+', .a = e->a, .b = e->b, .pos = e->pos };
	char name[128];
	uint64_t size;
	int err;

	if (e->b->kind != KL_E_NUM) {
		err = rvalue(c, &sum, reg, v);
	} else {
		/* A constant index costs nothing: it goes into the offset of the read. */
		err = rvalue(c, e->a, reg, v);
		if (!err && wide(v->ty)) {
			size = pointee_size(c, e, v->ty);
			if (!size)
				return -EINVAL;
			if (e->b->num > INT32_MAX / size)
				return fail(c, e->b, "index %llu is out of any range",
					    (unsigned long long)e->b->num);
			v->off = e->b->num * size;
		}
	}
	if (err)
		return err;
	if (!wide(v->ty))
		return fail(c, e, "'[]' on '%s', which is not a pointer or array",
			    kl_ty_name(v->ty, name, sizeof(name)));
	v->ty = kl_ty_target(v->ty);
	v->lvalue = true;
	return 0;
}

static int constant(struct compiler *c, const struct kl_expr *e, unsigned int reg, uint64_t num,
		    struct value *v)
{
	bool is_signed = e->kind == KL_E_NUM && num <= INT64_MAX;

	v->ty = kl_ty_int(is_signed && num <= INT32_MAX ? 4 : 8, is_signed);
	return emit(c, e, KLIN_CODE(KLIN_IMM, reg, 0, 0, 0), num);
}

/* A number in a text of the kernel's, such as a sysctl's buffer. */
static int number(struct compiler *c, const struct kl_expr *e, unsigned int reg, struct value *v)
{
	char name[128];
	int err = rvalue(c, e->a, reg, v);

	if (err)
		return err;
	if (!wide(v->ty))
		return fail(c, e, "number() of '%s': expected a pointer to text",
			    kl_ty_name(v->ty, name, sizeof(name)));
	v->ty = kl_ty_int(8, false);
	return emit(c, e, KLIN_CODE(KLIN_NUMBER, reg, 0, 0, e->num), 0);
}

static int compile(struct compiler *c, const struct kl_expr *e, unsigned int reg, struct value *v)
{
	char name[128];
	struct kl_ty t;
	uint64_t num;
	int err;

	err = reg + 1 >= KLIN_REGS ? deeper(c, e, reg) : 0;
	if (err)
		return err;
	memset(v, 0, sizeof(*v));
	switch (e->kind) {
	case KL_E_NUM:
		return constant(c, e, reg, e->num, v);
	case KL_E_PARAM:
		return param(c, e, reg, v);
	case KL_E_RETURN:
		return return_value(c, e, reg, v);
	case KL_E_UNARY:
		return unary(c, e, reg, v);
	case KL_E_BINARY:
		return binary(c, e, reg, v);
	case KL_E_COND:
		return conditional(c, e, reg, v);
	case KL_E_ARROW:
		err = rvalue(c, e->a, reg, v);
		if (err)
			return err;
		if (!wide(v->ty))
			return fail(c, e, "'->%s' on '%s', which is not a pointer", e->name,
				    kl_ty_name(v->ty, name, sizeof(name)));
		v->ty = kl_ty_target(v->ty);
		v->lvalue = true;
		return member(c, e, v, e->name, strlen(e->name));
	case KL_E_DOT:
		err = compile(c, e->a, reg, v);
		if (err)
			return err;
		if (!v->lvalue)
			return fail(c, e, "'.%s' on '%s': expected a struct; a pointer's members are "
				    "reached with '->'", e->name, kl_ty_name(v->ty, name, sizeof(name)));
		return member(c, e, v, e->name, strlen(e->name));
	case KL_E_INDEX:
		return subscript(c, e, reg, v);
	case KL_E_CAST:
		return cast(c, e, reg, v);
	case KL_E_OFFSETOF:
		err = offset_of(c, e, &num);
		return err ? err : constant(c, e, reg, num, v);
	case KL_E_SIZEOF:
		err = resolve(c, e, &t);
		num = err ? 0 : kl_ty_size(t);
		if (!err && !num)
			return fail(c, e, "the size of '%s' is not known",
				    kl_ty_name(t, name, sizeof(name)));
		return err ? err : constant(c, e, reg, num, v);
	case KL_E_NUMBER:
		return number(c, e, reg, v);
	case KL_E_UNKNOWN:
		v->ty = kl_ty_int(8, false);
		return emit(c, e, KLIN_CODE(KLIN_UNKNOWN, reg, 0, 0, 0), 0);
	}
	return fail(c, e, "this expression cannot be used in a probe");
}

static bool uses_return(const struct kl_expr *e)
{
	return e && (e->kind == KL_E_RETURN || uses_return(e->a) || uses_return(e->b) ||
		     uses_return(e->c));
}

static int put(struct compiler *c, const struct kl_expr *e, unsigned int op, unsigned int index)
{
	struct value v;
	int err = rvalue(c, e, 0, &v);

	return err ? err : emit(c, e, KLIN_CODE(op, 0, 0, 0, index), 0);
}

/* One side of the clause: first what drops it, then the object, then the values. */
static int side(struct compiler *c, const struct kl_probe *p, bool at_return,
		struct klin_conf *conf)
{
	const struct kl_fetch *fetch;
	unsigned int i;
	int err = 0;

	c->prog = at_return ? conf->ret : conf->call;
	c->n = 0;
	c->at_return = at_return;
	if (p->when && (p->when_at_return || uses_return(p->when)) == at_return) {
		err = put(c, p->when, KLIN_WHEN, 0);
		conf->call_filter |= !at_return;
	}
	if (!err && p->object && (p->object_at_return || uses_return(p->object)) == at_return) {
		err = put(c, p->object, KLIN_OBJECT, 0);
		conf->call_object |= !at_return;
	}
	for (i = 0; !err && i < p->nargs + p->nresults; i++) {
		fetch = i < p->nargs ? &p->args[i] : &p->results[i - p->nargs];
		if ((fetch->at_return || uses_return(fetch->expr)) != at_return)
			continue;
		err = put(c, fetch->expr, KLIN_VAL,
			  (i < p->nargs ? 0 : p->nargs) + fetch->index);
		if (!at_return)
			conf->call_vals |= 1U << ((i < p->nargs ? 0 : p->nargs) + fetch->index);
	}
	return err;
}

int kl_compile(const char *path, struct kl_kernel *k, const struct kl_probe *p,
	       const struct kl_probe_target *t, const struct kl_func *f, struct klin_conf *conf)
{
	struct compiler c = { .path = path, .k = k, .target = t, .f = f };
	int err;

	if (!f->proto) {
		kl_err_at(path, t->pos.line, t->pos.col,
			  "kernel %s has no BTF for %s(), so the types of its parameters are not known",
			  k->release, t->name);
		return -EINVAL;
	}
	if (t->nparams > btf_vlen(f->proto)) {
		kl_err_at(path, t->pos.line, t->pos.col,
			  "%s() has %u parameters in kernel %s, the clause names %u", t->name,
			  btf_vlen(f->proto), k->release, t->nparams);
		return -EINVAL;
	}
	if (p->nargs + p->nresults > KLIN_MAX_VALS) {
		kl_err_at(path, p->pos.line, p->pos.col,
			  "a probe can record %u arguments and results together, this method has %u",
			  KLIN_MAX_VALS, p->nargs + p->nresults);
		return -EINVAL;
	}
	err = side(&c, p, false, conf);
	if (!err)
		err = side(&c, p, true, conf);
	conf->nparams = c.nparams;
	conf->nvals = p->nargs + p->nresults;
	return err;
}
