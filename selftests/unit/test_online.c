// SPDX-License-Identifier: GPL-2.0
/*
 * The online check against the offline check and the brute-force oracle.  Small random
 * histories of several specifications, right and falsified, have pending operations, ties,
 * clock errors, gaps and unknown first states.  They are fed in any order that the floor
 * allows.  Long histories are fed, too, with a small window.  KLIN_RUNS sets the number;
 * KLIN_TESTS (a pattern) selects tests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "check/engines.h"
#include "generate/generate.h"
#include "check/online/online.h"
#include "history_util.h"
#include "random_history.h"
#include "stream.h"
#include "tso/engine/tso.h"

static unsigned long runs(void)
{
	return wanted_runs(10000);
}

struct seen {
	size_t violations;
	/*
	 * confirmed: violations whose counterexample the oracle confirmed; small: violations with
	 * a small counterexample
	 */
	size_t confirmed, small;
	uint64_t first;			/* number of events at the first violation */
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
		s->small += c->h->nops <= 16;
	}
}

static void add(struct kl_online *o, const struct kl_spec *spec, const struct kl_history *h,
		const struct kl_op *op)
{
	const struct kl_online_op a = {
		.call = op->call, .ret = op->ret, .drain = kl_op_drain(h, op), .cpu = op->cpu,
		.thread = h->threads[op->thread], .object = h->objects[op->object],
		.flags = op->flags, .vals = kl_op_args(h, op),
		.method = kl_spec_find_method(spec, h->methods[kl_op_method(h, op)]),
	};

	assert_int_equal(kl_online_add(o, &a), 0);
}

/* Feed a history, sorted by call, in any order, with correct floors. */
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
		.clock = h->clock, .error = h->error, .fresh = h->fresh,
		.max_shrink = 1, .window = window,
		.look_work = h->nops <= 10 ? 1500000000 : 3000000,
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
	const struct kl_options opt = {
		.engines = engines, .no_witness = true, .threads = 1,
		.work = h->nops <= 10 ? 0 : 7500000,
	};
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
	unsigned long all, right, wrong, unknown;	/* unknown: UNKNOWN only online */
};

static void tell(const char *name, const struct tally *t)
{
	print_message("%s: %lu right, %lu wrong, %lu of %lu UNKNOWN only online\n", name, t->right,
		      t->wrong, t->unknown, t->all);
}

/*
 * @exact: the window keeps everything, so the verdicts must be equal.  Otherwise the online
 * verdict may also be UNKNOWN.
 */
static void compare(const struct kl_spec *spec, const struct kl_history *h, bool exact,
		    uint32_t window, uint64_t *seed, struct tally *t)
{
	static const struct kl_engine *const oracle[] = { &kl_oracle_engine, NULL };
	const enum kl_verdict off = offline(spec, h, kl_engines());
	struct kl_online_stats st;
	struct seen seen;

	if (h->nops <= 8 && kl_spec_flushes(spec))
		assert_int_equal(offline(spec, h, oracle), off);
	check_online(spec, h, window, seed, &st, &seen);
	t->all++;
	t->right += off == KL_LINEARIZABLE;
	t->wrong += off == KL_VIOLATION;
	t->unknown += st.verdict == KL_UNKNOWN && off != KL_UNKNOWN;
	/* Without gaps the offline check is UNKNOWN only when it takes too long. */
	if (off == KL_UNKNOWN && !h->ngaps)
		return;
	if (st.verdict != off && (exact || st.verdict != KL_UNKNOWN))
		show(h, spec, st.verdict, off, st.reason);
	assert_int_equal(st.waiting, h->nops && st.waiting ? st.waiting : 0);
	assert_int_equal(st.verdict == KL_VIOLATION, st.violations > 0);
}

static void test_small_histories(void **state)
{
	static const char *const names[] = {
		"queue", "pqueue", "stack", "set", "map", "register", "counter", "lock", "pair",
		"seqlock", "deque", "semaphore", "multiset",
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
		tell(names[k], &t);
		assert_true(t.right >= n / 40 && t.wrong >= n / 400);
		kl_spec_free(spec);
	}
}

