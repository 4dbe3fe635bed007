// SPDX-License-Identifier: GPL-2.0
/*
 * Streams of correct structures whose recordings lack information: pending operations, coarse
 * and inexact clocks, an unknown begin, gaps, and combinations of these.  No violation may be
 * reported.  KLIN_RUNS sets the number of streams.
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
#include "check/online/online.h"
#include "history_util.h"
#include "stream.h"
#include "tso/engine/tso.h"

#define OPS	2500

/* How the stream is recorded. */
struct telling {
	unsigned int coarse;	/* times are multiples of 1 << coarse, which causes ties */
	uint64_t error;		/* clocks are ahead by up to this time */
	unsigned int pending;	/* one in @pending operations never returns; 0: none */
	/* operations from number @gap on are lost, @length of them; 0: none */
	uint64_t gap, length;
	bool fresh;
};

static unsigned long runs(void)
{
	return wanted_runs(10000);
}

static void on_violation(void *ctx, const struct kl_online_violation *v)
{
	snprintf(ctx, 200, "%s by %s at %llu", v->reason, v->engine, (unsigned long long)v->time);
}

/* Return: the time on the clock of the operation's thread. */
static uint64_t shown(const struct telling *t, uint64_t thread, uint64_t time)
{
	return (time >> t->coarse << t->coarse) + kl_mix(thread, 3) % (t->error + 1);
}

static void tell(struct kl_online *o, const struct telling *t, const struct kl_spec *spec,
		 const struct kl_online_op *op, uint64_t *dead, uint64_t *seed)
{
	struct kl_online_op a = *op;
	struct kl_val v[2] = { op->vals[0], op->vals[1] };
	const struct kl_method *m = kl_spec_method(spec, op->method);
	unsigned int i;

	a.vals = v;
	a.thread = op->thread + STREAM_THREADS * dead[op->thread];
	a.call = shown(t, op->thread, op->call);
	if (!(op->flags & KL_OP_PENDING))
		a.ret = a.drain = shown(t, op->thread, op->ret);
	if (t->pending && !(op->flags & KL_OP_PENDING) && !kl_rand_below(seed, t->pending)) {
		a.ret = a.drain = KL_TIME_MAX;
		a.flags = KL_OP_PENDING;
		for (i = m->nparams; i < m->nparams + m->nresults; i++)
			v[i] = kl_special(KL_ANY);
		dead[op->thread]++;
	}
	assert_int_equal(kl_online_add(o, &a), 0);
}

static enum kl_verdict follow(const struct kl_spec *spec, const struct stream_config *c,
			      const struct telling *t, uint32_t window, char *said)
{
	const struct kl_online_opts opts = {
		.clock = t->error ? KL_CLOCK_MONO : KL_CLOCK_SEQ, .error = t->error,
		.fresh = t->fresh,
		.window = window, .look_work = 3000000, .violation = on_violation, .ctx = said,
		.classical = true,
	};
	uint64_t dead[STREAM_THREADS] = { 0 }, seed = c->seed, from = 0, floor;
	struct kl_online_stats st;
	struct kl_online_op op;
	struct kl_online *o;
	struct stream s;
	unsigned int i;
	uint64_t k;

	assert_int_equal(stream_init(&s, c, spec), 0);
	assert_int_equal(kl_online_new(spec, &opts, &o), 0);
	for (k = 0; k < OPS; k++) {
		if (t->length && k == t->gap)
			from = s.now;
		stream_next(&s, &op);
		/* Operations that were called before the gap are seen. */
		if (t->length && k >= t->gap && k < t->gap + t->length && op.call > from)
			continue;
		if (t->length && k == t->gap + t->length)
			assert_int_equal(kl_online_gap(o, from >> t->coarse << t->coarse,
						       op.ret + t->error, 0, true), 0);
		tell(o, t, spec, &op, dead, &seed);
		floor = stream_floor(&s) >> t->coarse << t->coarse;
		if (k % 8 == 7 && (!t->length || k < t->gap || k > t->gap + t->length))
			assert_int_equal(kl_online_floor(o, floor), 0);
	}
	for (i = 0; i < c->threads; i++)
		if (stream_pending(&s, i, &op))
			tell(o, t, spec, &op, dead, &seed);
	assert_int_equal(kl_online_floor(o, KL_TIME_MAX), 0);
	assert_int_equal(kl_online_end(o), 0);
	kl_online_stats(o, &st);
	kl_online_free(o);
	stream_free(&s);
	return st.verdict;
}

static void test_no_false_alarm(void **state)
{
	static const struct stream_config types[] = {
		{ .type = STREAM_QUEUE, .size = 20 }, { .type = STREAM_QUEUE, .size = 2 },
		{ .type = STREAM_STACK, .size = 20 }, { .type = STREAM_STACK, .size = 2 },
		{ .type = STREAM_PQUEUE, .size = 20 }, { .type = STREAM_PQUEUE, .size = 2 },
		{ .type = STREAM_SET, .size = 20 }, { .type = STREAM_REGISTER, .size = 1 },
		{ .type = STREAM_REGISTER, .size = 5 }, { .type = STREAM_REGISTER, .size = 200 },
	};
	const unsigned long n = 16 + runs() / 250;
	unsigned long i, verdicts[4];
	unsigned int k;
	uint64_t seed = 3;
	char said[200];

	for (k = 0; k < sizeof(types) / sizeof(*types); k++) {
		struct kl_spec *spec = shipped_spec(stream_spec(&types[k]));

		memset(verdicts, 0, sizeof(verdicts));
		for (i = 0; i < n; i++) {
			struct stream_config c = types[k];
			const struct telling t = {
				.coarse = i % 2 ? kl_rand_below(&seed, 4) : 0,
				.error = i % 3 ? 0 : 1 + kl_rand_below(&seed, 6),
				.pending = i % 4 ? 0 : 20 + kl_rand_below(&seed, 400),
				.gap = 500 + kl_rand_below(&seed, 1000),
				.length = i % 5 < 2 ? 1 + kl_rand_below(&seed, 100) : 0,
				.fresh = i % 7,
			};
			enum kl_verdict v;

			c.threads = 2 + kl_rand_below(&seed, 14);
			c.seed = kl_rand(&seed);
			v = follow(spec, &c, &t, i % 3 ? 0 : 16, said);
			if (v == KL_VIOLATION)
				fail_msg("%s %u, run %lu: %s (coarse %u, error %llu, pending %u, "
					 "gap %llu %llu, fresh %d)", kl_spec_name(spec), c.size, i,
					 said, t.coarse, (unsigned long long)t.error, t.pending,
					 (unsigned long long)t.gap, (unsigned long long)t.length,
					 t.fresh);
			verdicts[v]++;
		}
		print_message("%s %u: %lu LINEARIZABLE, %lu UNKNOWN\n", kl_spec_name(spec),
			      types[k].size, verdicts[KL_LINEARIZABLE], verdicts[KL_UNKNOWN]);
		kl_spec_free(spec);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_false_alarm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
