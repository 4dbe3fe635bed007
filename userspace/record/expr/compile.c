// SPDX-License-Identifier: GPL-2.0
/*
 * Compiles probe clauses to fetch programs.  Expressions have the meaning that they have in C on
 * x86-64, with its promotions and conversions of integers.  Registers are a stack: an expression
 * leaves its value, or the address of its lvalue, in a given register, and uses the registers
 * above.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "record/expr/compiler.h"

int kl_c_fail(const struct kl_comp *c, const struct kl_expr *e, const char *fmt, ...)
{
	va_list ap;

	c->bad->pos = e->pos;
	va_start(ap, fmt);
	vsnprintf(c->bad->why, sizeof(c->bad->why), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int kl_c_emit(struct kl_comp *c, const struct kl_expr *e, uint64_t code, uint64_t imm)
{
	/* The last instruction stays KLIN_END. */
	if (c->n + 1 >= KLIN_INSNS)
		return kl_c_fail(c, e, "the expressions of this clause are too long for one probe: "
			    "they take more than %u steps at the %s; record fewer values",
			    KLIN_INSNS - 1,
			    c->at_return ? "return" : "call");
	c->prog[c->n++] = (struct klin_insn){ .code = code, .imm = imm };
	return 0;
}

int kl_c_alu(struct kl_comp *c, const struct kl_expr *e, unsigned int op, unsigned int dst,
		    unsigned int src)
{
	return kl_c_emit(c, e, KLIN_CODE(op, dst, src, 0, 0), 0);
}

int kl_c_extend(struct kl_comp *c, const struct kl_expr *e, unsigned int reg,
		    const struct kl_ty *t)
{
	if (t->size >= 8)
		return 0;
	return kl_c_emit(c, e, KLIN_CODE(KLIN_EXT, reg, 0,
					 t->size | (t->is_signed ? KLIN_SIGNED : 0), 0), 0);
}

int kl_c_truth(struct kl_comp *c, const struct kl_expr *e, unsigned int reg)
{
	int err = kl_c_alu(c, e, KLIN_LNOT, reg, 0);

	return err ? err : kl_c_alu(c, e, KLIN_LNOT, reg, 0);
}

bool kl_c_is_pointer(struct kl_ty t)
{
	return kl_ty_kind(&t) == KL_TY_PTR;
}

uint64_t kl_c_pointee_size(struct kl_comp *c, const struct kl_expr *e, struct kl_ty ptr)
{
	char name[128];
	uint64_t size = kl_ty_size(kl_ty_target(ptr));

	if (!size)
		kl_c_fail(c, e, "'%s' points to a type of unknown size",
		     kl_ty_name(ptr, name, sizeof(name)));
	return size;
}

/* Load the value of an lvalue.  @where is KLIN_USER, or 0 for the kernel's memory. */
static int load(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v,
		unsigned int where)
{
	struct kl_ty t = v->ty;
	char name[128];
	int err = 0;

	switch (kl_ty_kind(&t)) {
	case KL_TY_INT:
		err = kl_c_emit(c, e, KLIN_CODE(KLIN_LOAD, reg, reg,
					   t.size | (t.is_signed ? KLIN_SIGNED : 0) | where,
					   v->off), 0);
		v->ty = kl_ty_int(t.size, t.is_signed);
		break;
	case KL_TY_PTR:
		err = kl_c_emit(c, e, KLIN_CODE(KLIN_LOAD, reg, reg, 8 | where, v->off), 0);
		break;
	case KL_TY_ARRAY:
		if (v->off) {
			err = kl_c_emit(c, e, KLIN_CODE(KLIN_IMM, reg + 1, 0, 0, 0), v->off);
			if (!err)
				err = kl_c_alu(c, e, KLIN_ADD, reg, reg + 1);
		}
		v->ty = kl_ty_address(kl_ty_target(t));
		break;
	case KL_TY_STRUCT:
		return kl_c_fail(c, e, "'%s' is not a single value; name one of its members",
			    kl_ty_name(v->ty, name, sizeof(name)));
	default:
		return kl_c_fail(c, e, "a value of type '%s' cannot be read",
			    kl_ty_name(v->ty, name, sizeof(name)));
	}
	v->lvalue = false;
	v->off = 0;
	return err;
}

