// SPDX-License-Identifier: GPL-2.0
/*
 * Random implementations of a register: the explorer's answer is the same with
 * each reduction and without, on TSO and on SC.  KLIN_RUNS tells how many.
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
#include "tso/explore.h"

static const char *const set_parts[] = {
	"x = v;", "y = v;", "fence;", "xchg(&x, v);", "cas(&x, 0, v);", "n->v = v; p = n;",
	"n->v = y; p = n; x = v;", "lock(m); x = v; unlock(m);", "y = x + 0 * v; x = v;",
	"atomic { x = v; y = v; }", "atomic_flush { x = v; y = v; }", "fadd(&y, 1);",
};

static const char *const get_parts[] = {
	"return x;", "return y;", "word a = x; word b = y; return a == b ? a : x;",
	"node *q = p; if (q == null) return x; return q->v;", "fence; return x;",
	"lock(m); word a = x; unlock(m); return a;", "atomic { word a = x; return a; }",
	"word a; do { a = x; } while (a != x); return a;", "return fadd(&x, 0);",
};

static const char *pick(const char *const *parts, size_t n, uint64_t *seed)
{
	return parts[kl_rand_below(seed, n)];
}

static void make(char *s, size_t size, uint64_t *seed)
{
	const size_t nset = sizeof(set_parts) / sizeof(*set_parts);
	const size_t nget = sizeof(get_parts) / sizeof(*get_parts);
	const bool two = kl_rand_below(seed, 2);

	snprintf(s, size,
		 "spec r {\n	word x = 0;\n"
		 "	method set(word v) { %s { x = v; } }\n"
		 "	method get() -> word { atomic { return x; } }\n}\n"
		 "struct node { word v; }\n"
		 "shared word x = 0, y = 0; shared node *p = null; shared lock m;\n"
		 "method set(word v) {\n	node *n = new node;\n	%s\n	%s\n	n = null;\n}\n"
		 "method get() -> word {\n	%s\n}\n"
		 "client %s ops(2) values(%s);\n",
		 kl_rand_below(seed, 3) ? "atomic" : "atomic_flush",
		 pick(set_parts, nset, seed), two ? pick(set_parts, nset, seed) : "",
		 pick(get_parts, nget, seed),
		 kl_rand_below(seed, 2) ? "general(2)" : "roles(set, get)",
		 kl_rand_below(seed, 2) ? "1" : "1, 2");
}

static enum kl_explore_verdict explore(const char *text, struct kl_explore_options o)
{
	enum kl_explore_verdict v = KL_EX_OK;
	struct kl_explorer *x;
	struct kl_spec *spec;

	o.memory = 1u << 30;
	assert_int_equal(kl_spec_parse("random.lin", text, strlen(text), &spec), 0);
	assert_int_equal(kl_explore(spec, &o, &v, &x), 0);
	kl_explorer_free(x);
	kl_spec_free(spec);
	return v;
}

static void test_reductions(void **state)
{
	static const struct kl_explore_options less[] = {
		{ .no_merge = true }, { .no_dead = true }, { .no_canon = true },
		{ .no_hidden = true }, { .no_symmetry = true }, { .no_facts = true },
		{ .no_cover = true }, { .shortest = true },
		{ .no_merge = true, .no_dead = true, .no_canon = true, .no_hidden = true,
		  .no_symmetry = true, .no_facts = true, .no_cover = true },
	};
	const char *env = getenv("KLIN_RUNS");
	unsigned long runs = (env ? strtoul(env, NULL, 10) : 10000) / 200 + 1, i, bad = 0;
	unsigned long weak = 0;
	enum kl_explore_verdict want, tso = KL_EX_OK;
	uint64_t seed = 2012;
	char text[2048];
	size_t k;
	int sc;

	(void)state;
	runs = runs < 80 ? runs : 80;
	for (i = 0; i < runs; i++) {
		make(text, sizeof(text), &seed);
		for (sc = 0; sc < 2; sc++) {
			want = explore(text, (struct kl_explore_options){ .sc = sc });
			for (k = 0; k < sizeof(less) / sizeof(*less); k++) {
				struct kl_explore_options o = less[k];

				o.sc = sc;
				if (explore(text, o) == want)
					continue;
				print_message("%s, without reduction %zu the answer differs:\n%s\n",
					      sc ? "SC" : "TSO", k, text);
				fail();
			}
			if (!sc)
				tso = want;
		}
		bad += tso != KL_EX_OK;
		weak += tso != want;
	}
	print_message("%lu implementations, %lu wrong on TSO, %lu of them right on SC\n", runs, bad,
		      weak);
	assert_true(runs < 50 || (bad > runs / 10 && runs - bad > runs / 10 && weak));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_reductions) };

	kl_log_level = KL_LOG_ERR;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
