// SPDX-License-Identifier: GPL-2.0
/*
 * The list of engines.  Each engine appears once, with a unique rank.  Generic code needs
 * exactly one general engine and two oracles.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "check/engine.h"

#define HELP	70	/* columns available in the README */

static void test_engines_are_unique(void **state)
{
	const struct kl_engine *const *all = kl_engines_all(), *const *asked = kl_engines();
	unsigned int general = 0, oracles[2] = { 0, 0 };
	size_t i, k;

	for (i = 0; all[i]; i++) {
		const struct kl_engine *e = all[i];

		assert_ptr_equal(kl_engine_find(e->name), e);
		assert_in_range(strlen(e->help), 1, HELP);
		assert_true(!e->decide != !e->decide_ops);
		for (k = 0; k < i; k++)
			assert_true(!e->rank || all[k]->rank < e->rank);
		general += e->general;
		oracles[e->tso] += e->oracle;
		if (e->rank)
			assert_ptr_equal(asked[i], e);
	}
	assert_true(i > 3);
	assert_null(kl_engine_find("no such engine"));
	assert_int_equal(general, 1);
	assert_int_equal(oracles[0], 1);
	assert_int_equal(oracles[1], 1);
	assert_false(kl_engine_oracle(false)->tso);
	assert_true(kl_engine_oracle(true)->tso);
	assert_true(kl_engine_general()->general);
}

/* An engine with store buffers comes last, see kl_options.engines. */
static void test_tso_engine_is_last(void **state)
{
	const struct kl_engine *const *e;

	for (e = kl_engines(); e[1]; e++)
		assert_false(e[0]->tso);
	assert_true(e[0]->tso);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_engines_are_unique),
		cmocka_unit_test(test_tso_engine_is_last),
	};

	return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