/* Longer histories with a small window: the online verdict may be UNKNOWN instead. */
static void test_long_histories(void **state)
{
	static const char *const names[] = {
		"queue", "pqueue", "stack", "set", "map", "register", "counter", "lock",
		"multiset",
	};
	const unsigned long n = 8 + runs() / 200;
	uint64_t seed = 7;
	unsigned long i;
	size_t k;

	for (k = 0; k < sizeof(names) / sizeof(*names); k++) {
		struct kl_spec *spec = shipped_spec(names[k]);
		struct tally t = { 0 };

		for (i = 0; i < n; i++) {
			const struct kl_gen_config c = {
				.spec = spec, .ops = 50 + kl_rand_below(&seed, 250), .seed = seed,
				.threads = 2 + kl_rand_below(&seed, 4), .objects = 1 + (i & 1),
				.keys = i % 3 ? 0 : 20, .delay = i % 5 ? 100 : 3,
				.error = i % 4 ? 0 : 20, .pending = i % 6 ? 0 : 3,
				.mutate = i % 2, .any = !(i % 7), .stall = !(i % 8),
			};
			struct kl_history *h;
			const int ret = kl_gen(&c, &h);

			if (ret == -EDEADLK)
				continue;
			assert_int_equal(ret, 0);
			if (!(i % 5)) {
				const uint64_t from = h->ops[h->nops / 3].call;
				const struct kl_gap gap = {
					.from = from, .to = from + 200, .cpu = KL_NO_CPU,
					.object = KL_ALL_OBJECTS, .reason = KL_GAP_LOST,
				};

				assert_int_equal(kl_history_add_gap(h, &gap), 0);
			}
			compare(spec, h, false, i % 3 == 1 ? 16 : 0, &seed, &t);
			kl_history_free(h);
		}
		tell(names[k], &t);
		kl_spec_free(spec);
	}
}

/* With unique values and without a window, the monitors decide without the offline check. */
static void test_monitors_decide_alone(void **state)
{
	static const char *const names[] = { "queue", "pqueue", "stack" };
	unsigned long i, n = runs() / 4;
	uint64_t seed = 11;
	size_t k;

	for (k = 0; k < sizeof(names) / sizeof(*names); k++) {
		struct kl_spec *spec = shipped_spec(names[k]);
		struct tally t = { 0 };

		for (i = 0; i < n; i++) {
			const struct kl_gen_config c = {
				.spec = spec, .ops = 4 + kl_rand_below(&seed, i % 8 ? 20 : 100),
				.seed = kl_rand(&seed), .threads = 2 + kl_rand_below(&seed, 5),
				.objects = 1, .delay = i % 5 ? 20 : 3, .error = i % 6 ? 0 : 3,
				.pending = i % 7 ? 0 : 3, .stall = !(i % 9), .any = !(i % 10),
				.mutate = kl_rand_below(&seed, 3) ? 0 : 1 + (i & 1),
			};
			struct kl_history *h;
			const int ret = kl_gen(&c, &h);

			if (ret == -EDEADLK)
				continue;
			assert_int_equal(ret, 0);
			compare(spec, h, false, 1, &seed, &t);
			kl_history_free(h);
		}
		tell(names[k], &t);
		assert_true(t.right >= n / 4 && t.wrong >= n / 20 && t.unknown <= n / 5);
		kl_spec_free(spec);
	}
}

/* Feed @n operations of a stream in order of return, with the end of the stream if @end. */
static void feed_stream(struct kl_online *o, struct stream *s, uint64_t n, bool end)
{
	struct kl_online_op op;
	unsigned int i;
	uint64_t k;

	for (k = 0; k < n; k++) {
		stream_next(s, &op);
		assert_int_equal(kl_online_add(o, &op), 0);
		if (k % 8 == 7)
			assert_int_equal(kl_online_floor(o, stream_floor(s)), 0);
	}
	for (i = 0; end && i < s->c.threads; i++)
		if (stream_pending(s, i, &op))
			assert_int_equal(kl_online_add(o, &op), 0);
	if (end)
		assert_int_equal(kl_online_floor(o, KL_TIME_MAX), 0);
}

static struct kl_online *start(const struct kl_spec *spec, struct seen *seen)
{
	const struct kl_online_opts opts = {
		.clock = KL_CLOCK_SEQ, .fresh = true, .max_shrink = 1,
		.classical = true,
		.violation = on_violation, .ctx = seen,
	};
	struct kl_online *o;

	memset(seen, 0, sizeof(*seen));
	assert_int_equal(kl_online_new(spec, &opts, &o), 0);
	return o;
}

