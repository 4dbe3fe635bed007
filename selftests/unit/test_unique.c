// SPDX-License-Identifier: GPL-2.0
/*
 * The engine `ends' (check/unique) alone, on histories of some thousand operations.  It decides
 * right histories, with orders that the replayer accepts.  Its violations are real, and few
 * operations show them.  KLIN_RUNS sets the number of histories.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "check/check.h"
#include "check/engines.h"
#include "generate/generate.h"
#include "history_util.h"
#include "replayed.h"

#define N(a)	(sizeof(a) / sizeof((a)[0]))

/* Shipped specifications by name, and others as text. */
static const char *const specs[] = {
	"deque", "bounded_queue", "kfifo",
	"spec bounded_stack { const MOST = 5; stack<word> s = empty;\n"
	"method add(word v) -> word { atomic_flush {\n"
	"if (s.size() == MOST) return full; s.push(v); return 0; } }\n"
	"method take() -> word { atomic_flush { return s.pop(); } }\n"
	"method look() -> word { atomic { return s.top(); } } }\n",
	"spec bounded_deque { const MOST = 6; deque<word> d = empty;\n"
	"method add(word v) -> bool { atomic_flush {\n"
	"if (d.size() == MOST) return false; d.push_back(v); return true; } }\n"
	"method add2(word v) -> bool { atomic_flush {\n"
	"if (d.size() == MOST) return false; d.push_front(v); return true; } }\n"
	"method take() -> word { atomic_flush { return d.pop_front(); } }\n"
	"method take2() -> word { atomic_flush { return d.pop_back(); } }\n"
	"method look() -> word { atomic { return d.front(); } }\n"
	"method look2() -> word { atomic { return d.back(); } } }\n",
};

static const struct kl_engine *const alone[] = { &kl_unique_engine, NULL };
static const struct kl_options unique_only = {
	.engines = alone,
	.threads = 1,
	.classical = true,
	.max_shrink = 1,
};

static struct kl_spec *spec_of(unsigned int i)
{
	struct kl_spec *spec;

	if (strncmp(specs[i], "spec ", 5))
		return shipped_spec(specs[i]);
	assert_int_equal(kl_spec_parse("t.lin", specs[i], strlen(specs[i]), &spec), 0);
	return spec;
}

static unsigned long runs(void)
{
	return wanted_runs(300) / 300;
}

static unsigned long some(unsigned long n)
{
	return few_wanted() ? (n + 3) / 4 : n;
}

/*
 * Make a history of two or more threads.  Some may only add, some operations may be pending,
 * and clocks may differ.
 */
static struct kl_history *make(const struct kl_spec *spec, unsigned long run, bool odd, bool wrong)
{
	static const unsigned int threads[] = { 2, 3, 4, 8, 16 };
	struct kl_gen_config c = {
		.spec = spec, .seed = run + 1, .ops = 2000 + run * 977 % 3000, .objects = 1,
		.threads = threads[run % N(threads)], .delay = run % 7 ? 100 : 3, .mutate = wrong,
	};
	struct kl_history *h;

	if (few_wanted())
		c.ops /= 2;
	c.producers = run % 4 == 3 ? c.threads / 2 : 0;
	if (odd) {
		c.pending = run & 1;
		c.error = run & 2 ? 5 : 0;
		c.stall = run % 3 == 2;
	}
	assert_int_equal(kl_gen(&c, &h), 0);
	return h;
}

/*
 * The replayer accepts the order.  A second run finds the same order, and a run without a
 * witness the same verdict.
 */
static void check_order(const struct kl_spec *spec, const struct kl_history *h,
			const struct kl_report *r)
{
	const struct kl_limits all = { 0 }, bare = { .no_witness = true };
	const struct kl_answer *a = &r->parts[0].answer;
	struct kl_answer again, without;
	struct kl_replay replay;

	assert_ptr_equal(r->parts[0].engine, &kl_unique_engine);
	assert_true(a->nsteps);
	assert_int_equal(replay_report(r, true, spec, h, &replay), 0);
	assert_int_equal(replay.open, 0);
	assert_int_equal(kl_decide_history(spec, h, &kl_unique_engine, &all, &again, NULL), 0);
	assert_int_equal(again.nsteps, a->nsteps);
	assert_memory_equal(again.steps, a->steps, a->nsteps * sizeof(*a->steps));
	kl_answer_free(&again);
	assert_int_equal(kl_decide_history(spec, h, &kl_unique_engine, &bare, &without, NULL), 0);
	assert_int_equal(without.verdict, KL_LINEARIZABLE);
	kl_answer_free(&without);
}

