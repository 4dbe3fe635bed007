// SPDX-License-Identifier: GPL-2.0
/* The parser: the history block, see mapping.h. */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "spec/lang/advice.h"
#include "spec/lang/parse.h"
#include "spec/mapping/mapping.h"

/* A rule while it is parsed. */
struct rule {
	struct kl_mapping *map;
	struct kl_map_rule r;
	bool elements; /* an expression used the element of the rule's list */
};

static const struct kl_map_expr *parse_expr(struct kl_parser *p, struct rule *r);

static struct kl_map_expr *new_expr(struct kl_parser *p, enum kl_map_kind kind)
{
	struct kl_map_expr *e = kl_p_alloc(p, sizeof(*e));

	e->kind = kind;
	e->pos = kl_p_peek(p)->pos;
	return e;
}

/* Copy the characters of the text between two places. */
static const char *copy(struct kl_parser *p, size_t from, size_t len)
{
	return memcpy(kl_p_alloc(p, len + 1), kl_p_spec(p)->text + from, len);
}

/* Read a text in quotes.  Its contents have no escapes. */
static const char *parse_text(struct kl_parser *p, size_t *len)
{
	const struct kl_tok *t = kl_p_expect(p, KL_TOK_STRING, "a text in quotes");

	*len = t->len - 2;
	return copy(p, t->off + 1, *len);
}

/* Return: true if the token @b follows @a without a blank. */
static bool adjacent(const struct kl_tok *a, const struct kl_tok *b)
{
	return a->off + a->len == b->off;
}

/* Read the name of a member, which may be a reserved word and may have hyphens: .mod-revision */
static void parse_member(struct kl_parser *p, struct kl_map_step *s)
{
	struct kl_tok *t = kl_p_peek(p), *first = t;

	if (t->kind == KL_TOK_STRING) {
		s->name = parse_text(p, &s->len);
		return;
	}
	if (t->kind != KL_TOK_NAME)
		kl_p_expected(p, "the name of a member after '.', as in .value or .\"my value\"");
	for (kl_p_next(p);
	     kl_p_is(p, '-') && adjacent(t, kl_p_peek(p)) &&
	     kl_p_ahead(p, 1)->kind == KL_TOK_NAME && adjacent(kl_p_peek(p), kl_p_ahead(p, 1));
	     kl_p_next(p)) {
		kl_p_next(p);
		t = kl_p_peek(p);
	}
	s->len = t->off + t->len - first->off;
	s->name = copy(p, first->off, s->len);
}

static const struct kl_map_expr *parse_path(struct kl_parser *p, struct rule *r)
{
	struct kl_map_expr *e = new_expr(p, KL_M_PATH);
	struct kl_map_step steps[KL_MAP_STEPS] = { 0 }, *s;

	e->path = kl_p_spec(p)->mapping->npaths++;
	if (kl_p_is(p, KL_TOK_NAME)) {
		kl_p_next(p);
		e->element = true;
		r->elements = true;
	}
	while (kl_p_is(p, '.') || kl_p_is(p, '[')) {
		if (e->nsteps == KL_MAP_STEPS)
			kl_p_fail(p, kl_p_peek(p)->pos, "a path has at most %d steps",
				  KL_MAP_STEPS);
		s = &steps[e->nsteps++];
		if (kl_p_take(p, '.')) {
			parse_member(p, s);
			continue;
		}
		kl_p_next(p);
		s->index = kl_p_expect(p, KL_TOK_NUM, "the number of an item, from 0")->num;
		kl_p_expect(p, ']', "']' after the number of an item");
	}
	if (kl_p_is(p, '/'))
		kl_p_fail(p, kl_p_peek(p)->pos,
			  "unexpected '/': a name with '/' is in quotes, as in .\"queue/item\"");
	e->steps = memcpy(kl_p_alloc(p, sizeof(steps)), steps, sizeof(steps));
	return e;
}

