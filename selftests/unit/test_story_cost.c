// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of stories.  A story takes no more looks than the decision did, and a constant; and no
 * reason goes on when its part of these looks is used up.  Looks are counted, so that the test is
 * the same on each machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "check/check.h"
#include "generate/generate.h"
#include "history_util.h"
#include "story/story.h"

/* Reading an operation costs about as much as these looks. */
#define READ_LOOKS 192
/* A reason may end what it began with an operation: it compares this one with all others. */
#define LAST_LOOKS 64

static const char *const specs[] = {
	"array",    "bounded_queue",   "deque",	   "fd_table",	  "fig5",      "ida",	  "kfifo",
	"map",	    "mntput",	       "multiset", "mutex",	  "pair",      "pqueue",  "queue",
	"refsum",   "register",	       "rwlock",   "rwsem",	  "semaphore", "seqlock", "set",
	"spinlock", "spinlock_kernel", "stack",	   "timekeeping",
};

static struct kl_history *broken(const struct kl_spec *spec, uint64_t ops, uint64_t seed, bool tso)
{
	const struct kl_gen_config c = {
		.spec = spec,
		.ops = ops,
		.seed = seed,
		.threads = 2 + seed % 4,
		.objects = 1,
		.keys = 4,
		.delay = 100,
		.mutate = 1 + seed % 2,
		.tso = tso,
	};
	struct kl_history *h;

	assert_int_equal(kl_gen(&c, &h), 0);
	return h;
}

/* Look at the story of each violation.  Return: their number. */
static unsigned int look_at(const struct kl_spec *spec, const struct kl_history *h)
{
	const struct kl_options opt = { .threads = 1, .max_shrink = 4, .work = 300000000 };
	unsigned int stories = 0;
	struct kl_report *r;
	size_t i;

	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	for (i = 0; i < r->nparts; i++) {
		const struct kl_part_result *p = &r->parts[i];
		struct kl_story *s;

		if (p->answer.verdict != KL_VIOLATION || !p->cex)
			continue;
		assert_int_equal(kl_story_tell(spec, h, p, &s), 0);
		assert_non_null(s);
		stories++;
		if (s->most_looks >
		    p->work + p->cex->work + READ_LOOKS * (uint64_t)p->nops + KL_STORY_LOOKS)
			fail_msg("%s: %s may take %llu looks", kl_spec_name(spec), s->headline,
				 (unsigned long long)s->most_looks);
		if (s->looks > s->most_looks + LAST_LOOKS * (uint64_t)p->nops)
			fail_msg("%s: %s took %llu of %llu looks", kl_spec_name(spec), s->headline,
				 (unsigned long long)s->looks, (unsigned long long)s->most_looks);
		if (s->beyond > LAST_LOOKS * (uint64_t)p->nops)
			fail_msg("%s: before %s a reason took %llu looks beyond its bound",
				 kl_spec_name(spec), s->headline, (unsigned long long)s->beyond);
		kl_story_free(s);
	}
	kl_report_free(r);
	return stories;
}

/* Look at @n histories of each specification.  Return: the number of stories. */
static unsigned int look_at_all(uint64_t ops, uint64_t n)
{
	unsigned int stories = 0;
	size_t i;
	uint64_t seed;

	for (i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct kl_spec *spec = shipped_spec(specs[i]);

		for (seed = 1; seed <= n; seed++) {
			struct kl_history *h = broken(spec, ops, seed, seed % 2);

			stories += look_at(spec, h);
			kl_history_free(h);
		}
		kl_spec_free(spec);
	}
	return stories;
}

static void test_short_histories(void **state)
{
	const unsigned long n = wanted_runs(2000) / 50 + 1;

	assert_true(look_at_all(30, n) > n);
}

static void test_longer_histories(void **state)
{
	assert_true(look_at_all(few_wanted() ? 300 : 1000, few_wanted() ? 1 : 2) > 10);
}

/*
 * Counterexamples of thousands of operations, where a reason that looks at all pairs takes
 * minutes; locks that are held twice, with store buffers; and a removal whose result is no value,
 * so that no deeds are known.
 */
static void test_long_histories(void **state)
{
	static const struct {
		const char *spec;
		uint64_t ops, seed;
		bool tso;
	} some[] = {
		{ "mntput", 20000, 20005, false },  { "multiset", 20000, 20009, false },
		{ "spinlock", 20000, 20009, true }, { "spinlock_kernel", 20000, 20005, true },
		{ "rwsem", 20000, 1, true },	    { "bounded_queue", 30, 359, true },
	};
	const size_t n = sizeof(some) / sizeof(some[0]);
	size_t i;

	/* With sanitizers, the last and smallest one is enough. */
	for (i = few_wanted() ? n - 1 : 0; i < n; i++) {
		struct kl_spec *spec = shipped_spec(some[i].spec);
		struct kl_history *h = broken(spec, some[i].ops, some[i].seed, some[i].tso);

		assert_true(look_at(spec, h) > 0);
		kl_history_free(h);
		kl_spec_free(spec);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_histories),
		cmocka_unit_test(test_longer_histories),
		cmocka_unit_test(test_long_histories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
