// SPDX-License-Identifier: GPL-2.0
/*
 * Objects that are over (kl_online_over()): the online check forgets them.  It finds no violation
 * and no order that the offline check of each object does not find, and decides as many objects as
 * a check that keeps them all.  Objects follow each other in several rows; the operations of the
 * rows overlap.  KLIN_RUNS sets the number of cases.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "check/online/online.h"
#include "generate/generate.h"
#include "history_util.h"

#define ROWS	3

/* An operation of one of the histories. */
struct item {
	struct kl_online_op op;
	uint64_t end;		/* the latest time of its object */
};

struct items {
	struct item *a;
	size_t n, cap;
};

static int by_call(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return x->op.call < y->op.call ? -1 : x->op.call > y->op.call;
}

/* Add an object's operations from the time @from on.  Return: the latest time. */
static uint64_t add_object(struct items *all, const struct kl_spec *spec,
			   const struct kl_history *h, uint64_t object, uint64_t from)
{
	uint64_t last = from;
	size_t i;

	for (i = 0; i < h->nops; i++) {
		const struct kl_op *op = &h->ops[i];
		const bool pending = op->flags & KL_OP_PENDING;

		assert_int_equal(kl_grow(all->a, all->cap, all->n + 1), 0);
		all->a[all->n++].op = (struct kl_online_op){
			.call = from + op->call, .ret = pending ? KL_TIME_MAX : from + op->ret,
			.drain = KL_TIME_MAX, .cpu = op->cpu, .object = object,
			.thread = object << 8 | op->thread, .flags = op->flags,
			.vals = kl_op_args(h, op),
			.method = kl_spec_find_method(spec, h->methods[kl_op_method(h, op)]),
		};
		last = from + op->call > last ? from + op->call : last;
		if (!pending && from + op->ret > last)
			last = from + op->ret;
	}
	for (i = all->n - h->nops; i < all->n; i++)
		all->a[i].end = last;
	return last;
}

/* Feed all operations; with @over, say now and then which objects are over. */
static void run(const struct kl_spec *spec, const struct items *all, uint64_t error, bool fresh,
		bool over, uint64_t seed, struct kl_online_stats *st)
{
	const struct kl_online_opts opts = {
		.clock = KL_CLOCK_MONO, .error = error, .fresh = fresh, .classical = true,
	};
	uint64_t *told = calloc(all->n + 1, sizeof(*told));
	size_t i, k, ntold = 0;
	struct kl_online *o;

	assert_non_null(told);
	assert_int_equal(kl_online_new(spec, &opts, &o), 0);
	for (i = 0; i < all->n; i++) {
		assert_int_equal(kl_online_add(o, &all->a[i].op), 0);
		if (i + 1 == all->n || kl_rand_below(&seed, 10))
			continue;
		assert_int_equal(kl_online_floor(o, all->a[i + 1].op.call), 0);
		/* Objects that ended just before the floor may still have returns to follow. */
		for (k = ntold; over && k <= i; k++) {
			if (told[k] || all->a[k].end >= all->a[i + 1].op.call)
				continue;
			told[k] = 1;
			assert_int_equal(kl_online_over(o, all->a[k].op.object), 0);
			while (ntold <= i && told[ntold])
				ntold++;
		}
	}
	assert_int_equal(kl_online_floor(o, KL_TIME_MAX), 0);
	assert_int_equal(kl_online_end(o), 0);
	kl_online_stats(o, st);
	kl_online_free(o);
	free(told);
}

/* Add the verdicts of an offline check on an object's partitions to @count. */
static void add_offline(const struct kl_spec *spec, struct kl_history *h, uint64_t error,
			size_t *count)
{
	const struct kl_options opt = { .threads = 1, .classical = true };
	struct kl_report *r;
	size_t i;

	h->error = error;
	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	for (i = 0; i < 3; i++)
		count[i] += r->count[i];
	kl_report_free(r);
}

