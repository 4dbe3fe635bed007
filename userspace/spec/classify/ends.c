// SPDX-License-Identifier: GPL-2.0
/* Methods at the ends of queues, stacks and deques, see ends.h. */
#include "spec/lang/ast.h"
#include "spec/classify/ends_match.h"

/* Return: @s without blocks of one statement around it. */
static const struct kl_stmt *unwrap(const struct kl_stmt *s)
{
	while (s && s->kind == KL_S_BLOCK && s->body && !s->body->next)
		s = s->body;
	return s;
}

static bool constant(const struct kl_ast_expr *e, struct kl_val *v)
{
	if (!e)
		return false;
	if (e->kind == KL_A_NUM || e->kind == KL_A_BOOL)
		*v = kl_word(e->num);
	else if (e->kind == KL_A_SPECIAL)
		*v = kl_special(e->num);
	else if (e->kind == KL_A_NAME && e->konst)
		*v = e->konst->val;
	else
		return false;
	return true;
}

/* Return: the index of the parameter that @e is, or -1 if it is none. */
static int parameter(const struct kl_method_def *m, const struct kl_ast_expr *e)
{
	return e && e->kind == KL_A_NAME && e->local && e->local->reg < m->pub.nparams &&
	       !e->local->assigned ? (int)e->local->reg : -1;
}

static const struct kl_ast_expr *call_on(const struct kl_spec *s, const struct kl_ast_expr *e)
{
	return e && e->kind == KL_A_CALL && e->var == s->vars ? e : NULL;
}

const struct kl_ast_expr *kl_ends_results(const struct kl_spec *s, const struct kl_stmt *st,
					  struct kl_val *v, unsigned int *at)
{
	const struct kl_ast_expr *call = NULL;
	unsigned int i;

	if (!st || st->kind != KL_S_RETURN)
		return NULL;
	for (i = 0; i < st->nret; i++) {
		if (constant(st->ret[i], &v[i]))
			continue;
		if (!at || call || !call_on(s, st->ret[i]))
			return NULL;
		call = st->ret[i];
		*at = i;
		v[i] = kl_word(0);
	}
	return at ? call : st->ret[0];
}

/* Match `if (size() == ...)'.  Return: the right side, or NULL. */
static const struct kl_ast_expr *if_size(const struct kl_spec *s, const struct kl_stmt *st)
{
	const struct kl_ast_expr *c = st->kind == KL_S_IF && !st->other ? st->a : NULL;

	return c && c->kind == KL_A_BINARY && c->op == KL_OP_EQ && call_on(s, c->a) &&
	       c->a->cont_op == KL_CO_SIZE ? c->b : NULL;
}

/*
 * Match the part of a push for a full structure: `return full;', or `if (!replace) return full;
 * pop();'.
 */
static bool match_full(const struct kl_spec *s, const struct kl_method_def *m,
		       const struct kl_stmt *st, struct kl_end_method *e)
{
	const struct kl_ast_expr *room = if_size(s, st), *pop, *no;
	struct kl_val v;

	if (!room)
		return false;
	e->bounded = true;
	e->most = parameter(m, room);
	if (e->most < 0 && (!constant(room, &v) || v.tag != KL_WORD))
		return false;
	e->capacity = e->most < 0 ? v.v : 0;
	st = unwrap(st->body);
	if (st && st->kind == KL_S_BLOCK && st->body && st->body->next && !st->body->next->next &&
	    st->body->kind == KL_S_IF && !st->body->other) {
		no = st->body->a;
		pop = st->body->next->kind == KL_S_EXPR ? call_on(s, st->body->next->lhs) : NULL;
		if (no->kind != KL_A_UNARY || no->op != '!' || !pop)
			return false;
		e->replaces = parameter(m, no->a);
		if (e->replaces < 0)
			return false;
		st = unwrap(st->body->body);
	}
	return kl_ends_results(s, st, e->other, NULL);
}

bool kl_ends_push(const struct kl_spec *s, const struct kl_method_def *m, const struct kl_stmt *st,
		  struct kl_end_method *e)
{
	const struct kl_ast_expr *call;
	int param;

	if (st->kind == KL_S_IF) {
		if (!match_full(s, m, st, e))
			return false;
		st = st->next;
	}
	call = st && st->kind == KL_S_EXPR ? call_on(s, st->lhs) : NULL;
	if (!call || (call->cont_op != KL_CO_PUSH && call->cont_op != KL_CO_PUSH_FRONT))
		return false;
	param = parameter(m, call->a);
	if (param < 0 || m->pub.params[param].type != KL_T_WORD)
		return false;
	e->act = KL_END_PUSH;
	e->back = call->cont_op == KL_CO_PUSH;
	e->value = param;
	st = st->next;
	return m->pub.nresults ? st && !st->next && kl_ends_results(s, st, e->done, NULL) : !st;
}

static bool match_pop(const struct kl_spec *s, const struct kl_method_def *m,
		      const struct kl_stmt *st, struct kl_end_method *e)
{
	const struct kl_ast_expr *zero = if_size(s, st), *call;
	struct kl_val v;

	if (zero) {
		if (!constant(zero, &v) || !kl_val_eq(v, kl_word(0)) ||
		    !kl_ends_results(s, unwrap(st->body), e->other, NULL))
			return false;
		st = st->next;
	}
	call = st && !st->next ? kl_ends_results(s, st, e->done, &e->value) : NULL;
	if (!call || call->nargs || m->pub.results[e->value].type != KL_T_WORD)
		return false;
	/* Without an `if', the call itself returns `empty', and must be the only result. */
	if (!zero) {
		if (m->pub.nresults != 1)
			return false;
		e->other[0] = kl_special(KL_EMPTY);
	}
	e->act = call->cont_op == KL_CO_POP || call->cont_op == KL_CO_POP_BACK ? KL_END_POP :
		 KL_END_LOOK;
	e->back = call->cont_op == KL_CO_POP_BACK || call->cont_op == KL_CO_BACK ||
		  s->vars->cont == KL_C_STACK;
	return call->cont_op != KL_CO_SIZE;
}

const struct kl_stmt *kl_ends_first(const struct kl_method_def *m)
{
	const struct kl_stmt *st = unwrap(m->body);

	if (!st || st->kind != KL_S_ATOMIC || !st->body || st->body->kind != KL_S_BLOCK)
		return NULL;
	return st->body->body;
}

bool kl_spec_end_method(const struct kl_spec *s, unsigned int method, struct kl_end_method *e)
{
	const struct kl_method_def *m = &s->methods[method];
	const struct kl_stmt *st = kl_ends_first(m);

	*e = (struct kl_end_method){ .most = -1, .replaces = -1, .nresults = m->pub.nresults };
	if (!st || s->nvars != 1)
		return false;
	if (kl_ends_push(s, m, st, e))
		return true;
	*e = (struct kl_end_method){ .most = -1, .replaces = -1, .nresults = m->pub.nresults };
	return match_pop(s, m, st, e);
}
