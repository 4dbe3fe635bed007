// SPDX-License-Identifier: GPL-2.0
/*
 * Random implementations of a register: the explorer's answer is the same with each reduction
 * and without, on TSO and on SC.  KLIN_RUNS sets the number.
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
#include "tso/explore/explore.h"

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
		 "method set(word v) {\n	node *n = new node;\n	%s\n	%s\n"
		 "	n = null;\n}\n"
		 "method get() -> word {\n	%s\n}\n"
		 "client %s ops(2) values(%s);\n",
		 kl_rand_below(seed, 3) ? "atomic" : "atomic_flush",
		 pick(set_parts, nset, seed), two ? pick(set_parts, nset, seed) : "",
		 pick(get_parts, nget, seed),
		 kl_rand_below(seed, 2) ? "general(2)" : "roles(set, get)",
		 kl_rand_below(seed, 2) ? "1" : "1, 2");
}

static void ignore(void *ctx, const struct kl_explore_step *s)
{
}

static enum kl_explore_verdict explore(const char *text, struct kl_explore_options o)
{
	enum kl_explore_verdict v = KL_EX_OK;
	struct kl_explorer *x;
	struct kl_spec *spec;

	o.memory = 1u << 30;
	assert_int_equal(kl_spec_parse("random.lin", text, strlen(text), &spec), 0);
	assert_int_equal(kl_explore(spec, &o, &v, &x), 0);
	/* Replaying the run finds all its steps again. */
	assert_int_equal(kl_explore_run(x, ignore, NULL), 0);
	kl_explorer_free(x);
	kl_spec_free(spec);
	return v;
}

/* Cached steps lead to the same states as the machine's: the numbers of states are equal. */
static void same_states(const char *text, bool sc)
{
	struct kl_explore_stats st[2];
	enum kl_explore_verdict v[2];
	struct kl_explorer *x;
	struct kl_spec *spec;
	int k;

	for (k = 0; k < 2; k++) {
		const struct kl_explore_options o = {
			.memory = 1u << 30, .sc = sc, .no_symmetry = true, .no_known = k,
		};

		assert_int_equal(kl_spec_parse("random.lin", text, strlen(text), &spec), 0);
		assert_int_equal(kl_explore(spec, &o, &v[k], &x), 0);
		kl_explore_stats(x, &st[k]);
		kl_explorer_free(x);
		kl_spec_free(spec);
	}
	if (v[0] == v[1] && (v[0] != KL_EX_OK || (st[0].states == st[1].states &&
						  st[0].transitions == st[1].transitions)))
		return;
	print_message("%s, states %lu and %lu, transitions %lu and %lu:\n%s\n", sc ? "SC" : "TSO",
		      st[0].states, st[1].states, st[0].transitions, st[1].transitions, text);
	fail();
}

