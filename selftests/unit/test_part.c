// SPDX-License-Identifier: GPL-2.0
/*
 * Layout of a partition: events and predecessors together give the exact order of operations.
 * Threads may overlap themselves, the clock may be inexact, and times may be near the end of
 * time.  The test also checks the memory that the layout needs.
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
#include "check/part.h"
#include "check/general/spec_stepper.h"

#define MAX_OPS	160

static const char spec_text[] =
	"spec register { word v; method write(word x) { atomic_flush { v = x; } } }\n";

static struct kl_history *make_history(uint64_t *seed)
{
	static const uint64_t errors[] = { 0, 1, 50, 1000 };
	const uint64_t n = 1 + kl_rand_below(seed, MAX_OPS), span = 1 + kl_rand_below(seed, 400);
	const uint64_t base = kl_rand_below(seed, 4) ? 0 : KL_TIME_MAX - 2 * span - 5;
	struct kl_history *h = kl_history_new();
	const struct kl_opsig s = { .nargs = 1 };
	const struct kl_val v = kl_word(7);
	uint64_t i;

	assert_non_null(h);
	h->error = errors[kl_rand_below(seed, 4)];
	assert_int_equal(kl_history_object(h, 0), 0);
	assert_int_equal(kl_history_method(h, "write", 5), 0);
	for (i = 0; i < n; i++) {
		struct kl_op op = {
			.call = base + kl_rand_below(seed, span),
			.cpu = kl_rand_below(seed, 4) ? 0 : kl_rand_below(seed, 3),
			.thread = kl_history_thread(h, 1 + kl_rand_below(seed, 3)),
		};

		op.ret = op.call + kl_rand_below(seed, kl_rand_below(seed, 3) ? 5 : span);
		if (!kl_rand_below(seed, 20)) {
			op.ret = KL_TIME_MAX;
			op.flags = KL_OP_PENDING;
		}
		if (!kl_rand_below(seed, 20))
			op.flags |= KL_OP_NOCALL;
		assert_int_equal(kl_history_add(h, &op, &s, &v, NULL), 0);
	}
	assert_int_equal(kl_history_finish(h), 0);
	return h;
}

/* Set bit b of before[a] for each b that events or predecessors order before a. */
static void close_order(const struct kl_part *p, bool before[MAX_OPS][MAX_OPS])
{
	uint32_t i, j, k;

	memset(before, 0, MAX_OPS * sizeof(before[0]));
	for (i = 0; i < p->nitems; i++) {
		for (j = 0; j < p->nitems; j++)
			before[i][j] = p->items[j].ret_ev != KL_NO_EVENT &&
				       p->items[j].ret_ev < p->items[i].call_ev;
		for (k = p->has_preds ? p->pred_at[i] : 0; p->has_preds && k < p->pred_at[i + 1];
		     k++)
			before[i][p->pred[k]] = true;
	}
	for (k = 0; k < p->nitems; k++)
		for (i = 0; i < p->nitems; i++)
			for (j = 0; before[i][k] && j < p->nitems; j++)
				before[i][j] |= before[k][j];
}

static void check_order(const struct kl_spec *spec, const struct kl_history *h)
{
	static bool before[MAX_OPS][MAX_OPS];
	uint32_t ops[MAX_OPS], i, j;
	const int map[] = { 0 };
	struct kl_part p = { 0 };

	for (i = 0; i < h->nops; i++)
		ops[i] = i;
	assert_int_equal(kl_part_build(spec, h, map, ops, h->nops, 0, false, &p), 0);
	close_order(&p, before);
	for (i = 0; i < h->nops; i++) {
		for (j = 0; j < h->nops; j++) {
			if (i == j || before[i][j] == kl_op_before(h, &h->ops[j], &h->ops[i]))
				continue;
			kl_text_write(h, stderr);
			fail_msg("operation %u before %u: the layout says %d", j, i, before[i][j]);
		}
	}
	kl_part_free(&p);
}

static void test_order_is_exact(void **state)
{
	struct kl_spec *spec;
	uint64_t seed = 1;
	int i;

	assert_int_equal(kl_spec_parse("part.lin", spec_text, strlen(spec_text), &spec), 0);
	for (i = 0; i < 500; i++) {
		struct kl_history *h = make_history(&seed);

		check_order(spec, h);
		kl_history_free(h);
	}
	kl_spec_free(spec);
}

/* Return: true if @sim has memoized nothing yet. */
static bool is_new(const struct kl_stepper *sim)
{
	uint32_t i;

	for (i = 0; i <= sim->memo.mask; i++)
		if (sim->memo.entries[i].key)
			return false;
	return true;
}

/*
 * What a stepper of a thread memoizes is never visible to another stepper of the thread, at the
 * same time or later.
 */
static void test_memo_is_not_shared(void **state)
{
	struct kl_memo_room room = { 0 };
	struct kl_part p = { 0 };
	struct kl_stepper sim[2];
	struct kl_spec *spec;
	struct kl_history *h;
	const uint32_t *next;
	char reason[160];
	const int methods[] = { 0 };
	uint64_t seed = 1;
	int i;

	assert_int_equal(kl_spec_parse("part.lin", spec_text, strlen(spec_text), &spec), 0);
	for (i = 0; i < 20; i++) {
		h = make_history(&seed);
		assert_int_equal(kl_part_build(spec, h, methods, NULL, h->nops, 0, false, &p), 0);
		p.room = &room;
		assert_int_equal(kl_stepper_init(&sim[0], &p, NULL, reason), 0);
		assert_int_equal(kl_stepper_init(&sim[1], &p, NULL, reason), 0);
		assert_ptr_equal(sim[0].memo.entries, room.entries);
		assert_ptr_not_equal(sim[1].memo.entries, room.entries);
		assert_int_equal(kl_stepper_step(&sim[0], sim[0].first, 0, &next), 1);
		assert_false(is_new(&sim[0]));
		assert_true(is_new(&sim[1]));
		kl_stepper_free(&sim[i % 2]);
		kl_stepper_free(&sim[1 - i % 2]);
		assert_int_equal(kl_stepper_init(&sim[0], &p, NULL, reason), 0);
		assert_ptr_equal(sim[0].memo.entries, room.entries);
		assert_true(is_new(&sim[0]));
		kl_stepper_free(&sim[0]);
		kl_history_free(h);
	}
	kl_part_free(&p);
	free(room.entries);
	kl_spec_free(spec);
}

/* No value of one word makes a hash independent of the other word. */
static void test_hash_uses_both_words(void **state)
{
	static const uint64_t zeros[] = { 0xe7037ed1a0b428dbULL, 0x9e3779b97f4a7c15ULL };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		assert_int_not_equal(kl_mix(1, zeros[i]), kl_mix(2, zeros[i]));
		assert_int_not_equal(kl_mix(zeros[i], 1), kl_mix(zeros[i], 2));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_is_exact),
		cmocka_unit_test(test_memo_is_not_shared),
		cmocka_unit_test(test_hash_uses_both_words),
	};

	return cmocka_run_group_tests_name("part", tests, NULL, NULL);
}
