// SPDX-License-Identifier: GPL-2.0
/* Parses the implementations and clients of a spec file. */
#include "spec/impl/impl.h"
#include "spec/lang/parse.h"

static struct kl_impl *impl(struct kl_parser *p)
{
	struct kl_spec *s = kl_p_spec(p);

	if (!s->impl) {
		s->impl = kl_p_alloc(p, sizeof(*s->impl));
		s->impl->pos = kl_p_peek(p)->pos;
	}
	return s->impl;
}

/* ---- expressions ------------------------------------------------------------ */

void kl_p_impl_lin(struct kl_parser *p, struct kl_lin **list)
{
	struct kl_lin *l;

	while (*list)
		list = &(*list)->next;
	while (kl_p_is(p, '@')) {
		l = kl_p_alloc(p, sizeof(*l));
		l->pos = kl_p_next(p)->pos;
		if (!kl_p_take_word(p, "lin"))
			kl_p_expected(p, "'lin' after '@'");
		l->other = kl_p_take_word(p, "other");
		if (!l->other && kl_p_take_kw(p, KL_KW_IF)) {
			kl_p_expect(p, '(', "'(' and a condition after '@lin if'");
			l->cond = kl_p_expr(p);
			kl_p_expect(p, ')', "')' after the condition");
		}
		*list = l;
		list = &l->next;
	}
}

struct kl_ast_expr *kl_p_impl_place(struct kl_parser *p, struct kl_ast_expr *e)
{
	while (kl_p_is(p, KL_TOK_ARROW)) {
		struct kl_ast_expr *f = kl_p_new_expr(p, KL_A_FIELD, kl_p_next(p)->pos);

		f->a = e;
		f->method_pos = kl_p_peek(p)->pos;
		f->method = kl_p_name(p, "a field's name after '->'");
		e = kl_p_deeper(p, f);
	}
	return e;
}

static struct kl_ast_expr *read_modify_write(struct kl_parser *p, enum kl_ast_kind kind)
{
	struct kl_ast_expr *e = kl_p_new_expr(p, kind, kl_p_next(p)->pos);

	kl_p_expect(p, '(', "'('");
	kl_p_expect(p, '&', "'&' and the place that is changed");
	e->a = kl_p_lvalue_or_call(p);
	kl_p_expect(p, ',', "',' after the place");
	e->b = kl_p_expr(p);
	if (kind == KL_A_CAS) {
		kl_p_expect(p, ',', "',' and the new value");
		e->c = kl_p_expr(p);
	}
	kl_p_expect(p, ')', "')'");
	return kl_p_deeper(p, e);
}

struct kl_ast_expr *kl_p_impl_primary(struct kl_parser *p)
{
	const bool called = kl_p_ahead(p, 1)->kind == '(';
	struct kl_ast_expr *e;

	if (kl_p_is_word(p, "null"))
		return kl_p_new_expr(p, KL_A_NULL, kl_p_next(p)->pos);
	if (kl_p_is_word(p, "self") && !called)
		return kl_p_new_expr(p, KL_A_SELF, kl_p_next(p)->pos);
	if (kl_p_is_word(p, "new") && kl_p_ahead(p, 1)->kind == KL_TOK_NAME) {
		e = kl_p_new_expr(p, KL_A_NEW, kl_p_next(p)->pos);
		e->name = kl_p_name(p, "a struct's name after 'new'");
		return e;
	}
	if (called && kl_p_is_word(p, "cas"))
		return read_modify_write(p, KL_A_CAS);
	if (called && kl_p_is_word(p, "xchg"))
		return read_modify_write(p, KL_A_XCHG);
	if (called && kl_p_is_word(p, "fadd"))
		return read_modify_write(p, KL_A_FADD);
	return NULL;
}

/* ---- statements ----------------------------------------------------------------- */

static struct kl_stmt *do_stmt(struct kl_parser *p)
{
	struct kl_stmt *s = kl_p_new_stmt(p, KL_S_DO);

