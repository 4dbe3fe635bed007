// SPDX-License-Identifier: GPL-2.0
/* Specifications as texts: accepted ones, and the messages about wrong ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "spec/lang/lex.h"
#include "spec/classify/ends.h"
#include "spec/probe/probe.h"
#include "spec/spec.h"

/* Messages, and the source lines and carets below them. */
static char messages[16384], shown[16384];

static void sink(enum kl_level level, const char *line)
{
	char *to = strncmp(line, "  ", 2) ? messages : shown;
	size_t len = strlen(to);

	(void)level;
	snprintf(to + len, sizeof(messages) - len, "%s\n", line);
}

static int parse(const char *text, struct kl_spec **s)
{
	int ret;

	messages[0] = shown[0] = 0;
	kl_log_sink = sink;
	ret = kl_spec_parse("t.lin", text, strlen(text), s);
	kl_log_sink = NULL;
	return ret;
}

static struct kl_spec *good(const char *text)
{
	struct kl_spec *s = NULL;
	int ret = parse(text, &s);

	assert_string_equal(messages, "");
	assert_int_equal(ret, 0);
	return s;
}

/* Check that the text is refused with exactly these lines. */
static void bad(const char *text, const char *expected)
{
	struct kl_spec *s = NULL;

	assert_int_equal(parse(text, &s), -EINVAL);
	assert_string_equal(messages, expected);
	assert_null(s);
}

/* Check a specification with @body in the method `m(word x, bool b)`, in line 2. */
static void bad_body(const char *body, const char *expected)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "spec t { word w = 0; bool f = false; word a[4] = 0; const N = 3; queue<word> q; "
		 "map<word, bool> m; stack<word> st;\n"
		 "method m(word x, bool b) {\n%s\n} }", body);
	bad(text, expected);
}

/* A message shows the line that it is about, with a caret. */
static void test_source_line(void **state)
{
	(void)state;
	bad("spec t {\n\tword x = 0;\n\tmethod m() { atomic { z = 1; } }\n}\n",
	    "t.lin:3:24: error: no variable 'z'\n");
	assert_string_equal(shown, "   method m() { atomic { z = 1; } }\n"
				   "                         ^\n");
}

#define E(col, msg) "t.lin:3:" col ": error: " msg "\n"

static void test_shipped_specs_accepted(void **state)
{
	static const char *const files[] = {
		"port_range", "seqlock", "spinlock", "spinlock_kernel", "fig5", "fig5_lock",
		"register",
		"set", "map", "queue", "stack", "counter", "pqueue", "bounded_queue", "array",
		"clock", "deque", "ida", "lock", "pair", "rwlock", "semaphore", "stack_height",
		"stack_levels", "multiset",
	};
	struct kl_spec *s;
	char path[128];
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "specs/%s.lin", files[i]);
		messages[0] = 0;
		kl_log_sink = sink;
		assert_int_equal(kl_spec_load(path, &s), 0);
		kl_log_sink = NULL;
		assert_string_equal(messages, "");
		assert_string_equal(kl_spec_name(s), files[i]);
		assert_string_equal(kl_spec_path(s), path);
		kl_spec_free(s);
	}
	kl_log_sink = sink;
	assert_int_equal(kl_spec_load("specs/none.lin", &s), -ENOENT);
	kl_log_sink = NULL;
	assert_string_equal(messages, "klin: cannot read specification specs/none.lin: "
			    "No such file or directory; `klin spec --list' lists the shipped "
			    "ones\n");
}

static void test_method_signatures(void **state)
{
	struct kl_spec *s = good(
		"spec t { word x; bool h = false; partition by none;\n"
		"method get() -> word { atomic { return x; } }\n"
		"method set(word v) { atomic { x = v; } }\n"
		"method swap(word v) -> word old { atomic_flush { word o = x; x = v; return o; } "
		"}\n"
		"method try() -> bool ok { either { atomic { assume(h); return false; } }\n"
		"	or { atomic_flush { assume(!h); h = true; return true; } } }\n"
		"method two(word v) { if (v == 1) { atomic { x = 1; } } atomic_flush { x = 2; } }\n"
		"method fenced(word v) { fence; atomic { x = v; } }\n"
		"method nothing() { } }");
	static const struct {
		const char *name;
		unsigned int nblocks;
		bool pure, flush, barrier, always;
	} want[] = {
		{ "get", 1, true, true, false, false },
		{ "set", 1, false, false, false, false },
		{ "swap", 1, false, true, true, true },
		{ "try", 1, false, true, true, false },
		{ "two", 2, false, false, true, true },
		{ "fenced", 1, false, false, true, true },
		{ "nothing", 0, true, true, false, false },
	};
	size_t i;

	assert_int_equal(kl_spec_nmethods(s), 7);
	for (i = 0; i < 7; i++) {
		const struct kl_method *m = kl_spec_method(s, i);

		assert_string_equal(m->name, want[i].name);
		assert_int_equal(kl_spec_find_method(s, want[i].name), i);
		assert_int_equal(m->nblocks, want[i].nblocks);
		assert_int_equal(m->pure, want[i].pure);
		assert_int_equal(m->flush, want[i].flush);
		assert_int_equal(m->barrier, want[i].barrier);
		assert_int_equal(m->barrier_always, want[i].always);
		assert_int_equal(m->part_param, -1);
	}
	assert_string_equal(kl_spec_method(s, 0)->results[0].name, "result");
	assert_string_equal(kl_spec_method(s, 3)->results[0].name, "ok");
	assert_int_equal(kl_spec_method(s, 3)->results[0].type, KL_T_BOOL);
	assert_int_equal(kl_spec_find_method(s, "gett"), -1);
	assert_int_equal(kl_spec_partition(s), KL_PART_NONE);
	assert_true(kl_spec_fixed_size(s));
	assert_false(kl_spec_flushes(s));
	kl_spec_free(s);
}

