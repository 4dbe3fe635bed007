// SPDX-License-Identifier: GPL-2.0
/*
 * The explorer against a naive enumeration of all transitions, on small random programs, on
 * TSO and SC, with all reductions and with none.  KLIN_RUNS sets the number; 80000 stands for
 * ten thousand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "history_util.h"
#include "naive.h"
#include "random_impl.h"
#include "tso/explore/explore.h"

#define STATES_MAX	8000
#define MEMORY_MAX	(3u << 20)

static unsigned int bit_of(enum kl_explore_verdict v)
{
	static const unsigned int bits[] = {
		[KL_EX_MEMORY] = N_TOO_LARGE, [KL_EX_LIMIT] = N_TOO_LARGE,
		[KL_EX_NOT_LINEARIZABLE] = N_NOT_LINEARIZABLE, [KL_EX_FAULT] = N_FAULT,
		[KL_EX_DEADLOCK] = N_DEADLOCK, [KL_EX_ENDLESS] = N_ENDLESS,
	};

	return v < sizeof(bits) / sizeof(*bits) ? bits[v] : 0;
}

static void ignore(void *ctx, const struct kl_explore_step *s)
{
}

static enum kl_explore_verdict explore(const char *text, bool sc, bool none)
{
	const struct kl_explore_options o = {
		.sc = sc, .memory = MEMORY_MAX, .no_merge = none, .no_dead = none, .no_canon = none,
		.no_hidden = none, .no_symmetry = none, .no_facts = none, .no_cover = none,
	};
	enum kl_explore_verdict v = KL_EX_OK;
	struct kl_explorer *x;
	struct kl_spec *spec;

	assert_int_equal(kl_spec_parse("random.lin", text, strlen(text), &spec), 0);
	assert_int_equal(kl_explore(spec, &o, &v, &x), 0);
	/* Replaying the run finds all its steps again. */
	assert_int_equal(kl_explore_run(x, ignore, NULL), 0);
	kl_explorer_free(x);
	kl_spec_free(spec);
	return v;
}

static void test_agrees_with_naive(void **state)
{
	const unsigned long wanted = wanted_runs(10000);
	/* A long check has ten thousand runs. */
	const unsigned long runs = wanted / (wanted > 10000 ? 8 : 60) + 1;
	unsigned long i, wrong = 0, large = 0, unknown = 0, right_on_sc = 0, kinds[4] = { 0 };
	uint64_t seed = 2012;
	char text[RANDOM_IMPL_TEXT];
	struct n_program p;
	unsigned int want[2], got, k;
	size_t states, all = 0;
	int sc, none;

	(void)state;
	for (i = 0; i < runs; i++) {
		random_impl(&seed, &p, text);
		for (sc = 0; sc < 2; sc++) {
			p.sc = sc;
			want[sc] = naive_check(&p, STATES_MAX, &states);
			all += states;
			if (want[sc] & N_TOO_LARGE) {
				large++;
				continue;
			}
			for (none = 0; none < 2; none++) {
				got = bit_of(explore(text, sc, none));
				if (want[sc] ? got & want[sc] : !got)
					continue;
				if (none && got == N_TOO_LARGE) {
					unknown++;
					continue;
				}
				print_message("program %lu, %s, %s reductions: %#x, naive "
					      "%#x\n%s\n", i,
					      sc ? "SC" : "TSO", none ? "no" : "all", got, want[sc],
					      text);
				fail();
			}
		}
		wrong += !!want[0];
		right_on_sc += want[0] && !want[1];
		for (k = 0; k < 4; k++)
			kinds[k] += want[0] >> k & 1;
	}
	print_message("%lu programs, %zu states, %lu too large, %lu for the explorer without "
		      "reductions; wrong on TSO: %lu, of them right on "
		      "SC: %lu; not linearizable %lu, at fault %lu, deadlocked %lu, endless %lu\n",
		      runs, all, large, unknown, wrong, right_on_sc, kinds[0], kinds[1], kinds[2],
		      kinds[3]);
	assert_true(large <= runs / 2 && unknown <= runs / 2);
	for (k = 0; k < 4 && runs > 100; k++)
		assert_true(kinds[k] > runs / 100);
	assert_true(runs < 100 || (right_on_sc > runs / 50 && wrong < runs - runs / 10));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_agrees_with_naive) };

	kl_log_level = KL_LOG_ERR;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
