// SPDX-License-Identifier: GPL-2.0
/*
 * The online check against the offline one and the brute-force oracle: random small
 * histories of several specifications, right and falsified, with pending operations,
 * ties, a clock's error, gaps and unknown first states, fed in any order that the
 * floor allows; and longer ones, of which little is kept.  KLIN_RUNS sets how many.
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
#include "check/gen.h"
#include "check/online/online.h"
#include "history_util.h"
#include "random_history.h"
#include "tso/tso.h"

static unsigned long runs(void)
{
	const char *s = getenv("KLIN_RUNS");

	return s ? strtoul(s, NULL, 0) : 10000;
}

struct seen {
	size_t violations;
	size_t confirmed, small;	/* with a counterexample that the oracle looked at */
	uint64_t first;			/* events by the first */
};

static void on_violation(void *ctx, const struct kl_online_violation *v)
{
	struct seen *s = ctx;
	size_t i;

	if (!s->violations++)
		s->first = v->events;
	for (i = 0; v->report && i < v->report->nparts; i++) {
		const struct kl_counterexample *c = v->report->parts[i].cex;

		if (!c)
			continue;
		assert_int_not_equal(c->oracle, KL_LINEARIZABLE);
		s->confirmed += c->oracle == KL_VIOLATION;
		s->small += c->h->nops <= 10;
	}
}

static void add(struct kl_online *o, const struct kl_spec *spec, const struct kl_history *h,
		const struct kl_op *op)
{
	const struct kl_online_op a = {
		.call = op->call, .ret = op->ret, .drain = op->drain, .cpu = op->cpu,
		.thread = h->threads[op->thread], .object = h->objects[op->object],
		.flags = op->flags, .vals = kl_op_args(h, op),
		.method = kl_spec_find_method(spec, h->methods[kl_op_method(h, op)]),
	};

	assert_int_equal(kl_online_add(o, &a), 0);
}

/* Feed a history in any order, with floors that are true; its operations are by call. */
static void feed(struct kl_online *o, const struct kl_spec *spec, const struct kl_history *h,
		 unsigned int spread, uint64_t *seed)
{
	uint8_t *done = calloc(h->nops + 1, 1);
	size_t first = 0, left = h->nops, gap = 0, i;

	while (left) {
		if (gap < h->ngaps && (!kl_rand_below(seed, 4) || first + spread >= h->nops)) {
			const struct kl_gap *g = &h->gaps[gap++];

			assert_int_equal(kl_online_gap(o, g->from, g->to,
						       g->object == KL_ALL_OBJECTS ? 0 :
						       h->objects[g->object],
						       g->object == KL_ALL_OBJECTS), 0);
			continue;
		}
		i = first + kl_rand_below(seed, spread);
		if (i >= h->nops || done[i])
			continue;
		done[i] = 1;
		left--;
		add(o, spec, h, &h->ops[i]);
		while (first < h->nops && done[first])
			first++;
		if (first < h->nops && !kl_rand_below(seed, 3) &&
		    (gap == h->ngaps || h->gaps[gap].from >= h->ops[first].call))
			assert_int_equal(kl_online_floor(o, h->ops[first].call), 0);
	}
	for (; gap < h->ngaps; gap++)
		assert_int_equal(kl_online_gap(o, h->gaps[gap].from, h->gaps[gap].to,
					       h->gaps[gap].object == KL_ALL_OBJECTS ? 0 :
					       h->objects[h->gaps[gap].object],
					       h->gaps[gap].object == KL_ALL_OBJECTS), 0);
	free(done);
	assert_int_equal(kl_online_floor(o, KL_TIME_MAX), 0);
	assert_int_equal(kl_online_end(o), 0);
}

