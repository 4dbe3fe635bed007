// SPDX-License-Identifier: GPL-2.0
/* The parser: probe clauses, see probe.h. */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "spec/lang/advice.h"
#include "spec/probe/parse_probe.h"

#define PARAMS_MAX	16 /* maximal number of parameters of a probed function */
#define TARGETS_MAX	8 /* maximal number of alternatives of a clause */
#define REASON_MAX	300 /* maximal length of a reason */

/* A target and its body while they are parsed. */
struct clause {
	const struct kl_method_def *m;
	struct kl_pos pos; /* position of the method's name */
	struct kl_probe_target target;
	struct kl_fetch args[KL_MAX_ARGS], results[KL_MAX_ARGS];
};

enum when_read { AT_DEFAULT, AT_CALL, AT_RETURN };

static const struct kl_method_def *find_method(struct kl_parser *p, unsigned int *index)
{
	const struct kl_spec *s = kl_p_spec(p);
	struct kl_pos pos = kl_p_peek(p)->pos;
	const char *name = kl_p_name(p, "the name of a method");
	size_t i;

	for (i = 0; i < s->nmethods; i++) {
		if (strcmp(s->methods[i].pub.name, name))
			continue;
		*index = i;
		return &s->methods[i];
	}
	kl_advise_no_method(p, pos, name);
}

static void parse_klin_target(struct kl_parser *p, struct kl_probe_target *t)
{
	const char *subject, *method;
	size_t size;
	char *name;

	subject = kl_p_name(p, "'SUBJECT.METHOD' after 'klin:'");
	kl_p_expect(p, '.', "'.' and the method of the subject");
	method = kl_p_name(p, "the method of the subject");
	size = strlen(subject) + strlen(method) + 2;
	name = kl_p_alloc(p, size);
	snprintf(name, size, "%s.%s", subject, method);
	t->kind = KL_TARGET_KLIN;
	t->name = name;
}

/* Parse parameters and add them to those of the target. */
static void parse_function_params(struct kl_parser *p, struct kl_probe_target *t)
{
	struct kl_pos pos;
	unsigned int i;

	kl_p_expect(p, '(', "'(' and the names of the function's parameters");
	if (!t->params)
		t->params = kl_p_alloc(p, PARAMS_MAX * sizeof(*t->params));
	if (kl_p_take(p, ')'))
		return;
	do {
		pos = kl_p_peek(p)->pos;
		if (t->nparams == PARAMS_MAX)
			kl_p_fail(p, pos, "more than %d parameters", PARAMS_MAX);
		t->params[t->nparams] = kl_p_name(p, "a parameter's name");
		for (i = 0; i < t->nparams; i++)
			if (!strcmp(t->params[i], t->params[t->nparams]))
				kl_p_fail(p, pos, "a second parameter '%s'", t->params[i]);
		t->nparams++;
	} while (kl_p_take(p, ','));
	kl_p_expect(p, ')', "')' or ',' after a parameter");
}

/* Parse `inlined FUNCTION(...) in`, up to the function around it. */
static const char *parse_inlined(struct kl_parser *p, struct kl_probe_target *t)
{
	const char *name;

	if (!kl_p_is_word(p, "inlined") || kl_p_ahead(p, 1)->kind != KL_TOK_NAME)
		return NULL;
	kl_p_next(p);
	name = kl_p_name(p, "the function that was inlined");
	if (t && kl_p_is(p, '(')) {
		parse_function_params(p, t);
		t->ninlined = t->nparams;
	}
	if (!kl_p_take_word(p, "in"))
		kl_p_expected(p, "'in' and the function that it was inlined into");
	return name;
}

static bool parse_offset(struct kl_parser *p, uint64_t *offset)
{
	if (!kl_p_take(p, '+'))
		return false;
	*offset = kl_p_expect(p, KL_TOK_NUM, "an offset into the function after '+'")->num;
	return true;
}

static void parse_target(struct kl_parser *p, struct kl_probe_target *t)
{
	const char *name;

	t->pos = kl_p_peek(p)->pos;
	t->inlined = parse_inlined(p, t);
	name = kl_p_name(p, t->inlined ? "the function that it was inlined into" :
			 "a function, or 'klin:SUBJECT.METHOD'");
	if (kl_p_take(p, ':')) {
		if (!strcmp(name, "klin") && !t->inlined) {
			parse_klin_target(p, t);
			return;
		}
		t->module = name;
		name = kl_p_name(p, "a function of the module");
	}
	t->kind = KL_TARGET_FUNC;
	t->name = name;
	t->at_offset = !t->inlined && parse_offset(p, &t->offset);
	if (!kl_target_is_place(t) || kl_p_is(p, '('))
		parse_function_params(p, t);
}