	kl_p_next(p);
	s->body = kl_p_statement(p);
	if (!kl_p_take_kw(p, KL_KW_WHILE))
		kl_p_expected(p, "'while' after the body of 'do'");
	kl_p_expect(p, '(', "'(' after 'while'");
	s->a = kl_p_expr(p);
	kl_p_expect(p, ')', "')' after the condition");
	kl_p_expect(p, ';', "';'");
	return s;
}

static struct kl_stmt *simple(struct kl_parser *p, enum kl_stmt_kind kind)
{
	struct kl_stmt *s = kl_p_new_stmt(p, kind);

	kl_p_next(p);
	kl_p_expect(p, ';', "';'");
	return s;
}

static struct kl_stmt *lock_stmt(struct kl_parser *p, enum kl_stmt_kind kind)
{
	struct kl_stmt *s = kl_p_new_stmt(p, kind);

	kl_p_next(p);
	kl_p_next(p);
	s->lhs = kl_p_lvalue_or_call(p);
	kl_p_expect(p, ')', "')' after the lock");
	kl_p_impl_lin(p, &s->lin);
	kl_p_expect(p, ';', "';'");
	return s;
}

/* Parse the rest of `call method(arguments);`. */
static void call_tail(struct kl_parser *p, struct kl_stmt *s)
{
	s->kind = KL_S_CALL;
	kl_p_next(p);
	s->name = kl_p_name(p, "a method's name after 'call'");
	kl_p_expect(p, '(', "'(' after the method's name");
	if (!kl_p_take(p, ')')) {
		do {
			if (s->nret == KL_MAX_ARGS)
				kl_p_fail(p, kl_p_peek(p)->pos, "a method has at most %d arguments",
					  KL_MAX_ARGS);
			s->ret[s->nret++] = kl_p_expr(p);
		} while (kl_p_take(p, ','));
		kl_p_expect(p, ')', "')' or ',' after an argument");
	}
	kl_p_expect(p, ';', "';' after a call");
}

/* Parse `(a, b) = call m();'. */
static struct kl_stmt *call_list(struct kl_parser *p)
{
	struct kl_stmt *s = kl_p_new_stmt(p, KL_S_CALL);

	kl_p_next(p);
	do {
		if (s->nout == KL_MAX_ARGS)
			kl_p_fail(p, kl_p_peek(p)->pos, "a method has at most %d results",
				  KL_MAX_ARGS);
		s->out[s->nout++] = kl_p_lvalue_or_call(p);
	} while (kl_p_take(p, ','));
	kl_p_expect(p, ')', "')' after the variables");
	kl_p_expect(p, '=', "'=' and a call");
	if (!kl_p_is_word(p, "call"))
		kl_p_expected(p, "'call' and a method");
	call_tail(p, s);
	return s;
}

static bool is_call(struct kl_parser *p, unsigned int ahead)
{
	const struct kl_tok *t = kl_p_ahead(p, ahead);

	return t->kind == KL_TOK_NAME && t->len == 4 && !t->kw &&
	       !__builtin_memcmp(kl_p_spec(p)->text + t->off, "call", 4) &&
	       kl_p_ahead(p, ahead + 1)->kind == KL_TOK_NAME;
}

static struct kl_stmt *declaration(struct kl_parser *p, enum kl_etype type, const char *tname)
{
	struct kl_stmt *first = NULL, **tail = &first, *s;

	do {
		s = kl_p_new_stmt(p, KL_S_DECL);
		if (tname)
			kl_p_expect(p, '*', "'*' and the pointer's name");
		s->type = type;
		s->tname = tname;
		s->name = kl_p_name(p, "a variable's name");
		if (kl_p_take(p, '='))
			s->a = kl_p_expr(p);
		*tail = s;
		tail = &s->next;
	} while (kl_p_take(p, ','));
	kl_p_expect(p, ';', "';' after a declaration");
	return first;
}

struct kl_stmt *kl_p_impl_stmt(struct kl_parser *p)
{
	struct kl_tok *t = kl_p_peek(p);
	const int next = kl_p_ahead(p, 1)->kind;
	struct kl_stmt *s;