/* Compute the value of @e in @reg; enums and typedefs become integers. */
int kl_c_value(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v)
{
	int err = kl_c_expr(c, e, reg, v);

	if (!err && v->lvalue)
		err = load(c, e, reg, v, 0);
	if (!err && kl_ty_kind(&v->ty) == KL_TY_VOID)
		err = kl_c_fail(c, e, "this expression has no value: its type is 'void'");
	return err;
}

int kl_c_integer(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v)
{
	char name[128];
	int err = kl_c_value(c, e, reg, v);

	if (!err && kl_ty_kind(&v->ty) != KL_TY_INT)
		err = kl_c_fail(c, e, "expected an integer, found '%s'",
			   kl_ty_name(v->ty, name, sizeof(name)));
	return err;
}

/* Check that registers are left for sub-expressions; two are reserved for scaling. */
int kl_c_deeper(struct kl_comp *c, const struct kl_expr *e, unsigned int reg)
{
	if (reg + 2 >= KLIN_REGS)
		return kl_c_fail(c, e, "expression too deep: split it into several values");
	return 0;
}

/* Change @v from the lvalue of a struct to the lvalue of its member. */
static int member(struct kl_comp *c, const struct kl_expr *e, struct kl_cv *v, const char *name,
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
		return kl_c_fail(c, e, "'%s' has no member '%s': it is not a struct or union",
				 shown, wrong);
	err = kl_ty_member(t, name, len, &type, &bits, &bitfield);
	if (err == -ENODATA)
		return kl_c_fail(c, e, "the members of '%s' are unknown: the BTF of %s only "
				 "declares it",
			    shown, c->f->module[0] ? c->f->module : "the kernel");
	if (err) {
		nearest = kl_ty_suggest(t, wrong);
		return kl_c_fail(c, e, "'%s' has no member '%s' in kernel %s%s%s%s", shown, wrong,
			    c->k->release, nearest ? "; did you mean '" : "",
			    nearest ? nearest : "", nearest ? "'?" : "");
	}
	if (bitfield)
		return kl_c_fail(c, e, "'%s' of '%s' is a bit-field, which cannot be read by name: "
			    "read the word that contains it through a cast, then shift and "
			    "mask it", wrong, shown);
	v->ty = type;
	v->off += bits / 8;
	return 0;
}

/*
 * Find a type by its name, first in the function's kernel or module, then in all modules: the
 * argument of a kernel function may be part of a module's object.
 */
static int resolve(struct kl_comp *c, const struct kl_expr *e, struct kl_ty *t)
{
	const struct kl_ctype *ct = &e->type;
	const char *space = *ct->kind ? " " : "", *module = NULL;
	struct kl_ty found;
	size_t i;

	if (!kl_ty_resolve(c->f->btf, ct, t))
		return 0;
	kl_kernel_all_btf(c->k);
	for (i = 0; i < c->k->nmods; i++) {
		const struct kl_modbtf *m = &c->k->mods[i];

		if (!m->btf || kl_ty_resolve(m->btf, ct, &found))
			continue;
		if (module)
			return kl_c_fail(c, e,
					 "type '%s%s%s' is ambiguous: modules '%s' and '%s' both "
					 "define it",
					 ct->kind, space, ct->name, module, m->name);
		module = m->name;
		*t = found;
	}
	if (module)
		return 0;
	return kl_c_fail(c, e, "kernel %s has no type '%s%s%s'", c->k->release, ct->kind, space,
		    ct->name);
}

