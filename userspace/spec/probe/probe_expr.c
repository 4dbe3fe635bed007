// SPDX-License-Identifier: GPL-2.0
/* The parser: expressions of probe clauses, a part of C. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/val.h"
#include "spec/probe/parse_probe.h"

struct ctx {
	struct kl_parser *p;
	const struct kl_probe_target *target;
	bool has_return;
	unsigned int levels; /* depth of the last expression */
};

static struct kl_expr *expr(struct ctx *c);
static struct kl_expr *unary(struct ctx *c);

static struct kl_expr *new_expr(struct ctx *c, enum kl_expr_kind kind, struct kl_pos pos)
{
	struct kl_expr *e = kl_p_alloc(c->p, sizeof(*e));

	e->kind = kind;
	e->pos = pos;
	return e;
}

/* Bound the depth of the tree, since later passes recurse, also to the left. */
static void deeper(struct ctx *c, unsigned int levels, struct kl_pos pos)
{
	c->levels = (levels > c->levels ? levels : c->levels) + 1;
	if (c->levels > KL_DEPTH_MAX)
		kl_p_fail(c->p, pos, "the expression has more than %d operators in a "
				     "row", KL_DEPTH_MAX);
}

static bool is_any(struct ctx *c, const struct kl_tok *t, const char *const *words)
{
	const char *text = kl_p_spec(c->p)->text + t->off;

	for (; t->kind == KL_TOK_NAME && *words; words++)
		if (strlen(*words) == t->len && !memcmp(*words, text, t->len))
			return true;
	return false;
}

static const char *const tags[] = { "struct", "union", "enum", NULL };
static const char *const qualifiers[] = { "const", "volatile", NULL };
static const char *const basic[] = {
	"void", "char", "short", "int", "long", "signed", "unsigned", "bool", "_Bool", NULL,
};

static int find_param(const struct kl_probe_target *t, const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < t->nparams; i++)
		if (strlen(t->params[i]) == len && !memcmp(t->params[i], name, len))
			return i;
	return -1;
}

static char *copy(struct ctx *c, const struct kl_tok *t)
{
	char *s = kl_p_alloc(c->p, t->len + 1);

	return memcpy(s, kl_p_spec(c->p)->text + t->off, t->len);
}

/* Parse a basic type such as "unsigned long".  Return: its words, joined by one space. */
static const char *basic_name(struct ctx *c)
{
	char name[64] = "";
	size_t len = 0;
	char *s;

	while (is_any(c, kl_p_peek(c->p), basic) || is_any(c, kl_p_peek(c->p), qualifiers)) {
		struct kl_tok *t = kl_p_next(c->p);

		if (is_any(c, t, qualifiers))
			continue;
		if (len + t->len + 2 > sizeof(name))
			kl_p_fail(c->p, t->pos, "this is no type of C");
		len += snprintf(name + len, sizeof(name) - len, "%s%.*s", len ? " " : "",
				(int)t->len, kl_p_spec(c->p)->text + t->off);
	}
	s = kl_p_alloc(c->p, len + 1);
	return memcpy(s, name, len);
}

static struct kl_ctype parse_type(struct ctx *c)
{
	struct kl_ctype type = { .kind = "" };
	struct kl_parser *p = c->p;

	while (is_any(c, kl_p_peek(p), qualifiers))
		kl_p_next(p);
	if (is_any(c, kl_p_peek(p), tags)) {
		type.kind = copy(c, kl_p_next(p));
		type.name = kl_p_name(p, "the type's name");
	} else if (is_any(c, kl_p_peek(p), basic)) {
		type.name = basic_name(c);
	} else {
		type.name = kl_p_name(p, "a type of C");
	}
	while (kl_p_is(p, '*') || is_any(c, kl_p_peek(p), qualifiers))
		type.ptr += kl_p_next(p)->kind == '*';
	if (type.ptr > 8)
		kl_p_fail(p, kl_p_peek(p)->pos, "a type has more than 8 levels of pointers");
	return type;
}

