// SPDX-License-Identifier: GPL-2.0
/*
 * Random clients of random implementations of a register and a counter.  If the implementation
 * is linearizable, each outcome of the client is possible with the specification (Burckhardt
 * et al., Theorem 4).  If the implementation equals the specification, the outcomes are equal.
 * KLIN_RUNS sets the number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/hash.h"
#include "history_util.h"
#include "tso/explore/outcomes.h"

static const char *const sets[] = {
	"x = v;", "c = v; x = v;", "x = v; fence;", "fence; x = v;", "xchg(&x, v);",
	"lock(m); x = v; unlock(m);", "x = 0; x = v;", "c = x; x = v;", "atomic_flush { x = v; }",
};

static const char *const gets[] = {
	"return x;", "word a = x; word b = x; return a == b ? a : b;", "fence; return x;",
	"return c;", "lock(m); word a = x; unlock(m); return a;", "return fadd(&x, 0);",
	"word a; do { a = x; } while (a != x); return a;",
};

static const char *const adds[] = {
	"return fadd(&n, 1);", "word o = n; n = o + 1; return o;",
	"word o; do { o = n; } while (!cas(&n, o, o + 1)); return o;",
	"lock(m); word o = n; n = o + 1; unlock(m); return o;",
};

static const char *const actions[] = {
	"call set(1);", "call set(2);", "r = call get();", "s = call get();", "r = call add();",
	"y = 1;", "z = 1;", "r = y;", "s = z;", "y = r + 1;", "fence;", "if (r == 1) z = 2;",
};

#define PICK(a, seed) a[kl_rand_below(seed, sizeof(a) / sizeof(*a))]

static const char spec[] =
	"spec r {\n	word x = 0, n = 0;\n"
	"	method set(word v) { %s { x = v; } }\n"
	"	method get() -> word { atomic { return x; } }\n"
	"	method add() -> word { atomic_flush { n += 1; return n - 1; } }\n}\n"
	"shared word x = 0, c = 0, n = 0, y = 0, z = 0; shared lock m;\n";

static void make_client(FILE *f, uint64_t *seed)
{
	unsigned int t, i, n;

	for (t = 0; t < 2; t++) {
		fprintf(f, "thread t%u {\n	word r = 0, s = 0;\n", t);
		for (i = 0, n = 2 + kl_rand_below(seed, 3); i < n; i++)
			fprintf(f, "	%s\n", PICK(actions, seed));
		fputs("}\n", f);
	}
}

static void make(char *text, size_t size, bool same, uint64_t *seed)
{
	const char *block = kl_rand_below(seed, 3) ? "atomic" : "atomic_flush";
	FILE *f = fmemopen(text, size, "w");

	fprintf(f, spec, block);
	if (same)
		fprintf(f, "method set(word v) { %s { x = v; } }\n"
			   "method get() -> word { atomic { return x; } }\n"
			   "method add() -> word { atomic_flush { n += 1; return n - 1; } }\n",
			   block);
	else
		fprintf(f, "method set(word v) { %s }\nmethod get() -> word { %s }\n"
			   "method add() -> word { %s }\n", PICK(sets, seed), PICK(gets, seed),
			PICK(adds, seed));
	make_client(f, seed);
	fclose(f);
}

struct counts {
	/* seen: wrong implementations whose fault the client can observe */
	unsigned long right, wrong, seen;
	/* programs with an outcome that is impossible under SC */
	unsigned long weak;
};

static void check(const char *text, bool sc, bool same, struct counts *n)
{
	const struct kl_explore_options o = { .sc = sc, .memory = 1u << 30 };
	enum kl_explore_verdict v = KL_EX_OK;
	struct kl_outcomes *r;
	struct kl_explorer *x;
	struct kl_spec *s;
	size_t i, wrong;
	bool weak = false;

	assert_int_equal(kl_spec_parse("random.lin", text, strlen(text), &s), 0);
	assert_int_equal(kl_explore(s, &o, &v, &x), 0);
	assert_int_equal(kl_explore_outcomes(s, &o, &r), 0);
	wrong = kl_outcomes_wrong(r);
	for (i = 0; i < r->n; i++) {
		weak |= !sc && !(r->with[i] & KL_WITH_SC);
		if (same && (r->with[i] & (KL_WITH_IMPL | KL_WITH_SPEC)) != 3)
			wrong++;
	}
	if ((v == KL_EX_OK && wrong) || (same && (v != KL_EX_OK || wrong)) || !r->n) {
		print_message("%s, verdict %d, %zu of %zu outcomes are one side's only:\n%s\n",
			      sc ? "SC" : "TSO", v, wrong, r->n, text);
		fail();
	}
	n->right += v == KL_EX_OK;
	n->wrong += v != KL_EX_OK;
	n->seen += v != KL_EX_OK && wrong;
	n->weak += weak;
	kl_outcomes_free(r);
	kl_explorer_free(x);
	kl_spec_free(s);
}

static void run(bool same, struct counts *n)
{
	unsigned long runs = wanted_runs(10000) / 10 + 1, i;
	uint64_t seed = same ? 2013 : 2012;
	char text[4096];

	for (i = 0; i < runs; i++) {
		make(text, sizeof(text), same, &seed);
		check(text, i & 1, same, n);
	}
	print_message("%lu linearizable, %lu not, %lu clients can tell, %lu see what SC has not\n",
		      n->right, n->wrong, n->seen, n->weak);
}

static void test_outcomes_are_of_spec(void **state)
{
	struct counts n = { 0 };

	(void)state;
	run(false, &n);
	assert_true(n.right && n.wrong && n.seen && n.weak);
}

static void test_outcomes_equal_spec(void **state)
{
	struct counts n = { 0 };

	(void)state;
	run(true, &n);
	assert_true(n.right && n.weak);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outcomes_are_of_spec),
		cmocka_unit_test(test_outcomes_equal_spec),
	};

	kl_log_level = KL_LOG_ERR;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