/* Compute offsetof(type, a.b.c). */
static int offset_of(struct kl_comp *c, const struct kl_expr *e, uint64_t *off)
{
	struct kl_cv v = { .lvalue = true };
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

static int cast(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v)
{
	char from[128], to[128];
	struct kl_ty t, shape;
	int err = resolve(c, e, &t);

	if (!err)
		err = kl_c_value(c, e->a, reg, v);
	if (err)
		return err;
	shape = t;
	switch (kl_ty_kind(&shape)) {
	case KL_TY_PTR:
		/* The value is already in a 64-bit register. */
		v->ty = t;
		return 0;
	case KL_TY_INT:
		v->ty = kl_ty_int(shape.size, shape.is_signed);
		if (!strcmp(e->type.name, "bool") || !strcmp(e->type.name, "_Bool"))
			return kl_c_truth(c, e, reg);
		return kl_c_extend(c, e, reg, &v->ty);
	default:
		return kl_c_fail(c, e, "'%s' cannot be cast to '%s'",
			    kl_ty_name(v->ty, from, sizeof(from)), kl_ty_name(t, to, sizeof(to)));
	}
}

static int param(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v)
{
	const unsigned int index = e->index - c->t->ninlined;
	const struct btf_param *p;
	struct kl_ty t;
	int err;

	if (e->index < c->t->ninlined)
		return kl_c_inlined_param(c, e, e->index, reg, v);
	if (!c->f->proto)
		return kl_c_fail(c, e, "kernel %s has no BTF for %s(), so the types of its "
				 "parameters are unknown", c->k->release, c->f->name);
	p = btf_params(c->f->proto);
	if (index >= btf_vlen(c->f->proto))
		return kl_c_fail(c, e, "%s() has %u parameters only", c->f->name,
			    btf_vlen(c->f->proto));
	if (index >= KLIN_MAX_PARAMS)
		return kl_c_fail(c, e,
				 "parameter %u of %s() is on the stack; only the first %u, "
				 "which are in registers, can be read",
				 index + 1, c->f->name, KLIN_MAX_PARAMS);
	if (index >= c->nparams)
		c->nparams = index + 1;
	v->ty = t = kl_ty_btf(c->f->btf, p[index].type);
	err = kl_c_emit(c, e, KLIN_CODE(KLIN_ARG, reg, index, 0, 0), 0);
	if (!err && kl_ty_kind(&t) == KL_TY_INT) {
		v->ty = kl_ty_int(t.size, t.is_signed);
		err = kl_c_extend(c, e, reg, &v->ty);
	}
	return err;
}

static int return_value(struct kl_comp *c, const struct kl_expr *e, unsigned int reg,
			struct kl_cv *v)
{
	struct kl_ty t;
	int err;

	/* A function with a place of its own may have no prototype. */
	if (!c->f->proto)
		return kl_c_fail(c, e, "the type of %s()'s result is not known", c->f->name);
	if (!c->f->proto->type)
		return kl_c_fail(c, e, "%s() returns no value", c->f->name);
	t = kl_ty_btf(c->f->btf, c->f->proto->type);
	v->ty = t;
	err = kl_c_emit(c, e, KLIN_CODE(KLIN_RETVAL, reg, 0, 0, 0), 0);
	if (!err && kl_ty_kind(&t) == KL_TY_INT) {
		v->ty = kl_ty_int(t.size, t.is_signed);
		err = kl_c_extend(c, e, reg, &v->ty);
	}
	return err;
}

static int subscript(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v)
{
	struct kl_expr sum = {
		.kind = KL_E_BINARY, .op = '+', .a = e->a, .b = e->b, .pos = e->pos,
	};
	char name[128];
	uint64_t size;
	int err;

	if (e->b->kind != KL_E_NUM) {
		err = kl_c_value(c, &sum, reg, v);
	} else {
		/* A constant index costs no step: it is added to the offset of the read. */
		err = kl_c_value(c, e->a, reg, v);
		if (!err && kl_c_is_pointer(v->ty)) {
			size = kl_c_pointee_size(c, e, v->ty);
			if (!size)
				return -EINVAL;
			if (e->b->num > INT32_MAX / size)
				return kl_c_fail(c, e->b, "index %llu is too large",
					    (unsigned long long)e->b->num);
			v->off = e->b->num * size;
		}
	}
	if (err)
		return err;
	if (!kl_c_is_pointer(v->ty))
		return kl_c_fail(c, e, "'[]' needs a pointer or an array, found '%s'",
			    kl_ty_name(v->ty, name, sizeof(name)));
	v->ty = kl_ty_target(v->ty);
	v->lvalue = true;
	return 0;
}

static int constant(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, uint64_t num,
		    struct kl_cv *v)
{
	bool is_signed = (e->kind == KL_E_NUM && num <= INT64_MAX) || e->kind == KL_E_ENUM;

	v->ty = kl_ty_int(is_signed && (int64_t)num == (int32_t)num ? 4 : 8, is_signed);
	return kl_c_emit(c, e, KLIN_CODE(KLIN_IMM, reg, 0, 0, 0), num);
}

/* Compile number(): read the number in a text of the kernel, such as the buffer of a sysctl. */
static int number(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v)
{
	char name[128];
	int err = kl_c_value(c, e->a, reg, v);

	if (err)
		return err;
	if (!kl_c_is_pointer(v->ty))
		return kl_c_fail(c, e, "number() needs a pointer to text, found '%s'",
			    kl_ty_name(v->ty, name, sizeof(name)));
	v->ty = kl_ty_int(8, false);
	return kl_c_emit(c, e, KLIN_CODE(KLIN_NUMBER, reg, 0, 0, e->num), 0);
}

static int user(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v)
{
	int err = kl_c_expr(c, e->a, reg, v);

	if (err)
		return err;
	if (!v->lvalue)
		return kl_c_fail(c, e, "user() needs a value in memory, not a computed one");
	return load(c, e, reg, v, KLIN_USER);
}

static int enumerator(struct kl_comp *c, const struct kl_expr *e, unsigned int reg,
		      struct kl_cv *v)
{
	int64_t num;

	if (kl_ty_enumerator(c->f->btf, e->name, &num))
		return kl_c_fail(c, e, "kernel %s has no enumerator '%s'", c->k->release, e->name);
	return constant(c, e, reg, num, v);
}

static int current_task(struct kl_comp *c, const struct kl_expr *e, unsigned int reg,
			struct kl_cv *v)
{
	static const struct kl_ctype task = { .kind = "struct", .name = "task_struct", .ptr = 1 };

	if (kl_ty_resolve(c->f->btf, &task, &v->ty))
		return kl_c_fail(c, e, "kernel %s has no type 'struct task_struct'", c->k->release);
	return kl_c_emit(c, e, KLIN_CODE(KLIN_CURRENT, reg, 0, 0, 0), 0);
}

int kl_c_expr(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v)
{
	char name[128];
	struct kl_ty t;
	uint64_t num;
	int err;

	err = reg + 1 >= KLIN_REGS ? kl_c_deeper(c, e, reg) : 0;
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
		return kl_c_unary(c, e, reg, v);
	case KL_E_BINARY:
		return kl_c_binary(c, e, reg, v);
	case KL_E_COND:
		return kl_c_conditional(c, e, reg, v);
	case KL_E_ARROW:
		err = kl_c_value(c, e->a, reg, v);
		if (err)
			return err;
		if (!kl_c_is_pointer(v->ty))
			return kl_c_fail(c, e, "'->%s' needs a pointer, found '%s'", e->name,
				    kl_ty_name(v->ty, name, sizeof(name)));
		v->ty = kl_ty_target(v->ty);
		v->lvalue = true;
		return member(c, e, v, e->name, strlen(e->name));
	case KL_E_DOT:
		err = kl_c_expr(c, e->a, reg, v);
		if (err)
			return err;
		if (!v->lvalue)
			return kl_c_fail(c, e,
					 "'.%s' needs a struct, found '%s'; use '->' for "
					 "members behind a pointer",
					 e->name, kl_ty_name(v->ty, name, sizeof(name)));
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
			return kl_c_fail(c, e, "the size of '%s' is unknown",
				    kl_ty_name(t, name, sizeof(name)));
		return err ? err : constant(c, e, reg, num, v);
	case KL_E_NUMBER:
		return number(c, e, reg, v);
	case KL_E_UNKNOWN:
		v->ty = kl_ty_int(8, false);
		return kl_c_emit(c, e, KLIN_CODE(KLIN_UNKNOWN, reg, 0, 0, 0), 0);
	case KL_E_SPECIAL:
		return constant(c, e, reg, e->num, v);
	case KL_E_USER:
		return user(c, e, reg, v);
	case KL_E_ENUM:
		return enumerator(c, e, reg, v);
	case KL_E_CURRENT:
		return current_task(c, e, reg, v);
	}
	return kl_c_fail(c, e, "this expression cannot be used in a probe");
}