/*
 * A violation is reported within 1000 calls and returns, also with pending operations.  The
 * correct twin of the stream has no violation.
 */
static void test_violation_within_1000_events(void **state)
{
	static const struct {
		struct stream_config c;
		const char *what;
	} t[] = {
		{ { .type = STREAM_QUEUE, .size = 500, .fault = STREAM_RESULT }, "queue, result" },
		{ { .type = STREAM_QUEUE, .size = 500, .fault = STREAM_AGAIN }, "queue, again" },
		{ { .type = STREAM_QUEUE, .size = 30, .fault = STREAM_LOST }, "queue, lost" },
		{ { .type = STREAM_SET, .size = 100, .fault = STREAM_RESULT }, "set, result" },
		{ { .type = STREAM_STACK, .size = 500, .fault = STREAM_RESULT }, "stack, result" },
		{ { .type = STREAM_STACK, .size = 6, .fault = STREAM_AGAIN }, "stack, again" },
		{ { .type = STREAM_PQUEUE, .size = 500, .fault = STREAM_RESULT }, "pqueue, far" },
		{ { .type = STREAM_PQUEUE, .size = 500, .fault = STREAM_AGAIN }, "pqueue, again" },
		{ { .type = STREAM_REGISTER, .size = 1, .fault = STREAM_RESULT }, "register, old" },
		{ { .type = STREAM_REGISTER, .size = 1, .fault = STREAM_AGAIN }, "register, last" },
		{ { .type = STREAM_REGISTER, .size = 6, .fault = STREAM_RESULT }, "equal words" },
	};
	unsigned int i, k;

	for (i = 0; i < sizeof(t) / sizeof(*t); i++) {
		uint64_t most = 0;

		for (k = 0; k < 40; k += few_wanted() ? 8 : 1) {
			struct stream_config c = t[i].c;
			struct kl_spec *spec = shipped_spec(stream_spec(&c));
			struct kl_online_stats st;
			struct kl_online *o;
			struct stream s;
			struct seen seen;

			o = start(spec, &seen);
			c.threads = 2 + 3 * (k % 12);
			c.seed = k + 1;
			c.fault_at = 500 + 397 * k;
			c.fault = k % 4 ? c.fault : STREAM_RIGHT;
			assert_int_equal(stream_init(&s, &c, spec), 0);
			/* The fault occurs once enough elements are inside. */
			feed_stream(o, &s, c.fault_at, false);
			while (c.fault && !s.fault_event && s.nops < 1000000)
				feed_stream(o, &s, 8, false);
			feed_stream(o, &s, 2000, false);
			kl_online_stats(o, &st);
			assert_int_equal(st.verdict, c.fault ? KL_VIOLATION : KL_LINEARIZABLE);
			assert_int_equal(seen.violations > 0, c.fault != STREAM_RIGHT);
			if (c.fault) {
				assert_in_range(seen.first, s.fault_event, s.fault_event + 1000);
				if (seen.first - s.fault_event > most)
					most = seen.first - s.fault_event;
			}
			stream_free(&s);
			kl_online_free(o);
			kl_spec_free(spec);
		}
		print_message("%s: within %llu events\n", t[i].what, (unsigned long long)most);
	}
}

/*
 * Some operations in the middle are lost.  Each key of a set, and the value of a register, is
 * then unknown until an operation shows it.  Later violations are found, and the correct twin
 * has none.
 */
