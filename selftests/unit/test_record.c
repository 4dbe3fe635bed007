// SPDX-License-Identifier: GPL-2.0
/*
 * The recorder of libklin: what a lane records, what it says of operations that it lost or that did
 * not return, and histories that are made while threads go on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "libklin/clock.h"
#include "libklin/examples/ms_queue.h"
#include "libklin/include/klin/record.h"
#include "libklin/recording.h"

#define SNAPSHOTS 10
#define OPERATIONS 10000 /* of each kind in each thread */
#define FAR (1ull << 40) /* of a clock, more than its error */
#define NOTHING "No operations were recorded"

static struct ms_queue queue;

static struct klin_rec *begin(const char *spec, enum klin_clock clock, unsigned int threads,
			      size_t operations)
{
	struct klin_rec *rec = klin_rec_open(spec, clock, threads, operations);

	assert_non_null(rec);
	return rec;
}

static void record1(struct klin_rec *rec, const char *method, uint64_t arg)
{
	struct klin_lane *lane = klin_rec_thread(rec);

	klin_call1(lane, klin_rec_method(rec, method), 7, arg);
	klin_return(lane);
}

/* Return: the recording as text, to be freed. */
static char *as_text(struct klin_rec *rec)
{
	char path[] = "/tmp/libklin.XXXXXX", *text;
	const int fd = mkstemp(path);
	size_t len;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(klin_rec_write(rec, path), 0);
	assert_int_equal(kl_read_file(path, &text, &len), 0);
	unlink(path);
	return text;
}

static void expect(struct klin_rec *rec, enum klin_verdict verdict, const char *headline)
{
	struct klin_result *r;

	assert_int_equal(klin_rec_check(rec, &r), 0);
	assert_int_equal(klin_result_verdict(r), verdict);
	assert_non_null(strstr(klin_result_headline(r), headline));
	klin_result_free(r);
}

static void refused(struct klin_rec *rec, const char *why)
{
	struct klin_history *h;

	assert_int_equal(klin_rec_history(rec, &h), -EINVAL);
	assert_null(h);
	assert_non_null(strstr(klin_error(), why));
	klin_rec_free(rec);
}

/* Values of each kind and number, calls and returns in their order. */
static void test_values(void **state)
{
	struct klin_rec *rec = begin("map", KLIN_CLOCK_ORDER, 1, 10);
	struct klin_lane *lane = klin_rec_thread(rec);
	char *text;

	assert_ptr_equal(lane, klin_rec_thread(rec));
	klin_call2(lane, klin_rec_method(rec, "put"), 7, 3, 30);
	klin_return(lane);
	klin_call1(lane, klin_rec_method(rec, "remove"), 7, 4);
	klin_return_value(lane, klin_absent());
	klin_call1(lane, klin_rec_method(rec, "get"), 7, 3);
	text = as_text(rec);
	assert_non_null(strstr(text, "\n# first init\n"));
	assert_non_null(strstr(text, "\n# memory sc\n"));
	assert_non_null(strstr(text, "DRAINS the store buffer"));
	assert_non_null(strstr(text, "\nt0 @7 1 2 put 3 30"));
	assert_non_null(strstr(text, "\nt0 @7 3 4 remove 4 -> absent"));
	assert_non_null(strstr(text, "\nt0 @7 5 - get 3"));
	free(text);
	expect(rec, KLIN_LINEARIZABLE, "");
	klin_return1(lane, 30);
	expect(rec, KLIN_LINEARIZABLE, "");
	klin_rec_free(rec);
}

/* An operation that has not returned may have taken effect, also when its thread went on. */
static void *call_only(void *arg)
{
	struct klin_rec *rec = arg;

	klin_call1(klin_rec_thread(rec), klin_rec_method(rec, "enq"), 7, 1);
	return NULL;
}

static void test_pending(void **state)
{
	struct klin_rec *rec = begin("queue", KLIN_CLOCK_ORDER, 2, 10);
	struct klin_lane *lane = klin_rec_thread(rec);
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, call_only, rec), 0);
	pthread_join(thread, NULL);
	klin_call(lane, klin_rec_method(rec, "deq"), 7);
	klin_return1(lane, 1);
	expect(rec, KLIN_LINEARIZABLE, "");
	klin_call(lane, klin_rec_method(rec, "deq"), 7);
	klin_return1(lane, 1);
	expect(rec, KLIN_VIOLATION, "took 1 a second time");
	klin_rec_free(rec);
}

