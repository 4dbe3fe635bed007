// SPDX-License-Identifier: GPL-2.0
/* Inferring containers, see container.h. */
#include "spec/lang/ast.h"
#include "spec/classify/container.h"

const char *kl_container_name(enum kl_container_kind k)
{
	static const char *const names[] = {
		"nothing", "queue", "stack", "priority queue", "set", "register", "deque",
		"multiset",
	};

	return names[k];
}

void kl_spec_container(const struct kl_spec *s, struct kl_container *c)
{
	static const enum kl_container_kind kinds[] = {
		[KL_C_NONE] = KL_CONTAINER_REGISTER, [KL_C_QUEUE] = KL_CONTAINER_QUEUE,
		[KL_C_STACK] = KL_CONTAINER_STACK, [KL_C_PQUEUE] = KL_CONTAINER_PQUEUE,
		[KL_C_SET] = KL_CONTAINER_SET, [KL_C_DEQUE] = KL_CONTAINER_DEQUE,
		[KL_C_BAG] = KL_CONTAINER_MULTISET,
	};
	const struct kl_var *v = s->vars;

	*c = (struct kl_container){ .kind = KL_CONTAINER_NONE };
	if (s->nvars != 1 || v->is_array || v->type != KL_T_WORD ||
	    v->cont >= sizeof(kinds) / sizeof(*kinds))
		return;
	c->kind = kinds[v->cont];
	c->max = v->max;
	c->init = v->has_init;
	c->first = v->init;
}

enum kl_keyed kl_spec_keyed(const struct kl_spec *s)
{
	const struct kl_var *v = s->vars;
	size_t i;

	if (s->nvars != 1 || s->partition != KL_PART_PARAM || s->doubt)
		return KL_KEYED_NONE;
	for (i = 0; i < s->nmethods; i++)
		if (s->methods[i].pub.part_param >= (int)s->methods[i].pub.nparams)
			return KL_KEYED_NONE;
	return v->is_array ? KL_KEYED_ARRAY : v->cont == KL_C_MAP ? KL_KEYED_MAP : KL_KEYED_NONE;
}

/* Return: the statement of a method that is one atomic block with one statement, or NULL. */
static const struct kl_stmt *only_statement(const struct kl_method_def *m)
{
	const struct kl_stmt *s = m->body;

	if (!s || s->kind != KL_S_BLOCK || !s->body || s->body->next ||
	    s->body->kind != KL_S_ATOMIC)
		return NULL;
	s = s->body->body;
	if (!s || s->kind != KL_S_BLOCK || !s->body || s->body->next)
		return NULL;
	return s->body;
}

/* Return: true if @e is the method's only parameter, and is a word. */
static bool is_param(const struct kl_method_def *m, const struct kl_ast_expr *e)
{
	return m->pub.nparams == 1 && m->pub.params[0].type == KL_T_WORD && e &&
	       e->kind == KL_A_NAME && e->local && e->local->reg == 0;
}

static bool is_var(const struct kl_spec *s, const struct kl_ast_expr *e)
{
	return e && e->kind == KL_A_NAME && !e->local && !e->konst && e->var == s->vars;
}

static enum kl_role register_role(const struct kl_spec *s, const struct kl_method_def *m,
				  const struct kl_stmt *st)
{
	if (st->kind == KL_S_ASSIGN && st->op == '=' && is_var(s, st->lhs) && is_param(m, st->a) &&
	    !m->pub.nresults)
		return KL_ROLE_ADD;
	if (st->kind == KL_S_RETURN && st->nret == 1 && is_var(s, st->ret[0]) &&
	    !m->pub.nparams && m->pub.results[0].type == KL_T_WORD)
		return KL_ROLE_PEEK;
	return KL_ROLE_OTHER;
}

static enum kl_role set_role(const struct kl_method_def *m, const struct kl_ast_expr *call)
{
	if (!is_param(m, call->a) || m->pub.nresults != 1 || m->pub.results[0].type != KL_T_BOOL)
		return KL_ROLE_OTHER;
	return call->cont_op == KL_CO_ADD ? KL_ROLE_ADD :
	       call->cont_op == KL_CO_REMOVE ? KL_ROLE_REMOVE :
	       call->cont_op == KL_CO_HAS ? KL_ROLE_PEEK : KL_ROLE_OTHER;
}