static void test_recovers_after_gap(void **state)
{
	static const struct stream_config t[] = {
		{ .type = STREAM_SET, .size = 50 },
		{ .type = STREAM_SET, .size = 50, .fault = STREAM_RESULT },
		{ .type = STREAM_REGISTER, .size = 1 },
		{ .type = STREAM_REGISTER, .size = 1, .fault = STREAM_RESULT },
		{ .type = STREAM_REGISTER, .size = 1, .fault = STREAM_AGAIN },
		{ .type = STREAM_REGISTER, .size = 5 },
	};
	unsigned int i, k, j;

	for (i = 0; i < sizeof(t) / sizeof(*t); i++) {
		for (k = 0; k < 20; k++) {
			struct stream_config c = t[i];
			struct kl_spec *spec = shipped_spec(stream_spec(&c));
			struct kl_online_stats st;
			struct kl_online_op op;
			struct kl_online *o;
			struct stream s;
			struct seen seen;
			uint64_t from;

			o = start(spec, &seen);
			c.threads = 2 + 2 * (k % 8);
			c.seed = k + 1;
			c.fault_at = 9000;
			assert_int_equal(stream_init(&s, &c, spec), 0);
			feed_stream(o, &s, 5000, false);
			assert_int_equal(kl_online_floor(o, stream_floor(&s)), 0);
			from = s.now;
			/*
			 * Operations that were called before the gap, or return after it, are seen.
			 */
			for (j = 0; j < 200; j++) {
				stream_next(&s, &op);
				if (op.call < from)
					assert_int_equal(kl_online_add(o, &op), 0);
			}
			assert_int_equal(kl_online_gap(o, from, s.now, 0, true), 0);
			feed_stream(o, &s, 10000, false);
			kl_online_stats(o, &st);
			assert_int_equal(st.verdict, c.fault ? KL_VIOLATION : KL_UNKNOWN);
			assert_int_equal(seen.violations > 0, c.fault != STREAM_RIGHT);
			if (c.fault)
				assert_in_range(seen.first, s.fault_event - 800,
						s.fault_event + 1000);
			stream_free(&s);
			kl_online_free(o);
			kl_spec_free(spec);
		}
	}
}

/* A violation is reported soon, with a small counterexample; correct streams have none. */
static void test_streams_with_faults(void **state)
{
	static const struct stream_config faults[] = {
		{ .type = STREAM_QUEUE, .size = 2000, .fault = STREAM_RESULT },
		{ .type = STREAM_QUEUE, .size = 2000, .fault = STREAM_AGAIN },
		{ .type = STREAM_QUEUE, .size = 20, .fault = STREAM_LOST },
		{ .type = STREAM_SET, .size = 300, .fault = STREAM_RESULT },
		{ .type = STREAM_PQUEUE, .size = 500, .fault = STREAM_AGAIN },
		{ .type = STREAM_STACK, .size = 2000, .fault = STREAM_RESULT },
		{ .type = STREAM_STACK, .size = 2000, .fault = STREAM_AGAIN },
		{ .type = STREAM_REGISTER, .size = 5, .fault = STREAM_RESULT },
		{ .type = STREAM_REGISTER, .size = 1, .fault = STREAM_RESULT },
		{ .type = STREAM_QUEUE, .size = 100 }, { .type = STREAM_QUEUE, .size = 4 },
		{ .type = STREAM_SET, .size = 10 }, { .type = STREAM_PQUEUE, .size = 30 },
		{ .type = STREAM_STACK, .size = 100 }, { .type = STREAM_STACK, .size = 3 },
		{ .type = STREAM_REGISTER, .size = 5 }, { .type = STREAM_REGISTER, .size = 1 },
		{ .type = STREAM_REGISTER, .size = 1000 },
	};
	unsigned int i, seed;

	for (i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		for (seed = 1; seed <= 6; seed += few_wanted() ? 6 : 1) {
			struct stream_config c = faults[i];
			struct kl_online_stats st;
			struct kl_spec *spec = shipped_spec(stream_spec(&c));
			struct stream s;
			struct seen seen;
			struct kl_online *o = start(spec, &seen);

			c.threads = 4 * seed;
			c.seed = seed;
			c.fault_at = 20000;
			assert_int_equal(stream_init(&s, &c, spec), 0);
			/* The value that a pending pop removed is not determined afterwards. */
			feed_stream(o, &s, 40000, !c.fault && c.type != STREAM_PQUEUE);
			kl_online_stats(o, &st);
			if (st.verdict != (c.fault ? KL_VIOLATION : KL_LINEARIZABLE))
				fail_msg("%u, seed %u: %s %s", i, seed, kl_verdict_name(st.verdict),
					 st.reason);
			assert_int_equal(seen.violations > 0, c.fault != STREAM_RIGHT);
			assert_int_equal(seen.confirmed, c.fault != STREAM_RIGHT);
			assert_int_equal(seen.small, c.fault != STREAM_RIGHT);
			if (c.fault)
				assert_in_range(seen.first, s.fault_event, s.fault_event + 1000);
			stream_free(&s);
			kl_online_free(o);
			kl_spec_free(spec);
		}
	}
}