static void test_partition(void **state)
{
	struct kl_spec *s = good("spec t { set<word> s; word a[8];\n"
				 "method add(word v, word k) -> bool { atomic { a[k] = v; return "
				 "s.add(k); } }\n"
				 "method has(word k) -> bool { atomic { return s.has(k); } }\n"
				 "partition by k; }");

	assert_int_equal(kl_spec_partition(s), KL_PART_PARAM);
	assert_int_equal(kl_spec_method(s, 0)->part_param, 1);
	assert_int_equal(kl_spec_method(s, 1)->part_param, 0);
	assert_false(kl_spec_fixed_size(s));
	kl_spec_free(s);

	bad("spec t { set<word> s; partition by k;\n"
	    "method add(word k) -> bool { atomic { return s.add(k); } }\n"
	    "method size() -> word { atomic { return s.size(); } } }",
	    "t.lin:1:36: error: method 'size' has no parameter or result 'k' to partition by\n");

	assert_int_equal(parse("spec t { set<word> s; word n = 0; partition by k;\n"
			       "method add(word k, word v) { atomic { s.add(v); n = 1; k = 2; } } "
			       "}", &s), 0);
	assert_string_equal(messages,
			    "t.lin:2:39: warning: 's' is accessed at a key other than 'k', by "
			    "which the specification is partitioned\nt.lin:2:49: warning: 'n' is "
			    "one value for every 'k', by which the specification is partitioned: "
			    "make it an array, n[k], or a map, or write `partition by none'\nt."
			    "lin:2:60: warning: 'k' changes, but the specification is "
			    "partitioned by it\n");
	kl_spec_free(s);
}

#define OWN	"spec t { map<word, word> m; word a[8]; partition by k;\n"

/* `partition by` a result: the accesses of a path must use the result that it returns. */
static void test_partition_result(void **state)
{
	static const struct {
		const char *method, *doubt;
	} cases[] = {
		{ "method m(word v) -> word k { word k; choose k; atomic { m.put(k, v); "
		  "return k; } }", NULL },
		{ "method m() -> (word v, word k) { word k; choose k; either { atomic { word v = "
		  "m.remove(k); assume(v != absent); return (v, k); } } or { "
		  "return (empty, 0); } }", NULL },
		{ "method m() -> word k { word k; choose k in 0..7; atomic { "
		  "if (a[k] == 1) return k; assume(m.has(k)); a[k] = 2; return k; } }", NULL },
		{ "method m() -> word k { word k; choose k; atomic { m.put(k, 1); "
		  "return k + 1; } }",
		  "2:73: the state is accessed at a 'k' other than the one returned, but the "
		  "specification is partitioned by it" },
		{ "method m() -> word k { word k; atomic { if (m.has(k)) { k += 1; } return k; } }",
		  "2:62: 'k' changes, but the specification is partitioned by it" },
		{ "method m() -> word k { word k; atomic { while (k < 8) { m.put(k, 1); k += 1; } "
		  "return k; } }",
		  "2:75: 'k' changes, but the specification is partitioned by it" },
		{ "method m() -> word k { word n; atomic { while (n < 8) { word k = n; "
		  "m.put(k, 1); n += 1; } return 0; } }",
		  "2:62: 'k' is declared in a loop, but the specification is partitioned by it" },
		{ "method m() -> word k { atomic { { word k = 1; m.put(k, 1); } { word k = 2; "
		  "m.put(k, 1); return k; } } }",
		  "2:76: 'm' is accessed at a second 'k', but the specification is partitioned by "
		  "it" },
		{ "method m() -> word k { atomic { if (m.has(1)) return 1; return 0; } }",
		  "2:37: 'm' is accessed at a key other than 'k', by which the specification is "
		  "partitioned" },
		{ "method m() -> word k { atomic { return m.size(); } }",
		  "2:40: this accesses 'm' for every 'k', but the specification is partitioned by "
		  "it" },
		{ "method m(bool b) -> word k { atomic { if (b) { word k = 1; "
		  "m.put(k, 1); } else { word k = 2; m.put(k, 1); } word k = 3; return k; } }",
		  "2:128: the state is accessed at a 'k' other than the one returned, but the "
		  "specification is partitioned by it" },
	};
	char text[1024], want[256], doubt[256];
	struct kl_spec *s;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), OWN "%s }", cases[i].method);
		assert_int_equal(parse(text, &s), 0);
		snprintf(want, sizeof(want), "t.lin:%s", cases[i].doubt ? cases[i].doubt : "");
		if (kl_spec_partition_doubt(s, doubt, sizeof(doubt)))
			assert_string_equal(doubt, want);
		else if (cases[i].doubt)
			fail_msg("no doubt about %s", cases[i].method);
		if (!cases[i].doubt)
			assert_string_equal(messages, "");
		assert_int_equal(kl_spec_method(s, 0)->part_param,
				 kl_spec_method(s, 0)->nparams +
				 kl_spec_method(s, 0)->nresults - 1);
		kl_spec_free(s);
	}
}

