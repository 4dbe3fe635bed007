// SPDX-License-Identifier: GPL-2.0
/* The compiler of implementations: names and places. */
#include <string.h>

#include "base/nearest.h"
#include "spec/lang/advice.h"
#include "spec/impl/impl_gen.h"

const struct kl_const *kl_ig_const_named(const struct kl_igen *g, const char *name)
{
	const struct kl_spec *s = g->g.s;
	size_t i;

	for (i = 0; i < s->nconsts; i++)
		if (!strcmp(s->consts[i].name, name))
			return &s->consts[i];
	return NULL;
}

void kl_ig_no_such_name(struct kl_igen *g, const struct kl_ast_expr *e)
{
	const char *names[KL_IMPL_REGS + KL_SHARED_MAX];
	const char *word = kl_advise_word(e->name, strlen(e->name), true);
	char buf[KL_ADVICE_MAX];
	unsigned int i, n = 0;

	for (i = 0; i < g->nlocals; i++)
		names[n++] = g->local[i].name;
	for (i = 0; i < g->im->nvars; i++)
		names[n++] = g->im->vars[i].f.name;
	kl_advise_name(e->name, names, n, buf);
	kl_ig_err(g, e->pos, "no variable '%s'%s", e->name, *buf ? buf : word);
}

static struct kl_place shared_place(struct kl_igen *g, const struct kl_ast_expr *e,
				    struct kl_shared *v)
{
	struct kl_place p = { .kind = KL_PL_SLOT, .type = v->f.type, .at = v->slot };

	v->of_methods |= g->code == KL_IC_METHOD;
	v->of_client |= g->code == KL_IC_THREAD;
	if ((e->kind == KL_A_INDEX) != v->is_array) {
		kl_ig_err(g, e->pos, v->is_array ? "'%s' is an array, expected an index" :
			  "'%s' is not an array and has no index", e->name);
		p.kind = KL_PL_NONE;
		return p;
	}
	if (v->is_array) {
		p.kind = KL_PL_ARRAY;
		p.reg = kl_ig_value(g, e->a, KL_IT_WORD, "an index");
		p.at = v->slot | v->len << 16;
	}
	return p;
}

static struct kl_place field_place(struct kl_igen *g, const struct kl_ast_expr *e)
{
	struct kl_place p = { .kind = KL_PL_FIELD, .type = KL_IT_ERR };
	struct kl_struct *s;
	const char *names[KL_FIELDS_MAX], *near;
	unsigned int type, i;
	char buf[80];

	p.reg = kl_gen_temp(&g->g);
	type = kl_ig_expr(g, e->a, p.reg);
	if (type < KL_IT_PTR) {
		if (type != KL_IT_ERR)
			kl_ig_err(g, e->pos, "'->' needs a pointer before it, found %s",
				  kl_itype_name(g, type, buf));
		p.kind = KL_PL_NONE;
		return p;
	}
	s = &g->im->structs[type - KL_IT_PTR];
	for (i = 0; i < s->nfields; i++) {
		names[i] = s->fields[i].name;
		if (!strcmp(names[i], e->method)) {
			p.type = s->fields[i].type;
			p.at = i;
			p.field = &s->fields[i];
			p.pos = e->method_pos;
			return p;
		}
	}
	near = kl_nearest(e->method, names, s->nfields);
	if (near)
		kl_ig_err(g, e->method_pos, "no field '%s' in %s; did you mean '%s'?", e->method,
			  s->name, near);
	else
		kl_ig_err(g, e->method_pos, "no field '%s' in %s", e->method, s->name);
	p.kind = KL_PL_NONE;
	return p;
}

struct kl_place kl_ig_place(struct kl_igen *g, const struct kl_ast_expr *e)
{
	struct kl_place none = { .type = KL_IT_ERR };
	unsigned int i;

	if (e->kind == KL_A_FIELD)
		return field_place(g, e);
	if (e->kind != KL_A_NAME && e->kind != KL_A_INDEX) {
		kl_ig_err(g, e->pos, "expected a variable or a field");
		return none;
	}
	for (i = g->nlocals; i--;) {
		if (strcmp(g->local[i].name, e->name))
			continue;
		if (e->kind == KL_A_INDEX) {
			kl_ig_err(g, e->pos, "'%s' is not an array and has no index", e->name);
			return none;
		}
		return (struct kl_place){ .kind = KL_PL_LOCAL, .type = g->local[i].type, .reg = i };
	}
	for (i = 0; i < g->im->nvars; i++)
		if (!strcmp(g->im->vars[i].f.name, e->name))
			return shared_place(g, e, &g->im->vars[i]);
	if (kl_ig_const_named(g, e->name))
		kl_ig_err(g, e->pos, "'%s' is a constant", e->name);
	else
		kl_ig_no_such_name(g, e);
	return none;
}

void kl_ig_load(struct kl_igen *g, const struct kl_place *p, unsigned int dst)
{
	switch (p->kind) {
	case KL_PL_LOCAL:
		if (p->reg != dst)
			kl_ig_emit(g, kl_insn(KL_I_MOV, dst, p->reg, 0));
		break;
	case KL_PL_SLOT:
		kl_ig_emit(g, kl_insn_imm(KL_I_LOAD, dst, p->at));
		break;
	case KL_PL_ARRAY:
		kl_ig_emit(g, kl_insn(KL_I_LOADX, dst, p->reg, 0));
		kl_ig_emit(g, p->at);
		break;
	case KL_PL_FIELD:
		kl_ig_emit(g, kl_insn(KL_I_READ, dst, p->reg, p->at));
		if (!p->field->read.line)
			p->field->read = p->pos;
		break;
	case KL_PL_NONE:
		break;
	}
}

void kl_ig_store(struct kl_igen *g, const struct kl_place *p, unsigned int src)
{
	switch (p->kind) {
	case KL_PL_LOCAL:
		if (p->reg != src)
			kl_ig_emit(g, kl_insn(KL_I_MOV, p->reg, src, 0));
		kl_ig_has_value(g, p->reg);
		break;
	case KL_PL_SLOT:
		kl_ig_emit(g, kl_insn_imm(KL_I_STORE, src, p->at));
		break;
	case KL_PL_ARRAY:
		kl_ig_emit(g, kl_insn(KL_I_STOREX, src, p->reg, 0));
		kl_ig_emit(g, p->at);
		break;
	case KL_PL_FIELD:
		kl_ig_emit(g, kl_insn(KL_I_WRITE, src, p->reg, p->at));
		p->field->set = true;
		break;
	case KL_PL_NONE:
		break;
	}
}