/* The memory does not grow with the length of the stream. */
static void test_memory_is_bounded(void **state)
{
	static const struct stream_config types[] = {
		{ .type = STREAM_QUEUE, .threads = 16, .size = 100, .seed = 1 },
		{ .type = STREAM_SET, .threads = 16, .size = 100, .seed = 1 },
		{ .type = STREAM_PQUEUE, .threads = 16, .size = 100, .seed = 1 },
		{ .type = STREAM_STACK, .threads = 16, .size = 100, .seed = 1 },
		{ .type = STREAM_REGISTER, .threads = 8, .size = 5, .seed = 1 },
		{ .type = STREAM_REGISTER, .threads = 40, .size = 1, .seed = 1 },
	};
	const uint64_t more = few_wanted() ? 50000 : 400000;
	unsigned int i;

	for (i = 0; i < sizeof(types) / sizeof(*types); i++) {
		struct kl_spec *spec = shipped_spec(stream_spec(&types[i]));
		struct kl_online_stats before, after;
		struct stream s;
		struct seen seen;
		struct kl_online *o = start(spec, &seen);

		assert_int_equal(stream_init(&s, &types[i], spec), 0);
		feed_stream(o, &s, 100000, false);
		kl_online_stats(o, &before);
		feed_stream(o, &s, more, false);
		kl_online_stats(o, &after);
		assert_int_equal(after.verdict, KL_LINEARIZABLE);
		assert_true(after.bytes <= before.bytes + before.bytes / 4);
		assert_true(after.waiting < 1000 && after.inside < 1000);
		stream_free(&s);
		kl_online_free(o);
		kl_spec_free(spec);
	}
}

/* An operation that arrives too late causes a gap; later operations make the state known again. */
static void test_late_operation_is_a_gap(void **state)
{
	struct kl_spec *spec = shipped_spec("set");
	struct kl_val v[2] = { kl_word(1), kl_word(1) };
	struct kl_online_op op = {
		.call = 10, .ret = 20, .drain = 20, .vals = v, .cpu = KL_NO_CPU,
		.method = kl_spec_find_method(spec, "has"),
	};
	struct kl_online_stats st;
	struct seen seen;
	struct kl_online *o = start(spec, &seen);

	/* The value was not added, but an operation that has not arrived may have added it. */
	assert_int_equal(kl_online_add(o, &op), 0);
	assert_int_equal(kl_online_floor(o, 5), 0);
	kl_online_stats(o, &st);
	assert_int_equal(st.verdict, KL_LINEARIZABLE);
	assert_int_equal(kl_online_floor(o, 30), 0);
	kl_online_stats(o, &st);
	assert_int_equal(st.verdict, KL_VIOLATION);
	/* Such an operation arrives late, so the violation is revoked. */
	op.method = kl_spec_find_method(spec, "add");
	op.call = 8;
	assert_int_equal(kl_online_add(o, &op), 0);
	kl_online_stats(o, &st);
	assert_int_equal(st.verdict, KL_UNKNOWN);
	assert_int_equal(st.late, 1);
	/* The first result makes the value known again; a different one later is a violation. */
	op.method = kl_spec_find_method(spec, "has");
	op.call = 40;
	op.ret = 50;
	assert_int_equal(kl_online_add(o, &op), 0);
	op.call = 60;
	op.ret = 70;
	v[1] = kl_word(0);
	assert_int_equal(kl_online_add(o, &op), 0);
	assert_int_equal(kl_online_floor(o, KL_TIME_MAX), 0);
	kl_online_stats(o, &st);
	assert_int_equal(st.verdict, KL_VIOLATION);
	kl_online_free(o);
	kl_spec_free(spec);
}

/* Check that no order of arrival causes a violation. */
static void expect_right(const char *name, const char *text)
{
	struct kl_spec *spec = shipped_spec(name);
	struct kl_online_stats st;
	struct kl_history *h;
	struct seen seen;
	uint64_t seed;

	assert_int_equal(kl_text_read("t", text, strlen(text), &h), 0);
	for (seed = 1; seed < 100; seed += 3) {
		uint64_t s = seed;

		/* Sometimes with a small window. */
		check_online(spec, h, seed % 2 ? 0 : 3, &s, &st, &seen);
		assert_int_not_equal(st.verdict, KL_VIOLATION);
	}
	kl_history_free(h);
	kl_spec_free(spec);
}