	if (kl_p_is_word(p, "do"))
		return do_stmt(p);
	if (kl_p_is_word(p, "break"))
		return simple(p, KL_S_BREAK);
	if (kl_p_is_word(p, "continue"))
		return simple(p, KL_S_CONTINUE);
	if (t->kind == '@') {
		s = kl_p_new_stmt(p, KL_S_BLOCK);
		kl_p_impl_lin(p, &s->lin);
		kl_p_expect(p, ';', "';'");
		return s;
	}
	if (t->kind == '(')
		return call_list(p);
	if (t->kind != KL_TOK_NAME || t->kw != KL_KW_NONE) {
		if (t->kw != KL_KW_WORD && t->kw != KL_KW_BOOL)
			return NULL;
		return declaration(p, kl_p_next(p)->kw == KL_KW_WORD ? KL_ET_WORD : KL_ET_BOOL,
				   NULL);
	}
	/*
	 * The kernel's barriers between stores and between loads do nothing, because TSO keeps
	 * these orders.
	 */
	if (next == ';' && (kl_p_is_word(p, "wmb") || kl_p_is_word(p, "rmb")))
		return simple(p, KL_S_BLOCK);
	if (next == '(' && kl_p_is_word(p, "lock"))
		return lock_stmt(p, KL_S_LOCK);
	if (next == '(' && kl_p_is_word(p, "unlock"))
		return lock_stmt(p, KL_S_UNLOCK);
	if (next == '(' && (kl_p_is_word(p, "cas") || kl_p_is_word(p, "xchg") ||
			    kl_p_is_word(p, "fadd"))) {
		s = kl_p_new_stmt(p, KL_S_EXPR);
		s->lhs = kl_p_expr(p);
		kl_p_expect(p, ';', "';'");
		return s;
	}
	if (next == KL_TOK_NAME && (kl_p_is_word(p, "data") || kl_p_is_word(p, "key"))) {
		kl_p_next(p);
		return declaration(p, KL_ET_WORD, NULL);
	}
	if (is_call(p, 0)) {
		s = kl_p_new_stmt(p, KL_S_CALL);
		call_tail(p, s);
		return s;
	}
	if (next == '=' && is_call(p, 2)) {
		s = kl_p_new_stmt(p, KL_S_CALL);
		s->out[s->nout++] = kl_p_lvalue_or_call(p);
		kl_p_next(p);
		call_tail(p, s);
		return s;
	}
	if (next == '*' && kl_p_ahead(p, 2)->kind == KL_TOK_NAME)
		return declaration(p, KL_ET_WORD, kl_p_name(p, "a struct's name"));
	return NULL;
}

/* ---- declarations ------------------------------------------------------------------ */

/*
 * Parse a type: word, bool, data, key, lock or the name of a struct.  The '*' of a pointer stands
 * before the name of a variable, so it is parsed with the name.
 */
static void field_type(struct kl_parser *p, struct kl_field *f)
{
	f->tname = NULL;
	f->key = kl_p_is_word(p, "key");
	if (kl_p_take_kw(p, KL_KW_WORD) || kl_p_take_word(p, "data") || kl_p_take_word(p, "key"))
		f->type = KL_IT_WORD;
	else if (kl_p_take_kw(p, KL_KW_BOOL))
		f->type = KL_IT_BOOL;
	else if (kl_p_take_word(p, "lock"))
		f->type = KL_IT_LOCK;
	else
		f->tname = kl_p_name(p, "a type: word, bool, data, key, lock or a struct's name");
	f->key &= !f->tname;
}

static void field_name(struct kl_parser *p, struct kl_field *f)
{
	if (f->tname)
		kl_p_expect(p, '*', "'*': only pointers to structs");
	f->pos = kl_p_peek(p)->pos;
	f->name = kl_p_name(p, "a name");
}

static void struct_fields(struct kl_parser *p, void *arg)
{
	struct kl_struct *s = arg;
	struct kl_field f = { 0 };

	field_type(p, &f);
	do {
		if (s->nfields == KL_FIELDS_MAX)
			kl_p_fail(p, kl_p_peek(p)->pos, "more than %d fields", KL_FIELDS_MAX);
		field_name(p, &f);
		s->fields[s->nfields++] = f;
	} while (kl_p_take(p, ','));
	kl_p_expect(p, ';', "';' or ',' after a field");
}