/* Make the results of some operations unknown. */
static void hide_results(struct kl_history *h, uint64_t *seed, unsigned int one_in)
{
	struct kl_val res[KL_MAX_ARGS];
	int64_t sig;
	size_t i;

	for (i = 0; i < KL_MAX_ARGS; i++)
		res[i] = kl_special(KL_ANY);
	for (i = 0; i < h->nops; i++) {
		struct kl_op *op = &h->ops[i];
		struct kl_opsig s = *kl_op_sig(h, op);
		struct kl_val args[KL_MAX_ARGS];

		if (op->flags & KL_OP_PENDING || !s.nres || kl_rand_below(seed, one_in))
			continue;
		memcpy(args, kl_op_args(h, op), s.nargs * sizeof(*args));
		sig = kl_history_sig(h, &s, args, res);
		assert_true(sig >= 0);
		op->sig = sig;
	}
}

static void right(unsigned int type, bool odd, unsigned int hidden)
{
	uint64_t seed = 2;
	unsigned long i, n = some(runs() + 10), decided = 0;
	struct kl_spec *spec = spec_of(type);
	struct kl_report *r;

	for (i = 0; i < n; i++) {
		struct kl_history *h = make(spec, i, odd, false);

		if (hidden)
			hide_results(h, &seed, hidden);
		assert_int_equal(kl_check(spec, h, &unique_only, &r), 0);
		assert_int_not_equal(r->verdict, KL_VIOLATION);
		if (r->verdict == KL_LINEARIZABLE) {
			decided++;
			check_order(spec, h, r);
		}
		kl_report_free(r);
		kl_history_free(h);
	}
	printf("# %s%s%s: %lu of %lu decided\n", kl_spec_name(spec), odd ? ", odd" : "",
	       hidden ? ", results hidden" : "", decided, n);
	/* Hidden results guide the search less. */
	assert_true(10 * decided >= (hidden ? 4 : 9) * n);
	kl_spec_free(spec);
}

static void test_right_histories(void **state)
{
	unsigned int t;

	for (t = 0; t < N(specs); t++)
		right(t, false, 0);
}

/* Some operations are pending, some take long, clocks differ. */
static void test_pending_and_clock_error(void **state)
{
	unsigned int t;

	for (t = 0; t < N(specs); t++)
		right(t, true, 0);
}

/* Some results are unknown. */
static void test_unknown_results_right(void **state)
{
	unsigned int t;

	for (t = 0; t < N(specs); t++)
		right(t, false, 200);
}

/* Return: the general engine's verdict, or UNKNOWN if it needs much work. */
static enum kl_verdict judge(const struct kl_spec *spec, const struct kl_history *h)
{
	static const struct kl_limits lim = {
		.work = 30000 * KL_CONFIG_LOOKS, .each = 20 * KL_CONFIG_LOOKS, .no_witness = true,
	};
	struct kl_answer a;
	enum kl_verdict v;

	assert_int_equal(kl_decide_history(spec, h, &kl_frontier_engine, &lim, &a, NULL), 0);
	v = a.verdict;
	kl_answer_free(&a);
	return v;
}

struct tally {
	unsigned long right, wrong, open, small, judged;
};

/* The verdict is that of the general engine, and comes with a proof. */
static void compare(const struct kl_spec *spec, const struct kl_history *h, struct tally *t)
{
	const enum kl_verdict expected = judge(spec, h);
	const struct kl_part_result *p;
	struct kl_replay replay;
	struct kl_report *r;

	assert_int_equal(kl_check(spec, h, &unique_only, &r), 0);
	p = &r->parts[0];
	t->judged += expected == KL_VIOLATION;
	if (r->verdict == KL_UNKNOWN) {
		t->open++;
	} else if (r->verdict == KL_LINEARIZABLE) {
		assert_int_not_equal(expected, KL_VIOLATION);
		check_order(spec, h, r);
		t->right++;
	} else {
		assert_int_not_equal(expected, KL_LINEARIZABLE);
		assert_non_null(p->cex);
		assert_int_not_equal(p->cex->oracle, KL_LINEARIZABLE);
		assert_true(p->cex->h->nops < h->nops / 10);
		assert_int_equal(replay_report(r, true, spec, h, &replay), 0);
		t->small += p->cex->oracle == KL_VIOLATION && !replay.open;
		t->wrong++;
	}
	kl_report_free(r);
}