/* The purposes of a parameter. */
static void test_parameter_uses(void **state)
{
	struct kl_spec *s = good("spec t { map<word, word> m; word a[8], b[4]; pqueue<word> p;\n"
				 "method m(word k, word i, word c, word n, word o, word v) { "
				 "atomic {\n"
				 "m.put(k, v); a[i] = v; b[i] = v; assume(a[0] == c); a[1] += n;\n"
				 "p.push(o); } } }");
	const struct kl_param *p = kl_spec_method(s, 0)->params;

	assert_int_equal(p[0].use, KL_USE_KEY);
	assert_int_equal(p[1].use, KL_USE_INDEX);
	assert_int_equal(p[1].bound, 4);
	assert_int_equal(p[2].use, KL_USE_COMPARED);
	assert_int_equal(p[3].use, KL_USE_COMPUTED);
	assert_int_equal(p[4].use, KL_USE_ORDERED);
	assert_int_equal(p[5].use, 0);
	kl_spec_free(s);
}

static void test_probes(void **state)
{
	struct kl_spec *s = good(
		"spec t { word low, high;\n"
		"method set(word l, word h) { atomic { low = l; high = h; } }\n"
		"method get() -> (word l, word h) { atomic { return (low, high); } }\n"
		"method one() -> word { atomic { return low; } } }\n"
		"probe get on f(net, lo, hi) { object net; result h = *hi; result l = *lo at "
		"return; }\n"
		"probe set on mod:g(t, w) {\n"
		"	when w != 0 && return == 0;\n"
		"	object t->data - offsetof(struct net, ipv4.range.x);\n"
		"	argument l = ((int *)t->data)[0], h = (unsigned long)t->set.word[1] at "
		"return; }\n"
		"probe one on h() { result return; }\n"
		"probe one on klin:seqlock.one;");
	const struct kl_probe *p;
	const struct kl_expr *e;

	assert_int_equal(kl_spec_nprobes(s), 4);
	p = kl_spec_probe(s, 0);
	assert_int_equal(p->method, 1);
	assert_int_equal(p->ntargets, 1);
	assert_int_equal(p->targets->kind, KL_TARGET_FUNC);
	assert_string_equal(p->targets->name, "f");
	assert_null(p->targets->module);
	assert_int_equal(p->targets->nparams, 3);
	assert_string_equal(p->targets->params[2], "hi");
	assert_int_equal(p->targets->object->kind, KL_E_PARAM);
	assert_false(p->targets->object_at_return);
	assert_int_equal(p->targets->nargs, 0);
	assert_int_equal(p->targets->nresults, 2);
	assert_string_equal(p->targets->results[0].name, "l");
	assert_true(p->targets->results[0].at_return);
	assert_int_equal(p->targets->results[0].expr->kind, KL_E_UNARY);
	assert_int_equal(p->targets->results[0].expr->op, '*');
	assert_int_equal(p->targets->results[0].expr->a->index, 1);
	assert_int_equal(p->targets->results[1].expr->a->index, 2);

	p = kl_spec_probe(s, 1);
	assert_string_equal(p->targets->module, "mod");
	assert_null(p->targets->when[0]);
	assert_int_equal(p->targets->when[1]->op, KL_OP_AND);
	assert_int_equal(p->targets->when[1]->b->a->kind, KL_E_RETURN);
	e = p->targets->object;
	assert_int_equal(e->op, '-');
	assert_int_equal(e->a->kind, KL_E_ARROW);
	assert_string_equal(e->a->name, "data");
	assert_int_equal(e->b->kind, KL_E_OFFSETOF);
	assert_string_equal(e->b->type.kind, "struct");
	assert_string_equal(e->b->type.name, "net");
	assert_string_equal(e->b->name, "ipv4.range.x");
	assert_true(p->targets->args[0].at_return);
	e = p->targets->args[0].expr;
	assert_int_equal(e->kind, KL_E_INDEX);
	assert_int_equal(e->a->kind, KL_E_CAST);
	assert_string_equal(e->a->type.name, "int");
	assert_int_equal(e->a->type.ptr, 1);
	e = p->targets->args[1].expr;
	assert_int_equal(e->kind, KL_E_CAST);
	assert_string_equal(e->type.name, "unsigned long");
	assert_string_equal(e->a->a->name, "word");

	p = kl_spec_probe(s, 2);
	assert_int_equal(p->targets->nparams, 0);
	assert_int_equal(p->targets->results[0].expr->kind, KL_E_RETURN);
	p = kl_spec_probe(s, 3);
	assert_int_equal(p->targets->kind, KL_TARGET_KLIN);
	assert_string_equal(p->targets->name, "seqlock.one");
	assert_null(p->targets->object);
	kl_spec_free(s);
}

