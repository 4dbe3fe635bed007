// SPDX-License-Identifier: GPL-2.0
/* The parser: statements. */
#include "spec/lang/advice.h"

struct kl_stmt *kl_p_new_stmt(struct kl_parser *p, enum kl_stmt_kind kind)
{
	struct kl_stmt *s = kl_p_alloc(p, sizeof(*s));

	s->kind = kind;
	s->pos = kl_p_peek(p)->pos;
	return s;
}

static struct kl_ast_expr *in_parentheses(struct kl_parser *p, const char *open)
{
	struct kl_ast_expr *e;

	kl_p_expect(p, '(', open);
	e = kl_p_expr(p);
	kl_p_expect(p, ')', "')' after the condition");
	return e;
}

static struct kl_stmt *if_stmt(struct kl_parser *p)
{
	struct kl_stmt *s = kl_p_new_stmt(p, KL_S_IF);

	kl_p_next(p);
	s->a = in_parentheses(p, "'(' after 'if'");
	s->body = kl_p_statement(p);
	if (kl_p_take_kw(p, KL_KW_ELSE))
		s->other = kl_p_statement(p);
	return s;
}

static struct kl_stmt *while_stmt(struct kl_parser *p)
{
	struct kl_stmt *s = kl_p_new_stmt(p, KL_S_WHILE);

	kl_p_next(p);
	s->a = in_parentheses(p, "'(' after 'while'");
	s->body = kl_p_statement(p);
	return s;
}

static struct kl_stmt *condition(struct kl_parser *p, enum kl_stmt_kind kind)
{
	struct kl_stmt *s = kl_p_new_stmt(p, kind);

	kl_p_next(p);
	s->a = in_parentheses(p, kind == KL_S_ASSUME ? "'(' after 'assume'" : "'(' after 'assert'");
	kl_p_expect(p, ';', "';'");
	return s;
}

/* Return: true if @t begins a list of results, as "(a, b)", and no expression, as "(a) + b". */
static bool is_list(const struct kl_tok *t)
{
	unsigned int depth = 0;

	for (; t->kind != KL_TOK_EOF && t->kind != ';'; t++) {
		depth += (t->kind == '(') - (t->kind == ')');
		if (!depth)
			return false;
		if (t->kind == ',' && depth == 1)
			return true;
	}
	return false;
}

static struct kl_stmt *return_stmt(struct kl_parser *p)
{
	struct kl_stmt *s = kl_p_new_stmt(p, KL_S_RETURN);

	kl_p_next(p);
	if (kl_p_take(p, ';'))
		return s;
	if (is_list(kl_p_peek(p))) {
		kl_p_next(p);
		do {
			if (s->nret == KL_MAX_ARGS)
				kl_p_fail(p, kl_p_peek(p)->pos, "a method has at most %d results",
					  KL_MAX_ARGS);
			s->ret[s->nret++] = kl_p_expr(p);
		} while (kl_p_take(p, ','));
		kl_p_expect(p, ')', "')' after the results");
	} else {
		s->ret[s->nret++] = kl_p_expr(p);
	}
	if (kl_p_is(p, ','))
		kl_p_fail(p, kl_p_peek(p)->pos,
			  "several results need parentheses: 'return (a, b);'");
	kl_p_expect(p, ';', "';' after 'return'");
	return s;
}

static struct kl_stmt *choose_stmt(struct kl_parser *p)
{
	struct kl_stmt *s = kl_p_new_stmt(p, KL_S_CHOOSE);

	kl_p_next(p);
	s->has_type = kl_p_take_kw(p, KL_KW_WORD);
	s->pos = kl_p_peek(p)->pos;
	s->name = kl_p_name(p, "a variable's name after 'choose'");
	/* Without a range the choice is any word. */
	if (kl_p_take(p, ';'))
		return s;
	if (!kl_p_take_word(p, "in"))
		kl_p_expected(p, "'in' and a range, or ';': 'choose x in 0..3;'");
	s->a = kl_p_expr(p);
	kl_p_expect(p, KL_TOK_DOTDOT, "'..' between the ends of the range");
	s->b = kl_p_expr(p);
	kl_p_expect(p, ';', "';' after the range");
	return s;
}

static struct kl_stmt *either_stmt(struct kl_parser *p)
{
	struct kl_stmt *s = kl_p_new_stmt(p, KL_S_EITHER), **tail = &s->body;

	kl_p_next(p);
	do {
		if (!kl_p_is(p, '{'))
			kl_p_expected(p, "'{' and an alternative");
		*tail = kl_p_block(p);
		tail = &(*tail)->next;
	} while (kl_p_take_kw(p, KL_KW_OR));
	if (!s->body->next)
		kl_p_expected(p, "'or {': 'either' needs two alternatives");
	return s;
}

static struct kl_stmt *atomic_stmt(struct kl_parser *p)
{
	struct kl_stmt *s = kl_p_new_stmt(p, KL_S_ATOMIC);
	bool flush = kl_p_next(p)->kw == KL_KW_ATOMIC_FLUSH;

