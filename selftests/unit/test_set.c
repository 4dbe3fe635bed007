// SPDX-License-Identifier: GPL-2.0
/*
 * The monitor of sets on parts of a history in parallel.  If the parts report an order, the
 * whole has one; mostly they do report it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/check.h"
#include "check/engines.h"
#include "generate/generate.h"
#include "check/loglinear/set/set.h"
#include "history_util.h"
#include "random_history.h"
#include "replayed.h"
#include "tso/engine/tso.h"

/* Decide in @nparts parts, each of which looks back @back operations, or as a whole if it is 0. */
static int ask(const struct kl_spec *spec, const struct kl_history *h, uint32_t nparts,
	       uint32_t back)
{
	const struct kl_limits lim = { .no_witness = true, .threads = 1 + nparts % 3 };
	int *methods = calloc(h->nmethods + 1, sizeof(*methods)), ret;
	const struct kl_slice s = {
		.spec = spec, .h = h, .methods = methods, .nops = h->nops, .object = KL_ALL_OBJECTS,
	};
	struct set t = {
		.kind = &set_kind,
		.s = &s, .lim = &lim, .one = h->fresh ? OUT : OUT | IN << FROM_IN,
		.back = back, .most_work = SET_WORK * (uint64_t)h->nops + SET_FIRST_WORK,
	};
	size_t i;

	assert_non_null(methods);
	for (i = 0; i < h->nmethods; i++)
		methods[i] = kl_spec_find_method(spec, h->methods[i]);
	t.roles = ll_roles(&s);
	assert_non_null(t.roles);
	assert_int_equal(set_init(&t, nparts ? nparts : 1), 0);
	ret = nparts ? set_decide_parts(&t) : set_decide(&t);
	set_free(&t);
	free(t.roles);
	free(methods);
	return ret;
}

/* Numbers of right histories, of right histories that parts recognize, and of wrong histories. */
struct count {
	unsigned long right, told, wrong;
};

static void compare(const struct kl_spec *spec, const struct kl_history *h, uint32_t nparts,
		    uint32_t back, struct count *c)
{
	const int whole = ask(spec, h, 0, 0), parts = ask(spec, h, nparts, back);

	if (parts && whole != 1)
		fail_msg("%u parts: an order, whole: %d", nparts, whole);
	c->right += whole == 1;
	c->told += parts;
	c->wrong += !whole;
}

/* Up to 15 operations, with ties, pending operations, and back-to-back operations of a thread. */
static void test_orders_of_parts_15_ops(void **state)
{
	static const struct random_config configs[] = {
		{ .max_ops = 15, .threads = 3, .values = 2 },
		{ .max_ops = 15, .threads = 5, .values = 3 },
		{ .max_ops = 15, .threads = 2, .values = 1, .far = true },
		{ .max_ops = 12, .threads = 4, .values = 3, .overlap = true },
	};
	struct kl_spec *spec = shipped_spec("set");
	const unsigned long n = 5 * wanted_runs(4000);	/* each run is short */
	uint64_t seed = 1;
	struct count c = { 0 };
	unsigned long i;
	bool falsified;

	for (i = 0; i < n; i++) {
		struct kl_history *h = random_history(spec, &configs[i % 4], &seed, &falsified);

		if (h->nops && !h->error)
			compare(spec, h, 2 + i / 4 % 3, i / 12 % 2 ? 15 : i / 24 % 2, &c);
		kl_history_free(h);
	}
	printf("# small: %lu right, %lu of them told, %lu wrong\n", c.right, c.told, c.wrong);
	assert_true(c.told > c.right / 4 && c.wrong > n / 100);
	kl_spec_free(spec);
}

/*
 * Hundreds of operations: few and many keys, small and large words, long stalls, pending
 * operations.
 */
static void test_orders_of_parts_hundreds(void **state)
{
	struct kl_spec *spec = shipped_spec("set");
	const unsigned long n = wanted_runs(4000);
	struct count all = { 0 }, near = { 0 };
	unsigned long i;
	size_t k;

	for (i = 0; i < n; i++) {
		const struct kl_gen_config g = {
			.spec = spec, .ops = 50 + i % 700, .seed = i + 1, .threads = 2 + i % 7,
			.objects = 1, .keys = i % 3 ? 5 : 300, .delay = i % 5 * 20,
			.pending = i % 11 == 10, .mutate = i % 2 ? 1 : 0, .stall = i % 13 == 12,
			.any = i % 17 == 16,
		};
		struct kl_history *h;

		assert_int_equal(kl_gen(&g, &h), 0);
		for (k = 0; k < h->nopsigs && i % 7 == 6; k++)
			h->vals[h->opsigs[k].vals].v *= 0x10000001;
		compare(spec, h, 2 + i % 15, i / 2 % 4 ? 1000 : 8, i / 2 % 4 ? &all : &near);
		kl_history_free(h);
	}
	printf("# middle: %lu right, %lu of them told, %lu wrong; looking back little: %lu, "
	       "%lu, %lu\n", all.right, all.told, all.wrong, near.right, near.told, near.wrong);
	/* The parts do not recognize some histories with back-to-back operations. */
	assert_true(all.told >= all.right - all.right / 100 && all.wrong > n / 5);
	assert_true(near.told > near.right / 4 && near.told < near.right);
	kl_spec_free(spec);
}