static void struct_decl(struct kl_parser *p)
{
	struct kl_impl *im = impl(p);
	struct kl_struct *s;

	kl_p_next(p);
	if (im->nstructs == KL_STRUCTS_MAX)
		kl_p_fail(p, kl_p_peek(p)->pos, "more than %d structs", KL_STRUCTS_MAX);
	s = &im->structs[im->nstructs];
	s->nfields = 0;
	s->pos = kl_p_peek(p)->pos;
	s->name = kl_p_name(p, "a struct's name");
	im->nstructs++;
	kl_p_expect(p, '{', "'{' and the struct's fields");
	while (!kl_p_is(p, '}') && !kl_p_is(p, KL_TOK_EOF))
		kl_p_guard(p, struct_fields, s);
	kl_p_expect(p, '}', "'}' after the struct's fields");
	kl_p_take(p, ';');
}

static void shared_decl(struct kl_parser *p)
{
	struct kl_impl *im = impl(p);
	struct kl_shared v;
	struct kl_field f = { 0 };

	kl_p_next(p);
	field_type(p, &f);
	do {
		v = (struct kl_shared){ .len = 1 };
		field_name(p, &f);
		v.f = f;
		if (kl_p_take(p, '[')) {
			v.is_array = true;
			v.len_expr = kl_p_expr(p);
			kl_p_expect(p, ']', "']' after the number of elements");
		}
		if (kl_p_take(p, '='))
			v.init_expr = kl_p_expr(p);
		if (im->nvars == KL_SHARED_MAX)
			kl_p_fail(p, f.pos, "more than %d shared variables", KL_SHARED_MAX);
		im->vars[im->nvars++] = v;
	} while (kl_p_take(p, ','));
	kl_p_expect(p, ';', "';' or ',' after a shared variable");
}

static void method_decl(struct kl_parser *p)
{
	struct kl_impl *im = impl(p);
	struct kl_method_def m, *added;

	kl_p_method_head(p, &m);
	added = kl_p_add(p, im, methods);
	*added = m;
	added->body = kl_p_block(p);
}

static unsigned int in_range(struct kl_parser *p, unsigned int max, const char *what)
{
	struct kl_tok *t = kl_p_expect(p, KL_TOK_NUM, what);

	if (!t->num || t->num > max)
		kl_p_fail(p, t->pos, "expected %s of 1 to %u", what, max);
	return t->num;
}

static void roles(struct kl_parser *p, struct kl_client *c)
{
	c->roles = true;
	do {
		unsigned int t = c->nthreads;

		if (t == KL_IMPL_THREADS)
			kl_p_fail(p, kl_p_peek(p)->pos, "more than %d threads", KL_IMPL_THREADS);
		c->nthreads++;
		do {
			if (c->nrole[t] == KL_IMPL_OPS_MAX)
				kl_p_fail(p, kl_p_peek(p)->pos, "more than %d methods",
					  KL_IMPL_OPS_MAX);
			c->role_pos[t][c->nrole[t]] = kl_p_peek(p)->pos;
			c->role[t][c->nrole[t]++] = kl_p_name(p, "a method's name");
		} while (kl_p_take(p, '|'));
	} while (kl_p_take(p, ','));
}

static void values(struct kl_parser *p, struct kl_client *c)
{
	do {
		if (c->nvalues == KL_CLIENT_VALUES)
			kl_p_fail(p, kl_p_peek(p)->pos, "more than %d values", KL_CLIENT_VALUES);
		c->values[c->nvalues++] = kl_p_expect(p, KL_TOK_NUM, "a number")->num;
	} while (kl_p_take(p, ','));
}

