// SPDX-License-Identifier: GPL-2.0
/*
 * Values that nothing wrote: if kl_unwritten() finds one in a small random history, the oracle
 * finds no order, with and without store buffers.  KLIN_RUNS sets the number of histories.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "check/engines.h"
#include "check/unwritten.h"
#include "history_util.h"
#include "random_history.h"
#include "tso/engine/tso.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static const char *const texts[] = {
	"spec mask { word v = 3;\n"
	"method set(word x) { atomic { v = x & 5; } }\n"
	"method get() -> word { atomic { return v; } } }\n",
	"spec both { word v, w = 0;\n"
	"method put(word x) { atomic { v = x; w = x; } }\n"
	"method set(word x) { atomic_flush { w = x + 1; } }\n"
	"method add(word x) { atomic_flush { v += x; } }\n"
	"method read() -> (word x, word y) { atomic { return (v, w); } }\n"
	"method less(word x) -> bool { atomic { return w < x; } } }\n",
	"spec swaps { word v = 0;\n"
	"method either_way(word x) { either { atomic { v = x; } } or { atomic { v = 0; } } }\n"
	"method cas(word a, word b) -> bool { atomic_flush { if (v == a) { v = b; return true; }\n"
	"return false; } }\n"
	"method swap(word x) -> word { atomic_flush { word t = v; v = x; return t; } }\n"
	"method wait(word x) { atomic { assume(v == x); } }\n"
	"method get() -> word { atomic { return v; } } }\n",
	"spec keyed { word a[3] = 1;\n"
	"method set(word k, word x) { atomic { a[k % 3] = x; } }\n"
	"method get(word k) -> word { atomic { return a[k % 3]; } } }\n",
};

static bool has_order(const struct kl_spec *spec, const struct kl_history *h,
		      const struct kl_engine *e)
{
	const struct kl_limits lim = { .work = 500000000 };
	struct kl_answer a;
	bool order;

	assert_int_equal(kl_decide_history(spec, h, e, &lim, &a, NULL), 0);
	order = a.verdict == KL_LINEARIZABLE;
	kl_answer_free(&a);
	return order;
}

/* Return: true if a value is found that nothing wrote. */
static bool find(const struct kl_spec *spec, const struct kl_history *h)
{
	const struct kl_limits lim = { 0 };
	struct kl_looks looks = { .lim = &lim };
	struct kl_run *run = kl_run_new(spec);
	struct kl_part p = { 0 };
	int map[16], i;
	int64_t item;

	assert_non_null(run);
	assert_true(h->nmethods <= N(map));
	for (i = 0; i < (int)h->nmethods; i++)
		map[i] = kl_spec_find_method(spec, h->methods[i]);
	assert_int_equal(kl_part_build(spec, h, map, NULL, h->nops, 0, true, &p), 0);
	item = kl_unwritten(&p, run, &looks);
	assert_true(item == KL_NO_OP || (item >= 0 && item < p.nitems));
	kl_part_free(&p);
	kl_run_free(run);
	return item != KL_NO_OP;
}

static void test_no_order_with_what_nothing_wrote(void **state)
{
	static const struct random_config configs[] = {
		{ .max_ops = 6, .threads = 3, .values = 8, .tso = true },
		{ .max_ops = 6, .threads = 3, .values = 4, .tso = true, .unknown = true },
		{ .max_ops = 6, .threads = 3, .values = 4, .tso = true, .gaps = true },
		{ .max_ops = 6, .threads = 3, .values = 4, .overlap = true, .clocks = true },
	};
	const unsigned long wanted = wanted_runs(20000) / N(texts) + 1;
	/* Even a short run needs some histories of each specification with such a value. */
	const unsigned long n = wanted < 400 ? 400 : wanted;
	unsigned long found[N(texts)] = { 0 }, i;
	uint64_t seed = 5;
	size_t k;

	for (k = 0; k < N(texts); k++) {
		struct kl_spec *spec;

		assert_int_equal(kl_spec_parse("test.lin", texts[k], strlen(texts[k]), &spec), 0);
		for (i = 0; i < n; i++) {
			bool falsified;
			struct kl_history *h = random_history(spec, &configs[i % N(configs)],
							      &seed, &falsified);

			if (find(spec, h)) {
				found[k]++;
				assert_true(falsified);
				assert_false(has_order(spec, h, &kl_tso_oracle_engine));
				assert_false(has_order(spec, h, &kl_oracle_engine));
			}
			kl_history_free(h);
		}
		printf("# specification %zu: %lu of %lu histories with a value that nothing wrote\n",
		       k, found[k], n);
		assert_true(found[k]);
		kl_spec_free(spec);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_order_with_what_nothing_wrote),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