/* A forgotten return would make every later operation of the thread look possible. */
static void test_return_missing(void **state)
{
	struct klin_rec *rec = begin("queue", KLIN_CLOCK_ORDER, 1, 10);
	struct klin_lane *lane = klin_rec_thread(rec);
	struct klin_result *r;

	klin_call1(lane, klin_rec_method(rec, "enq"), 7, 1);
	klin_call(lane, klin_rec_method(rec, "deq"), 7);
	assert_int_equal(klin_rec_check(rec, &r), -EINVAL);
	assert_non_null(strstr(klin_error(), "1 operation has not returned before the next call "
					     "of the thread, the first of them enq of t0: a "
					     "klin_return() is missing"));
	klin_rec_free(rec);
}

/*
 * A thread goes on while the history is made: what it saw after the end of the history may come
 * from operations that are not in it.  Here the time of the return is moved behind the end.
 */
static void test_late(void **state)
{
	struct klin_rec *rec = begin("queue", KLIN_CLOCK_ORDER, 1, 10);
	struct klin_lane *lane = klin_rec_thread(rec);
	struct klin_slot *slot = (struct klin_slot *)lane->at;

	klin_call(lane, klin_rec_method(rec, "deq"), 7);
	klin_return1(lane, 5);
	slot->ret += 1000;
	expect(rec, KLIN_LINEARIZABLE, "");
	slot->ret -= 1000;
	expect(rec, KLIN_VIOLATION, "5");
	klin_rec_free(rec);
}

/* Nothing is concluded after operations were lost, but a violation before them stands. */
static void test_lost(void **state)
{
	struct klin_rec *rec = begin("queue", KLIN_CLOCK_ORDER, 1, 2);
	struct klin_lane *lane = klin_rec_thread(rec);
	int i;

	for (i = 0; i < 3; i++)
		record1(rec, "enq", i);
	expect(rec, KLIN_UNKNOWN, "lost");
	klin_rec_free(rec);

	rec = begin("queue", KLIN_CLOCK_ORDER, 1, 2);
	lane = klin_rec_thread(rec);
	for (i = 0; i < 3; i++) {
		klin_call(lane, klin_rec_method(rec, "deq"), 7);
		klin_return1(lane, 5);
	}
	expect(rec, KLIN_VIOLATION, "5");
	klin_rec_free(rec);
}

static void *record_one(void *rec)
{
	record1(rec, "enq", 5);
	return NULL;
}

/* The report of a recording has these words. */
static void shows(struct klin_rec *rec, const char *words)
{
	struct klin_result *r;
	char *text, *c;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(klin_rec_check(rec, &r), 0);
	klin_result_print(r, KLIN_TEXT, f);
	fclose(f);
	while ((c = strchr(text, '\n')))
		*c = ' ';
	while ((c = strstr(text, "  ")))
		memmove(c, c + 1, strlen(c));
	if (!strstr(text, words))
		fail_msg("no '%s' in: %s", words, text);
	free(text);
	klin_result_free(r);
}

/* A thread that has no lane loses its operations. */
static void test_threads(void **state)
{
	struct klin_rec *rec = begin("queue", KLIN_CLOCK_ORDER, 1, 10);
	pthread_t t;

	record1(rec, "enq", 1);
	assert_int_equal(pthread_create(&t, NULL, record_one, rec), 0);
	pthread_join(t, NULL);
	klin_call(klin_rec_thread(rec), klin_rec_method(rec, "deq"), 7);
	klin_return1(klin_rec_thread(rec), 5);
	expect(rec, KLIN_UNKNOWN, "lost");
	shows(rec, "Raise `operations' of klin_rec_open(), or `threads'");
	klin_rec_free(rec);
}

/* Reports name t2 for the operations that the work of thread 2 records. */
static void number_work(struct klin_rec *rec, struct klin_lane *lane, unsigned int thread)
{
	klin_call1(lane, klin_rec_method(rec, "enq"), 7, thread);
	klin_return(lane);
}

static void test_numbers(void **state)
{
	char line[32], *text;
	unsigned int i, run;

	for (run = 0; run < 20; run++) {
		struct klin_rec *rec = begin("queue", KLIN_CLOCK_ORDER, 8, 1);

		assert_int_equal(klin_rec_run(rec, number_work), 0);
		text = as_text(rec);
		for (i = 0; i < 8; i++) {
			const char *at;

			snprintf(line, sizeof(line), "\nt%u @7 ", i);
			at = strstr(text, line);
			assert_non_null(at);
			snprintf(line, sizeof(line), " enq %u", i);
			assert_true(strstr(at, line) && strstr(at, line) < strchr(at + 1, '\n'));
		}
		free(text);
		klin_rec_free(rec);
	}
}

static void *return_too_much(void *arg)
{
	struct klin_rec *rec = arg;
	struct klin_lane *lane = klin_rec_thread(rec);

	klin_call1(lane, klin_rec_method(rec, "enq"), 7, 2);
	klin_return1(lane, 1);
	klin_return1(lane, 1);
	return NULL;
}

