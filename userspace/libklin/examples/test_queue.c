// SPDX-License-Identifier: GPL-2.0
/* A cmocka test of the lock-free queue of ms_queue.h: is it linearizable? */
#include <klin/record.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include "ms_queue.h"

static struct ms_queue queue;

static void work(struct klin_rec *rec, struct klin_lane *lane, unsigned int thread)
{
	const int enq = klin_rec_method(rec, "enq"), deq = klin_rec_method(rec, "deq");
	uint64_t v, got;
	for (v = thread; v < 8000; v += 4) {
		klin_call1(lane, enq, 0, v);
		ms_enq(&queue, v);
		klin_return(lane);
		klin_call(lane, deq, 0);
		klin_return_value(lane, ms_deq(&queue, &got) ? klin_word(got) : klin_empty());
	}
}

static void test_queue(void **state)
{
	struct klin_rec *rec = klin_rec_open("queue", KLIN_CLOCK_LOCKED, 4, 4000);
	struct klin_result *r;

	ms_init(&queue);
	assert_int_equal(klin_rec_run(rec, work) || klin_rec_check(rec, &r), 0);
	assert_string_equal(klin_result_headline(r), "");
	klin_result_free(r);
	klin_rec_free(rec);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_queue) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