static enum when_read parse_at(struct kl_parser *p)
{
	if (!kl_p_take_word(p, "at"))
		return AT_DEFAULT;
	if (kl_p_take_word(p, "call"))
		return AT_CALL;
	if (kl_p_take_kw(p, KL_KW_RETURN))
		return AT_RETURN;
	kl_p_expected(p, "'call' or 'return' after 'at'");
}

static bool at_return(struct kl_parser *p, const struct kl_probe_target *t, enum when_read at,
		      bool has_return, bool by_default, struct kl_pos pos)
{
	/* It is not certain where inlined code ends in the function around it. */
	if (t->inlined && (at == AT_RETURN || has_return))
		kl_p_fail(p, pos, "the return of '%s' cannot be observed where it is inlined: only "
				  "data at its call can be read", t->inlined);
	if (t->inlined)
		return false;
	if (at == AT_CALL && has_return)
		kl_p_fail(p, pos, "'return' has no value yet at the call");
	if (at == AT_DEFAULT)
		return has_return || by_default;
	return at == AT_RETURN;
}

/* Parse `object EXPR;` or `when EXPR;`. */
static const struct kl_expr *parse_single(struct kl_parser *p, const struct kl_probe_target *t,
					  bool *late)
{
	const struct kl_expr *e;
	bool has_return;

	e = kl_p_probe_expr(p, t, false, &has_return);
	*late = at_return(p, t, parse_at(p), has_return, false, e->pos);
	kl_p_expect(p, ';', "';', or 'at call' or 'at return'");
	return e;
}

static void parse_object(struct kl_parser *p, struct kl_probe_target *t)
{
	struct kl_pos pos = kl_p_next(p)->pos;

	if (t->object)
		kl_p_fail(p, pos, "a second 'object' in this clause");
	t->object = parse_single(p, t, &t->object_at_return);
}

static void parse_when(struct kl_parser *p, struct kl_probe_target *t)
{
	struct kl_pos pos = kl_p_next(p)->pos;
	const struct kl_expr *e;
	bool late;

	e = parse_single(p, t, &late);
	if (t->when[late])
		kl_p_fail(p, pos, "a second 'when' at the %s in this clause",
			  late ? "return" : "call");
	t->when[late] = e;
}

/* Parse the name of a parameter or result, which is optional if there is only one. */
static unsigned int fetch_index(struct kl_parser *p, const struct clause *c, bool result)
{
	const struct kl_method *m = &c->m->pub;
	const struct kl_param *params = result ? m->results : m->params;
	unsigned int n = result ? m->nresults : m->nparams, i;
	const char *what = result ? "result" : "parameter", *names[KL_MAX_ARGS], *name, *near;
	struct kl_pos pos = kl_p_peek(p)->pos;

	if (!n)
		kl_p_fail(p, pos, "method '%s' has no %s", m->name, what);
	if (kl_p_ahead(p, 1)->kind != '=') {
		if (n == 1)
			return 0;
		kl_p_expected(p, result ? "NAME = EXPRESSION for a result of the method" :
			      "NAME = EXPRESSION for a parameter of the method");
	}
	name = kl_p_name(p, result ? "a result's name" : "a parameter's name");
	kl_p_next(p);
	for (i = 0; i < n; i++) {
		names[i] = params[i].name;
		if (!strcmp(name, names[i]))
			return i;
	}
	near = kl_nearest(name, names, n);
	if (near)
		kl_p_fail(p, pos, "method '%s' has no %s '%s'; did you mean '%s'?", m->name, what,
			  name, near);
	kl_p_fail(p, pos, "method '%s' has no %s '%s'", m->name, what, name);
}

/* Parse `argument a = EXPR, ...;` or `result r = EXPR, ...;`. */
static void parse_fetches(struct kl_parser *p, struct clause *c, bool result)
{
	const struct kl_param *params = result ? c->m->pub.results : c->m->pub.params;
	struct kl_fetch *fetches = result ? c->results : c->args, *f;
	bool has_return[KL_MAX_ARGS] = { false }, here[KL_MAX_ARGS] = { false };
	enum when_read at;
	unsigned int i;

	kl_p_next(p);
	do {
		struct kl_pos pos = kl_p_peek(p)->pos;

		i = fetch_index(p, c, result);
		f = &fetches[i];
		if (f->expr)
			kl_p_fail(p, pos, "a second expression for '%s', the first is in line %u",
				  params[i].name, f->pos.line);
		f->index = i;
		f->name = params[i].name;
		f->pos = pos;
		f->expr = kl_p_probe_expr(p, &c->target, true, &has_return[i]);
		here[i] = true;
	} while (kl_p_take(p, ','));
	at = parse_at(p);
	for (i = 0; i < KL_MAX_ARGS; i++)
		if (here[i])
			fetches[i].at_return = at_return(p, &c->target, at, has_return[i], result,
							 fetches[i].pos);
	kl_p_expect(p, ';', "';' or ',', or 'at call' or 'at return'");
}

