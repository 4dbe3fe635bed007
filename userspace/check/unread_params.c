// SPDX-License-Identifier: GPL-2.0
/* Warnings of parameters that a method never reads, see check.h. */
#include <string.h>

#include "check/check.h"
#include "spec/lang/ast.h"
#include "spec/lang/lex.h"

/* Return: the parameters of the method that @e reads, a bit each. */
static unsigned int reads_expr(const struct kl_method *m, const struct kl_ast_expr *e)
{
	unsigned int bits;

	if (!e)
		return 0;
	bits = reads_expr(m, e->a) | reads_expr(m, e->b) | reads_expr(m, e->c);
	if (e->kind == KL_A_NAME && e->local && e->local->reg < m->nparams &&
	    !strcmp(e->name, m->params[e->local->reg].name))
		bits |= 1u << e->local->reg;
	return bits;
}

static unsigned int reads_list(const struct kl_method *m, const struct kl_stmt *s)
{
	unsigned int bits = 0, i;

	for (; s; s = s->next) {
		bits |= reads_list(m, s->body) | reads_list(m, s->other) | reads_expr(m, s->a) |
			reads_expr(m, s->b);
		/* An assignment reads the index of its variable, but no old value. */
		if (s->lhs)
			bits |= s->kind == KL_S_EXPR ? reads_expr(m, s->lhs) :
						       reads_expr(m, s->lhs->a);
		for (i = 0; i < s->nret; i++)
			bits |= reads_expr(m, s->ret[i]);
	}
	return bits;
}

void kl_warn_unread(const struct kl_spec *spec)
{
	struct kl_diag d = { .file = spec->path, .text = spec->text };
	size_t i, k;

	/* An implementation may use what its method does not. */
	for (i = 0; i < spec->nmethods && !spec->impl; i++) {
		const struct kl_method_def *def = &spec->methods[i];
		const struct kl_method *m = &def->pub;
		const unsigned int bits = reads_list(m, def->body);

		/* A method that changes nothing may be one that is still to be written. */
		for (k = 0; k < m->nparams && !m->pure; k++)
			if (!(bits >> k & 1) && *m->params[k].name != '_' &&
			    m->part_param != (int)k)
				kl_diag_warn(&d, def->param_pos[k],
					     "'%s' never reads its parameter '%s'; if that is "
					     "meant, name it '_%s'", m->name, m->params[k].name,
					     m->params[k].name);
	}
}
