// SPDX-License-Identifier: GPL-2.0
/*
 * Violations that much of what was before is needed for, as no time is near at which the
 * state is known: of values that come once, a few operations far apart show them, and that
 * few are found in the mass.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "check/check.h"
#include "check/gen.h"
#include "history_util.h"
#include "replayed.h"
#include "tso/tso.h"

#define OPS	4000
#define FEW	12

static void test_far(void **state)
{
	static const struct kl_engine *const engines[] = {
		KL_CLASSICAL_ENGINES, &kl_tso_engine, NULL,
	};
	const struct kl_options opt = {
		.engines = engines, .threads = 1, .max_shrink = 1,
		.tso_oracle = &kl_tso_oracle_engine,
	};
	/* read and write alone; the register's other methods drain the buffer. */
	static const struct { const char *name; uint32_t weight[4]; } specs[] = {
		{ "register", { 1, 1 } }, { "array", { 1, 1 } }, { "seqlock", { 1, 1 } },
	};
	const unsigned int n = wanted_runs(2000) < 1000 ? 6 : 12;
	unsigned int wrong = 0, far = 0, i;

	for (i = 0; i < n; i++) {
		struct kl_spec *spec = shipped_spec(specs[i % 3].name);
		const struct kl_gen_config g = {
			.spec = spec, .ops = OPS, .seed = i + 1, .threads = 8, .objects = 1,
			.delay = 100, .mutate = 1, .weight = specs[i % 3].weight,
		};
		struct kl_replay replay;
		struct kl_history *h;
		struct kl_report *r;
		size_t k;

		assert_int_equal(kl_gen(&g, &h), 0);
		assert_int_equal(kl_check(spec, h, &opt, &r), 0);
		for (k = 0; k < r->nparts; k++) {
			const struct kl_counterexample *c = r->parts[k].cex;

			if (r->parts[k].answer.verdict != KL_VIOLATION)
				continue;
			wrong++;
			assert_non_null(c);
			far += !c->forgot;
			if (c->h->nops > FEW || c->oracle != KL_VIOLATION)
				fail_msg("%s, seed %u: %zu operations, %s by the oracle",
					 specs[i % 3].name, i + 1, c->h->nops,
					 kl_verdict_name(c->oracle));
		}
		assert_int_equal(replay_report(r, false, spec, h, &replay), 0);
		assert_int_equal(replay.open, 0);
		kl_report_free(r);
		kl_history_free(h);
		kl_spec_free(spec);
	}
	printf("# %u violations, %u with nothing forgotten\n", wrong, far);
	assert_true(wrong > n / 2 && far > n / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_far),
	};

	return cmocka_run_group_tests_name("guess", tests, NULL, NULL);
}