static void test_misuse(void **state)
{
	const struct klin_value many[4] = { klin_word(1), klin_word(2), klin_word(3),
					    klin_word(4) };
	struct klin_rec *rec = begin("queue", KLIN_CLOCK_ORDER, 1, 10);
	struct klin_result *r;
	pthread_t t;

	assert_int_equal(klin_rec_method(rec, "dek"), -1);
	assert_string_equal(klin_error(), "the specification 'queue' has no method 'dek', but "
					  "enq, deq, peek; did you mean 'deq'?");
	klin_call(klin_rec_thread(rec), -1, 7);
	refused(rec, "no method 'dek', but enq, deq, peek");
	rec = begin("queue", KLIN_CLOCK_ORDER, 1, 10);
	klin_call(klin_rec_thread(rec), 5, 7);
	refused(rec, "an operation of object 0x7 has the method number 5");
	rec = begin("queue", KLIN_CLOCK_ORDER, 1, 10);
	klin_callv(klin_rec_thread(rec), klin_rec_method(rec, "enq"), 7, many, 4);
	refused(rec, "enq of t0 was recorded with 4 arguments and 0 results: the specification "
		     "'queue' gives it 1 argument and 0 results");
	rec = begin("queue", KLIN_CLOCK_ORDER, 1, 10);
	klin_call(klin_rec_thread(rec), klin_rec_method(rec, "deq"), 7);
	klin_returnv(klin_rec_thread(rec), many, 4);
	refused(rec, "deq of t0 was recorded with 0 arguments and 4 results: the specification "
		     "'queue' gives it 0 arguments and 1 result");
	/* A slot has room for one result, as deq() has. */
	rec = begin("queue", KLIN_CLOCK_ORDER, 2, 10);
	record1(rec, "enq", 1);
	assert_int_equal(pthread_create(&t, NULL, return_too_much, rec), 0);
	pthread_join(t, NULL);
	refused(rec, "enq of t1 was recorded with 1 argument and 1 result: the specification "
		     "'queue' gives it 1 argument and 0 results (the first of 2 wrong");
	rec = begin("queue", KLIN_CLOCK_ORDER, 1, 10);
	klin_return(klin_rec_thread(rec));
	refused(rec, "a klin_return() of t0 is without a call");
	/* The number of values is the specification's. */
	rec = begin("queue", KLIN_CLOCK_ORDER, 1, 10);
	klin_call(klin_rec_thread(rec), klin_rec_method(rec, "enq"), 7);
	klin_return(klin_rec_thread(rec));
	assert_int_equal(klin_rec_check(rec, &r), -EINVAL);
	assert_non_null(strstr(klin_error(), "enq"));
	klin_rec_free(rec);

	assert_null(klin_rec_open("queue", KLIN_CLOCK_ORDER, 0, 10));
	assert_null(klin_rec_open("queue", KLIN_CLOCK_ORDER, 1, SIZE_MAX / 2));
	assert_null(klin_rec_open("no_such_spec", KLIN_CLOCK_ORDER, 1, 1));
	assert_int_equal(klin_rec_run(NULL, NULL), -EINVAL);
	assert_int_equal(klin_rec_check(NULL, &r), -EINVAL);
	assert_non_null(strstr(klin_error(), "no_such_spec"));
}

/* An empty recording shows nothing, also when it is read from a file. */
static void test_empty(void **state)
{
	struct klin_rec *rec = begin("queue", KLIN_CLOCK_ORDER, 1, 10);
	char *text = as_text(rec);
	struct klin_history *h;
	struct klin_result *r;

	expect(rec, KLIN_UNKNOWN, NOTHING);
	klin_rec_free(rec);
	assert_int_equal(klin_history_parse("h.txt", text, strlen(text), &h), 0);
	free(text);
	assert_int_equal(klin_check(NULL, h, NULL, &r), 0);
	assert_int_equal(klin_result_verdict(r), KLIN_UNKNOWN);
	assert_string_equal(klin_result_headline(r), NOTHING);
	klin_result_free(r);
	klin_history_free(h);
}

/* A clock of the CPU's own has an error; whether it drains the store buffer is in the history. */
static void test_clocks(void **state)
{
	static const enum klin_clock clocks[] = { KLIN_CLOCK_PLAIN, KLIN_CLOCK_DRAIN };
	size_t i;

	for (i = 0; i < 2; i++) {
		struct klin_rec *rec = begin("queue", clocks[i], 1, 10);
		char *text;

		record1(rec, "enq", 1);
		text = as_text(rec);
		assert_non_null(strstr(text, i ? "\n# memory sc\n" : "\n# memory tso\n"));
		assert_non_null(strstr(text, i ? "DRAINS the store" : "store buffer not drained"));
		assert_non_null(strstr(text, "\n# clock mono error "));
		free(text);
		klin_rec_free(rec);
	}
}