/* Parse `point on inlined FUNCTION in FUNCTION;` or `point on FUNCTION+OFFSET;`. */
static void parse_point(struct kl_parser *p, struct kl_probe_target *t)
{
	struct kl_spot place = { .pos = kl_p_next(p)->pos }, *copy;

	if (t->point)
		kl_p_fail(p, place.pos, "a second 'point' in this clause");
	if (!kl_p_take_word(p, "on"))
		kl_p_expected(p, "'on' after 'point'");
	place.inlined = parse_inlined(p, NULL);
	place.name = kl_p_name(p, "a function");
	if (kl_p_take(p, ':')) {
		place.module = place.name;
		place.name = kl_p_name(p, "a function of the module");
	}
	place.at_offset = !place.inlined && parse_offset(p, &place.offset);
	kl_p_expect(p, ';', "';' after the place");
	copy = kl_p_alloc(p, sizeof(*copy));
	*copy = place;
	t->point = copy;
}

/* Parse `coverage asserted "REASON";'. */
static void parse_coverage(struct kl_parser *p, struct kl_probe_target *t)
{
	const struct kl_tok *tok;
	char *reason;

	if (t->asserted)
		kl_p_fail(p, kl_p_peek(p)->pos, "a second 'coverage' in this clause");
	kl_p_next(p);
	if (!kl_p_take_word(p, "asserted"))
		kl_p_expected(p, "'asserted' after 'coverage', and in quotes the reason why no "
				 "call is missed");
	tok = kl_p_expect(p, KL_TOK_STRING, "the reason, in quotes");
	if (tok->len - 2 > REASON_MAX)
		kl_p_fail(p, tok->pos, "this reason has more than %d characters", REASON_MAX);
	reason = kl_p_alloc(p, tok->len);
	memcpy(reason, kl_p_spec(p)->text + tok->off + 1, tok->len - 2);
	if (strspn(reason, " \t") == strlen(reason))
		kl_p_fail(p, tok->pos, "expected a reason: why no call is missed");
	kl_p_expect(p, ';', "';' after the reason");
	t->asserted = reason;
}

static void parse_item(struct kl_parser *p, void *arg)
{
	struct clause *c = arg;
	struct kl_probe_target *t = &c->target;

	if (kl_p_is_word(p, "object"))
		parse_object(p, t);
	else if (kl_p_is_word(p, "when"))
		parse_when(p, t);
	else if (kl_p_is_word(p, "argument"))
		parse_fetches(p, c, false);
	else if (kl_p_is_word(p, "result"))
		parse_fetches(p, c, true);
	else if (kl_p_is_word(p, "point"))
		parse_point(p, t);
	else if (kl_p_is_word(p, "coverage"))
		parse_coverage(p, t);
	else
		kl_p_expected(p, "'object', 'when', 'argument', 'result', 'point' or "
			      "'coverage'");
}

static size_t add_missing(char *buf, size_t size, size_t len, const struct kl_fetch *f,
			  const struct kl_param *params, unsigned int n, const char *what)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!f[i].expr && len < size)
			len += snprintf(buf + len, size - len, "%s%s %s", len ? ", " : "", what,
					params[i].name);
	return len;
}

static void finish_function(struct kl_parser *p, struct clause *c)
{
	const struct kl_method *m = &c->m->pub;
	struct kl_fetch *args, *results;
	char missing[300] = "";
	size_t len;

	len = add_missing(missing, sizeof(missing), 0, c->args, m->params, m->nparams, "argument");
	add_missing(missing, sizeof(missing), len, c->results, m->results, m->nresults, "result");
	if (*missing && !kl_p_diag(p)->errors)
		kl_p_fail(p, c->pos, "this clause does not say where method '%s' has: %s",
			  m->name, missing);
	args = kl_p_alloc(p, sizeof(c->args));
	results = kl_p_alloc(p, sizeof(c->results));
	c->target.args = memcpy(args, c->args, sizeof(c->args));
	c->target.results = memcpy(results, c->results, sizeof(c->results));
	c->target.nargs = m->nparams;
	c->target.nresults = m->nresults;
}

static void parse_body(struct kl_parser *p, struct clause *c)
{
	kl_p_expect(p, '{', "'{', ';' or 'or' after the target");
	while (!kl_p_is(p, '}') && !kl_p_is(p, KL_TOK_EOF))
		kl_p_guard(p, parse_item, c);
	kl_p_expect(p, '}', "'}' at the end of the probe clause");
	finish_function(p, c);
}