static const struct kl_map_expr *parse_bits(struct kl_parser *p, struct rule *r)
{
	struct kl_map_expr *e = new_expr(p, KL_M_BITS);

	kl_p_next(p);
	kl_p_next(p);
	e->a = parse_expr(p, r);
	kl_p_expect(p, ')', "')' after the set");
	if (r)
		r->map->bits = true;
	return e;
}

static const struct kl_map_expr *constant(struct kl_parser *p, enum kl_map_kind kind,
					  struct kl_val val)
{
	struct kl_map_expr *e = new_expr(p, kind);

	kl_p_next(p);
	e->val = val;
	return e;
}

static const struct kl_map_expr *parse_number(struct kl_parser *p)
{
	struct kl_map_expr *e = new_expr(p, KL_M_NUMBER);
	const bool minus = kl_p_take(p, '-');
	const uint64_t n = kl_p_expect(p, KL_TOK_NUM, "a number after '-'")->num;

	e->val = kl_word(minus ? -n : n);
	return e;
}

static const struct kl_map_expr *parse_primary(struct kl_parser *p, struct rule *r)
{
	static const char expected[] =
		"a path as .value or .value[0], a text in quotes, a number, true, false, null, "
		"empty, full, absent or unknown";
	const struct kl_map_expr *inner;
	struct kl_map_expr *e;

	if (kl_p_is(p, '.') || kl_p_is(p, '['))
		return parse_path(p, r);
	if (r && r->r.each && kl_p_is_word(p, r->r.each))
		return parse_path(p, r);
	if (kl_p_is(p, KL_TOK_STRING)) {
		e = new_expr(p, KL_M_TEXT);
		e->text = parse_text(p, &e->len);
		return e;
	}
	if (kl_p_is(p, KL_TOK_NUM) || kl_p_is(p, '-'))
		return parse_number(p);
	if (kl_p_take(p, '(')) {
		inner = parse_expr(p, r);
		kl_p_expect(p, ')', "')'");
		return inner;
	}
	if (kl_p_is_word(p, "bits") && kl_p_ahead(p, 1)->kind == '(')
		return parse_bits(p, r);
	if (kl_p_is_kw(p, KL_KW_TRUE) || kl_p_is_kw(p, KL_KW_FALSE))
		return constant(p, KL_M_BOOL, kl_word(kl_p_is_kw(p, KL_KW_TRUE)));
	if (kl_p_is_word(p, "null"))
		return constant(p, KL_M_NULL, kl_word(0));
	if (kl_p_is_word(p, "unknown"))
		return constant(p, KL_M_SPECIAL, kl_special(KL_ANY));
	if (kl_p_is_kw(p, KL_KW_EMPTY))
		return constant(p, KL_M_SPECIAL, kl_special(KL_EMPTY));
	if (kl_p_is_kw(p, KL_KW_FULL))
		return constant(p, KL_M_SPECIAL, kl_special(KL_FULL));
	if (kl_p_is_kw(p, KL_KW_ABSENT))
		return constant(p, KL_M_SPECIAL, kl_special(KL_ABSENT));
	if (kl_p_is(p, ':') && kl_p_mark(p) && kl_p_peek(p)[-1].kind == KL_TOK_NAME)
		kl_p_fail(p, kl_p_peek(p)->pos, "no ':' stands here: write 'process .process;'");
	if (kl_p_is(p, ':'))
		kl_p_fail(p, kl_p_peek(p)->pos,
			  "keywords of EDN are written as texts: \"read\" "
			  "stands for :read, read and \"read\"");
	if (kl_p_is(p, KL_TOK_NAME) && kl_p_ahead(p, 1)->kind == '(')
		kl_p_fail(p, kl_p_peek(p)->pos, "the only function here is bits(...)");
	if (kl_p_is(p, KL_TOK_NAME) && kl_p_peek(p)->kw == KL_KW_NONE)
		kl_p_fail(p, kl_p_peek(p)->pos,
			  "a path begins with '.', and a text is in quotes: write '.%.*s' or "
			  "'\"%.*s\"'",
			  (int)kl_p_peek(p)->len, kl_p_spec(p)->text + kl_p_peek(p)->off,
			  (int)kl_p_peek(p)->len, kl_p_spec(p)->text + kl_p_peek(p)->off);
	kl_p_expected(p, expected);
}

