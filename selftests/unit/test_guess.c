// SPDX-License-Identifier: GPL-2.0
/*
 * Violations that need much of the history before them, since the state is not known at any
 * nearby time.  With unique values a few operations far apart show the violation, and klin
 * must find them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "check/check.h"
#include "generate/generate.h"
#include "history_util.h"
#include "replayed.h"
#include "tso/engine/tso.h"

#define OPS	4000
#define FEW	12

static void test_violation_far_from_known_state(void **state)
{
	const struct kl_options opt = { .threads = 1, .max_shrink = 1 };
	/* read and write only; the register's other methods drain the buffer */
	static const struct { const char *name; uint32_t weight[4]; } specs[] = {
		{ "register", { 1, 1 } }, { "array", { 1, 1 } }, { "seqlock", { 1, 1 } },
	};
	const unsigned int n = few_wanted() ? 3 : 12;
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

/* A result that no state gives is a violation alone, whatever is pending. */
static void test_impossible_result_alone(void **state)
{
	static const char text[] =
		"spec f { word a = 0; word b[2] = 0; word c = 1;\n"
		"method set() -> (word x, word y) { atomic { assume(c == 2); a = 1; "
		"b[0] = c; c = 2;\n"
		"return (1, b[0]); } }\n"
		"method one() -> word { fence; atomic { if (c == a) c = a; return 1; } }\n"
		"method wait(word k) { fence; atomic { assume(b[k] != 0); c = 1; } } }\n";
	static const char history[] =
		"# klin history 1\n# first init\n"
		"t2 @1 11 - set -> ? ?\n"
		"t1 @1 12 - set -> ? ?\n"
		"t0 @1 16 - set -> ? ?\n"
		"t0 @1 3901 - set -> ? ?\n"
		"t2 @1 3924 - one -> ?\n"
		"t0 @1 3947 - wait 1\n"
		"t1 @1 3951 3992 one -> 1\n"
		"t2 @1 3960 - set -> ? ?\n"
		"t1 @1 3998 - set -> ? ?\n"
		"t1 @1 4026 4058 one -> 3\n";
	const struct kl_options opt = { .threads = 1, .max_shrink = 1 };
	struct kl_replay replay;
	struct kl_spec *spec;
	struct kl_history *h;
	struct kl_report *r;

	assert_int_equal(kl_spec_parse("f.lin", text, strlen(text), &spec), 0);
	assert_int_equal(kl_text_read("f.txt", history, strlen(history), &h), 0);
	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	assert_int_equal(r->verdict, KL_VIOLATION);
	assert_non_null(r->parts[0].cex);
	assert_int_equal(r->parts[0].cex->h->nops, 1);
	assert_int_equal(r->parts[0].cex->oracle, KL_VIOLATION);
	assert_int_equal(replay_report(r, false, spec, h, &replay), 0);
	assert_int_equal(replay.refuted, 1);
	kl_report_free(r);
	kl_history_free(h);
	kl_spec_free(spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_violation_far_from_known_state),
		cmocka_unit_test(test_impossible_result_alone),
	};

	return cmocka_run_group_tests_name("guess", tests, NULL, NULL);
}