static void test_violations(void **state)
{
	unsigned long i, n = some(runs() / 2 + 7);
	unsigned int t;

	for (t = 0; t < N(specs); t++) {
		struct kl_spec *spec = spec_of(t);
		struct tally sum = { 0 };

		for (i = 0; i < n; i++) {
			struct kl_history *h = make(spec, i, false, true);

			compare(spec, h, &sum);
			kl_history_free(h);
		}
		printf("# %s: %lu linearizable, %lu violations, %lu small, %lu not decided\n",
		       kl_spec_name(spec), sum.right, sum.wrong, sum.small, sum.open);
		assert_true(10 * sum.wrong >= 7 * sum.judged);
		assert_true(2 * sum.wrong > n);
		assert_true(10 * sum.small >= 7 * sum.wrong);
		kl_spec_free(spec);
	}
}

/*
 * Some operations find the queue full.  The same history is wrong for another capacity: a
 * larger queue was not full, and a smaller one cannot hold the values.
 */
static void test_wrong_capacity(void **state)
{
	static const char text[] =
		"spec other { const CAPACITY = %u; queue<word> q = empty;\n"
		"method enq(word v) -> word r { atomic_flush {\n"
		"if (q.size() == CAPACITY) return full; q.push(v); return 0; } }\n"
		"method deq() -> word v { atomic_flush { return q.pop(); } } }\n";
	unsigned int room;

	for (room = 3; room <= 5; room++) {
		unsigned long i, n = some(runs() / 2 + 7);
		struct kl_spec *spec = spec_of(1), *other;
		struct tally sum = { 0 };
		char buf[400];

		snprintf(buf, sizeof(buf), text, room);
		assert_int_equal(kl_spec_parse("t.lin", buf, strlen(buf), &other), 0);
		for (i = 0; i < n; i++) {
			struct kl_history *h = make(spec, 5 * i + i % 3, false, false);

			compare(other, h, &sum);
			kl_history_free(h);
		}
		printf("# room for %u, not 4: %lu linearizable, %lu violations, %lu small, %lu not "
		       "decided\n", room, sum.right, sum.wrong, sum.small, sum.open);
		if (room == 4)
			assert_int_equal(sum.right, n);
		else
			assert_true(10 * sum.wrong >= 8 * n);
		kl_spec_free(other);
		kl_spec_free(spec);
	}
}

/* With a low work limit the engine may ask for more work, and says how far it came. */
static void test_asks_for_more_work(void **state)
{
	const struct kl_limits lim = { .work = 4 * KL_CONFIG_LOOKS, .each = 1, .no_witness = true };
	unsigned long i, n = runs() + 5, more = 0;
	unsigned int t;

	for (t = 0; t < N(specs); t++) {
		struct kl_spec *spec = spec_of(t);

		for (i = 0; i < n; i++) {
			struct kl_history *h = make(spec, i, true, i & 1);
			struct kl_answer a;

			assert_int_equal(
				kl_decide_history(spec, h, &kl_unique_engine, &lim, &a, NULL), 0);
			assert_true(a.verdict == KL_UNKNOWN || !kl_wants_work(&a));
			if (kl_wants_work(&a)) {
				more++;
				assert_true(a.fail_event &&
					    strstr(a.reason, "found neither an order"));
			}
			kl_answer_free(&a);
			kl_history_free(h);
		}
		kl_spec_free(spec);
	}
	printf("# %lu of %lu ask for more work\n", more, n * N(specs));
	assert_true(more && more < n * N(specs));
}