static const struct kl_map_expr *parse_unary(struct kl_parser *p, struct rule *r)
{
	struct kl_map_expr *e;

	if (!kl_p_is(p, '!'))
		return parse_primary(p, r);
	e = new_expr(p, KL_M_NOT);
	kl_p_next(p);
	kl_p_enter(p);
	e->a = parse_unary(p, r);
	kl_p_leave(p);
	return e;
}

/* Make the comparison of two values at the token @pos. */
static struct kl_map_expr *compare(struct kl_parser *p, enum kl_map_kind kind, struct kl_pos pos,
				   const struct kl_map_expr *a, const struct kl_map_expr *b)
{
	struct kl_map_expr *e = new_expr(p, kind);

	e->pos = pos;
	e->a = a;
	e->b = b;
	if (a->kind == KL_M_SPECIAL || b->kind == KL_M_SPECIAL)
		kl_p_fail(p, pos,
			  "no value of a record is empty, full, absent or unknown: "
			  "compare with null, or with a text, as in .value == \"none\"");
	return e;
}

/* Parse `in (A, B, ...)', which is true for a value that equals one of these. */
static const struct kl_map_expr *parse_in(struct kl_parser *p, struct rule *r,
					  const struct kl_map_expr *a)
{
	const struct kl_pos pos = kl_p_next(p)->pos;
	struct kl_map_expr *e = NULL, *one, *either;

	kl_p_expect(p, '(', "'(' and values, as in .f in (\"read\", \"get\")");
	do {
		one = compare(p, KL_M_EQ, pos, a, parse_unary(p, r));
		either = e ? new_expr(p, KL_M_OR) : one;
		if (e) {
			either->a = e;
			either->b = one;
		}
		e = either;
	} while (kl_p_take(p, ','));
	kl_p_expect(p, ')', "',' or ')'");
	return e;
}

static const struct kl_map_expr *parse_compare(struct kl_parser *p, struct rule *r)
{
	const struct kl_map_expr *a = parse_unary(p, r);
	struct kl_pos pos;
	bool eq;

	if (kl_p_is_word(p, "in"))
		return parse_in(p, r, a);
	if (kl_p_is(p, '='))
		kl_p_fail(p, kl_p_peek(p)->pos, "'=' compares nothing: write '=='");
	eq = kl_p_is(p, KL_OP_EQ);
	if (!eq && !kl_p_is(p, KL_OP_NE))
		return a;
	pos = kl_p_next(p)->pos;
	return compare(p, eq ? KL_M_EQ : KL_M_NE, pos, a, parse_unary(p, r));
}

/* Parse operands between `||', or with @kind KL_M_AND between `&&'. */
static const struct kl_map_expr *parse_logic(struct kl_parser *p, struct rule *r,
					     enum kl_map_kind kind)
{
	const int op = kind == KL_M_OR ? KL_OP_OR : KL_OP_AND;
	const struct kl_map_expr *a, *b;
	struct kl_map_expr *e;

	a = kind == KL_M_OR ? parse_logic(p, r, KL_M_AND) : parse_compare(p, r);
	while (kl_p_is(p, op)) {
		e = new_expr(p, kind);
		kl_p_next(p);
		kl_p_enter(p);
		b = kind == KL_M_OR ? parse_logic(p, r, KL_M_AND) : parse_compare(p, r);
		kl_p_leave(p);
		e->a = a;
		e->b = b;
		a = e;
	}
	return a;
}

static const struct kl_map_expr *parse_expr(struct kl_parser *p, struct rule *r)
{
	const struct kl_map_expr *a;
	struct kl_map_expr *e;

	kl_p_enter(p);
	a = parse_logic(p, r, KL_M_OR);
	if (kl_p_is(p, '?')) {
		e = new_expr(p, KL_M_COND);
		kl_p_next(p);
		e->a = a;
		e->b = parse_expr(p, r);
		kl_p_expect(p, ':', "':' and the value if the condition is false");
		e->c = parse_expr(p, r);
		a = e;
	}
	kl_p_leave(p);
	return a;
}