/* Return: true if a cast begins at this '('.  A name that is no parameter can only be a type. */
static bool at_cast(struct ctx *c)
{
	const struct kl_tok *t = kl_p_ahead(c->p, 1);
	const char *text = kl_p_spec(c->p)->text;

	if (is_any(c, t, tags) || is_any(c, t, basic) || is_any(c, t, qualifiers))
		return true;
	if (t->kind != KL_TOK_NAME || t->kw != KL_KW_NONE ||
	    find_param(c->target, text + t->off, t->len) >= 0)
		return false;
	/* Two names in a row are no expression, but a cast without its ')'. */
	if (t[1].kind == KL_TOK_NAME)
		return true;
	for (t++; t->kind == '*'; t++)
		;
	return t->kind == ')';
}

/* Parse offsetof(type, a.b.c). */
static struct kl_expr *offset_of(struct ctx *c)
{
	struct kl_parser *p = c->p;
	struct kl_expr *e = new_expr(c, KL_E_OFFSETOF, kl_p_next(p)->pos);
	const char *text = kl_p_spec(p)->text;
	char path[256];
	size_t len = 0;
	char *s;

	kl_p_expect(p, '(', "'(' after 'offsetof'");
	e->type = parse_type(c);
	kl_p_expect(p, ',', "',' and a member of the type");
	do {
		struct kl_tok *t = kl_p_expect(p, KL_TOK_NAME, "a member's name");

		if (len + t->len + 2 > sizeof(path))
			kl_p_fail(p, t->pos, "more than %zu characters of members", sizeof(path));
		len += snprintf(path + len, sizeof(path) - len, "%s%.*s", len ? "." : "",
				(int)t->len, text + t->off);
	} while (kl_p_take(p, '.'));
	kl_p_expect(p, ')', "')' after the member");
	s = kl_p_alloc(p, len + 1);
	e->name = memcpy(s, path, len);
	return e;
}

/* Parse number(text, n). */
static struct kl_expr *number(struct ctx *c)
{
	struct kl_parser *p = c->p;
	struct kl_expr *e = new_expr(c, KL_E_NUMBER, kl_p_next(p)->pos);

	kl_p_expect(p, '(', "'(' after 'number'");
	e->a = expr(c);
	kl_p_expect(p, ',', "',' and the index of a number of the text, from 0");
	e->num = kl_p_expect(p, KL_TOK_NUM, "the index of a number of the text, from 0")->num;
	if (e->num > 7)
		kl_p_fail(p, e->pos, "index %llu of a number of a text: at most 7 is supported",
			  (unsigned long long)e->num);
	kl_p_expect(p, ')', "')' after the number");
	deeper(c, 0, e->pos);
	return e;
}

/* Parse user(lvalue). */
static struct kl_expr *user(struct ctx *c)
{
	struct kl_parser *p = c->p;
	struct kl_expr *e = new_expr(c, KL_E_USER, kl_p_next(p)->pos);

	kl_p_expect(p, '(', "'(' after 'user'");
	e->a = expr(c);
	kl_p_expect(p, ')', "')' after the place in user memory");
	deeper(c, 0, e->pos);
	return e;
}

/* Parse enumerator(NAME). */
static struct kl_expr *enumerator(struct ctx *c)
{
	struct kl_parser *p = c->p;
	struct kl_expr *e = new_expr(c, KL_E_ENUM, kl_p_next(p)->pos);

	kl_p_expect(p, '(', "'(' after 'enumerator'");
	e->name = kl_p_name(p, "a constant of an enum of the kernel");
	kl_p_expect(p, ')', "')' after the constant");
	return e;
}

/* Check that a special value is the whole value (@allowed), or a branch of a ?: that is. */
static void check_special(struct kl_parser *p, const struct kl_expr *e, bool allowed)
{
	if (!e)
		return;
	if (e->kind == KL_E_SPECIAL && !allowed)
		kl_p_fail(p, e->pos, "'%s' is not a number: it can be a whole argument or result, "
				     "or a branch of ?: there", e->name);
	check_special(p, e->a, false);
	check_special(p, e->b, allowed && e->kind == KL_E_COND);
	check_special(p, e->c, allowed && e->kind == KL_E_COND);
}

static struct kl_expr *special(struct ctx *c)
{
	static const struct {
		const char *name;
		enum kl_tag tag;
	} specials[] = { { "empty", KL_EMPTY }, { "full", KL_FULL }, { "absent", KL_ABSENT } };
	struct kl_expr *e;
	size_t i;

