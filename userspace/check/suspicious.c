// SPDX-License-Identifier: GPL-2.0
/*
 * Warnings of a specification that is accepted, but hardly says what is meant, see check.h:
 *
 *	method set(word v) { atomic { x = x; } }	// x = v was meant
 */
#include <string.h>

#include "check/check.h"
#include "spec/lang/ast.h"
#include "spec/lang/lex.h"

struct look {
	struct kl_diag d;
	uint32_t params; /* the parameters that the method reads, a bit each */
	const struct kl_method *m;
	const struct kl_spec *spec;
	bool state; /* the method mentions the state */
	bool vars[KL_ITEMS_MAX]; /* the variables of the state that some method reads */
};

/* Return: true if @e is a word that does not change, which @v gets. */
static bool constant(const struct kl_ast_expr *e, uint64_t *v)
{
	if (e->kind == KL_A_NUM)
		*v = e->num;
	else if (e->kind == KL_A_NAME && e->konst && e->konst->type == KL_ET_WORD)
		*v = e->konst->val.v;
	else if (e->kind == KL_A_UNARY && e->op == '-' && constant(e->a, v))
		*v = -*v;
	else
		return false;
	return true;
}

/* Return: true if both expressions are the same text, and read something without changing it. */
static bool same(const struct kl_ast_expr *a, const struct kl_ast_expr *b)
{
	if (!a || !b)
		return a == b;
	if (a->kind != b->kind || a->op != b->op || a->num != b->num)
		return false;
	switch (a->kind) {
	case KL_A_NAME:
	case KL_A_INDEX:
		return a->var == b->var && a->local == b->local && a->konst == b->konst &&
		       same(a->a, b->a);
	case KL_A_NUM:
		return true;
	case KL_A_UNARY:
	case KL_A_BINARY:
		return same(a->a, b->a) && same(a->b, b->b);
	default:
		return false;
	}
}

/* Warn of a division by 0 and of a shift that leaves nothing; @b is the right side. */
static void warn_right_side(struct look *l, int op, const struct kl_ast_expr *b)
{
	uint64_t v;

	if (!constant(b, &v))
		return;
	if ((op == '/' || op == '%') && !v)
		kl_diag_warn(&l->d, b->pos,
			     "this divides by 0; a check that comes here ends with UNKNOWN");
	if ((op == KL_OP_SHL || op == KL_OP_SHR) && v >= 64)
		kl_diag_warn(&l->d, b->pos, "a shift by 64 or more gives 0; words have 64 bits");
}

/* Warn of a comparison with 0 that does not depend on the other side. */
static void warn_unsigned(struct look *l, const struct kl_ast_expr *e)
{
	uint64_t v = 1;
	bool never;

	if (e->op == '<' || e->op == KL_OP_GE)
		constant(e->b, &v);
	else if (e->op == '>' || e->op == KL_OP_LE)
		constant(e->a, &v);
	never = e->op == '<' || e->op == '>';
	if (!v)
		kl_diag_warn(&l->d, e->pos, "words are not negative, so this is %s true",
			     never ? "never" : "always");
}

static void warn_binary(struct look *l, const struct kl_ast_expr *e)
{
	warn_right_side(l, e->op, e->b);
	warn_unsigned(l, e);
	switch (e->op) {
	case KL_OP_EQ:
	case KL_OP_NE:
	case KL_OP_LE:
	case KL_OP_GE:
	case '<':
	case '>':
		if (e->a->kind != KL_A_NUM && same(e->a, e->b))
			kl_diag_warn(&l->d, e->pos, "both sides of the comparison are the same, "
						    "so it does not depend on them");
	}
}

static void look_expr(struct look *l, const struct kl_ast_expr *e)
{
	if (!e)
		return;
	look_expr(l, e->a);
	look_expr(l, e->b);
	look_expr(l, e->c);
	if (e->var)
		l->state = l->vars[e->var - l->spec->vars] = true;
	if (e->kind == KL_A_BINARY)
		warn_binary(l, e);
	if (e->kind == KL_A_NAME && e->local && e->local->reg < l->m->nparams &&
	    !strcmp(e->name, l->m->params[e->local->reg].name))
		l->params |= 1u << e->local->reg;
}

static void look_assign(struct look *l, const struct kl_stmt *s)
{
	if (s->op != '=')
		warn_right_side(l, s->op, s->a);
	else if (same(s->lhs, s->a))
		kl_diag_warn(&l->d, s->lhs->pos, "'%s' is assigned to itself", s->lhs->name);
}

static void look_list(struct look *l, const struct kl_stmt *s)
{
	unsigned int i;

	for (; s; s = s->next) {
		look_list(l, s->body);
		look_list(l, s->other);
		look_expr(l, s->a);
		look_expr(l, s->b);
		/*
		 * An assignment reads the index of its variable, but no old value.  A container's
		 * method, as a statement, reads its arguments, and its result gets lost.
		 */
		if (s->lhs) {
			look_expr(l, s->lhs->a);
			look_expr(l, s->lhs->b);
		}
		if (s->kind == KL_S_ASSIGN)
			look_assign(l, s);
		for (i = 0; i < s->nret; i++)
			look_expr(l, s->ret[i]);
		if (s->kind == KL_S_DECL && !s->a && !s->local->assigned && s->local->read)
			kl_diag_warn(&l->d, s->local->pos,
				     "nothing sets the local variable '%s', so it is always %s",
				     s->local->name, s->local->type == KL_ET_BOOL ? "false" : "0");
		if (s->kind == KL_S_DECL && !s->local->read && *s->local->name != '_')
			kl_diag_warn(&l->d, s->local->pos,
				     "nothing reads the local variable '%s'; if that is meant, "
				     "name it '_%s'", s->local->name, s->local->name);
	}
}

static void look_method(struct look *l, const struct kl_method_def *def)
{
	const struct kl_method *m = &def->pub;
	size_t k;

	l->m = m;
	l->params = 0;
	l->state = false;
	look_list(l, def->body);
	/*
	 * An implementation may use what its method does not.  A method that neither changes nor
	 * reads the state may be one that is still to be written.
	 */
	if (l->spec->impl || (m->pure && !l->state))
		return;
	for (k = 0; k < m->nparams; k++)
		if (!(l->params >> k & 1) && *m->params[k].name != '_' && m->part_param != (int)k)
			kl_diag_warn(&l->d, def->param_pos[k],
				     "'%s' never reads its parameter '%s'; if that is meant, name "
				     "it '_%s'", m->name, m->params[k].name, m->params[k].name);
}

void kl_warn_suspicious(const struct kl_spec *spec)
{
	struct look l = { .d = { .file = spec->path, .text = spec->text }, .spec = spec };
	bool state = false;
	size_t i;

	for (i = 0; i < spec->nmethods; i++) {
		look_method(&l, &spec->methods[i]);
		state |= l.state || !spec->methods[i].pub.pure;
	}
	/* Without a method that uses the state, all of them may be still to be written. */
	for (i = 0; i < spec->nvars && state; i++)
		if (!l.vars[i] && *spec->vars[i].name != '_')
			kl_diag_warn(&l.d, spec->vars[i].pos,
				     "no method reads '%s'; if that is meant, name it '_%s'",
				     spec->vars[i].name, spec->vars[i].name);
	kl_warn_held_locks(spec);
}