/*
 * Equal words are interchangeable: the 15 is removed before the 1 is added, and no pending pop
 * removed the 1.
 */
static void test_no_alarm_equal_words(void **state)
{
	static const char text[] =
		"# klin history 1\n# clock seq\n# first init\n"
		"t0 @0 1 2 push 15\nt0 @0 3 4 push 15\nt0 @0 5 6 push 15\n"
		"t0 @0 7 8 pop -> 15\nt1 @0 9 - pop\nt2 @0 10 20 pop -> 15\n"
		"t0 @0 12 13 push 1\nt0 @0 30 31 peek -> 1\nt0 @0 32 33 pop -> 1\n"
		"t0 @0 34 35 pop -> 15\nt0 @0 36 37 pop -> empty\n";
	struct kl_spec *spec = shipped_spec("pqueue");
	struct kl_online_stats st;
	struct kl_history *h;
	struct seen seen;
	uint64_t seed = 1;

	assert_int_equal(kl_text_read("t", text, strlen(text), &h), 0);
	check_online(spec, h, 1, &seed, &st, &seen);
	assert_int_equal(st.verdict, KL_LINEARIZABLE);
	kl_history_free(h);
	kl_spec_free(spec);
}

static void test_no_false_alarms(void **state)
{
	/*
	 * The order of a thread makes the monitors give up.  The offline check then decides when
	 * the gap begins; operations that return at that time may belong to the gap.
	 */
	expect_right("queue",
		     "# klin history 1\n# clock mono error 0\n# first init\n"
		     "# gap from 10 to 14 lost 1\n"
		     "t0 @0 2 6 enq 1\nt1 @0 3 7 peek -> 1\nt2 @0 5 9 enq 2\n"
		     "t1 @0 8 10 peek -> 5\nt1 @0 10 16 peek -> 2\n");
	/*
	 * A removal is in progress at the end of a gap, while another operation finds the queue
	 * empty.
	 */
	expect_right("queue",
		     "# klin history 1\n# clock mono error 0\n# first init\n"
		     "# gap from 6 to 11 lost 1\n# gap from 11 to 14 lost 1\n"
		     "t0 @0 3 5 deq -> empty\nt2 @0 5 10 deq -> empty\nt0 @0 14 16 deq -> 2\n"
		     "t0 @0 16 24 deq -> empty\nt2 @0 17 21 peek -> empty\n"
		     "t2 @0 22 27 peek -> empty\n");
	/* The removed value may be from the first state; then the added one is still inside. */
	expect_right("pqueue",
		     "# klin history 1\n# clock mono error 0\n# first any\n"
		     "t0 @0 2 5 pop -> 0\nt1 @0 3 6 push 0\nt0 @0 6 13 pop -> empty\n"
		     "t0 @0 16 23 peek -> 0\n");
	/*
	 * The monitor assumes that a pending removal removed 1, because it cannot tell which of
	 * several 15 was removed.  Later 1 is seen.
	 */
	expect_right("pqueue",
		     "# klin history 1\n# clock mono error 0\n# first init\n"
		     "t2 @0 141 303 push 0\nt1 @0 144 259 push 13\nt2 @0 336 419 push 8\n"
		     "t0 @0 446 519 push 13\nt2 @0 474 547 push 19\nt2 @0 602 681 push 4\n"
		     "t0 @0 602 752 push 15\nt1 @0 651 804 push 17\nt2 @0 691 817 push 12\n"
		     "t1 @0 837 949 pop -> 0\nt0 @0 849 992 push 14\nt2 @0 872 954 push 12\n"
		     "t2 @0 977 1088 pop -> 4\nt1 @0 1011 1074 pop -> 8\n"
		     "t0 @0 1077 1161 pop -> 12\nt1 @0 1079 1225 pop -> 13\n"
		     "t2 @0 1134 1226 pop -> 12\nt0 @0 1241 1337 pop -> 13\n"
		     "t2 @0 1294 1435 push 8\nt0 @0 1428 1500 push 12\n"
		     "t2 @0 1450 1598 pop -> 12\nt1 @0 1469 1520 pop -> 8\n"
		     "t0 @0 1538 1570 pop -> 14\nt2 @0 1845 1894 pop -> 15\n"
		     "t1 @0 1863 2036 pop -> 9\nt0 @0 1870 1937 push 9\n"
		     "t2 @0 1965 2070 push 8\nt0 @0 1979 2032 pop -> 8\n"
		     "t0 @0 2086 2164 push 17\nt1 @0 2114 - pop\nt2 @0 2144 2217 push 8\n"
		     "t0 @0 2230 2397 pop -> 17\nt3 @0 2259 2412 push 4\n"
		     "t2 @0 2277 2407 pop -> 8\nt3 @0 2444 2625 push 1\n"
		     "t0 @0 2654 2776 push 16\nt2 @0 2683 2767 pop -> 1\n"
		     "t0 @0 2801 2817 pop -> 4\nt3 @0 2803 2916 push 15\n"
		     "t2 @0 2828 2983 push 15\nt0 @0 2856 2934 push 0\n"
		     "t0 @0 3019 3111 push 13\nt2 @0 3047 3097 pop -> 0\n"
		     "t2 @0 3130 3243 push 10\nt0 @0 3166 3230 push 15\n"
		     "t0 @0 3307 3362 pop -> 10\nt3 @0 3319 3496 push 11\n"
		     "t0 @0 3393 3454 push 15\nt2 @0 3488 3504 push 4\n"
		     "t0 @0 3518 3680 pop -> 11\nt2 @0 3600 3684 pop -> 4\n"
		     "t0 @0 3751 3888 push 18\nt3 @0 3779 3936 push 16\n"
		     "t3 @0 3988 4101 pop -> 13\nt2 @0 4030 4106 push 7\n"
		     "t0 @0 4049 4150 push 3\nt3 @0 4110 4169 push 19\n"
		     "t2 @0 4174 4226 push 7\nt0 @0 4176 4229 pop -> 3\n"
		     "t2 @0 4256 4384 pop -> 7\nt3 @0 4268 4388 pop -> 7\n"
		     "t0 @0 4652 4732 push 18\nt2 @0 4741 4838 pop -> 15\n"
		     "t3 @0 4757 4925 peek -> 1\nt0 @0 4779 4835 push 1\n"
		     "t3 @0 4942 4994 peek -> 1\nt2 @0 5042 5181 pop -> 15\n");
	/* An operation in progress in the gap may write after it. */
	expect_right("register", "# klin history 1\n# clock mono error 1\n# first init\n"
		     "# gap cpu 0 from 7 to 15 lost 1\n"
		     "t0 @0 16 23 cas 1 0 -> 1 cpu=0\nt0 @0 17 20 write 1 cpu=0\n"
		     "t0 @0 22 26 read -> 0 cpu=0\n");
	/* It is not known which of the two 15 was removed, so one alone proves nothing. */
	expect_right("pqueue", "# klin history 1\n# clock mono error 0\n# first init\n"
		     "t4 @1 1687 1821 push 18\nt3 @1 1704 - push 15\n"
		     "t0 @1 1786 1905 push 8\nt2 @1 1809 1945 push 0\n"
		     "t4 @1 1865 1986 pop -> 0\nt1 @1 1952 2014 push 1\n"
		     "t5 @1 2054 2128 pop -> 1\nt4 @1 2143 2267 pop -> 8\n"
		     "t5 @1 2243 2412 push 18\nt4 @1 2462 2553 push 18\n"
		     "t0 @1 2735 2844 pop -> 18\nt5 @1 3151 3243 push 15\n"
		     "t0 @1 3264 3429 pop -> 15\nt2 @1 3292 3471 pop -> 18\n"
		     "t1 @1 3320 - pop\nt6 @1 3347 3428 pop -> empty\n"
		     "t7 @1 3389 3491 push 14\nt2 @1 3486 3605 pop -> 14\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_histories),
		cmocka_unit_test(test_long_histories),
		cmocka_unit_test(test_monitors_decide_alone),
		cmocka_unit_test(test_streams_with_faults),
		cmocka_unit_test(test_violation_within_1000_events),
		cmocka_unit_test(test_memory_is_bounded),
		cmocka_unit_test(test_late_operation_is_a_gap),
		cmocka_unit_test(test_recovers_after_gap),
		cmocka_unit_test(test_no_alarm_equal_words),
		cmocka_unit_test(test_no_false_alarms),
	};

	if (getenv("KLIN_TESTS"))
		cmocka_set_test_filter(getenv("KLIN_TESTS"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
