// SPDX-License-Identifier: GPL-2.0
/*
 * Engines in turn and in parallel: the same engine gives the same answer with any number of
 * threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "check/engines.h"
#include "generate/generate.h"
#include "history_util.h"
#include "tso/engine/tso.h"

/* Histories with repeated values that take several rounds. */
struct hard {
	const char *spec;
	unsigned int threads, ops, keys, seed, mutate;
	uint64_t bytes;		/* memory limit, 0: none */
};


static struct kl_report *check(const struct kl_spec *spec, const struct kl_history *h,
			       const struct hard *c, unsigned int threads)
{
	const struct kl_options opt = {
		.no_partition = true, .threads = threads, .bytes = c->bytes,
	};
	struct kl_report *r;

	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	assert_int_equal(r->nparts, 1);
	return r;
}

static void assert_same(const struct kl_part_result *a, const struct kl_part_result *b)
{
	assert_int_equal(a->answer.verdict, b->answer.verdict);
	assert_string_equal(a->answer.reason, b->answer.reason);
	assert_string_equal(a->engine->name, b->engine->name);
	assert_int_equal(a->answer.work, b->answer.work);
	assert_int_equal(a->answer.progress, b->answer.progress);
	assert_int_equal(a->answer.fail_event, b->answer.fail_event);
	assert_int_equal(a->answer.nsteps, b->answer.nsteps);
	assert_int_equal(a->sc_violation, b->sc_violation);
	if (a->answer.nsteps)
		assert_memory_equal(a->answer.steps, b->answer.steps,
				    a->answer.nsteps * sizeof(*a->answer.steps));
}

/* Return: true if the engine needs more work than it gets in the first two rounds. */
static bool is_hard(const struct kl_spec *spec, const struct kl_history *h,
		    const struct kl_part_result *r)
{
	const struct kl_limits lim = {
		.work = 4000 * KL_CONFIG_LOOKS, .each = 16 * KL_CONFIG_LOOKS,
	};
	struct kl_answer a;
	bool hard;

	if (r->engine->decide_ops || r->engine->tso)
		return false;
	assert_int_equal(kl_decide_history(spec, h, r->engine, &lim, &a, NULL), 0);
	hard = a.verdict == KL_UNKNOWN;
	kl_answer_free(&a);
	return hard;
}

static void test_same_answer_any_threads(void **state)
{
	static const struct hard all[] = {
		{ "stack", 4, 3000, 4, 2, 0, 0 }, { "stack", 8, 1000, 4, 2, 0, 0 },
		{ "deque", 4, 1000, 4, 1, 0, 0 }, { "deque", 4, 1000, 4, 2, 0, 0 },
		{ "deque", 8, 300, 4, 2, 0, 0 }, { "deque", 4, 1000, 4, 2, 1, 0 },
		{ "stack", 8, 300, 4, 1, 1, 0 }, { "stack", 4, 1000, 4, 3, 1, 0 },
		/* Memory runs out, and no sooner with many threads. */
		{ "deque", 8, 1000, 4, 1, 0, 3 << 20 }, { "stack", 8, 3000, 4, 2, 0, 3 << 20 },
		/* A violation only without store buffers. */
		{ "register", 8, 300, 4, 1, 0, 0 }, { "seqlock", 4, 300, 4, 1, 1, 1 << 20 },
	};
	static const unsigned int threads[] = { 2, 3, 16 };
	/* Memory errors show in half of the cases, and with one number of threads. */
	const bool few = few_wanted();
	const unsigned int first = few ? 2 : 0, n = sizeof(threads) / sizeof(threads[0]);
	unsigned int verdicts[3] = { 0 }, hard = 0, i, j;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct hard *c = &all[i];
		struct kl_spec *spec = shipped_spec(c->spec);
		const struct kl_gen_config g = {
			.spec = spec, .ops = c->ops, .seed = c->seed, .threads = c->threads,
			.objects = 1, .keys = c->keys, .delay = 100, .mutate = c->mutate,
		};
		struct kl_history *h;
		struct kl_report *one;

		assert_int_equal(kl_gen(&g, &h), 0);
		one = check(spec, h, c, 1);
		verdicts[one->parts[0].answer.verdict]++;
		hard += is_hard(spec, h, &one->parts[0]);
		printf("# %s, %u threads, %u operations: %s by %s after %llu configurations%s%s\n",
		       c->spec, c->threads, c->ops, kl_verdict_name(one->parts[0].answer.verdict),
		       one->parts[0].engine->name, (unsigned long long)one->parts[0].answer.configs,
		       one->parts[0].answer.reason[0] ? ", " : "", one->parts[0].answer.reason);
		for (j = few && i % 2 ? n : first; j < n; j++) {
			struct kl_report *many = check(spec, h, c, threads[j]);

			assert_same(&many->parts[0], &one->parts[0]);
			kl_report_free(many);
		}
		kl_report_free(one);
		kl_history_free(h);
		kl_spec_free(spec);
	}
	assert_true(hard >= 5 && verdicts[KL_LINEARIZABLE] && verdicts[KL_VIOLATION] &&
		    verdicts[KL_UNKNOWN]);
}

