// SPDX-License-Identifier: GPL-2.0
/* The parser: expressions of specs. */
#include "spec/lang/advice.h"

int kl_p_precedence(int kind)
{
	switch (kind) {
	case KL_OP_OR:
		return 1;
	case KL_OP_AND:
		return 2;
	case '|':
		return 3;
	case '^':
		return 4;
	case '&':
		return 5;
	case KL_OP_EQ:
	case KL_OP_NE:
		return 6;
	case '<':
	case '>':
	case KL_OP_LE:
	case KL_OP_GE:
		return 7;
	case KL_OP_SHL:
	case KL_OP_SHR:
		return 8;
	case '+':
	case '-':
		return 9;
	case '*':
	case '/':
	case '%':
		return 10;
	default:
		return 0;
	}
}

struct kl_ast_expr *kl_p_new_expr(struct kl_parser *p, enum kl_ast_kind kind, struct kl_pos pos)
{
	struct kl_ast_expr *e = kl_p_alloc(p, sizeof(*e));

	e->kind = kind;
	e->pos = pos;
	return e;
}

/* Later passes recurse over the tree, so its depth is bounded here. */
struct kl_ast_expr *kl_p_deeper(struct kl_parser *p, struct kl_ast_expr *e)
{
	const struct kl_ast_expr *sub[] = { e->a, e->b, e->c };
	unsigned int i;

	for (i = 0; i < 3; i++)
		if (sub[i] && sub[i]->depth >= e->depth)
			e->depth = sub[i]->depth + 1;
	if (e->depth > KL_DEPTH_MAX)
		kl_p_fail(p, e->pos, "the expression has more than %d operators in a "
				     "row", KL_DEPTH_MAX);
	return e;
}

static struct kl_ast_expr *call(struct kl_parser *p, const char *var, struct kl_pos pos)
{
	struct kl_ast_expr *e = kl_p_new_expr(p, KL_A_CALL, pos);

	e->name = var;
	e->method_pos = kl_p_peek(p)->pos;
	e->method = kl_p_name(p, "a container's method after '.'");
	kl_p_expect(p, '(', "'(' after the container's method");
	if (!kl_p_take(p, ')')) {
		do {
			if (e->nargs == 2)
				kl_p_fail(p, kl_p_peek(p)->pos,
					  "a container's method has at most two arguments");
			*(e->nargs++ ? &e->b : &e->a) = kl_p_expr(p);
		} while (kl_p_take(p, ','));
		kl_p_expect(p, ')', "')' or ',' after an argument");
	}
	return kl_p_deeper(p, e);
}

struct kl_ast_expr *kl_p_lvalue_or_call(struct kl_parser *p)
{
	struct kl_pos pos = kl_p_peek(p)->pos;
	const char *name = kl_p_name(p, "an expression");
	char advice[KL_ADVICE_MAX];
	struct kl_ast_expr *e;

	if (!kl_p_impl(p) && kl_p_take(p, '.'))
		return call(p, name, pos);
	e = kl_p_new_expr(p, KL_A_NAME, pos);
	e->name = name;
	if (kl_p_take(p, '[')) {
		e->kind = KL_A_INDEX;
		e->a = kl_p_expr(p);
		kl_p_expect(p, ']', "']' after the index");
	} else if (kl_p_is(p, '(')) {
		kl_p_fail(p, pos, "'%s('%s", name,
			  kl_advise_call ? kl_advise_call(p, name, advice) : ": not a function");
	}
	e = kl_p_deeper(p, e);
	return kl_p_impl(p) ? kl_p_impl_place(p, e) : e;
}

static struct kl_ast_expr *constant(struct kl_parser *p, enum kl_ast_kind kind, uint64_t num)
{
	struct kl_ast_expr *e = kl_p_new_expr(p, kind, kl_p_next(p)->pos);

	e->num = num;
	return e;
}

static struct kl_ast_expr *primary(struct kl_parser *p)
{
	struct kl_tok *t = kl_p_peek(p);
	struct kl_ast_expr *e;

	switch (t->kw) {
	case KL_KW_TRUE:
	case KL_KW_FALSE:
		return constant(p, KL_A_BOOL, t->kw == KL_KW_TRUE);
	case KL_KW_EMPTY:
		return constant(p, KL_A_SPECIAL, KL_EMPTY);
	case KL_KW_FULL:
		return constant(p, KL_A_SPECIAL, KL_FULL);
	case KL_KW_ABSENT:
		return constant(p, KL_A_SPECIAL, KL_ABSENT);
	}
	e = kl_p_impl(p) ? kl_p_impl_primary(p) : NULL;
	if (e)
		return e;
	if (t->kind == KL_TOK_NUM)
		return constant(p, KL_A_NUM, t->num);
	if (kl_p_take(p, '(')) {
		e = kl_p_expr(p);
		kl_p_expect(p, ')', "')'");
		return e;
	}
	if (t->kind == KL_TOK_NAME)
		return kl_p_lvalue_or_call(p);
	kl_p_expected(p, "an expression");
}

static struct kl_ast_expr *unary(struct kl_parser *p)
{
	struct kl_tok *t = kl_p_peek(p);
	struct kl_ast_expr *e;

	if (t->kind == KL_TOK_INC || t->kind == KL_TOK_DEC)
		kl_p_fail(p, t->pos, "'++' and '--' do not exist: write '+= 1' and '-= 1'");
	if (t->kind == '*' || t->kind == '&')
		kl_p_fail(p, t->pos, kl_p_impl(p) ?
			  "'&' is for the first argument of cas, xchg and fadd only, and '*' for "
			  "types" : "a specification has no pointers");
	if (t->kind != '-' && t->kind != '~' && t->kind != '!')
		return primary(p);
	kl_p_next(p);
	kl_p_enter(p);
	e = kl_p_new_expr(p, KL_A_UNARY, t->pos);
	e->op = t->kind;
	e->a = unary(p);
	kl_p_leave(p);
	return kl_p_deeper(p, e);
}

static struct kl_ast_expr *binary(struct kl_parser *p, int min)
{
	struct kl_ast_expr *left = unary(p), *e;
	int prec;

	for (;;) {
		struct kl_tok *t = kl_p_peek(p);

		prec = kl_p_precedence(t->kind);
		if (!prec || prec < min)
			return left;
		kl_p_next(p);
		e = kl_p_new_expr(p, KL_A_BINARY, t->pos);
		e->op = t->kind;
		e->a = left;
		e->b = binary(p, prec + 1);
		left = kl_p_deeper(p, e);
	}
}

struct kl_ast_expr *kl_p_expr(struct kl_parser *p)
{
	struct kl_ast_expr *cond, *e;
	struct kl_tok *t;

	kl_p_enter(p);
	cond = binary(p, 1);
	t = kl_p_peek(p);
	if (kl_p_take(p, '?')) {
		e = kl_p_new_expr(p, KL_A_COND, t->pos);
		e->a = cond;
		e->b = kl_p_expr(p);
		kl_p_expect(p, ':', "':' of '? :'");
		e->c = kl_p_expr(p);
		cond = kl_p_deeper(p, e);
	}
	if (kl_p_impl(p))
		kl_p_impl_lin(p, &cond->lin);
	kl_p_leave(p);
	return cond;
}