static void test_alternatives(void **state)
{
	struct kl_spec *s = good(
		"spec t { word x; method get() -> word { atomic { return x; } } }\n"
		"probe get on f(a, b) or mod:g(b) { object b; result b != 0 ? *b : absent; }\n"
		"or h(c) { when c != 0; result user(*c); } or klin:t.get;\n");
	const struct kl_probe_target *t;
	const struct kl_expr *e;

	assert_int_equal(kl_spec_nprobes(s), 1);
	assert_int_equal(kl_spec_probe(s, 0)->ntargets, 4);
	t = kl_spec_probe(s, 0)->targets;
	/* The same body, each with its own parameters. */
	assert_string_equal(t[0].name, "f");
	assert_int_equal(t[0].object->index, 1);
	assert_string_equal(t[1].module, "mod");
	assert_int_equal(t[1].object->index, 0);
	assert_int_equal(t[1].nresults, 1);
	e = t[1].results[0].expr;
	assert_int_equal(e->kind, KL_E_COND);
	assert_int_equal(e->c->kind, KL_E_SPECIAL);
	assert_int_equal(e->c->num, KL_ABSENT);
	/* A method with a body of its own. */
	assert_null(t[2].object);
	assert_non_null(t[2].when[0]);
	assert_null(t[2].when[1]);
	assert_int_equal(t[2].results[0].expr->kind, KL_E_USER);
	assert_int_equal(t[3].kind, KL_TARGET_KLIN);
	assert_int_equal(t[3].nresults, 0);
	kl_spec_free(s);
}

#define SPEC "spec t { word x; method set(word l, word h) { atomic { x = l; } }\n" \
	"method get() -> (word l, word h) { atomic { return (x, x); } } method nop() { } }\n"

static void test_bad_probes(void **state)
{
	bad(SPEC "probe gte on f() { }", "t.lin:3:7: error: 't' has no method 'gte'; did you mean "
					 "'get'?\n");
	bad(SPEC "probe zzzzz on f() { }", "t.lin:3:7: error: 't' has no method 'zzzzz'\n");
	bad(SPEC "probe get on f(a) { result l = a; }",
	    "t.lin:3:7: error: this clause does not say where method 'get' has: result h\n");
	bad(SPEC "probe get on f(a) { result l = a, h = a; } or g(b) or nothing;",
	    "t.lin:3:7: error: this clause does not say where method 'get' has: result l, "
	    "result h\n");
	bad(SPEC "probe set on f(a);",
	    "t.lin:3:7: error: this clause does not say where method 'set' has: argument l, "
	    "argument h\n");
	bad(SPEC "probe get on f(a) { result l = a; result h = a, l = a; }",
	    "t.lin:3:49: error: a second expression for 'l', the first is in line 3\n");
	bad(SPEC "probe set on f(alpha) { argument l = alhpa, h = 1; }",
	    "t.lin:3:38: error: 'f' has no parameter 'alhpa'; did you mean 'alpha'?\n");
	bad(SPEC "probe set on f(a) { argument hh = a; }",
	    "t.lin:3:30: error: method 'set' has no parameter 'hh'; did you mean 'h'?\n");
	bad(SPEC "probe nop on f(a) { result a; }",
	    "t.lin:3:28: error: method 'nop' has no result\n");
	bad(SPEC "probe nop on f(a, a);", "t.lin:3:19: error: a second parameter 'a'\n");
	bad(SPEC "probe nop on f(a) { object a; object a; }",
	    "t.lin:3:31: error: a second 'object' in this clause\n");
	bad(SPEC "probe nop on f(a) { when a; when return; when a > 1; }",
	    "t.lin:3:42: error: a second 'when' at the call in this clause\n");
	bad(SPEC "probe nop on f(a) { object return at call; }",
	    "t.lin:3:28: error: 'return' has no value yet at the call\n");
	bad(SPEC "probe nop on f(a) or klin:t.nop;",
	    "t.lin:3:32: error: expected a body for the functions before a klin: target, found "
	    "';'\n");
	bad(SPEC "probe nop on f(a) or g(b) { object b; }",
	    "t.lin:3:36: error: the clause gives 'f' no parameter 'b'\n");
	bad(SPEC "probe nop on f(a) { object a; } or g(a) { objekt a; }",
	    "t.lin:3:43: error: expected 'object', 'when', 'argument', 'result', 'point' or "
	    "'coverage', found 'objekt'; did you mean 'object'?\n");
	bad(SPEC "probe set on f(a) { argument l = empty + 1, h = a; }",
	    "t.lin:3:34: error: 'empty' is not a number: it can be a whole argument or result, or "
	    "a branch of ?: there\n");
	bad(SPEC "probe nop on f(a) { when absent; }",
	    "t.lin:3:26: error: 'absent' is not a number: it can be a whole argument or result, or "
	    "a branch of ?: there\n");
	bad(SPEC "probe nop on inlined f(a);", "t.lin:3:26: error: expected 'in' and the function "
	    "that it was inlined into, found ';'\n");
	bad(SPEC "probe nop on inlined f(a) in g(b) { object a at return; }",
	    "t.lin:3:44: error: the return of 'f' cannot be observed where it is inlined: only "
	    "data at its call can be read\n");
	bad(SPEC "probe nop on inlined f(a) in g { when return; }",
	    "t.lin:3:39: error: the return of 'f' cannot be observed where it is inlined: only "
	    "data at its call can be read\n");
	bad(SPEC "probe nop on inlined f(a) in g(a) { }",
	    "t.lin:3:32: error: a second parameter 'a'\n");
	bad(SPEC "probe nop on f+x(a);", "t.lin:3:16: error: expected an offset into the function "
	    "after '+', found 'x'\n");
	bad(SPEC "probe nop on f(a) { coverage asserted; }",
	    "t.lin:3:38: error: expected the reason, in quotes, found ';'\n");
	bad(SPEC "probe nop on f(a) { coverage asserted \" \"; }",
	    "t.lin:3:39: error: expected a reason: why no call is missed\n");
	bad(SPEC "probe nop on f(a) { coverage whole; }",
	    "t.lin:3:30: error: expected 'asserted' after 'coverage', and in quotes the reason why "
	    "no call is missed, found 'whole'\n");
	bad(SPEC "probe nop on f(a) { coverage asserted \"a\"; coverage asserted \"b\"; }",
	    "t.lin:3:44: error: a second 'coverage' in this clause\n");
	bad(SPEC "probe nop on f(a) { point on g+; }",
	    "t.lin:3:32: error: expected an offset into the function after '+', found ';'\n");
	bad(SPEC "probe nop on f(a) { point on g; point on h; }",
	    "t.lin:3:33: error: a second 'point' in this clause\n");
	bad(SPEC "probe nop on f(a) { objekt a; when f(1); }",
	    "t.lin:3:21: error: expected 'object', 'when', 'argument', 'result', 'point' or "
	    "'coverage', found 'objekt'; did you mean 'object'?\n"
	    "t.lin:3:36: error: a probe clause cannot call functions\n");
	bad(SPEC "probe nop on klin:a.b { }",
	    "t.lin:3:23: error: expected ';' or 'or': what a klin: target has is taken by "
	    "position, found '{'\n");
	bad("probe nop on f();\n" SPEC, "t.lin:1:1: error: 'probe' before 'spec': write the "
					"specification first\n");
}

