// SPDX-License-Identifier: GPL-2.0
/*
 * Checking the surroundings of an event against a specification, from an unknown state.  No
 * right history is called wrong.  Most violations are found, and made small.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "check/check.h"
#include "check/engines.h"
#include "generate/generate.h"
#include "history_util.h"

#define N(a)	(sizeof(a) / sizeof((a)[0]))

static const char *const names[] = {
	"clock", "counter", "eventfd", "eventsem", "ida", "mutex", "pair", "queue", "register",
	"rwlock", "semaphore", "set", "stack", "multiset",
};
static const struct kl_limits bounds = {
	.work = 100000 * KL_CONFIG_LOOKS, .each = 40 * KL_CONFIG_LOOKS,
};

static struct kl_history *make(const struct kl_spec *spec, uint64_t *seed, bool wrong,
			       unsigned int ops, unsigned int threads)
{
	struct kl_gen_config c = {
		.spec = spec, .ops = ops + kl_rand_below(seed, ops), .seed = kl_rand(seed),
		.threads = threads + kl_rand_below(seed, 3), .objects = 1,
		.keys = kl_rand_below(seed, 2) ? 8 : 0, .delay = 1 + kl_rand_below(seed, 50),
		.pending = kl_rand_below(seed, 3) ? 0 : 1,
		.error = kl_rand_below(seed, 3) ? 0 : kl_rand_below(seed, 30),
		.mutate = wrong, .any = !kl_rand_below(seed, 4),
	};
	struct kl_history *h;
	int ret;

	if (ops >= 1000 && few_wanted())
		c.ops /= 3;
	/* The operation that never returns may hold a lock. */
	while ((ret = kl_gen(&c, &h)) == -EDEADLK && c.pending)
		c.pending = 0;
	assert_int_equal(ret, 0);
	return h;
}

/* Build the whole history as one partition. */
static void build(const struct kl_spec *spec, const struct kl_history *h, struct kl_part *p)
{
	int map[64];
	size_t i;

	assert_true(h->nmethods <= N(map));
	for (i = 0; i < h->nmethods; i++)
		map[i] = kl_spec_find_method(spec, h->methods[i]);
	assert_int_equal(kl_part_build(spec, h, map, NULL, h->nops, 0, false, p), 0);
}

/* In right histories the check of the surroundings of an event finds no violation. */
static void test_right_histories(void **state)
{
	unsigned long i, n = wanted_runs(300) / 120 + N(names);
	struct kl_limits lim = { 0 };
	uint64_t seed = 21;
	unsigned int k;

	for (i = 0; i < n; i++) {
		struct kl_spec *spec = shipped_spec(names[i % N(names)]);
		struct kl_history *h = make(spec, &seed, false, 1000, 3);
		struct kl_part p = { 0 };

		build(spec, h, &p);
		for (k = 0; k < 3; k++)
			assert_int_equal(kl_violation_near(&p, &kl_frontier_engine,
							   kl_rand_below(&seed, p.nevents), &lim,
							   NULL), 0);
		kl_part_free(&p);
		kl_history_free(h);
		kl_spec_free(spec);
	}
}

/*
 * The check of the surroundings finds most of the violations that the engine finds in the whole
 * history, and no others.
 */
static void test_violations_found_near(void **state)
{
	unsigned long i, n = wanted_runs(300) / 60 + N(names), wrong = 0, found = 0;
	uint64_t seed = 22;

	for (i = 0; i < n; i++) {
		struct kl_spec *spec = shipped_spec(names[i % N(names)]);
		struct kl_history *h = make(spec, &seed, true, 1500, 3);
		struct kl_part p = { 0 };
		struct kl_answer a = { 0 };
		int near;

		build(spec, h, &p);
		assert_int_equal(kl_frontier_engine.decide(&p, &bounds, &a), 0);
		near = kl_violation_near(&p, &kl_frontier_engine,
					 a.verdict == KL_VIOLATION ? a.fail_event :
					 kl_rand_below(&seed, p.nevents), &bounds, NULL);
		assert_true(near == 0 || near == 1);
		assert_false(near && a.verdict == KL_LINEARIZABLE);
		wrong += a.verdict == KL_VIOLATION;
		found += near;
		kl_answer_free(&a);
		kl_part_free(&p);
		kl_history_free(h);
		kl_spec_free(spec);
	}
	printf("# %lu histories, %lu violations, %lu found near\n", n, wrong, found);
	assert_true(wrong > n / 4);
	assert_true(found > wrong / 2);
}

/* The whole check: the verdict is the frontier's, and the oracle confirms the counterexamples. */
static void test_whole_check_is_right(void **state)
{
	const struct kl_options opt = { .threads = 1, .classical = true, .max_shrink = 1 };
	unsigned long i, n = wanted_runs(300) / 240 + N(names), wrong = 0, small = 0, near = 0;
	uint64_t seed = 23;

	for (i = 0; i < n; i++) {
		struct kl_spec *spec = shipped_spec(names[i % N(names)]);
		struct kl_history *h = make(spec, &seed, true, 2000, 10);
		const struct kl_part_result *pr;
		struct kl_answer a;
		struct kl_report *r;
		size_t k;

		assert_int_equal(kl_decide_history(spec, h, &kl_frontier_engine, &bounds, &a, NULL),
				 0);
		if (a.verdict == KL_UNKNOWN)
			goto next;
		assert_int_equal(kl_check(spec, h, &opt, &r), 0);
		assert_int_equal(r->verdict, a.verdict);
		for (k = 0; k < r->nparts; k++) {
			pr = &r->parts[k];
			if (pr->answer.verdict != KL_VIOLATION || !pr->cex)
				continue;
			wrong++;
			small += pr->cex->oracle == KL_VIOLATION;
			/* A violation found near an event comes without an order of the whole. */
			near += pr->engine == &kl_frontier_engine && !pr->answer.steps;
		}
		kl_report_free(r);
next:
		kl_answer_free(&a);
		kl_history_free(h);
		kl_spec_free(spec);
	}
	printf("# %lu histories, %lu violations, %lu small, %lu found near\n", n, wrong,
	       small, near);
	assert_true(wrong > n / 4);
	assert_true(small > wrong / 2);
	assert_true(near);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right_histories),
		cmocka_unit_test(test_violations_found_near),
		cmocka_unit_test(test_whole_check_is_right),
	};

	return cmocka_run_group_tests_name("nearest", tests, NULL, NULL);
}