/*
 * The last store of a correct operation may wait in the store buffer after its return, so that
 * another thread still finds the queue empty.  Times are set here, far outside the clock's error.
 */
static void seen_late(enum klin_clock clock, enum klin_verdict verdict, const char *headline)
{
	struct klin_rec *rec = begin("queue", clock, 1, 10);
	struct klin_lane *lane = klin_rec_thread(rec);
	struct klin_slot *slot = (struct klin_slot *)lane->at;

	rec->began -= FAR;
	record1(rec, "enq", 5);
	slot->call -= FAR / 2;
	slot->ret -= FAR / 2;
	klin_call(lane, klin_rec_method(rec, "deq"), 7);
	klin_return_value(lane, klin_empty());
	slot = (struct klin_slot *)((char *)slot + lane->stride);
	slot->call -= FAR / 4;
	slot->ret -= FAR / 4;
	expect(rec, verdict, headline);
	klin_rec_free(rec);
}

static void test_seen_late(void **state)
{
	seen_late(KLIN_CLOCK_PLAIN, KLIN_UNKNOWN, "may have waited in a store buffer");
	seen_late(KLIN_CLOCK_LOCKED, KLIN_VIOLATION, "5 was inside");
	seen_late(KLIN_CLOCK_DRAIN, KLIN_VIOLATION, "5 was inside");
}

/* Later times never become earlier ones, and the unit is that of the scale. */
static void test_scale(void **state)
{
	const struct lib_scale third = { .error = 1, .ns = 1000000007, .ticks = 3000000019 };
	uint64_t t, last = 0;

	for (t = 1000; t < 9000; t++) {
		assert_true(lib_clock_since(&third, 1000, t) >= last);
		last = lib_clock_since(&third, 1000, t);
	}
	assert_int_equal(last, 7999 / 3);
	assert_int_equal(lib_clock_since(&third, 1000, 999), 0);
	assert_int_equal(lib_clock_since(&third, 0, 3000000019ull << 30), 1000000007ull << 30);
}

static void use_queue(struct klin_rec *rec, struct klin_lane *lane, unsigned int thread)
{
	const int enq = klin_rec_method(rec, "enq"), deq = klin_rec_method(rec, "deq");
	uint64_t i, got;

	for (i = 0; i < OPERATIONS; i++) {
		klin_call1(lane, enq, 7, i * 2 + thread);
		ms_enq(&queue, i * 2 + thread);
		klin_return(lane);
		klin_call(lane, deq, 7);
		klin_return_value(lane, ms_deq(&queue, &got) ? klin_word(got) : klin_empty());
	}
}

static void *run_queue(void *rec)
{
	return klin_rec_run(rec, use_queue) ? rec : NULL;
}

/* Each history that is made while threads use a correct queue is linearizable. */
static void snapshots(enum klin_clock clock)
{
	struct klin_rec *rec = begin("queue", clock, 2, 2 * OPERATIONS);
	void *failed;
	pthread_t t;
	int i;

	ms_init(&queue);
	assert_int_equal(pthread_create(&t, NULL, run_queue, rec), 0);
	for (i = 0; i < SNAPSHOTS; i++) {
		struct klin_history *h;
		struct klin_result *r;

		assert_int_equal(klin_rec_history(rec, &h), 0);
		assert_int_equal(klin_check(NULL, h, NULL, &r), 0);
		/* The verdict is UNKNOWN only before the first operation. */
		if (klin_result_verdict(r) == KLIN_UNKNOWN)
			assert_non_null(strstr(klin_result_headline(r), NOTHING));
		else
			assert_int_equal(klin_result_verdict(r), KLIN_LINEARIZABLE);
		klin_result_free(r);
		klin_history_free(h);
	}
	pthread_join(t, &failed);
	assert_null(failed);
	expect(rec, KLIN_LINEARIZABLE, "");
	klin_rec_free(rec);
}

static void test_snapshots(void **state)
{
	snapshots(KLIN_CLOCK_ORDER);
	snapshots(KLIN_CLOCK_PLAIN);
	snapshots(KLIN_CLOCK_DRAIN);
	snapshots(KLIN_CLOCK_LOCKED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),	  cmocka_unit_test(test_pending),
		cmocka_unit_test(test_late),	  cmocka_unit_test(test_lost),
		cmocka_unit_test(test_threads),	  cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_misuse),	  cmocka_unit_test(test_empty),
		cmocka_unit_test(test_clocks),	  cmocka_unit_test(test_return_missing),
		cmocka_unit_test(test_seen_late), cmocka_unit_test(test_scale),
		cmocka_unit_test(test_snapshots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