static void test_verdict_with_reductions(void **state)
{
	static const struct kl_explore_options less[] = {
		{ .no_merge = true }, { .no_dead = true }, { .no_canon = true },
		{ .no_hidden = true }, { .no_symmetry = true }, { .no_facts = true },
		{ .no_cover = true }, { .no_known = true }, { .shortest = true },
		{ .no_merge = true, .no_dead = true, .no_canon = true, .no_hidden = true,
		  .no_symmetry = true, .no_facts = true, .no_cover = true, .no_known = true },
	};
	unsigned long runs = wanted_runs(10000) / 200 + 1, i, bad = 0;
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
			same_states(text, sc);
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

/* Return: the hardest histories as text; NULL if some run is wrong or there are too many states. */
static char *histories(const char *text, struct kl_explore_options o)
{
	enum kl_explore_verdict v = KL_EX_OK;
	struct kl_explorer *x;
	struct kl_spec *spec;
	char *out = NULL;
	size_t len;
	FILE *f;

	o.histories = true;
	o.memory = 3u << 20;
	assert_int_equal(kl_spec_parse("random.lin", text, strlen(text), &spec), 0);
	assert_int_equal(kl_explore(spec, &o, &v, &x), 0);
	if (v == KL_EX_OK) {
		f = open_memstream(&out, &len);
		assert_non_null(f);
		assert_true(kl_explore_print_histories(x, f) > 0);
		fclose(f);
	}
	kl_explorer_free(x);
	kl_spec_free(spec);
	return out;
}

static void test_histories_with_reductions(void **state)
{
	static const struct kl_explore_options less[] = {
		{ .no_merge = true }, { .no_dead = true }, { .no_canon = true },
		{ .no_hidden = true }, { .no_symmetry = true }, { .no_facts = true },
		{ .no_cover = true }, { .no_known = true },
	};
	unsigned long runs = wanted_runs(10000) / 400 + 1, i, compared = 0;
	uint64_t seed = 1990;
	char text[2048], *want, *got;
	size_t k;

	(void)state;
	for (i = 0; i < runs; i++) {
		struct kl_explore_options o = { .sc = i & 1 };

		make(text, sizeof(text), &seed);
		want = histories(text, o);
		for (k = 0; want && k < sizeof(less) / sizeof(*less); k++) {
			o = less[k];
			o.sc = i & 1;
			got = histories(text, o);
			if (got && strcmp(want, got)) {
				print_message("%s, without reduction %zu the histories "
					      "differ:\n%s\n", o.sc ? "SC" : "TSO", k, text);
				fail();
			}
			compared += !!got;
			free(got);
		}
		free(want);
	}
	print_message("%lu implementations, %lu sets of histories compared\n", runs, compared);
	assert_true(compared > 3 * runs);
}

/* The step flushes as many markers at once as a buffer can hold, and loses none. */
static void test_many_markers_in_one_step(void **state)
{
	char text[2048];
	unsigned int n, i, all;
	int used;

	(void)state;
	for (n = 1; n <= 28; n += 9) {
		used = snprintf(text, sizeof(text), "spec s {\n	word d = 0;\n"
				"	method nop() { atomic { d = 1; } }\n"
				"	method f() { atomic_flush { d = 2; } }\n}\n"
				"shared word x = 0;\nmethod nop() { }\nmethod f() { fence; }\n"
				"thread t {");
		for (i = 0; i < n; i++)
			used += snprintf(text + used, sizeof(text) - used, " call nop();");
		snprintf(text + used, sizeof(text) - used, " call f(); }\n");
		for (all = 0; all < 2; all++) {
			const struct kl_explore_options o = {
				.no_merge = all, .no_facts = all, .no_cover = all, .no_known = all,
			};

			if (n < 20 || !all)
				assert_int_equal(explore(text, o), KL_EX_OK);
		}
	}
}

/* Exceeding the machine's limits is not a violation; a real fault before that is reported. */
static void test_machine_limits(void **state)
{
	static const struct {
		const char *body;
		enum kl_explore_verdict want;
	} tests[] = {
		{ "choose h in 0..254; x = v;", KL_EX_OK },
		{ "choose h in 0..300; x = v;", KL_EX_LIMIT },
		{ "h = 1 << 62; h = h >> 62; x = h * v;", KL_EX_LIMIT },
		{ "while (h < 40) { y = h; h += 1; } x = v;", KL_EX_OK },
		{ "while (h < 70) { y = h; h += 1; } x = v;", KL_EX_LIMIT },
		{ "while (h < 100) { n = new node; n->next = p; p = n; fence; h += 1; } x = v;",
		  KL_EX_LIMIT },
		{ "while (h < 1000) h += 1; x = v;", KL_EX_OK },
		{ "while (h < 70000) h += 1; x = v;", KL_EX_LIMIT },
		{ "while (h < 1) { h = h * 2; } x = v;", KL_EX_FAULT },
		{ "while (h < 2) { h = 1 - h; } x = v;", KL_EX_FAULT },
		{ "atomic_flush { while (x < 2) x = 1 - x; }", KL_EX_FAULT },
		{ "n = new node; while (n->v < 9) { n->v = n->v; } x = v;", KL_EX_FAULT },
		{ "n = p; choose h in 0..300; x = n->v;", KL_EX_LIMIT },
		{ "n = p; h = n->v; choose h in 0..300;", KL_EX_FAULT },
		{ "assert(h == 1); choose h in 0..300;", KL_EX_FAULT },
	};
	char text[1024];
	size_t i, sc;

	(void)state;
	for (i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		snprintf(text, sizeof(text), "spec s {\n	word x = 0;\n"
			 "	method w(word v) { atomic { x = v; } }\n"
			 "	method r() -> word { atomic { return x; } }\n}\n"
			 "struct node { word v; node *next; }\n"
			 "shared word x = 0, y = 0; shared node *p = null;\n"
			 "method w(word v) { word h = 0; node *n = null; %s }\n"
			 "method r() -> word { return x; }\nclient roles(w, r) ops(1);\n",
			 tests[i].body);
		for (sc = 0; sc < 2; sc++) {
			struct kl_explore_options o = { .sc = sc };
			enum kl_explore_verdict want = tests[i].want;

			/* Without store buffers their size is no limit. */
			if (sc && strstr(tests[i].body, "y = h"))
				want = KL_EX_OK;
			if (explore(text, o) == want)
				continue;
			print_message("%s\n", tests[i].body);
			assert_int_equal(explore(text, o), want);
		}
	}
}

/* A single step of the specification with up to 60001 ends obeys the memory limit. */
static void test_memory_limit_in_one_step(void **state)
{
	static const char text[] = "spec s {\n	word x = 0;\n"
		"	method w() { choose h in 0..60000; atomic { x = h; } }\n"
		"	method r() -> word { atomic { return x; } }\n}\n"
		"shared word x = 0;\nmethod w() { x = 1; }\nmethod r() -> word { return x; }\n"
		"client roles(w, r) ops(2);\n";
	struct kl_explore_options o = { .memory = 8u << 20 };
	enum kl_explore_verdict v;
	struct kl_explore_stats st;
	struct kl_explorer *x;
	struct kl_spec *spec;
	int sc;

	(void)state;
	for (sc = 0; sc < 2; sc++) {
		o.sc = sc;
		assert_int_equal(kl_spec_parse("ends.lin", text, strlen(text), &spec), 0);
		assert_int_equal(kl_explore(spec, &o, &v, &x), 0);
		assert_int_equal(v, KL_EX_MEMORY);
		kl_explore_stats(x, &st);
		assert_in_range(st.all_bytes, 1, o.memory + o.memory / 2);
		kl_explorer_free(x);
		kl_spec_free(spec);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_markers_in_one_step),
		cmocka_unit_test(test_machine_limits),
		cmocka_unit_test(test_memory_limit_in_one_step),
		cmocka_unit_test(test_verdict_with_reductions),
		cmocka_unit_test(test_histories_with_reductions),
	};

	kl_log_level = KL_LOG_ERR;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
