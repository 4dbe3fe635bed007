// SPDX-License-Identifier: GPL-2.0
/*
 * Operations that may be omitted (omit.h), by the definition: a history that has an order
 * still has one without them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "check/explain/omit.h"
#include "check/check.h"
#include "check/engines.h"
#include "history_util.h"
#include "random_history.h"
#include "tso/engine/tso.h"

#define MOST	7	/* maximum number of operations */

static const char *const texts[] = {
	/* Writes of the whole state, and of a part. */
	"spec halves { word a = 0, b;\n"
	"method set_a(word x) { atomic_flush { a = x; } }\n"
	"method set_b(word x) { atomic_flush { b = x; } }\n"
	"method set(word x, word y) { atomic_flush { a = x; b = y; } }\n"
	"method read() -> (word x, word y) { atomic { return (a, b); } } }\n",
	"spec late { word a = 0, b;\n"
	"method set_a(word x) { atomic { a = x; } }\n"
	"method set_b(word x) { atomic { b = x; } }\n"
	"method set(word x, word y) { atomic { a = x; b = y; } }\n"
	"method up() -> word { atomic { word t = a; b = 1; return t; } }\n"
	"method read() -> (word x, word y) { atomic { return (a, b); } } }\n",
	/* Two words for each key; some operations both read and write. */
	"spec keyed { word a[4] = 0, b[4];\n"
	"method set_a(word k, word x) { atomic { a[k] = x; } }\n"
	"method set_b(word k, word x) { atomic_flush { b[k] = x; } }\n"
	"method set(word k, word x, word y) { atomic { a[k] = x; b[k] = y; } }\n"
	"method read(word k) -> (word x, word y) { atomic { return (a[k], b[k]); } }\n"
	"partition by k; }\n",
	"spec swapped { word a[4] = 0, b[4];\n"
	"method swap(word k, word x) -> word { atomic_flush { word t = a[k]; a[k] = x; b[k] = t;\n"
	"return t; } }\n"
	"method set(word k, word x) { atomic_flush { a[k] = x; b[k] = x; } }\n"
	"method read(word k) -> (word x, word y) { atomic { return (a[k], b[k]); } }\n"
	"partition by k; }\n",
	/* Data that belongs to a key but is not indexed by it. */
	"spec doubted { word a[4] = 0, b[4];\n"
	"method set(word k, word x, word y) { atomic_flush { a[k] = x; b[0] = y; } }\n"
	"method read(word k) -> (word x, word y) { atomic { return (a[k], b[0]); } }\n"
	"partition by k; }\n",
};

#define N(a) (sizeof(a) / sizeof((a)[0]))

struct count {
	unsigned long right, parts, smaller;
};

/* Return: true if all operations outside the set @kept may be omitted. */
static bool may_be_left_out(const struct kl_spec *spec, struct kl_run *run,
			    const struct kl_history *h, const uint32_t *kept, size_t n, bool tso)
{
	uint32_t i;
	size_t k = 0;
	int ret;

	for (i = 0; i < h->nops; i++) {
		if (k < n && kept[k] == i) {
			k++;
			continue;
		}
		ret = kl_may_omit(spec, run, h, i, kept, n, KL_TIME_MAX - 1, tso);
		assert_true(ret >= 0);
		if (!ret)
			return false;
	}
	return true;
}

static void check_subsets(const struct kl_spec *spec, struct kl_run *run,
			  const struct kl_history *h, bool tso, struct count *c)
{
	const struct kl_engine *oracle = tso ? &kl_tso_oracle_engine : &kl_oracle_engine;
	const struct kl_limits lim = { 0 };
	struct kl_cut cut;
	struct kl_answer a;
	uint32_t kept[MOST], order[MOST], all[MOST], set, i;

	assert_int_equal(kl_decide_history(spec, h, oracle, &lim, &a, NULL), 0);
	kl_answer_free(&a);
	if (a.verdict != KL_LINEARIZABLE)
		return;
	c->right++;
	for (i = 0; i < h->nops; i++)
		all[i] = i;
	assert_int_equal(kl_cut_init(&cut, spec, h, all, h->nops, false, 0, KL_TIME_MAX - 1), 0);
	for (set = 1; set + 1 < 1u << h->nops; set++) {
		struct kl_history *part;
		size_t n = 0;

		for (i = 0; i < h->nops; i++)
			if (set >> i & 1)
				kept[n++] = i;
		if (!may_be_left_out(spec, run, h, kept, n, tso))
			continue;
		assert_int_equal(kl_cut_history(&cut, kept, n, tso, &part, order), 0);
		assert_int_equal(kl_decide_history(spec, part, oracle, &lim, &a, NULL), 0);
		kl_answer_free(&a);
		if (a.verdict == KL_VIOLATION) {
			size_t len;

			fail_msg("%s\n"
				 "of this, which has an order, the operations of %x have none%s:\n"
				 "%s", kl_spec_text(spec), set, tso ? " (TSO)" : "",
				 history_text(h, &len));
		}
		c->parts++;
		c->smaller += n < h->nops / 2;
		kl_history_free(part);
	}
	kl_cut_free(&cut);
}

static void test_order_without_omitted_ops(void **state)
{
	const unsigned long n = 5 * wanted_runs(1000);
	uint64_t seed = 1;
	unsigned long i;
	size_t k;

	for (k = 0; k < 2 * N(texts); k++) {
		const bool tso = k % 2;
		const struct random_config config = {
			.max_ops = MOST, .threads = 3, .values = 3, .tso = tso, .drains = tso,
		};
		struct count c = { 0 };
		struct kl_spec *spec;
		struct kl_run *run;

		assert_int_equal(kl_spec_parse("t.lin", texts[k / 2], strlen(texts[k / 2]), &spec),
				 0);
		run = kl_run_new(spec);
		assert_non_null(run);
		for (i = 0; i < n; i++) {
			bool falsified;
			struct kl_history *h = random_history(spec, &config, &seed, &falsified);

			if (h->nops && !h->error)
				check_subsets(spec, run, h, tso, &c);
			kl_history_free(h);
		}
		printf("# %s%s: %lu right histories, %lu parts, %lu of less than half\n",
		       kl_spec_name(spec), tso ? ", TSO" : "", c.right, c.parts, c.smaller);
		assert_true(c.right > n / 4 && c.parts > c.right);
		kl_run_free(run);
		kl_spec_free(spec);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_without_omitted_ops),
	};

	return cmocka_run_group_tests_name("subsets", tests, NULL, NULL);
}