static void test_spec(const char *name)
{
	const unsigned long n = wanted_runs(300);
	struct kl_spec *spec = shipped_spec(name);
	const bool keyed = kl_spec_partition(spec) == KL_PART_PARAM;
	struct kl_gen_config c = { .spec = spec, .threads = 3, .objects = 1, .delay = 30 };
	uint64_t seed = 7, wrong = 0, right = 0, kept = 0, forgot = 0;
	struct kl_online_stats a, b;
	unsigned long i;

	for (i = 0; i < n; i++) {
		struct kl_history *h[ROWS * 20];
		const unsigned int objects = 1 + kl_rand_below(&seed, 20);
		const uint64_t error = kl_rand_below(&seed, 2) ? 20 : 0;
		size_t count[3] = { 0 }, k, row;
		struct items all = { 0 };
		uint64_t from, from_row;

		for (row = 0; row < ROWS; row++) {
			for (k = 0, from_row = 0; k < objects; k++) {
				c.ops = 1 + kl_rand_below(&seed, 40);
				c.seed = kl_rand(&seed);
				c.pending = kl_rand_below(&seed, 8) ? 0 : 10;
				c.mutate = kl_rand_below(&seed, 20) ? 0 : 2;
				c.keys = kl_rand_below(&seed, 2) ? 4 : 0;
				assert_int_equal(kl_gen(&c, &h[row * objects + k]), 0);
				from = from_row + 1 + kl_rand_below(&seed, 50);
				add_offline(spec, h[row * objects + k], error, count);
				from_row = add_object(&all, spec, h[row * objects + k],
						      row * objects + k + 1, from);
			}
		}
		qsort(all.a, all.n, sizeof(*all.a), by_call);
		run(spec, &all, error, true, false, i, &a);
		run(spec, &all, error, true, true, i, &b);
		assert_int_equal(a.parts, b.parts);
		/* An offline check need not decide each key alone. */
		for (k = 0; k < 2; k++)
			assert_true(b.count[k] <= (keyed ? a.count[k] + a.count[KL_UNKNOWN] :
							   count[k]));
		assert_true(b.count[KL_UNKNOWN] <= a.count[KL_UNKNOWN]);
		right += b.count[KL_LINEARIZABLE];
		wrong += b.count[KL_VIOLATION];
		kept += a.bytes;
		forgot += b.bytes;
		free(all.a);
		for (k = 0; k < ROWS * objects; k++)
			kl_history_free(h[k]);
	}
	assert_true(right > n && wrong > n / 10);
	assert_true(forgot < kept);
	kl_spec_free(spec);
}

static void test_verdicts(void **state)
{
	static const char *const names[] = {
		"register", "queue", "stack", "pqueue", "set", "map", "counter", "spinlock",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		test_spec(names[i]);
}

/* Any number of objects, one after the other, needs the memory of a few. */
static void test_memory_is_bounded(void **state)
{
	const struct kl_online_opts opts = { .clock = KL_CLOCK_MONO, .classical = true };
	struct kl_spec *spec = shipped_spec("register");
	const struct kl_val v = kl_word(1);
	struct kl_online_stats st;
	uint64_t i, most = 0;
	struct kl_online *o;

	assert_int_equal(kl_online_new(spec, &opts, &o), 0);
	for (i = 1; i < 20000; i++) {
		const struct kl_online_op op = {
			.call = 100 * i, .ret = 100 * i + 10, .drain = KL_TIME_MAX, .object = i,
			.thread = 1, .vals = &v, .method = kl_spec_find_method(spec, "write"),
		};

		assert_int_equal(kl_online_add(o, &op), 0);
		assert_int_equal(kl_online_floor(o, 100 * i + 50), 0);
		assert_int_equal(kl_online_over(o, i), 0);
		kl_online_stats(o, &st);
		assert_int_equal(st.parts, i);
		if (i == 100)
			most = st.bytes;
	}
	assert_true(st.bytes <= most);
	assert_int_equal(st.verdict, KL_LINEARIZABLE);
	kl_online_free(o);
	kl_spec_free(spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