/* Two clauses without conditions for one function make each call two operations. */
static void test_second_clause(void **state)
{
	struct kl_spec *s;

	assert_int_equal(parse(SPEC "probe nop on f(a) { object a; }\n"
				    "probe nop on f(b) { object b; }",
			       &s),
			 0);
	assert_string_equal(messages, "t.lin:4:14: warning: each call of 'f' is two operations: "
				      "line 3 has another clause for it\n");
	kl_spec_free(s);
	kl_spec_free(good(SPEC "probe nop on f(a) { object a; when a; }\n"
			       "probe nop on f(b) { object b; when !b; }"));
}

static void test_bad_texts(void **state)
{
	char deep[4000], *p = deep;
	int i;

	bad("", "t.lin: error: the file has no specification: expected 'spec NAME { ... }'\n");
	bad("spec t { word x; }", "t.lin:1:6: error: 't' has no method\n");
	bad("spec t { wrod x; method f() { } }",
	    "t.lin:1:10: error: expected a variable ('word x;'), 'const', 'method' or 'partition', "
	    "found 'wrod'; did you mean 'word'?\n");
	bad("spec t { word x = ; word y = 08; method f() { return 1 } }\nspec u { }",
	    "t.lin:1:30: error: '08' is not a number\n"
	    "t.lin:1:19: error: expected an expression, found ';'\n"
	    "t.lin:1:56: error: expected ';' after 'return', found '}'\n"
	    "t.lin:2:1: error: a second 'spec'; a file has one\n");
	bad("spec t { word x = 18446744073709551616; /* ",
	    "t.lin:1:19: error: number '18446744073709551616' does not fit in 64 bits\nt.lin:1:41: "
	    "error: the comment does not end: expected '*/'\n");
	bad("spec t { const A = B; const B = 1; word x = 0; method f() { atomic { x = A; } } }",
	    "t.lin:1:20: error: no variable 'B'; the constant is declared later, in line 1\n"
	    "t.lin:1:74: error: no variable 'A'; the constant in line 1 has a mistake\n");
	bad("spec t { struct node { word v; } method f() { } }",
	    "t.lin:1:10: error: 'struct' belongs to an implementation or a client: write it "
	    "outside 'spec t { }'\n");
	bad("spec t { word x; bool x; method f(word x) { } method f() { } }",
	    "t.lin:1:23: error: 'x' is already declared in line 1\n"
	    "t.lin:1:54: error: 'f' is already declared in line 1\n"
	    "t.lin:1:40: error: 'x' is the name of a variable of the state, declared in line 1\n"
	    "t.lin:1:40: error: 'x' is the name of a variable of the state, declared in line 1\n");
	bad("spec t { word a[0]; word b[20000]; bool c = 1; const N = 1 / 0; method f() { } }",
	    "t.lin:1:60: error: division by zero\n"
	    "t.lin:1:17: error: 'a' must have 1 to 16384 elements\n"
	    "t.lin:1:28: error: 'b' must have 1 to 16384 elements\n"
	    "t.lin:1:45: error: the initial value of 'c' must be a bool, found word\n");
	bad("spec t { queue<queue> q; queue<word> r = 1; method f() { } }",
	    "t.lin:1:16: error: expected 'word' or 'bool' in a container, found 'queue'\n"
	    "t.lin:1:42: error: expected 'empty', the only initial value of a container, found "
	    "'1'\n");
	bad("spec t { method get() -> word { atomic { } } }",
	    "t.lin:1:17: error: 'get' can end without 'return', but has 1 result\n");
	bad("spec t { method f() { } } $ \x01",
	    "t.lin:1:27: error: unexpected '$': names have none; a probe's function has its "
	    "parameters' names, and 'return' is its result\n"
	    "t.lin:1:29: error: unexpected byte 0x01\n");

	p += sprintf(p, "spec t { method f() -> word { return ");
	for (i = 0; i < 300; i++)
		*p++ = '(';
	*p = 0;
	bad(deep, "t.lin:1:236: error: nested more than 200 deep\n"
	    "t.lin:1:338: error: expected '}' at the block's end, found end of file\n");
	p = deep + sprintf(deep, "spec t { method f() -> word { return 1");
	for (i = 0; i < 300; i++)
		p += sprintf(p, "+1");
	strcpy(p, "; } }");
	bad(deep, "t.lin:1:439: error: the expression has more than 200 operators in a row\n");
	p = deep + sprintf(deep, "spec t { ");
	for (i = 0; i < 30; i++)
		p += sprintf(p, "!; ");
	parse(deep, &(struct kl_spec *){ NULL });
	assert_non_null(strstr(messages, "t.lin: error: too many errors; the rest of the file was "
					 "not checked\n"));
}