static bool uses_return(const struct kl_expr *e)
{
	return e && (e->kind == KL_E_RETURN || uses_return(e->a) || uses_return(e->b) ||
		     uses_return(e->c));
}

static bool has_special(const struct kl_expr *e)
{
	return e->kind == KL_E_SPECIAL ||
	       (e->kind == KL_E_COND && (has_special(e->b) || has_special(e->c)));
}

/* Set @reg to 1 if the value of @e is a special value, such as `empty`, else to 0. */
static int mark(struct kl_comp *c, const struct kl_expr *e, unsigned int reg)
{
	struct kl_cv cond;
	int err;

	if (e->kind != KL_E_COND || !has_special(e))
		return kl_c_emit(c, e, KLIN_CODE(KLIN_IMM, reg, 0, 0, 0),
				 e->kind == KL_E_SPECIAL);
	err = kl_c_deeper(c, e, reg);
	if (!err)
		err = kl_c_value(c, e->a, reg, &cond);
	if (!err && e->b->kind == KL_E_SPECIAL && !has_special(e->c))
		return kl_c_truth(c, e, reg);
	if (!err && e->c->kind == KL_E_SPECIAL && !has_special(e->b))
		return kl_c_alu(c, e, KLIN_LNOT, reg, 0);
	if (!err)
		err = mark(c, e->b, reg + 1);
	if (!err)
		err = mark(c, e->c, reg + 2);
	return err ? err : kl_c_emit(c, e, KLIN_CODE(KLIN_SELECT, reg, reg + 1, 0, reg + 2), 0);
}