static enum kl_role multiset_role(const struct kl_method_def *m, const struct kl_stmt *st,
				  const struct kl_ast_expr *call)
{
	if (call->cont_op == KL_CO_ADD)
		return st->kind == KL_S_EXPR && is_param(m, call->a) && !m->pub.nresults ?
		       KL_ROLE_ADD : KL_ROLE_OTHER;
	if (st->kind != KL_S_RETURN)
		return KL_ROLE_OTHER;
	if (call->cont_op == KL_CO_COUNT)
		return is_param(m, call->a) && m->pub.results[0].type == KL_T_WORD ?
		       KL_ROLE_COUNT : KL_ROLE_OTHER;
	return set_role(m, call);
}

/* Return: the call on the container in statement @st, or NULL. */
static const struct kl_ast_expr *call_of(const struct kl_spec *s, const struct kl_stmt *st)
{
	const struct kl_ast_expr *call = !st ? NULL :
					 st->kind == KL_S_EXPR ? st->lhs :
					 st->kind == KL_S_RETURN && st->nret == 1 ? st->ret[0] :
					 NULL;

	return call && call->kind == KL_A_CALL && call->var == s->vars ? call : NULL;
}

enum kl_role kl_spec_role(const struct kl_spec *s, unsigned int method)
{
	const struct kl_method_def *m = &s->methods[method];
	const struct kl_stmt *st = only_statement(m);
	const struct kl_ast_expr *call;

	if (!st)
		return KL_ROLE_OTHER;
	if (!s->vars[0].cont)
		return register_role(s, m, st);
	call = call_of(s, st);
	if (!call)
		return KL_ROLE_OTHER;
	if (s->vars[0].cont == KL_C_SET)
		return st->kind == KL_S_RETURN ? set_role(m, call) : KL_ROLE_OTHER;
	if (s->vars[0].cont == KL_C_BAG)
		return multiset_role(m, st, call);
	if ((call->cont_op == KL_CO_PUSH || call->cont_op == KL_CO_PUSH_FRONT) &&
	    st->kind == KL_S_EXPR && is_param(m, call->a) && !m->pub.nresults)
		return KL_ROLE_ADD;
	if (st->kind != KL_S_RETURN || m->pub.nparams || m->pub.nresults != 1 ||
	    m->pub.results[0].type != KL_T_WORD)
		return KL_ROLE_OTHER;
	switch (call->cont_op) {
	case KL_CO_POP:
	case KL_CO_POP_BACK:
		return KL_ROLE_REMOVE;
	case KL_CO_FRONT:
	case KL_CO_BACK:
	case KL_CO_TOP:
		return KL_ROLE_PEEK;
	default:
		return KL_ROLE_OTHER;
	}
}

enum kl_container_kind kl_spec_deque_used(const struct kl_spec *s, const bool *used)
{
	enum { FRONT = 1, BACK = 2, BOTH = 3 };
	unsigned int in = 0, out = 0, i;

	for (i = 0; i < s->nmethods; i++) {
		const struct kl_ast_expr *call = call_of(s, only_statement(&s->methods[i]));

		if (!used[i])
			continue;
		switch (call ? call->cont_op : KL_CO_CLEAR) {
		case KL_CO_PUSH:
			in |= BACK;
			break;
		case KL_CO_PUSH_FRONT:
			in |= FRONT;
			break;
		case KL_CO_POP:
		case KL_CO_FRONT:
			out |= FRONT;
			break;
		case KL_CO_POP_BACK:
		case KL_CO_BACK:
			out |= BACK;
			break;
		default:
			return KL_CONTAINER_DEQUE;
		}
	}
	if (in == BOTH || out == BOTH)
		return KL_CONTAINER_DEQUE;
	return in & out ? KL_CONTAINER_STACK : KL_CONTAINER_QUEUE;
}