	for (i = 0; i < sizeof(specials) / sizeof(specials[0]); i++) {
		if (!kl_p_is_word(c->p, specials[i].name))
			continue;
		e = new_expr(c, KL_E_SPECIAL, kl_p_next(c->p)->pos);
		e->num = specials[i].tag;
		e->name = specials[i].name;
		return e;
	}
	return NULL;
}

/* Return: true if the word looks like the name of a type of the kernel, as u32 and size_t do. */
static bool is_type(const char *word)
{
	const size_t len = strlen(word);

	if (len > 2 && !strcmp(word + len - 2, "_t"))
		return true;
	return (*word == 'u' || *word == 's') && isdigit((unsigned char)word[1]) &&
	       strspn(word + 1, "0123456789") == len - 1;
}

/* Return: true if the word looks like a constant of C. */
static bool is_constant(const char *word)
{
	size_t i;

	for (i = 0; word[i]; i++)
		if (!isupper((unsigned char)word[i]) && !isdigit((unsigned char)word[i]) &&
		    word[i] != '_')
			return false;
	return i > 1;
}

static struct kl_expr *name(struct ctx *c)
{
	struct kl_parser *p = c->p;
	struct kl_tok *t = kl_p_peek(p);
	const struct kl_probe_target *target = c->target;
	const char *text = kl_p_spec(p)->text + t->off, *near, *word;
	struct kl_expr *e;
	int index;

	index = find_param(target, text, t->len);
	if (index >= 0) {
		e = new_expr(c, KL_E_PARAM, t->pos);
		e->index = index;
		e->name = target->params[index];
		kl_p_next(p);
		return e;
	}
	if (kl_p_is_word(p, "offsetof"))
		return offset_of(c);
	if (kl_p_is_word(p, "number"))
		return number(c);
	if (kl_p_is_word(p, "user"))
		return user(c);
	if (kl_p_is_word(p, "enumerator"))
		return enumerator(c);
	if (kl_p_is_word(p, "current"))
		return new_expr(c, KL_E_CURRENT, kl_p_next(p)->pos);
	if (kl_p_is_word(p, "unknown")) {
		kl_p_next(p);
		return new_expr(c, KL_E_UNKNOWN, t->pos);
	}
	e = special(c);
	if (e)
		return e;
	if (kl_p_is_word(p, "NULL")) {
		kl_p_next(p);
		return new_expr(c, KL_E_NUM, t->pos);
	}
	word = kl_p_name(p, "an expression");
	if (kl_p_is(p, '('))
		kl_p_fail(p, t->pos, "a probe clause cannot call functions%s",
			  strcmp(word, "IS_ERR") ?
				  "" :
				  "; write 'P >= (unsigned long)-4095' for IS_ERR(P)");
	near = kl_nearest(word, target->params, target->nparams);
	if (near)
		kl_p_fail(p, t->pos, "'%s' has no parameter '%s'; did you mean '%s'?", target->name,
			  word, near);
	if (is_type(word))
		kl_p_fail(p, t->pos, "'%s' is a type: write '(%s)' before what is cast", word,
			  word);
	if (!strcmp(word, "retval") || !strcmp(word, "ret") || !strcmp(word, "result"))
		kl_p_fail(p, t->pos,
			  "the clause gives '%s' no parameter '%s'; its result is "
			  "'return'",
			  target->name, word);
	kl_p_fail(p, t->pos, "the clause gives '%s' no parameter '%s'%s%s%s", target->name, word,
		  is_constant(word) ? "; write 'enumerator(" : "", is_constant(word) ? word : "",
		  is_constant(word) ? ")' for a constant of the kernel" : "");
}

static struct kl_expr *primary(struct ctx *c)
{
	struct kl_parser *p = c->p;
	struct kl_tok *t = kl_p_peek(p);
	struct kl_expr *e;