static void check_online(const struct kl_spec *spec, const struct kl_history *h, uint32_t window,
			 uint64_t *seed, struct kl_online_stats *st, struct seen *seen)
{
	const struct kl_online_opts opts = {
		.clock = h->clock, .error = h->error, .fresh = h->fresh, .engines = kl_engines,
		.tso_oracle = &kl_tso_oracle_engine, .max_shrink = 1, .window = window,
		.violation = on_violation, .ctx = seen,
	};
	struct kl_online *o;

	memset(seen, 0, sizeof(*seen));
	assert_int_equal(kl_online_new(spec, &opts, &o), 0);
	feed(o, spec, h, 1 + kl_rand_below(seed, 8), seed);
	kl_online_stats(o, st);
	kl_online_free(o);
}

static enum kl_verdict offline(const struct kl_spec *spec, const struct kl_history *h,
			       const struct kl_engine *const *engines)
{
	const struct kl_options opt = { .engines = engines, .no_witness = true, .threads = 1 };
	struct kl_report *r;
	enum kl_verdict v;

	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	v = r->verdict;
	kl_report_free(r);
	return v;
}

static void show(const struct kl_history *h, const struct kl_spec *spec, enum kl_verdict on,
		 enum kl_verdict off, const char *reason)
{
	size_t len;
	char *text = history_text(h, &len);

	print_error("spec %s: online %s (%s), offline %s\n%s\n", kl_spec_name(spec),
		    kl_verdict_name(on), reason, kl_verdict_name(off), text);
	free(text);
	fail();
}

struct tally {
	unsigned long all, right, wrong, unknown;	/* unknown online only */
};

/*
 * @exact: nothing is lost, and all is kept: the verdicts have to be the same.  Else the
 * online one may be UNKNOWN, and nothing else may differ.
 */
static void compare(const struct kl_spec *spec, const struct kl_history *h, bool exact,
		    uint32_t window, uint64_t *seed, struct tally *t)
{
	static const struct kl_engine *const oracle[] = { &kl_oracle_engine, NULL };
	const enum kl_verdict off = offline(spec, h, kl_engines);
	struct kl_online_stats st;
	struct seen seen;

	if (h->nops <= 8 && kl_spec_flushes(spec))
		assert_int_equal(offline(spec, h, oracle), off);
	check_online(spec, h, window, seed, &st, &seen);
	t->all++;
	t->right += off == KL_LINEARIZABLE;
	t->wrong += off == KL_VIOLATION;
	t->unknown += st.verdict == KL_UNKNOWN && off != KL_UNKNOWN;
	if (st.verdict != off && (exact || st.verdict != KL_UNKNOWN) &&
	    !(off == KL_UNKNOWN && st.verdict == KL_LINEARIZABLE && !h->ngaps))
		show(h, spec, st.verdict, off, st.reason);
	assert_int_equal(st.waiting, h->nops && st.waiting ? st.waiting : 0);
	assert_int_equal(st.verdict == KL_VIOLATION, st.violations > 0);
}

static void test_small(void **state)
{
	static const char *const names[] = {
		"queue", "pqueue", "stack", "set", "map", "register", "counter", "lock", "pair",
		"seqlock", "deque", "semaphore",
	};
	struct random_config c = { .threads = 3 };
	unsigned long i, n = runs();
	uint64_t seed = 1;
	size_t k;

	for (k = 0; k < sizeof(names) / sizeof(*names); k++) {
		struct kl_spec *spec = shipped_spec(names[k]);
		struct tally t = { 0 };

		for (i = 0; i < n / 4; i++) {
			struct kl_history *h;
			bool falsified;

			c.max_ops = 3 + kl_rand_below(&seed, 7);
			c.values = 2 + kl_rand_below(&seed, 6);
			c.overlap = kl_rand_below(&seed, 2);
			c.gaps = !kl_rand_below(&seed, 4);
			c.clocks = !kl_rand_below(&seed, 3);
			h = random_history(spec, &c, &seed, &falsified);
			compare(spec, h, !h->ngaps, 0, &seed, &t);
			kl_history_free(h);
		}
		print_message("%s: %lu right, %lu wrong, %lu of %lu UNKNOWN only online\n", names[k],
			      t.right, t.wrong, t.unknown, t.all);
		assert_true(t.right > n / 40 && t.wrong > n / 400);
		kl_spec_free(spec);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