static void expect_end(struct kl_parser *p)
{
	kl_p_expect(p, ';', "';', or an operator as == or &&");
}

/* Parse `when CONDITION'. */
static const struct kl_map_expr *parse_when(struct kl_parser *p, struct rule *r)
{
	if (!kl_p_take_word(p, "when"))
		kl_p_expected(p, "'when' and a condition, as in when .type == \"ok\"");
	return parse_expr(p, r);
}

/* ---- rules for methods ---- */

static void find_method(struct kl_parser *p, struct kl_map_rule *r)
{
	const struct kl_spec *s = kl_p_spec(p);
	const char *name;
	size_t i;

	r->pos = kl_p_peek(p)->pos;
	name = kl_p_name(p, "the name of a method");
	for (i = 0; i < s->nmethods; i++) {
		if (strcmp(s->methods[i].pub.name, name))
			continue;
		r->method = i;
		return;
	}
	kl_advise_no_method(p, r->pos, name);
}

/* Parse `NAME =', which may be omitted if there is only one.  Return: the index of NAME. */
static unsigned int parse_index(struct kl_parser *p, const struct kl_method *m, bool result)
{
	const struct kl_param *params = result ? m->results : m->params;
	const unsigned int n = result ? m->nresults : m->nparams;
	const char *what = result ? "result" : "parameter", *names[KL_MAX_ARGS], *name, *near;
	const struct kl_pos pos = kl_p_peek(p)->pos;
	unsigned int i;

	if (!n)
		kl_p_fail(p, pos, "method '%s' has no %s", m->name, what);
	if (kl_p_ahead(p, 1)->kind != '=' && n == 1)
		return 0;
	if (kl_p_ahead(p, 1)->kind != '=')
		kl_p_expected(p, result ? "NAME = VALUE for a result of the method" :
					  "NAME = VALUE for a parameter of the method");
	name = kl_p_name(p, result ? "a result's name" : "a parameter's name");
	kl_p_next(p);
	for (i = 0; i < n; i++) {
		names[i] = params[i].name;
		if (!strcmp(name, names[i]))
			return i;
	}
	near = kl_nearest(name, names, n) ?: n == 1 ? names[0] : NULL;
	kl_p_fail(p, pos, "method '%s' has no %s '%s'%s%s%s", m->name, what, name,
		  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* Refuse a value that no word and no bool can be. */
static void check_value(struct kl_parser *p, const struct kl_map_expr *e)
{
	if (e->kind == KL_M_COND) {
		check_value(p, e->b);
		check_value(p, e->c);
	} else if (e->kind == KL_M_TEXT) {
		kl_p_fail(p, e->pos, "a text can only be compared, as in .f == \"%s\"", e->text);
	}
}

/* Parse `argument NAME = VALUE, ...;' or `result NAME = VALUE, ...;'. */
static void parse_values(struct kl_parser *p, struct rule *r, bool result)
{
	const struct kl_method *m = &kl_p_spec(p)->methods[r->r.method].pub;
	struct kl_map_fetch *f = result ? r->r.results : r->r.args;
	bool at_return = result || r->r.each, here[KL_MAX_ARGS] = { false };
	unsigned int i;

	kl_p_next(p);
	do {
		const struct kl_pos pos = kl_p_peek(p)->pos;

		i = parse_index(p, m, result);
		if (f[i].expr)
			kl_p_fail(p, pos, "a second value for '%s'; the first is in line %u",
				  (result ? m->results : m->params)[i].name, f[i].expr->pos.line);
		f[i].expr = parse_expr(p, r);
		check_value(p, f[i].expr);
		here[i] = true;
	} while (kl_p_take(p, ','));
	if (!result && kl_p_take_word(p, "at")) {
		at_return = kl_p_is_kw(p, KL_KW_RETURN);
		if (!at_return && !kl_p_is_word(p, "call"))
			kl_p_expected(p, "'call' or 'return' after 'at'");
		if (!at_return && r->r.each)
			kl_p_fail(p, kl_p_peek(p)->pos,
				  "a rule with 'for' reads all values at "
				  "the return");
		kl_p_next(p);
	}
	for (i = 0; i < KL_MAX_ARGS; i++)
		if (here[i])
			f[i].at_return = at_return;
	expect_end(p);
}

static void parse_item(struct kl_parser *p, void *arg)
{
	struct rule *r = arg;

	if (kl_p_is_word(p, "argument"))
		parse_values(p, r, false);
	else if (kl_p_is_word(p, "result"))
		parse_values(p, r, true);
	else
		kl_p_expected(p, "'argument' or 'result'");
}

static bool same_path(const struct kl_map_expr *a, const struct kl_map_expr *b)
{
	unsigned int i;

	for (i = 0; i < a->nsteps && i < b->nsteps; i++) {
		const struct kl_map_step *s = &a->steps[i], *t = &b->steps[i];

		if (!s->name != !t->name || s->len != t->len || s->index != t->index ||
		    (s->name && memcmp(s->name, t->name, s->len)))
			return false;
	}
	return a->nsteps == b->nsteps && a->element == b->element;
}

/* Return: true if both expressions are written in the same way. */
static bool same(const struct kl_map_expr *a, const struct kl_map_expr *b)
{
	if (!a || !b)
		return a == b;
	if (a->kind != b->kind || !same(a->a, b->a) || !same(a->b, b->b) || !same(a->c, b->c))
		return false;
	if (a->kind == KL_M_PATH)
		return same_path(a, b);
	if (a->kind == KL_M_TEXT)
		return a->len == b->len && !memcmp(a->text, b->text, a->len);
	return kl_val_eq(a->val, b->val);
}

/* Refuse a rule that is never used, since a rule before has its condition. */
static void check_order(struct kl_parser *p, const struct kl_mapping *m,
			const struct kl_map_rule *r)
{
	const struct kl_map_rule *before;

	for (before = m->rules; before; before = before->next) {
		if (before->each || r->each || !same(before->when, r->when))
			continue;
		kl_p_fail(p, r->pos,
			  "this rule is never used: that in line %u has the same condition, "
			  "and comes first",
			  before->pos.line);
		return;
	}
}

/* Refuse a rule that does not say where all arguments and results are. */
static void check_rule(struct kl_parser *p, const struct rule *r)
{
	const struct kl_method *m = &kl_p_spec(p)->methods[r->r.method].pub;
	char missing[300] = "";
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < m->nparams + m->nresults && len < sizeof(missing); i++) {
		const bool result = i >= m->nparams;
		const unsigned int k = result ? i - m->nparams : i;

		if (!(result ? r->r.results : r->r.args)[k].expr)
			len += snprintf(missing + len, sizeof(missing) - len, "%s%s %s",
					len ? ", " : "", result ? "result" : "argument",
					(result ? m->results : m->params)[k].name);
	}
	if (kl_p_diag(p)->errors)
		return;
	if (*missing)
		kl_p_fail(p, r->r.pos, "this rule does not say where method '%s' has: %s", m->name,
			  missing);
	if (r->r.each && !r->elements)
		kl_p_fail(p, r->r.pos, "nothing in this rule uses '%s'", r->r.each);
}

static void parse_rule(struct kl_parser *p, struct kl_mapping *m)
{
	struct rule r = { .map = m };
	const unsigned int errors = kl_p_diag(p)->errors;
	const char *each;

	kl_p_next(p);
	find_method(p, &r.r);
	if (kl_p_take_word(p, "for")) {
		each = kl_p_name(p, "a name for the elements of a list");
		if (!kl_p_take_word(p, "in"))
			kl_p_expected(p, "'in' and a list, as in for x in .value");
		r.r.list = parse_expr(p, &r);
		r.r.when = parse_when(p, &r);
		r.r.each = each;
	} else {
		r.r.when = parse_when(p, &r);
	}
	if (!kl_p_take(p, ';')) {
		kl_p_expect(p, '{', "';', or '{' and the arguments and results");
		while (!kl_p_is(p, '}') && !kl_p_is(p, KL_TOK_EOF))
			kl_p_guard(p, parse_item, &r);
		kl_p_expect(p, '}', "'}' at the end of the rule");
	}
	if (kl_p_diag(p)->errors > errors)
		return;
	check_rule(p, &r);
	check_order(p, m, &r.r);
	*m->last = memcpy(kl_p_alloc(p, sizeof(r.r)), &r.r, sizeof(r.r));
	m->last = &(*m->last)->next;
}

/* ---- the block ---- */

/* Set a clause of the block, which must not be set yet. */
static void set(struct kl_parser *p, const struct kl_map_expr **to, const char *name,
		struct kl_pos pos, const struct kl_map_expr *e)
{
	if (*to)
		kl_p_fail(p, pos, "a second '%s'; the first is in line %u", name, (*to)->pos.line);
	*to = e;
}

/* Parse `call when CONDITION;' or `call at TIME;', or the same for the return. */
static void parse_event(struct kl_parser *p, struct kl_mapping *m, bool ret)
{
	const struct kl_pos pos = kl_p_next(p)->pos;
	const struct kl_map_expr **to = ret ? &m->ret : &m->call;
	const bool first = !m->call && !m->ret, at = kl_p_take_word(p, "at");

	if (!at && !kl_p_is_word(p, "when"))
		kl_p_expected(p, "'when' and a condition for records of one event each, or 'at' "
				 "and a time for records of whole operations");
	if (!first && m->whole != at)
		kl_p_fail(p, pos, "'call' and 'return' both have 'when', or both have 'at'");
	m->whole = at;
	set(p, to, ret ? "return" : "call", pos, at ? parse_expr(p, NULL) : parse_when(p, NULL));
}

static void parse_ignore(struct kl_parser *p, struct kl_mapping *m)
{
	struct kl_map_expr *e = new_expr(p, KL_M_OR);

	kl_p_next(p);
	e->b = parse_when(p, NULL);
	e->a = m->ignore;
	m->ignore = e->a ? e : e->b;
}

static void parse_refusal(struct kl_parser *p, struct kl_mapping *m)
{
	struct kl_map_refusal *r = kl_p_alloc(p, sizeof(*r)), **last = &m->refusals;
	size_t len;

	r->pos = kl_p_next(p)->pos;
	if (!kl_p_is(p, KL_TOK_STRING))
		kl_p_expected(p, "the reason in quotes, as in refuse \"too long\" when .n != null");
	r->reason = parse_text(p, &len);
	if (!len)
		kl_p_fail(p, r->pos, "expected a reason, which klin reports");
	r->when = parse_when(p, NULL);
	while (*last)
		last = &(*last)->next;
	*last = r;
}

/* Parse the rest of `clock error NUMBER;'. */
static void parse_clock(struct kl_parser *p, struct kl_mapping *m, struct kl_pos pos)
{
	if (!kl_p_take_word(p, "error"))
		kl_p_expected(p, "'error' after 'clock', and by how much clocks may differ");
	if (m->clock.line)
		kl_p_fail(p, pos, "a second 'clock'; the first is in line %u", m->clock.line);
	m->clock = pos;
	m->error = kl_p_expect(p, KL_TOK_NUM, "a number in the unit of the times")->num;
}

static void parse_clause(struct kl_parser *p, void *arg)
{
	struct kl_mapping *m = arg;
	const struct kl_pos pos = kl_p_peek(p)->pos;

	if (kl_p_is_kw(p, KL_KW_METHOD)) {
		parse_rule(p, m);
		return;
	}
	if (kl_p_take_word(p, "process"))
		set(p, &m->process, "process", pos, parse_expr(p, NULL));
	else if (kl_p_take_word(p, "object"))
		set(p, &m->object, "object", pos, parse_expr(p, NULL));
	else if (kl_p_is_word(p, "call"))
		parse_event(p, m, false);
	else if (kl_p_is_kw(p, KL_KW_RETURN))
		parse_event(p, m, true);
	else if (kl_p_take_word(p, "failed"))
		set(p, &m->failed, "failed", pos, parse_when(p, NULL));
	else if (kl_p_take_word(p, "unknown"))
		set(p, &m->unknown, "unknown", pos, parse_when(p, NULL));
	else if (kl_p_is_word(p, "ignore"))
		parse_ignore(p, m);
	else if (kl_p_is_word(p, "refuse"))
		parse_refusal(p, m);
	else if (kl_p_take_word(p, "clock"))
		parse_clock(p, m, pos);
	else if (kl_p_take_word(p, "first") && kl_p_is_word(p, "any"))
		m->any = kl_p_next(p) != NULL;
	else
		kl_p_expected(p, "'process', 'object', 'call', 'return', 'failed', 'unknown', "
				 "'ignore', 'refuse', 'clock', 'first any' or 'method'");
	expect_end(p);
}

/* Return: the part of a value that is a word, but not of bits(), or NULL. */
static const struct kl_map_expr *mixed(const struct kl_map_expr *e)
{
	const struct kl_map_expr *found;

	if (e->kind == KL_M_COND) {
		found = mixed(e->b);
		return found ? found : mixed(e->c);
	}
	return e->kind == KL_M_BITS || e->kind == KL_M_SPECIAL ? NULL : e;
}

/*
 * A word of bits is shown as its set.  If another value were the same number, reports would show it
 * as that set, too.
 */
static void check_bits(struct kl_parser *p, const struct kl_mapping *m)
{
	const struct kl_spec *s = kl_p_spec(p);
	const struct kl_map_expr *e;
	const struct kl_map_rule *r;
	unsigned int k;

	for (r = m->rules; r; r = r->next) {
		const struct kl_method *method = &s->methods[r->method].pub;

		for (k = 0; k < method->nparams + method->nresults; k++) {
			const bool result = k >= method->nparams;
			const unsigned int n = result ? k - method->nparams : k;

			e = mixed((result ? r->results : r->args)[n].expr);
			if (e && (result ? method->results : method->params)[n].type == KL_T_WORD)
				kl_p_fail(p, e->pos,
					  "where one value is bits(), all words are: "
					  "write bits(...)");
		}
	}
}

static void check_block(struct kl_parser *p, const struct kl_mapping *m)
{
	if (!m->call || !m->ret)
		kl_p_fail(p, m->pos,
			  "this history block has no '%s': write '%s when CONDITION;' "
			  "for records of one event each, or '%s at TIME;' for records "
			  "of whole operations",
			  m->call ? "return" : "call", m->call ? "return" : "call",
			  m->call ? "return" : "call");
	if (!m->process)
		kl_p_fail(p, m->pos,
			  "this history block has no 'process': write 'process PATH;', "
			  "for the thread or client that called the operation");
	if (m->clock.line && !m->whole)
		kl_p_fail(p, m->clock,
			  "a clock error needs 'call at TIME;': with 'call when' the "
			  "order of the records is exact");
	if (!m->rules)
		kl_p_fail(p, m->pos,
			  "this history block has no rule 'method NAME when "
			  "CONDITION { ... }'");
	if (m->bits)
		check_bits(p, m);
}

void kl_p_history(struct kl_parser *p)
{
	const struct kl_pos pos = kl_p_next(p)->pos;
	struct kl_spec *s = kl_p_spec(p);
	struct kl_mapping *m;

	if (s->mapping)
		kl_p_fail(p, pos, "a second history block; the first is in line %u",
			  s->mapping->pos.line);
	m = kl_p_alloc(p, sizeof(*m));
	m->pos = pos;
	m->last = &m->rules;
	s->mapping = m;
	kl_p_expect(p, '{', "'{' after 'history'");
	while (!kl_p_is(p, '}') && !kl_p_is(p, KL_TOK_EOF))
		kl_p_guard(p, parse_clause, m);
	kl_p_expect(p, '}', "'}' at the end of the history block");
	if (!kl_p_diag(p)->errors)
		check_block(p, m);
}

const struct kl_mapping *kl_spec_mapping(const struct kl_spec *s)
{
	return s->mapping;
}