static void client_decl(struct kl_parser *p)
{
	struct kl_client *c = &impl(p)->client;
	bool ops = false;

	if (c->given)
		kl_p_fail(p, kl_p_peek(p)->pos, "a second 'client'; a file has one");
	c->given = true;
	c->pos = kl_p_next(p)->pos;
	c->ops = 2;
	if (kl_p_take_word(p, "general")) {
		kl_p_expect(p, '(', "'(' and the number of threads");
		c->nthreads = in_range(p, KL_IMPL_THREADS, "a number of threads");
	} else if (kl_p_take_word(p, "roles")) {
		kl_p_expect(p, '(', "'(' and the methods of each thread");
		roles(p, c);
	} else {
		kl_p_expected(p, "'general(THREADS)' or 'roles(METHOD, METHOD|METHOD, ...)'");
	}
	kl_p_expect(p, ')', "')'");
	while (!kl_p_take(p, ';')) {
		if ((ops && kl_p_is_word(p, "ops")) || (c->nvalues && kl_p_is_word(p, "values")))
			kl_p_fail(p, kl_p_peek(p)->pos, "a second '%s' of this client",
				  ops && kl_p_is_word(p, "ops") ? "ops" : "values");
		if (kl_p_take_word(p, "ops")) {
			ops = true;
			kl_p_expect(p, '(', "'(' and the number of operations");
			c->ops = in_range(p, KL_IMPL_OPS_MAX, "a number of operations");
		} else if (kl_p_take_word(p, "values")) {
			kl_p_expect(p, '(', "'(' and the values");
			values(p, c);
		} else {
			kl_p_expected(p, "'ops(N)', 'values(V, ...)' or ';'");
		}
		kl_p_expect(p, ')', "')'");
	}
}

static void thread_decl(struct kl_parser *p)
{
	struct kl_impl *im = impl(p);
	struct kl_thread_def *t;

	kl_p_next(p);
	if (im->nthreads == KL_IMPL_THREADS)
		kl_p_fail(p, kl_p_peek(p)->pos, "more than %d threads", KL_IMPL_THREADS);
	t = &im->threads[im->nthreads];
	*t = (struct kl_thread_def){ .pos = kl_p_peek(p)->pos };
	t->name = kl_p_name(p, "a thread's name");
	if (kl_p_take(p, '[')) {
		t->count = kl_p_expr(p);
		kl_p_expect(p, ']', "']' after the number of threads");
	}
	if (kl_p_take_word(p, "repeat")) {
		kl_p_expect(p, '(', "'(' and the number of repetitions");
		t->repeat = kl_p_expr(p);
		kl_p_expect(p, ')', "')'");
	}
	t->body = kl_p_block(p);
	im->nthreads++;
}

static void body(struct kl_parser *p, struct kl_stmt **s, struct kl_pos *pos)
{
	impl(p);
	*pos = kl_p_next(p)->pos;
	if (*s)
		kl_p_fail(p, *pos, "the file has two such blocks; expected one");
	*s = kl_p_block(p);
}

static void memory_decl(struct kl_parser *p)
{
	struct kl_memory_decl *m = &impl(p)->memory;

	if (m->given)
		kl_p_fail(p, kl_p_peek(p)->pos, "a second 'memory'; a file has one");
	m->given = true;
	kl_p_next(p);
	m->sc = kl_p_take_word(p, "sc");
	if (!m->sc && !kl_p_take_word(p, "tso"))
		kl_p_expected(p, "'sc' or 'tso', the memory model");
	kl_p_expect(p, ';', "';' after the memory model");
}

static void declare(struct kl_parser *p, void *arg)
{
	(void)arg;
	if (kl_p_is_word(p, "struct"))
		struct_decl(p);
	else if (kl_p_is_word(p, "shared"))
		shared_decl(p);
	else if (kl_p_is_kw(p, KL_KW_METHOD))
		method_decl(p);
	else if (kl_p_is_word(p, "client"))
		client_decl(p);
	else if (kl_p_is_word(p, "thread"))
		thread_decl(p);
	else if (kl_p_is_word(p, "memory"))
		memory_decl(p);
	else if (kl_p_is_word(p, "init"))
		body(p, &impl(p)->init, &impl(p)->init_pos);
	else
		body(p, &impl(p)->final, &impl(p)->final_pos);
}

void kl_p_impl_decl(struct kl_parser *p)
{
	kl_p_set_impl(p, true);
	kl_p_guard(p, declare, NULL);
	kl_p_set_impl(p, false);
}