static int put(struct kl_comp *c, const struct kl_expr *e, unsigned int op, unsigned int index)
{
	struct kl_cv v;
	int err = kl_c_value(c, e, 0, &v);

	return err ? err : kl_c_emit(c, e, KLIN_CODE(op, 0, 0, 0, index), 0);
}

/* Compile the call's or the return's side of a clause: its `when', the object, the values. */
static int side(struct kl_comp *c, const struct kl_probe_target *p, bool at_return,
		struct klin_conf *conf)
{
	const struct kl_fetch *fetch;
	unsigned int i, index;
	int err = 0;

	c->prog = at_return ? conf->ret : conf->call;
	c->n = 0;
	c->at_return = at_return;
	if (p->when[at_return]) {
		err = put(c, p->when[at_return], KLIN_WHEN, 0);
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
		index = (i < p->nargs ? 0 : p->nargs) + fetch->index;
		err = put(c, fetch->expr, KLIN_VAL, index);
		if (!err && has_special(fetch->expr)) {
			err = mark(c, fetch->expr, 0);
			if (!err)
				err = kl_c_emit(c, fetch->expr,
						KLIN_CODE(KLIN_MARK, 0, 0, 0, index), 0);
		}
		if (!at_return)
			conf->call_vals |= 1U << index;
	}
	*(at_return ? &conf->ret_args : &conf->call_args) = kl_optimize_fetch(c->prog, c->n);
	return err;
}

static int misfit(struct kl_misfit *bad, struct kl_pos pos, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static int misfit(struct kl_misfit *bad, struct kl_pos pos, const char *fmt, ...)
{
	va_list ap;

	bad->pos = pos;
	va_start(ap, fmt);
	vsnprintf(bad->why, sizeof(bad->why), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static bool reads_memory(const struct klin_insn *insn)
{
	unsigned int i;

	for (i = 0; i < KLIN_INSNS; i++)
		if (insn[i].op == KLIN_LOAD || insn[i].op == KLIN_NUMBER)
			return true;
	return false;
}

int kl_compile(struct kl_kernel *k, const struct kl_probe_target *t, const struct kl_func *f,
	       const struct kl_kplace *place, struct klin_conf *conf, struct kl_misfit *bad)
{
	struct kl_comp c = { .k = k, .t = t, .f = f, .place = place, .bad = bad };
	int err;

	if (!f->proto && !place)
		return misfit(bad, t->pos, "kernel %s has no BTF for %s(), so the types of its "
			      "parameters are unknown", k->release, t->name);
	if (f->proto && t->nparams - t->ninlined > btf_vlen(f->proto))
		return misfit(bad, t->pos, "%s() has %u parameters in kernel %s, but the clause "
			      "names %u",
			      t->name, btf_vlen(f->proto), k->release, t->nparams - t->ninlined);
	if (t->inlined && t->ninlined > place->site->nparams)
		return misfit(bad, t->pos, "%s() has %u parameters in kernel %s, but the clause "
			      "names %u",
			      t->inlined, place->site->nparams, k->release, t->ninlined);
	if (t->nargs + t->nresults > KLIN_MAX_VALS)
		return misfit(bad, t->pos, "a probe can record at most %u arguments and results, "
			      "but this method has %u", KLIN_MAX_VALS, t->nargs + t->nresults);
	err = side(&c, t, false, conf);
	if (!err)
		err = side(&c, t, true, conf);
	conf->call_loads = reads_memory(conf->call);
	conf->ret_loads = reads_memory(conf->ret);
	conf->nparams = c.nparams;
	conf->nvals = t->nargs + t->nresults;
	return err;
}
