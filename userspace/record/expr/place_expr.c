// SPDX-License-Identifier: GPL-2.0
/*
 * Parameters of inlined functions in probe expressions.  DWARF's description of the location
 * becomes steps of the fetch program.  Types are looked up by their names in the kernel's BTF.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "record/expr/compiler.h"

static int type_of(struct kl_comp *c, const struct kl_expr *e, const struct kl_var *var,
		   struct kl_ty *t)
{
	struct kl_ctype ct = { .kind = var->type.kind,
			       .name = var->type.name,
			       .ptr = var->type.ptr };
	char name[128];

	if (*ct.name && !kl_ty_resolve(c->f->btf, &ct, t))
		return 0;
	if (ct.ptr) {
		/* The type is unknown: give the parameter type void *, which the spec can cast. */
		ct = (struct kl_ctype){ .kind = "", .name = "void", .ptr = 1 };
		return kl_ty_resolve(c->f->btf, &ct, t);
	}
	if (var->type.size == 1 || var->type.size == 2 || var->type.size == 4 ||
	    var->type.size == 8) {
		*t = kl_ty_int(var->type.size, var->type.is_signed);
		return 0;
	}
	return kl_c_fail(c, e, "'%s' has type '%s', which is not in the kernel's BTF", var->name,
			 kl_dtype_text(&var->type, name, sizeof(name)));
}

static const uint8_t alu[] = {
	[KL_L_ADD] = KLIN_ADD, [KL_L_SUB] = KLIN_SUB, [KL_L_MUL] = KLIN_MUL, [KL_L_AND] = KLIN_AND,
	[KL_L_OR] = KLIN_OR, [KL_L_XOR] = KLIN_XOR, [KL_L_SHL] = KLIN_SHL, [KL_L_SHR] = KLIN_SHR,
	[KL_L_SAR] = KLIN_SAR,
};

/*
 * Translate @addr, an address in a module's file, which is not linked, to the address in the
 * running kernel.  Return: false if the load address of its section is hidden.
 */
static bool loaded_at(const struct kl_kplace *p, uint64_t addr, uint64_t *out)
{
	char path[256], *data, *end;
	uint64_t offset;
	const char *name = p->module[0] ? kl_debug_section(p->debug, addr, &offset) : NULL;
	size_t len;

	if (!name || strchr(name, '/') ||
	    snprintf(path, sizeof(path), "/sys/module/%s/sections/%s", p->module, name) >=
	    (int)sizeof(path) || kl_read_file(path, &data, &len))
		return false;
	*out = strtoull(data, &end, 16);
	free(data);
	if (!*out)
		return false;
	*out += offset;
	return true;
}

/* Compile one step of a location.  *@top is the first register above the location's stack. */
static int step(struct kl_comp *c, const struct kl_expr *e, enum kl_loc_op op, uint64_t num,
		unsigned int *top)
{
	unsigned int at = *top;
	int err;

	switch (op) {
	case KL_L_CONST:
		(*top)++;
		return kl_c_emit(c, e, KLIN_CODE(KLIN_IMM, at, 0, 0, 0), num);
	case KL_L_ADDR:
		if (!c->place->linked && loaded_at(c->place, num, &num)) {
			(*top)++;
			return kl_c_emit(c, e, KLIN_CODE(KLIN_IMM, at, 0, 0, 0), num);
		}
		if (!c->place->linked)
			return kl_c_fail(c, e, "the location of this parameter is unknown: the "
					 "address of '%s' is hidden, or its file is not linked",
					 c->place->symbol);
		(*top)++;
		return kl_c_emit(c, e, KLIN_CODE(KLIN_IMM, at, 0, 0, 0), num + c->place->load_bias);
	case KL_L_REG:
		(*top)++;
		return kl_c_emit(c, e, KLIN_CODE(KLIN_REG, at, 0, 0, num), 0);
	case KL_L_DEREF:
		return kl_c_emit(c, e, KLIN_CODE(KLIN_LOAD, at - 1, at - 1, num, 0), 0);
	case KL_L_NEG:
	case KL_L_NOT:
		/* ~x is x ^ -1, and -x is ~x + 1. */
		err = kl_c_emit(c, e, KLIN_CODE(KLIN_IMM, at, 0, 0, 0), UINT64_MAX);
		if (!err)
			err = kl_c_alu(c, e, KLIN_XOR, at - 1, at);
		if (!err && op == KL_L_NEG)
			err = kl_c_alu(c, e, KLIN_SUB, at - 1, at);
		return err;
	default:
		(*top)--;
		return kl_c_alu(c, e, alu[op], at - 2, at - 1);
	}
}

int kl_c_inlined_param(struct kl_comp *c, const struct kl_expr *e, unsigned int index,
		       unsigned int reg, struct kl_cv *v)
{
	const struct kl_var *var = &c->place->site->params[index];
	const struct kl_loc *loc = &var->loc;
	unsigned int top = reg, i;
	struct kl_ty shape;
	int err;

	if (loc->kind == KL_LOC_NONE)
		return kl_c_fail(c, e, "parameter '%s' of %s() cannot be read at %s+0x%llx: %s",
				 var->name, c->t->inlined, c->place->symbol,
				 (unsigned long long)c->place->offset, loc->why);
	err = type_of(c, e, var, &v->ty);
	for (i = 0; i < loc->n && !err; i++) {
		/* Some steps use one register above the top, too. */
		if (top + 1 >= KLIN_REGS)
			return kl_c_deeper(c, e, KLIN_REGS);
		err = step(c, e, loc->op[i], loc->num[i], &top);
	}
	if (err)
		return err;
	shape = v->ty;
	if (loc->kind == KL_LOC_MEMORY) {
		v->lvalue = true;
		return 0;
	}
	if (kl_ty_kind(&shape) == KL_TY_INT) {
		v->ty = kl_ty_int(shape.size, shape.is_signed);
		return kl_c_extend(c, e, reg, &v->ty);
	}
	if (kl_ty_kind(&shape) != KL_TY_PTR)
		return kl_c_fail(c, e, "'%s' is neither a number nor a pointer", var->name);
	return 0;
}