/*
 * Parse the next body once for each of the @n targets that share it, because the targets have
 * different parameters.  After a parse with errors it is not parsed again.
 */
static void share_body(struct kl_parser *p, struct clause *c, struct kl_probe_target *t,
		       unsigned int n)
{
	size_t start = kl_p_mark(p);
	unsigned int i;

	for (i = 0; i < n; i++) {
		unsigned int errors = kl_p_diag(p)->errors;

		kl_p_rewind(p, start);
		c->target = t[i];
		memset(c->args, 0, sizeof(c->args));
		memset(c->results, 0, sizeof(c->results));
		parse_body(p, c);
		t[i] = c->target;
		if (kl_p_diag(p)->errors > errors)
			return;
	}
}

/* Parse `TARGET or TARGET { ... } or TARGET;`, or `TARGET { ... } or nothing;`. */
static unsigned int parse_targets(struct kl_parser *p, struct clause *c,
				  struct kl_probe_target *t)
{
	unsigned int n = 0, bare = 0, i; /* the last @bare targets have no body yet */
	bool closed = false;

	do {
		if (n == TARGETS_MAX)
			kl_p_fail(p, kl_p_peek(p)->pos, "more than %d alternatives", TARGETS_MAX);
		if (n && kl_p_is_word(p, "nothing") && kl_p_ahead(p, 1)->kind == ';') {
			t[n].pos = kl_p_peek(p)->pos;
			t[n].kind = KL_TARGET_NOTHING;
			t[n].name = kl_p_name(p, "'nothing'");
			n++;
			closed = false;
			break;
		}
		parse_target(p, &t[n]);
		closed = false;
		if (t[n++].kind == KL_TARGET_KLIN) {
			if (kl_p_is(p, '{'))
				kl_p_expected(p,
					      "';' or 'or': what a klin: target has is taken by "
					      "position");
			if (bare)
				kl_p_expected(p, "a body for the functions before a klin: target");
			continue;
		}
		bare++;
		if (!kl_p_is(p, '{'))
			continue;
		share_body(p, c, &t[n - bare], bare);
		bare = 0;
		closed = true;
	} while (kl_p_take_kw(p, KL_KW_OR));
	if (!closed)
		kl_p_expect(p, ';', "'{', ';' or 'or' after the target");
	/* A function without a body must not get the expressions of an earlier body. */
	memset(c->args, 0, sizeof(c->args));
	memset(c->results, 0, sizeof(c->results));
	for (i = 0; i < n; i++) {
		if (t[i].kind != KL_TARGET_FUNC || t[i].args)
			continue;
		c->target = t[i];
		finish_function(p, c);
		t[i] = c->target;
	}
	return n;
}

/* Return: true if both targets observe all calls of the same function. */
static bool same_calls(const struct kl_probe_target *a, const struct kl_probe_target *b)
{
	return a->kind == KL_TARGET_FUNC && b->kind == KL_TARGET_FUNC && !a->when[0] &&
	       !a->when[1] && !b->when[0] && !b->when[1] && !strcmp(a->name, b->name) &&
	       !kl_target_is_place(a) && !kl_target_is_place(b);
}

/* Warn of two clauses that make two operations of each call. */
static void warn_of_second(struct kl_parser *p, const struct kl_probe *probe)
{
	const struct kl_spec *s = kl_p_spec(p);
	const struct kl_probe_target *t = probe->targets;
	size_t i;

	if (kl_p_diag(p)->errors)
		return;
	for (i = 0; i < s->nprobes; i++)
		if (s->probes[i].method == probe->method && same_calls(s->probes[i].targets, t))
			kl_diag_warn(kl_p_diag(p), t->pos,
				     "each call of '%s' is two operations: line %u has another "
				     "clause for it",
				     t->name, s->probes[i].targets->pos.line);
}

void kl_p_probe(struct kl_parser *p)
{
	struct kl_probe_target found[TARGETS_MAX] = { 0 }, *targets;
	struct kl_probe probe = { 0 };
	struct clause c = { 0 };

	kl_p_next(p);
	probe.pos = c.pos = kl_p_peek(p)->pos;
	c.m = find_method(p, &probe.method);
	if (!kl_p_take_word(p, "on"))
		kl_p_expected(p, "'on' after the method");
	probe.ntargets = parse_targets(p, &c, found);
	targets = kl_p_alloc(p, probe.ntargets * sizeof(*targets));
	probe.targets = memcpy(targets, found, probe.ntargets * sizeof(*targets));
	warn_of_second(p, &probe);
	*kl_p_add(p, kl_p_spec(p), probes) = probe;
}