/* Messages that say what to write in place of words and signs of C, Python and typing errors. */
static void test_advice(void **state)
{
	static const struct {
		const char *body, *advice;
	} t[] = {
		{ "atomc { w = 1; }", "did you mean 'atomic'?" },
		{ "chose y;", "did you mean 'choose'?" },
		{ "atomic-flush { w = 1; }", "did you mean 'atomic_flush'?" },
		{ "++x;", "write '+= 1' or '-= 1'" },
		{ "if (x = 1) x = 2;", "write '==' to compare" },
		{ "x == 1;", "write '=' to assign" },
		{ "x = x->next;", "a specification has no pointers" },
		{ "x = (word)1;", "there are no casts" },
		{ "x = \"a\";", "values are whole numbers, true and false" },
		{ "x = 1.5;", "numbers are whole" },
		{ "switch (x) { }", "'switch' does not exist: write 'if'" },
		{ "goto out;", "let the loop's condition say when the loop ends" },
		{ "shared word y;", "'shared' does not exist here: it belongs to an implementation, "
				    "outside of 'spec' and of methods" },
		{ "b = b and b;", "write '&&'" },
		{ "b = not(b);", "'not(': no such function; write '!'" },
		{ "if (b) x = 1; elif (b) x = 2;", "'elif(': no such function; write 'else if'" },
		{ "x = len(q);", "'len(': no such function; write NAME.size()" },
		{ "push(q, 1);", "containers have methods, as in 'q.push(v)'" },
		{ "b = True;", "no variable 'True'; write 'true'" },
		{ "x = NULL;", "no variable 'NULL'; write 0, or one of 'empty', 'full' and "
			       "'absent'" },
		{ "x, b = 1, b;", "write one assignment after the other" },
		{ "self.x = 1;", "only containers have members, and these are methods" },
		{ "b = x & 1 == 0;", "comparisons form no chain, and '==' and '<' bind before '&'" },
		{ "atomic { x = q.push(1); }", "found nothing: this method of a container has no "
					       "result" },
		{ "atomic { x = q.top(); }", "no method 'top' of queue; it has push, pop" },
		{ "choose y in 3..0;", "a range has 1 to 65536 words, the least first" },
		{ "choose y in 0..65536;", "a range has 1 to 65536 words, the least first" },
		{ "x = 1; # three", "comments begin with '//'" },
		{ "lock();", "a specification needs no locks, since an atomic block is one step" },
		{ "x = \xe2\x80\x9c" "1;", "unexpected '\xe2\x80\x9c'; write '\"'" },
		{ "x =\xc2\xa0" "1;", "a blank that does not break" },
		{ "x\xc3\xa9y = 1;", "names have the letters a to z and A to Z, digits and '_'" },
		{ "x = 1\xe9;", "unexpected byte 0xe9: expected text in UTF-8" },
	}, whole[] = {
		{ "spce t { method f() { } }", "found 'spce'; did you mean 'spec'?" },
		{ "spec t { method f() => word { return 1; } }", "write '->'" },
		{ "spec t { method f() : word { return 1; } }", "write '->'" },
		{ "spec t { word f() { return 1; } }", "write 'method NAME(...)' for a method" },
		{ "spec t { def f() { } }", "write 'method'" },
		{ "spec t { int x; method f() { } }", "the types are 'word', of 64 bits, and 'bool'" },
		{ "spec t { queue q; method f() { } }", "write its type, as in 'queue<word> NAME'" },
		{ "spec t { max pqueue<word> q; method f() { } }", "write 'pqueue<word> max NAME'" },
		{ "spec t { word a[]; method f() { } }", "an array has a constant length" },
		{ "spec t { word a[2] = { 0, 1 }; method f() { } }",
		  "an array has one initial value, for all elements" },
		{ "spec t { method f(word *p) { } }", "a specification has no pointers" },
		{ "spec t { method f() -> word a, word b { } }",
		  "several results need parentheses: '-> (word a, word b)'" },
		{ "spec t { method f() -> (word a, word b) { return { 1, 2 }; } }",
		  "several results need parentheses: 'return (a, b);'" },
		{ "spec t { method f() { method g() { } }", "a '}' is missing before it" },
		{ "spec t { method f() { } } }", "this '}' closes nothing" },
		{ "# klin history 1\n", "the file is a history: a specification comes first" },
		{ "# A counter.\n" SPEC, "comments begin with '//', and there is no preprocessor" },
		{ "history { }\n" SPEC, "'history' before 'spec': write the specification first" },
		{ "spec t { method f() { } }\nmethod f() { f2(); }",
		  "'f2(': no such function; there are cas, xchg, fadd, lock and unlock" },
		{ "spec t { method f() { } }\nmethod f() { f(); }",
		  "'f(': a method cannot call another one; a thread writes 'call NAME(...)'" },
		{ "spec t { method f() { } }\nshared mutex l;", "write 'lock'" },
		{ "spec t { method f() { } }\nshared word *x;", "only structs have pointers" },
		{ "spec t { method f() { } }\nshared lock l; method f() { unlok(l); }",
		  "did you mean 'unlock'?" },
		{ "spec t { method f() { } }\nthread a(3) { }", "write 'thread NAME[NUMBER]'" },
	};
	static char large[KL_TEXT_MAX + 1];
	struct kl_spec *s = NULL;
	char text[512];
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(*t); i++) {
		snprintf(text, sizeof(text),
			 "spec t { word w = 0; queue<word> q = empty;\n"
			 "method m(word x, bool b) {\n%s\n} }",
			 t[i].body);
		assert_int_equal(parse(text, &s), -EINVAL);
		if (!strstr(messages, t[i].advice) || strncmp(messages, "t.lin:3:", 8))
			fail_msg("%s: %s", t[i].body, messages);
	}
	for (i = 0; i < sizeof(whole) / sizeof(*whole); i++) {
		assert_int_equal(parse(whole[i].body, &s), -EINVAL);
		if (!strstr(messages, whole[i].advice))
			fail_msg("%s: %s", whole[i].body, messages);
	}
	/* A byte order mark is no mistake, and a zero byte has a place. */
	kl_spec_free(good("\xef\xbb\xbfspec t { method f() { } }"));
	kl_log_sink = sink;
	messages[0] = 0;
	assert_int_equal(kl_spec_parse("t.lin", "spec t {\n\0", 11, &s), -EINVAL);
	assert_string_equal(messages, "t.lin:2:1: error: a zero byte: expected text\n");
	messages[0] = 0;
	assert_int_equal(kl_spec_parse("t.lin", "\xff\xfes", 3, &s), -EINVAL);
	assert_non_null(strstr(messages, "the file is UTF-16: convert it"));
	/* The kind of a large file helps more than its size. */
	memset(large, '\n', sizeof(large));
	messages[0] = 0;
	assert_int_equal(kl_spec_parse("t.lin", large, sizeof(large), &s), -EINVAL);
	assert_non_null(strstr(messages, "bytes are too many for a specification"));
	memcpy(large, "# klin history 1\n", 17);
	messages[0] = 0;
	assert_int_equal(kl_spec_parse("t.lin", large, sizeof(large), &s), -EINVAL);
	assert_non_null(strstr(messages, "the file is a history"));
	kl_log_sink = NULL;
}