	s->flush = flush;
	if (!kl_p_is(p, '{'))
		kl_p_expected(p, flush ? "'{' after 'atomic_flush'" : "'{' after 'atomic'");
	s->body = kl_p_block(p);
	/* The block is one step, so a linearization point after it is at this step. */
	if (kl_p_impl(p) && kl_p_is(p, '@')) {
		kl_p_impl_lin(p, &s->lin);
		kl_p_expect(p, ';', "';'");
	}
	return s;
}

static struct kl_stmt *declaration(struct kl_parser *p)
{
	enum kl_etype type = kl_p_next(p)->kw == KL_KW_WORD ? KL_ET_WORD : KL_ET_BOOL;
	struct kl_stmt *first = NULL, **tail = &first, *s;

	do {
		s = kl_p_new_stmt(p, KL_S_DECL);
		s->type = type;
		s->name = kl_p_name(p, "a variable's name");
		if (kl_p_is(p, '['))
			kl_p_fail(p, kl_p_peek(p)->pos, "an array cannot be local to a method");
		if (kl_p_take(p, '='))
			s->a = kl_p_expr(p);
		*tail = s;
		tail = &s->next;
	} while (kl_p_take(p, ','));
	kl_p_expect(p, ';', "';' after a declaration");
	return first;
}

static struct kl_stmt *assignment_or_call(struct kl_parser *p)
{
	struct kl_stmt *s = kl_p_new_stmt(p, KL_S_ASSIGN);
	struct kl_tok *t;

	s->lhs = kl_p_lvalue_or_call(p);
	if (s->lhs->kind == KL_A_CALL) {
		s->kind = KL_S_EXPR;
		kl_p_expect(p, ';', "';' after a call");
		return s;
	}
	t = kl_p_peek(p);
	if (t->kind == KL_TOK_INC || t->kind == KL_TOK_DEC)
		kl_p_fail(p, t->pos, "'++' and '--' do not exist: write '+= 1' and '-= 1'");
	if (t->kind != '=' && t->kind < KL_TOK_ASSIGN)
		kl_p_expected(p, "an assignment ('=', '+=', ...) or a container's method ('.')");
	kl_p_next(p);
	s->op = t->kind == '=' ? '=' : t->kind - KL_TOK_ASSIGN;
	s->a = kl_p_expr(p);
	kl_p_expect(p, ';', "';' after an assignment");
	return s;
}

struct kl_stmt *kl_p_statement(struct kl_parser *p)
{
	struct kl_tok *t = kl_p_peek(p);
	struct kl_stmt *s;
	const char *word;

	if (t->kind == '{')
		return kl_p_block(p);
	kl_p_enter(p);
	s = kl_p_impl(p) ? kl_p_impl_stmt(p) : NULL;
	if (s) {
		kl_p_leave(p);
		return s;
	}
	switch (t->kw) {
	case KL_KW_IF:
		s = if_stmt(p);
		break;
	case KL_KW_WHILE:
		s = while_stmt(p);
		break;
	case KL_KW_ASSUME:
		s = condition(p, KL_S_ASSUME);
		break;
	case KL_KW_ASSERT:
		s = condition(p, KL_S_ASSERT);
		break;
	case KL_KW_RETURN:
		s = return_stmt(p);
		break;
	case KL_KW_CHOOSE:
		s = choose_stmt(p);
		break;
	case KL_KW_EITHER:
		s = either_stmt(p);
		break;
	case KL_KW_ATOMIC:
	case KL_KW_ATOMIC_FLUSH:
		s = atomic_stmt(p);
		break;
	case KL_KW_FENCE:
		s = kl_p_new_stmt(p, KL_S_FENCE);
		kl_p_next(p);
		kl_p_expect(p, ';', "';' after 'fence'");
		break;
	case KL_KW_WORD:
	case KL_KW_BOOL:
		s = declaration(p);
		break;
	case KL_KW_OTHER:
		word = kl_p_spec(p)->text + t->off;
		kl_p_fail(p, t->pos, "'%.*s' does not exist%s", (int)t->len, word,
			  kl_advise_word ? kl_advise_word(word, t->len, kl_p_impl(p)) : "");
	default:
		if (t->kind != KL_TOK_NAME || t->kw != KL_KW_NONE)
			kl_p_expected(p, "a statement");
		s = assignment_or_call(p);
	}
	kl_p_leave(p);
	return s;
}

struct list {
	struct kl_stmt **tail;
};

static void guarded(struct kl_parser *p, void *arg)
{
	struct list *l = arg;

	*l->tail = kl_p_statement(p);
	while (*l->tail)
		l->tail = &(*l->tail)->next;
}

struct kl_stmt *kl_p_block(struct kl_parser *p)
{
	struct kl_stmt *s = kl_p_new_stmt(p, KL_S_BLOCK);
	struct list l = { .tail = &s->body };

	kl_p_enter(p);
	kl_p_expect(p, '{', "'{'");
	while (!kl_p_is(p, '}') && !kl_p_is(p, KL_TOK_EOF)) {
		if (!kl_p_take(p, ';'))
			kl_p_guard(p, guarded, &l);
	}
	kl_p_expect(p, '}', "'}' at the block's end");
	kl_p_leave(p);
	return s;
}