/* Repeated values and pending operations: too many orders to try all. */
static struct kl_history *crowded(const struct kl_spec *spec, unsigned int objects)
{
	const struct kl_gen_config g = {
		.spec = spec, .ops = 600, .seed = 1, .threads = 16, .objects = objects,
		.keys = 2, .delay = 100, .pending = 20,
	};
	struct kl_history *h;

	assert_int_equal(kl_gen(&g, &h), 0);
	return h;
}

#define WORK	5000000ull

static struct kl_report *check_bounded(const struct kl_spec *spec, const struct kl_history *h,
				       const struct kl_engine *const *which, unsigned int threads)
{
	const struct kl_options opt = { .engines = which, .threads = threads, .work = WORK };
	struct kl_report *r;

	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	return r;
}

/* The work limit applies to all partitions and all engines together. */
static void test_work_limit_for_all(void **state)
{
	static const unsigned int objects[] = { 1, 3, 40 };
	struct kl_spec *spec = shipped_spec("deque");
	unsigned int i, threads;
	size_t k;

	for (i = 0; i < 3; i++) {
		struct kl_history *h = crowded(spec, objects[i]);
		struct kl_report *one = check_bounded(spec, h, kl_engines(), 1);
		const struct kl_part_result *p = one->parts;
		uint64_t work = 0;
		size_t stopped = 0;

		assert_int_equal(one->nparts, objects[i]);
		for (k = 0; k < one->nparts; k++) {
			work += p[k].work;
			stopped += p[k].stopped;
			assert_true(!p[k].stopped || (p[k].answer.verdict == KL_UNKNOWN &&
				    !strncmp(p[k].answer.reason, "limit of ", 9)));
			assert_true(p[k].stopped || p[k].answer.verdict == KL_LINEARIZABLE);
		}
		printf("# %u objects: %zu stopped after %llu looks\n", objects[i], stopped,
		       (unsigned long long)work);
		assert_true(objects[i] == 40 ? stopped < 40 : stopped > 0);
		assert_true(work < 2 * (WORK + KL_OP_LOOKS * h->nops));
		for (threads = 2; threads < 5; threads += 2) {
			struct kl_report *many = check_bounded(spec, h, kl_engines(), threads);

			for (k = 0; k < one->nparts; k++) {
				assert_int_equal(many->parts[k].answer.verdict,
						 p[k].answer.verdict);
				assert_string_equal(many->parts[k].answer.reason,
						    p[k].answer.reason);
				assert_ptr_equal(many->parts[k].engine, p[k].engine);
			}
			kl_report_free(many);
		}
		kl_report_free(one);
		kl_history_free(h);
	}
	kl_spec_free(spec);
}

/* A bound that no option changes is named without --work. */
static void test_own_work(void **state)
{
	const struct kl_options opt = {
		.engines = kl_engines(),
		.threads = 1,
		.work = WORK,
		.own_work = true,
	};
	struct kl_spec *spec = shipped_spec("deque");
	struct kl_history *h = crowded(spec, 1);
	struct kl_report *r;

	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	assert_true(r->parts[0].stopped);
	assert_null(strstr(r->parts[0].answer.reason, "--work"));
	kl_report_free(r);
	kl_history_free(h);
	kl_spec_free(spec);
}

/* The work limit also ends an engine that runs alone. */
static void test_work_limit_one_engine(void **state)
{
	static const struct kl_engine *const all[] = {
		&kl_frontier_engine, &kl_lifo_engine, &kl_dfs_engine, &kl_beam_engine,
		&kl_fifo_engine, &kl_wgl_engine, &kl_tso_engine,
	};
	static const char *const specs[] = { "deque", "stack", "queue", "seqlock" };
	unsigned int i, k, stopped = 0;

	for (i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct kl_spec *spec = shipped_spec(specs[i]);
		struct kl_history *h = crowded(spec, 1);

		for (k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
			const struct kl_engine *const alone[] = { all[k], NULL };
			struct kl_report *r = check_bounded(spec, h, alone, 1);

			assert_true(r->parts[0].answer.verdict != KL_VIOLATION);
			assert_true(r->parts[0].answer.work < 2 * (WORK + KL_OP_LOOKS * h->nops));
			stopped += r->parts[0].stopped;
			kl_report_free(r);
		}
		kl_history_free(h);
		kl_spec_free(spec);
	}
	printf("# %u stopped\n", stopped);
	assert_true(stopped >= 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_answer_any_threads),
		cmocka_unit_test(test_work_limit_for_all),
		cmocka_unit_test(test_own_work),
		cmocka_unit_test(test_work_limit_one_engine),
	};

	return cmocka_run_group_tests_name("portfolio", tests, NULL, NULL);
}