/* Only its condition ends a loop. */
static void test_endless_loop(void **state)
{
	struct kl_spec *s;

	kl_spec_free(good("spec t { method f(word x) -> word { while (true) { if (x == 1) "
			  "return 1; x += 1; } } }"));
	assert_int_equal(parse("spec t { method f() -> word { while (true) { } return 1; } }", &s),
			 0);
	assert_string_equal(messages, "t.lin:1:48: warning: this statement is never reached\n");
	kl_spec_free(s);
}

static void test_bad_bodies(void **state)
{
	bad_body("w = 1;", E("1", "'w' is shared: use it inside 'atomic { }' or 'atomic_flush { "
				  "}'"));
	bad_body("atomic { atomic { } }", E("10", "'atomic' inside the atomic block of line 3"));
	bad_body("while (b) { atomic { } }", E("13",
					       "an atomic block in a loop: put the loop into the "
					       "block"));
	bad_body("atomic { q.psuh(1); }", E("12",
					    "no method 'psuh' of queue; did you mean 'push'?"));
	bad_body("atomic { q.zzz(1); }", E("12",
					   "no method 'zzz' of queue; it has push, pop, front, "
					   "size, clear"));
	bad_body("atomic { q.push(); }", E("12", "'push' of queue takes 1 argument, found 0"));
	bad_body("atomic { q.push(b); }", E("17",
					    "the argument must be a word, found bool; append '? 1 "
					    ": 0'"));
	bad_body("atomic { q = 1; }", E("10", "'q' is a queue: use its methods (push, pop, front, "
					      "size, clear)"));
	bad_body("atomic { w.push(1); }", E("10", "'w' is not a container and has no methods"));
	bad_body("atomic { a = 1; }", E("10", "'a' is an array, expected an index: 'a[...]'"));
	bad_body("atomic { a[4] = 1; }", E("12", "'a' has 4 elements, and no element [4]"));
	bad_body("atomic { w[0] = 1; }", E("10", "'w' is not an array and has no index"));
	bad_body("N = 1;", E("1", "'N' is a constant and cannot be assigned"));
	bad_body("word value = 1; vlaue = 2;", E("17",
			"no variable 'vlaue'; did you mean 'value'?"));
	bad_body("if (x) { }", E("5", "the condition must be a bool, found word; compare it, for "
				      "example "
		 "with '!= 0'"));
	bad_body("x = b;", E("5", "the value must be a word, found bool; append '? 1 : 0'"));
	bad_body("b += 1;", E("1", "this assignment computes with words, 'b' is a bool")
		 E("6", "the value must be a bool, found word; compare it, for example with '!= "
			"0'"));
	bad_body("x = empty + 1;", E("5", "empty, full and absent are not numbers: they can only "
					  "be compared with == and !="));
	bad_body("b = x == b;", E("7", "word cannot be compared with bool"));
	bad_body("x = b ? 1 : true;", E("7", "'? :' chooses between word and bool, expected one "
					     "type"));
	bad_body("return 1;", E("1", "'m' has 0 results, 'return' gives 1"));
	bad_body("word x;", E("6", "'x' is already declared in line 2"));
	bad_body("x++;", E("2", "'++' and '--' do not exist: write '+= 1' and '-= 1'"));
	bad_body("for (;;) { }", E("1", "'for' does not exist: write loops with 'while'"));
	bad_body("either { }", "t.lin:4:1: error: expected 'or {': 'either' needs two "
			       "alternatives, found "
		 "'}'\n");
	bad_body("m(1);", E("1", "'m(': a method cannot call another one"));
	bad_body("x = *x;", E("5", "a specification has no pointers"));
	bad_body("choose y in 1, 2;", E("14", "expected '..' between the ends of the range, found "
					      "','"));
	bad_body("word or = 1;", E("6", "expected a variable's name, found the reserved word "
					"'or'"));
	bad_body("atomic { } fence;", E("12", "'fence' after an atomic block: put it before the "
					      "block, or use "
		 "'atomic_flush'"));
	bad_body("x 1;", E("3", "expected an assignment ('=', '+=', ...) or a container's method "
				"('.'), found "
		 "'1'"));
	bad_body("atomic { st.push(m.get(1) == absent ? 1 : true); b = m.get(x) == 1; }",
		 E("37", "'? :' chooses between word and bool, expected one type")
		 E("63", "bool cannot be compared with word"));
}

