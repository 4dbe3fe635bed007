// SPDX-License-Identifier: GPL-2.0
/* The cost of making counterexamples, and the text of large ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <cmocka.h>

#include "base/hash.h"
#include "check/check.h"
#include "generate/generate.h"
#include "history_util.h"
#include "report/counterexample.h"

static const char text[] = "spec r { word x = 0;\n"
			   "method write(word v) { atomic_flush { x = v; } }\n"
			   "method read() -> word v { atomic { return x; } } }\n";

static struct kl_spec *spec;

static int setup(void **state)
{
	return kl_spec_parse("r.lin", text, strlen(text), &spec);
}

static int teardown(void **state)
{
	kl_spec_free(spec);
	return 0;
}

static void add(struct kl_history *h, bool reads, uint64_t call, uint64_t ret, uint64_t thread)
{
	const struct kl_val one = kl_word(1), nine = kl_word(9);
	struct kl_op op = {
		.call = call, .ret = ret,
		.cpu = KL_NO_CPU,
	};
	const struct kl_opsig s = {
		.method = kl_history_method(h, reads ? "read" : "write", reads ? 4 : 5),
		.nargs = !reads,
		.nres = reads,
	};

	op.object = kl_history_object(h, 1);
	op.thread = kl_history_thread(h, thread);
	assert_int_equal(kl_history_add(h, &op, &s, &one, &nine), 0);
}

/* Return: the text of the counterexample @h with the failing operation @bad; frees @h. */
static char *print(struct kl_history *h, uint32_t bad)
{
	struct kl_counterexample c = { .h = h, .oracle = KL_VIOLATION };
	char *out = NULL;
	size_t i, len;
	FILE *f = open_memstream(&out, &len);

	assert_non_null(f);
	assert_int_equal(kl_history_finish(h), 0);
	c.answer.steps = calloc(h->nops, sizeof(*c.answer.steps));
	assert_non_null(c.answer.steps);
	for (i = 0; i < h->nops; i++)
		if (i != bad)
			c.answer.steps[c.answer.nsteps++].item = i;
	kl_print_counterexample(f, spec, &c, h->nops, KL_DIAGRAM_AUTO);
	assert_int_equal(fclose(f), 0);
	free(c.answer.steps);
	kl_history_free(h);
	return out;
}

/* So many operations that comparing all pairs would take minutes. */
static void test_large_prints_in_time(void **state)
{
	const struct itimerval limit = { .it_value.tv_sec = 60 }, none = { 0 };
	const size_t n = few_wanted() ? 100000 : 400000;
	struct kl_history *h = kl_history_new();
	char *out;
	size_t i;

	assert_non_null(h);
	h->fresh = true;
	for (i = 0; i < n; i++)
		add(h, i + 1 == n, 10 * i, 10 * i + 5, 1);
	/* The limit is on CPU time, so other load does not matter. */
	assert_int_equal(setitimer(ITIMER_VIRTUAL, &limit, NULL), 0);
	out = print(h, n - 1);
	assert_int_equal(setitimer(ITIMER_VIRTUAL, &none, NULL), 0);
	assert_non_null(strstr(out, "The last 12 are drawn; --counterexample=FILE writes all.\n"));
	assert_non_null(strstr(out, "only (1) was allowed"));
	assert_non_null(strstr(out, "The end of the longest possible order:\n    from "));
	free(out);
}

/*
 * The diagram shows the 12 operations that end last (more if some end at the same time), and the
 * failing operation.
 */
static void test_which_ops_are_drawn(void **state)
{
	const uint64_t most = few_wanted() ? 50 : 200;
	uint64_t seed, s;

	for (seed = 0; seed < most; seed++) {
		struct kl_history *h = kl_history_new();
		uint64_t ends[40], call;
		size_t n, i, k, later, drawn = 0;
		char expected[64], *out;

		assert_non_null(h);
		h->fresh = true;
		s = seed;
		n = 25 + kl_rand_below(&s, 15);
		/* The failing operation comes first, and ends before the others are called. */
		add(h, true, 0, 1, 0);
		ends[0] = 1;
		for (i = 1; i < n; i++) {
			call = 10 + i;
			ends[i] = call + kl_rand_below(&s, seed % 2 ? 3 : 100);
			add(h, false, call, ends[i], i);
		}
		for (i = 0; i < n; i++) {
			for (k = later = 0; k < n; k++)
				later += ends[k] > ends[i];
			drawn += later < 12 || !i;
		}
		out = print(h, 0);
		if (drawn < n) {
			snprintf(expected, sizeof(expected), "The last %zu are drawn;", drawn);
			assert_non_null(strstr(out, expected));
		} else {
			assert_null(strstr(out, "are drawn"));
		}
		free(out);
	}
}

/* A small counterexample is drawn completely, with its order. */
static void test_small_is_drawn_whole(void **state)
{
	struct kl_history *h = kl_history_new();
	char *out;
	size_t i;

	assert_non_null(h);
	h->fresh = true;
	for (i = 0; i < 24; i++)
		add(h, i == 23, 10 * i, 10 * i + 5, i);
	out = print(h, 23);
	assert_null(strstr(out, "are drawn"));
	assert_non_null(strstr(out, "The longest possible order:"));
	free(out);
}

/*
 * Accounts with many pending transfers.  A counterexample needs little of the history, but
 * each trial searches the orders of the transfers.  Its cost is bounded by a small multiple of
 * the decision's cost plus a constant.
 */
static void test_work_is_bounded(void **state)
{
	static const char bank[] =
		"spec bank { const n = 5; word a[n] = 100;\n"
		"method read() -> (word v0, word v1, word v2, word v3, word v4) {\n"
		"atomic { return (a[0], a[1], a[2], a[3], a[4]); } }\n"
		"method transfer(word from, word to, word by) -> bool ok {\n"
		"atomic_flush { if (a[from % n] < by) return false;\n"
		"a[from % n] -= by; a[to % n] += by; return true; } } }\n";
	const struct kl_options opt = {
		.threads = 1, .max_shrink = 1, .classical = true,
	};
	struct kl_gen_config g = {
		.ops = 2500, .seed = 1, .threads = 8, .objects = 1, .delay = 100, .pending = 2,
		.mutate = 1,
	};
	const struct kl_part_result *p;
	struct kl_history *h;
	struct kl_report *r;
	struct kl_spec *b;

	assert_int_equal(kl_spec_parse("bank.lin", bank, strlen(bank), &b), 0);
	g.spec = b;
	assert_int_equal(kl_gen(&g, &h), 0);
	assert_int_equal(kl_check(b, h, &opt, &r), 0);
	p = &r->parts[0];
	assert_int_equal(p->answer.verdict, KL_VIOLATION);
	assert_non_null(p->cex);
	printf("# %.1f million looks for the decision, %.1f for %u operations\n", p->work / 1e6,
	       p->cex->work / 1e6, (unsigned int)p->cex->h->nops);
	assert_true(p->cex->work <= 2 * p->work + 130000000);
	assert_true(p->cex->h->nops <= 50);
	kl_report_free(r);
	kl_history_free(h);
	kl_spec_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_large_prints_in_time),
		cmocka_unit_test(test_which_ops_are_drawn),
		cmocka_unit_test(test_small_is_drawn_whole),
		cmocka_unit_test(test_work_is_bounded),
	};

	return cmocka_run_group_tests_name("counterexample", tests, setup, teardown);
}