	c->levels = 0;
	if (t->kind == KL_TOK_NUM || t->kw == KL_KW_TRUE || t->kw == KL_KW_FALSE) {
		e = new_expr(c, KL_E_NUM, t->pos);
		e->num = t->kind == KL_TOK_NUM ? t->num : t->kw == KL_KW_TRUE;
		kl_p_next(p);
		return e;
	}
	if (kl_p_take_kw(p, KL_KW_RETURN)) {
		c->has_return = true;
		return new_expr(c, KL_E_RETURN, t->pos);
	}
	if (kl_p_is_word(p, "sizeof")) {
		kl_p_next(p);
		e = new_expr(c, KL_E_SIZEOF, t->pos);
		kl_p_expect(p, '(', "'(' and a type after 'sizeof'");
		e->type = parse_type(c);
		kl_p_expect(p, ')', "')' after the type");
		return e;
	}
	if (kl_p_take(p, '(')) {
		e = expr(c);
		kl_p_expect(p, ')', "')'");
		return e;
	}
	if (t->kind != KL_TOK_NAME)
		kl_p_expected(p, "an expression");
	return name(c);
}

static struct kl_expr *postfix(struct ctx *c)
{
	struct kl_parser *p = c->p;
	struct kl_expr *e = primary(c), *outer;
	unsigned int levels;

	for (;;) {
		struct kl_tok *t = kl_p_peek(p);

		levels = c->levels;
		if (kl_p_take(p, KL_TOK_ARROW) || kl_p_take(p, '.')) {
			outer = new_expr(c, t->kind == '.' ? KL_E_DOT : KL_E_ARROW, t->pos);
			/* The name of a member may be a reserved word such as `set'. */
			outer->name = copy(c, kl_p_expect(p, KL_TOK_NAME, "a member's name"));
		} else if (kl_p_take(p, '[')) {
			outer = new_expr(c, KL_E_INDEX, t->pos);
			outer->b = expr(c);
			kl_p_expect(p, ']', "']' after the index");
		} else if (t->kind == '(') {
			kl_p_fail(p, t->pos, "a probe clause cannot call functions");
		} else {
			return e;
		}
		outer->a = e;
		e = outer;
		deeper(c, levels, t->pos);
	}
}

static struct kl_expr *unary(struct ctx *c)
{
	struct kl_parser *p = c->p;
	struct kl_tok *t = kl_p_peek(p);
	struct kl_expr *e;

	if (t->kind == '(' && at_cast(c)) {
		kl_p_next(p);
		e = new_expr(c, KL_E_CAST, t->pos);
		e->type = parse_type(c);
		kl_p_expect(p, ')', "')' after the type");
	} else if (t->kind == '-' || t->kind == '~' || t->kind == '!' || t->kind == '*' ||
		   t->kind == '&') {
		kl_p_next(p);
		e = new_expr(c, KL_E_UNARY, t->pos);
		e->op = t->kind;
	} else {
		return postfix(c);
	}
	kl_p_enter(p);
	e->a = unary(c);
	kl_p_leave(p);
	deeper(c, 0, t->pos);
	return e;
}

static struct kl_expr *binary(struct ctx *c, int min)
{
	struct kl_expr *left = unary(c), *e;
	unsigned int levels;

	for (;;) {
		struct kl_tok *t = kl_p_peek(c->p);
		int prec = kl_p_precedence(t->kind);

		if (!prec || prec < min)
			return left;
		levels = c->levels;
		kl_p_next(c->p);
		e = new_expr(c, KL_E_BINARY, t->pos);
		e->op = t->kind;
		e->a = left;
		e->b = binary(c, prec + 1);
		deeper(c, levels, t->pos);
		left = e;
	}
}

static struct kl_expr *expr(struct ctx *c)
{
	struct kl_expr *cond, *e;
	unsigned int levels;
	struct kl_tok *t;

	kl_p_enter(c->p);
	cond = binary(c, 1);
	t = kl_p_peek(c->p);
	if (kl_p_take(c->p, '?')) {
		levels = c->levels;
		e = new_expr(c, KL_E_COND, t->pos);
		e->a = cond;
		e->b = expr(c);
		kl_p_expect(c->p, ':', "':' of '? :'");
		levels = levels > c->levels ? levels : c->levels;
		e->c = expr(c);
		deeper(c, levels, t->pos);
		cond = e;
	}
	kl_p_leave(c->p);
	return cond;
}

const struct kl_expr *kl_p_probe_expr(struct kl_parser *p, const struct kl_probe_target *target,
				      bool special, bool *has_return)
{
	struct ctx c = { .p = p, .target = target };
	const struct kl_expr *e = expr(&c);

	check_special(p, e, special);
	*has_return = c.has_return;
	return e;
}