/* What methods of the shipped specifications do at the ends of their containers: see ends.h. */
static void test_container_ends(void **state)
{
	static const struct {
		const char *spec, *method;
		bool ok;
		enum kl_end_act act;
		bool back, bounded;
		unsigned int value;
		int most, replaces;
		uint64_t capacity;
	} t[] = {
		{ "queue", "enq", true, KL_END_PUSH, true, false, 0, -1, -1, 0 },
		{ "queue", "peek", true, KL_END_LOOK, false, false, 0, -1, -1, 0 },
		{ "stack", "pop", true, KL_END_POP, true, false, 0, -1, -1, 0 },
		{ "deque", "push_front", true, KL_END_PUSH, false, false, 0, -1, -1, 0 },
		{ "deque", "pop_back", true, KL_END_POP, true, false, 0, -1, -1, 0 },
		{ "bounded_queue", "enq", true, KL_END_PUSH, true, true, 0, -1, -1, 4 },
		{ "bpf_queue", "push", true, KL_END_PUSH, true, true, 0, 1, 2, 0 },
		{ "bpf_stack", "push", true, KL_END_PUSH, true, true, 0, 1, -1, 0 },
		{ "bpf_stack", "peek", true, KL_END_LOOK, true, false, 0, -1, -1, 0 },
		{ "kfifo", "put", true, KL_END_PUSH, true, true, 0, -1, -1, 8 },
		{ "kfifo", "get", true, KL_END_POP, false, false, 1, -1, -1, 0 },
		{ "mqueue", "send", false, 0, false, false, 0, 0, 0, 0 },
		{ "set", "add", false, 0, false, false, 0, 0, 0, 0 },
		{ "pair", "read", false, 0, false, false, 0, 0, 0, 0 },
	};
	struct kl_end_method e;
	struct kl_spec *spec;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(*t); i++) {
		assert_int_equal(kl_spec_load(t[i].spec, &spec), 0);
		assert_int_equal(kl_spec_end_method(spec, kl_spec_find_method(spec, t[i].method),
						    &e), t[i].ok);
		if (t[i].ok) {
			assert_int_equal(e.act, t[i].act);
			assert_int_equal(e.back, t[i].back);
			assert_int_equal(e.bounded, t[i].bounded);
			assert_int_equal(e.value, t[i].value);
			assert_int_equal(e.most, t[i].most);
			assert_int_equal(e.replaces, t[i].replaces);
			assert_int_equal(e.capacity, t[i].capacity);
		}
		kl_spec_free(spec);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_source_line),
		cmocka_unit_test(test_shipped_specs_accepted),
		cmocka_unit_test(test_method_signatures),
		cmocka_unit_test(test_partition),
		cmocka_unit_test(test_partition_result),
		cmocka_unit_test(test_parameter_uses),
		cmocka_unit_test(test_probes),
		cmocka_unit_test(test_alternatives),
		cmocka_unit_test(test_bad_probes),
		cmocka_unit_test(test_second_clause),
		cmocka_unit_test(test_bad_texts),
		cmocka_unit_test(test_advice),
		cmocka_unit_test(test_endless_loop),
		cmocka_unit_test(test_bad_bodies),
		cmocka_unit_test(test_container_ends),
	};

	return cmocka_run_group_tests_name("spec", tests, NULL, NULL);
}