/* A result that no state gives is a violation alone, whatever else the history has. */
static void test_impossible_result(void **state)
{
	static const char *const wrong[] = {
		"t2 @0 1 90 get -> false 7\n", "t2 @0 1 90 get -> true empty\n",
		"t0 @0 1 3 put 7 -> true\nt2 @0 1 90 get -> false 7\n",
		"t0 @0 1 3 put 7 -> true\nt1 @0 1 4 get -> true 7\nt2 @0 1 90 get -> false 7\n",
		"t2 @0 1 9 get -> false full\nt3 @0 1 9 get -> false 3\n",
	};
	struct kl_spec *spec = shipped_spec("kfifo");
	size_t i;

	for (i = 0; i < N(wrong); i++) {
		struct kl_replay replay;
		struct kl_history *h;
		struct kl_report *r;
		char text[300];

		snprintf(text, sizeof(text), "# klin history 1\n# clock mono error 0\n%s",
			 wrong[i]);
		assert_int_equal(kl_text_read("t", text, strlen(text), &h), 0);
		h->fresh = true;
		assert_int_equal(kl_check(spec, h, &unique_only, &r), 0);
		assert_int_equal(r->verdict, KL_VIOLATION);
		assert_non_null(r->parts[0].cex);
		assert_int_equal(r->parts[0].cex->oracle, KL_VIOLATION);
		assert_int_equal(replay_report(r, true, spec, h, &replay), 0);
		assert_int_equal(replay.open, 0);
		kl_report_free(r);
		kl_history_free(h);
	}
	kl_spec_free(spec);
}

/*
 * Unknown results: the push may have found the queue full, the pop may have returned any
 * value.  Small histories, which the oracle decides, too.
 */
static void test_unknown_results_small(void **state)
{
	static const struct kl_limits lim = { .no_witness = true };
	const unsigned long n = 300 * runs();
	unsigned long i, k, decided[2], all[2];
	uint64_t seed = 1983;
	unsigned int t;

	(void)state;
	for (t = 0; t < N(specs); t++) {
		struct kl_spec *spec = spec_of(t);

		memset(decided, 0, sizeof(decided));
		memset(all, 0, sizeof(all));
		for (i = 0; i < n; i++) {
			const struct kl_gen_config c = {
				.spec = spec, .seed = i + 1, .ops = 8 + i % 12, .objects = 1,
				.threads = 2 + i % 4, .mutate = i & 1, .pending = i % 3,
				.producers = i % 5 == 4,
			};
			struct kl_history *h;
			struct kl_answer oracle;
			struct kl_replay replay;
			struct kl_report *r;

			assert_int_equal(kl_gen(&c, &h), 0);
			hide_results(h, &seed, 2 + i % 5);
			assert_int_equal(kl_decide_history(spec, h, &kl_oracle_engine,
							   &lim, &oracle, NULL), 0);
			assert_int_equal(kl_check(spec, h, &unique_only, &r), 0);
			if (r->verdict != KL_UNKNOWN && oracle.verdict != KL_UNKNOWN) {
				assert_int_equal(r->verdict, oracle.verdict);
				assert_int_equal(replay_report(r, true, spec, h, &replay), 0);
				decided[r->verdict == KL_VIOLATION]++;
			}
			k = oracle.verdict == KL_VIOLATION;
			all[k] += oracle.verdict != KL_UNKNOWN;
			kl_report_free(r);
			kl_answer_free(&oracle);
			kl_history_free(h);
		}
		printf("# %s, unknown results: decided are %lu of %lu right ones, %lu of %lu wrong "
		       "ones\n", kl_spec_name(spec), decided[0], all[0], decided[1], all[1]);
		assert_true(20 * decided[0] >= 19 * all[0] && 10 * decided[1] >= 9 * all[1]);
		kl_spec_free(spec);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right_histories),
		cmocka_unit_test(test_pending_and_clock_error),
		cmocka_unit_test(test_unknown_results_right),
		cmocka_unit_test(test_violations),
		cmocka_unit_test(test_wrong_capacity),
		cmocka_unit_test(test_asks_for_more_work),
		cmocka_unit_test(test_unknown_results_small),
		cmocka_unit_test(test_impossible_result),
	};

	return cmocka_run_group_tests_name("unique", tests, NULL, NULL);
}