static void assert_replayed(const struct kl_spec *spec, const struct kl_history *h)
{
	static const struct kl_engine *const engines[] = { &kl_loglinear_engine, NULL };
	const struct kl_options opt = { .engines = engines, .threads = 1, .classical = true };
	struct kl_replay replay;
	struct kl_report *r;

	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	assert_int_equal(replay_report(r, true, spec, h, &replay), 0);
	assert_int_equal(replay.accepted, 1);
	kl_report_free(r);
}

/*
 * Make a history of a set or multiset.  The bits of @variant choose few or many keys, small or
 * large words, pending operations, ties, an unknown first state, and a wrong result.
 */
static struct kl_history *make_set(const struct kl_spec *spec, unsigned int variant, bool large)
{
	const struct kl_gen_config c = {
		.ops = variant & 5 ? large ? 70000 : 30000 : large ? 100000 : 70000,
		.seed = variant + 1, .threads = 6,
		.objects = 1, .spec = spec,
		.keys = variant & 1 ? 5000 : 24, .delay = 20, .pending = variant & 2 ? 1 : 0,
	};
	struct kl_history *h;
	size_t i;

	assert_int_equal(kl_gen(&c, &h), 0);
	for (i = 0; i < h->nopsigs && variant % 3 == 2; i++)
		h->vals[h->opsigs[i].vals].v *= 0x10000001;
	for (i = 0; i < h->nops && (variant & 4); i++) {
		h->ops[i].call /= 8;
		h->ops[i].ret = h->ops[i].flags & KL_OP_PENDING ? KL_TIME_MAX : h->ops[i].ret / 8;
	}
	h->fresh = !(variant & 8);
	for (i = 20000; variant & 16; i++) {
		struct kl_op *op = &h->ops[i];
		struct kl_val v = *kl_op_res(h, op);

		if (op->flags & KL_OP_PENDING || !kl_op_sig(h, op)->nres)
			continue;
		v.v = !v.v;
		op->sig = kl_history_sig(h, kl_op_sig(h, op), kl_op_args(h, op), &v);
		break;
	}
	assert_int_equal(kl_history_finish(h), 0);
	return h;
}

static void same_answer(const struct kl_answer *a, const struct kl_answer *b)
{
	assert_int_equal(a->verdict, b->verdict);
	assert_string_equal(a->reason, b->reason);
	assert_int_equal(a->ncore, b->ncore);
	assert_int_equal(a->nsteps, b->nsteps);
	if (a->ncore)
		assert_memory_equal(a->core, b->core, a->ncore * sizeof(*a->core));
	if (a->nsteps)
		assert_memory_equal(a->steps, b->steps, a->nsteps * sizeof(*a->steps));
}

/* The answer is the same with any number of threads. */
static void compare_threads(const char *name, bool large, unsigned int step, unsigned int *count)
{
	static const unsigned int threads[] = { 2, 3, 8 };
	struct kl_spec *spec = shipped_spec(name);
	unsigned int variant, i;

	for (variant = 0; variant < 64; variant += step) {
		struct kl_history *h = make_set(spec, variant / 2, large);
		struct kl_limits lim = { .threads = 1, .no_witness = variant & 1 };
		struct kl_answer one, many;

		assert_int_equal(kl_decide_history(spec, h, &kl_loglinear_engine, &lim, &one, NULL),
				 0);
		count[one.verdict]++;
		if (one.verdict == KL_LINEARIZABLE && variant < 8)
			assert_replayed(spec, h);
		for (i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
			lim.threads = threads[i];
			assert_int_equal(kl_decide_history(spec, h, &kl_loglinear_engine, &lim,
							   &many, NULL),
					 0);
			same_answer(&one, &many);
			kl_answer_free(&many);
		}
		kl_answer_free(&one);
		kl_history_free(h);
	}
	printf("# %s: %u linearizable, %u violations, %u declined\n", name, count[KL_LINEARIZABLE],
	       count[KL_VIOLATION], count[KL_UNKNOWN]);
	kl_spec_free(spec);
}

static void test_same_answer_any_threads(void **state)
{
	const unsigned int step = few_wanted() ? 3 : 1, some = 16 / step;
	unsigned int set[3] = { 0 }, multi[3] = { 0 };

	compare_threads("set", false, step, set);
	assert_true(set[KL_LINEARIZABLE] > some && set[KL_VIOLATION] > some && !set[KL_UNKNOWN]);
	compare_threads("multiset", false, step, multi);
	/* For the general engines, counts reveal nothing about an unknown first state. */
	assert_true(multi[KL_LINEARIZABLE] > some && multi[KL_VIOLATION] > some &&
		    multi[KL_UNKNOWN] <= 4);
}

/* Several parts of each variant; some with back-to-back operations are declined. */
static void test_same_answer_large(void **state)
{
	unsigned int count[3] = { 0 };

	compare_threads("set", true, few_wanted() ? 5 : 1, count);
	assert_true(count[KL_LINEARIZABLE] && count[KL_VIOLATION]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_orders_of_parts_15_ops),
		cmocka_unit_test(test_orders_of_parts_hundreds),
		cmocka_unit_test(test_same_answer_any_threads),
		cmocka_unit_test(test_same_answer_large),
	};

	return cmocka_run_group_tests_name("sets in parts", tests, NULL, NULL);
}
