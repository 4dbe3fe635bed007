// SPDX-License-Identifier: GPL-2.0
/*
 * The interface of libklin: verdicts with their stories, errors as texts, and objects that live as
 * long as another one needs them.
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

#include "libklin/include/klin/klin.h"

#define ENQ "enq"
#define DEQ "deq"

/* Add an operation with at most one argument and one result. */
static int add(struct klin_history *h, uint64_t thread, const char *method,
	       const struct klin_value *arg, const struct klin_value *result, uint64_t call,
	       uint64_t ret)
{
	const struct klin_operation op = {
		.thread = thread,
		.object = 1,
		.method = method,
		.args = arg,
		.nargs = !!arg,
		.results = result,
		.nresults = !!result,
		.call = call,
		.ret = ret,
	};

	return klin_history_add(h, &op);
}

/* A queue into which 1 was put once and from which it was taken @times times. */
static struct klin_history *taken(unsigned int times)
{
	const struct klin_value one = klin_word(1);
	struct klin_history *h;
	unsigned int i;

	assert_int_equal(klin_history_new(&h), 0);
	assert_int_equal(add(h, 1, ENQ, &one, NULL, 10, 20), 0);
	for (i = 0; i < times; i++)
		assert_int_equal(add(h, 2 + i, DEQ, NULL, &one, 12 + i, 40 + i), 0);
	return h;
}

static struct klin_spec *load(const char *name)
{
	struct klin_spec *spec;

	assert_int_equal(klin_spec_load(name, &spec), 0);
	return spec;
}

/* Print a result into memory. */
static char *printed(const struct klin_result *r, enum klin_form form)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(klin_result_print(r, form, f), 0);
	fclose(f);
	return text;
}

static void test_linearizable(void **state)
{
	struct klin_spec *spec = load("queue");
	struct klin_history *h = taken(1);
	struct klin_result *r;
	char *text;

	assert_int_equal(klin_check(spec, h, NULL, &r), 0);
	assert_int_equal(klin_result_verdict(r), KLIN_LINEARIZABLE);
	assert_string_equal(klin_result_headline(r), "");
	text = printed(r, KLIN_TEXT);
	assert_non_null(strstr(text, "LINEARIZABLE"));
	free(text);
	klin_result_free(r);
	klin_history_free(h);
	klin_spec_free(spec);
}

/* A result outlives what the caller frees. */
static void test_violation(void **state)
{
	struct klin_spec *spec = load("queue");
	struct klin_history *h = taken(2);
	struct klin_result *r;
	char *text;

	assert_int_equal(klin_check(spec, h, NULL, &r), 0);
	klin_history_free(h);
	klin_spec_free(spec);
	assert_int_equal(klin_result_verdict(r), KLIN_VIOLATION);
	assert_non_null(strstr(klin_result_headline(r), "both took 1, which was added once"));
	text = printed(r, KLIN_TEXT);
	assert_non_null(strstr(text, "VIOLATION"));
	assert_non_null(strstr(text, "both took 1"));
	assert_non_null(strstr(text, "added 1"));
	free(text);
	text = printed(r, KLIN_JSON);
	assert_non_null(strstr(text, "\"taken_twice\""));
	free(text);
	text = printed(r, KLIN_KTAP);
	assert_non_null(strstr(text, "not ok 1"));
	free(text);
	assert_int_equal(klin_result_print(r, (enum klin_form)9, stdout), -EINVAL);
	klin_result_free(r);
}

static void test_unknown(void **state)
{
	struct klin_spec *spec = load("queue");
	struct klin_history *h = taken(2);
	struct klin_result *r;

	assert_int_equal(klin_history_add_gap(h, 0, 50), 0);
	assert_int_equal(klin_check(spec, h, NULL, &r), 0);
	assert_int_equal(klin_result_verdict(r), KLIN_UNKNOWN);
	assert_non_null(strstr(klin_result_headline(r), "lost"));
	klin_result_free(r);
	klin_history_free(h);
	klin_spec_free(spec);
}

/* A pending operation may have taken effect, and its results need not be given. */
static void test_pending(void **state)
{
	const struct klin_value one = klin_word(1), empty = klin_empty();
	struct klin_spec *spec = load("queue");
	struct klin_history *h;
	struct klin_result *r;

	assert_int_equal(klin_history_new(&h), 0);
	assert_int_equal(add(h, 1, ENQ, &one, NULL, 10, KLIN_PENDING), 0);
	assert_int_equal(add(h, 2, DEQ, NULL, &one, 20, 30), 0);
	assert_int_equal(add(h, 2, DEQ, NULL, NULL, 40, KLIN_PENDING), 0);
	assert_int_equal(add(h, 3, DEQ, NULL, &empty, 45, 50), 0);
	assert_int_equal(klin_check(spec, h, NULL, &r), 0);
	assert_int_equal(klin_result_verdict(r), KLIN_LINEARIZABLE);
	klin_result_free(r);
	klin_history_free(h);
	klin_spec_free(spec);
}

/* Each of two threads sets its own word and reads the other's old one: only buffers allow that. */
static void test_memory(void **state)
{
	static const char text[] = "spec two {\n"
				   "	word a = 0, b = 0;\n"
				   "	method seta(word v) { atomic { a = v; } }\n"
				   "	method setb(word v) { atomic { b = v; } }\n"
				   "	method geta() -> word v { atomic { return a; } }\n"
				   "	method getb() -> word v { atomic { return b; } }\n"
				   "}\n";
	const struct klin_value zero = klin_word(0), one = klin_word(1);
	struct klin_options o = KLIN_OPTIONS;
	struct klin_spec *spec;
	struct klin_history *h;
	struct klin_result *r;
	int i;

	assert_int_equal(klin_spec_parse("two.lin", text, &spec), 0);
	for (i = 0; i < 3; i++) {
		assert_int_equal(klin_history_new(&h), 0);
		assert_int_equal(add(h, 1, "seta", &one, NULL, 10, 20), 0);
		assert_int_equal(add(h, 1, "getb", NULL, &zero, 30, 40), 0);
		assert_int_equal(add(h, 2, "setb", &one, NULL, 10, 20), 0);
		assert_int_equal(add(h, 2, "geta", NULL, &zero, 30, 40), 0);
		if (i == 1)
			assert_int_equal(klin_history_set_memory(h, KLIN_MEMORY_TSO), 0);
		o.memory = i == 2 ? KLIN_MEMORY_TSO : KLIN_MEMORY_DEFAULT;
		assert_int_equal(klin_check(spec, h, &o, &r), 0);
		assert_int_equal(klin_result_verdict(r), i ? KLIN_LINEARIZABLE : KLIN_VIOLATION);
		klin_result_free(r);
		klin_history_free(h);
	}
	klin_spec_free(spec);
}

/* Errors are texts, and what cannot be is refused. */
static void test_errors(void **state)
{
	const struct klin_value one = klin_word(1), bad = klin_value_of(0, (enum klin_kind)7);
	struct klin_spec *spec;
	struct klin_history *h;
	struct klin_result *r;

	assert_int_equal(klin_spec_parse("x.lin", "spec x {\n\tword 1;\n}\n", &spec), -EINVAL);
	assert_null(spec);
	assert_ptr_equal(strstr(klin_error(), "x.lin:2:7: error: "), klin_error());
	assert_non_null(strstr(klin_error(), "\n  "));
	assert_int_not_equal(klin_spec_load("/nonexistent.lin", &spec), 0);
	assert_non_null(strstr(klin_error(), "/nonexistent.lin"));
	assert_int_not_equal(klin_history_read("/nonexistent", &h), 0);
	assert_non_null(strstr(klin_error(), "/nonexistent"));
	assert_int_not_equal(klin_history_parse("h", "?", 1, &h), 0);
	assert_null(h);

	h = taken(1);
	assert_string_equal(klin_error(), "");
	assert_int_equal(add(h, 1, "en q", &one, NULL, 50, 60), -EINVAL);
	assert_non_null(strstr(klin_error(), "'en q'"));
	assert_int_equal(add(h, 1, ENQ, &one, NULL, 60, 50), -EINVAL);
	assert_int_equal(add(h, 1, ENQ, &bad, NULL, 50, 60), -EINVAL);
	assert_int_equal(klin_history_add_gap(h, 9, 8), -EINVAL);
	assert_int_equal(klin_check(NULL, h, NULL, &r), -EINVAL);
	assert_null(r);
	assert_non_null(strstr(klin_error(), "no specification"));
	/* The history was checked, so it is whole. */
	assert_int_equal(add(h, 1, ENQ, &one, NULL, 50, 60), -EBUSY);
	spec = load("register");
	assert_int_equal(klin_check(spec, h, NULL, &r), -EINVAL);
	assert_non_null(strstr(klin_error(), "enq"));
	klin_spec_free(spec);
	klin_history_free(h);
	klin_history_free(NULL);
	klin_spec_free(NULL);
	klin_result_free(NULL);
}

/* Return: the path of a file, in a directory that lasts until @name is empty. */
static char *temporary(const char *name)
{
	static char dir[32], path[64];

	if (!*dir) {
		strcpy(dir, "/tmp/libklin.XXXXXX");
		assert_non_null(mkdtemp(dir));
	}
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (!*name) {
		rmdir(dir);
		*dir = '\0';
	}
	return path;
}

/* A written history is read again, with the specification that it carries. */
static void test_files(void **state)
{
	struct klin_options o = KLIN_OPTIONS;
	struct klin_spec *spec = load("queue");
	struct klin_history *h = taken(2), *again;
	struct klin_result *r;
	int i;

	assert_int_equal(klin_check(spec, h, NULL, &r), 0);
	assert_int_equal(klin_result_certificate(r, temporary("c")), -ENODATA);
	klin_result_free(r);
	o.certificate = 1;
	assert_int_equal(klin_check(spec, h, &o, &r), 0);
	assert_int_equal(klin_result_certificate(r, temporary("c")), 0);
	klin_result_free(r);
	assert_int_equal(klin_history_write(h, temporary("h.txt")), 0);
	assert_int_equal(klin_history_write(h, "/nonexistent/h.txt"), -ENOENT);
	assert_non_null(strstr(klin_error(), "/nonexistent/h.txt"));
	klin_history_free(h);
	for (i = 0; i < 2; i++) {
		assert_int_equal(klin_history_read(temporary(i ? "c.klh" : "h.txt"), &again), 0);
		unlink(temporary(i ? "c.klh" : "h.txt"));
		assert_int_equal(klin_check(NULL, again, NULL, &r), 0);
		assert_int_equal(klin_result_verdict(r), KLIN_VIOLATION);
		klin_result_free(r);
		klin_history_free(again);
	}
	unlink(temporary("c"));
	temporary("");
	klin_spec_free(spec);
}

/* A log of another program is read by the history block of a specification, from both sources. */
static void test_logs(void **state)
{
	static const char log[] = "process,type,f,value\n"
				  "0,invoke,add,3\n0,ok,add,3\n1,invoke,read,\n1,ok,read,4\n";
	struct klin_spec *tally = load("logs/tally"), *queue = load("queue");
	struct klin_options o = KLIN_OPTIONS;
	struct klin_history *h;
	struct klin_result *r;
	const char *path;
	FILE *f;
	int i;

	f = fopen(temporary("log.csv"), "w");
	assert_non_null(f);
	fputs(log, f);
	fclose(f);
	o.certificate = 1;
	for (i = 0; i < 2; i++) {
		path = temporary("log.csv");
		assert_int_equal(i ? klin_history_read_by(tally, path, &h) :
				     klin_history_parse_by(tally, "log", log, strlen(log), &h),
				 0);
		assert_int_equal(klin_check(tally, h, &o, &r), 0);
		assert_int_equal(klin_result_verdict(r), KLIN_VIOLATION);
		assert_non_null(strstr(klin_result_headline(r), "read() -> 4"));
		assert_int_equal(klin_result_certificate(r, temporary("c")), 0);
		klin_result_free(r);
		klin_history_free(h);
	}
	/* Without the block there is no way to read it, and no block changes klin's own forms. */
	assert_int_equal(klin_history_read_by(queue, temporary("log.csv"), &h), -EINVAL);
	assert_null(h);
	assert_non_null(strstr(klin_error(), "history block"));
	h = taken(1);
	assert_int_equal(klin_history_write(h, temporary("h.txt")), 0);
	klin_history_free(h);
	assert_int_equal(klin_history_read_by(tally, temporary("h.txt"), &h), 0);
	klin_history_free(h);
	for (i = 0; i < 4; i++)
		unlink(temporary((const char *[]){ "log.csv", "h.txt", "c", "c.klh" }[i]));
	temporary("");
	klin_spec_free(tally);
	klin_spec_free(queue);
}

struct shared {
	struct klin_spec *spec;
	struct klin_history *h;
};

/* Check a history of all threads, and one of one's own; errors are one's own, too. */
static void *check_both(void *arg)
{
	struct shared *s = arg;
	struct klin_history *h = taken(1);
	struct klin_result *r, *own;
	struct klin_spec *none;
	char *text;

	assert_int_equal(klin_spec_parse("mine.lin", "?", &none), -EINVAL);
	assert_int_equal(klin_check(s->spec, s->h, NULL, &r), 0);
	assert_string_equal(klin_error(), "");
	assert_int_equal(klin_check(s->spec, h, NULL, &own), 0);
	assert_int_equal(klin_result_verdict(r), KLIN_VIOLATION);
	assert_int_equal(klin_result_verdict(own), KLIN_LINEARIZABLE);
	text = printed(r, KLIN_TEXT);
	free(text);
	klin_result_free(r);
	klin_result_free(own);
	klin_history_free(h);
	return NULL;
}

static void test_threads(void **state)
{
	struct shared s = { .spec = load("queue"), .h = taken(2) };
	pthread_t t[4];
	size_t i;

	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, check_both, &s), 0);
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	klin_spec_free(s.spec);
	klin_history_free(s.h);
}

/* Two values that are put into a multiset and taken from it by very many operations at once. */
static struct klin_history *crowd(void)
{
	const struct klin_value yes = klin_word(1), no = klin_word(0);
	struct klin_history *h;
	unsigned int i;

	assert_int_equal(klin_history_new(&h), 0);
	for (i = 0; i < 4000; i++) {
		const struct klin_value v = klin_word(i % 7 % 2);

		assert_int_equal(add(h, i, i % 3 ? "add" : "remove", &v, i % 5 ? &yes : &no, i,
				     8000 + i),
				 0);
	}
	return h;
}

/* A program of an older version gives shorter options.  A check can be stopped. */
static void test_options(void **state)
{
	struct klin_options o = { .size = offsetof(struct klin_options, bytes), .bytes = 1 };
	struct klin_spec *spec = load("queue");
	struct klin_history *h = taken(1);
	volatile int stop = 1;
	struct klin_result *r;

	assert_int_equal(klin_check(spec, h, &o, &r), 0);
	assert_int_equal(klin_result_verdict(r), KLIN_LINEARIZABLE);
	klin_result_free(r);
	klin_history_free(h);
	klin_spec_free(spec);
	spec = load("set");
	h = crowd();
	o = (struct klin_options)KLIN_OPTIONS;
	o.stop = &stop;
	assert_int_equal(klin_check(spec, h, &o, &r), 0);
	assert_int_equal(klin_result_verdict(r), KLIN_UNKNOWN);
	assert_string_not_equal(klin_result_headline(r), "");
	klin_result_free(r);
	klin_history_free(h);
	klin_spec_free(spec);
}

/* Run all tests with standard error in a file, which stays empty. */
static void test_silence(void **state)
{
	FILE *f = tmpfile();
	const int keep = dup(2);

	assert_non_null(f);
	fflush(stderr);
	dup2(fileno(f), 2);
	test_errors(state);
	test_unknown(state);
	test_violation(state);
	fflush(stderr);
	dup2(keep, 2);
	close(keep);
	assert_int_equal(lseek(fileno(f), 0, SEEK_END), 0);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_linearizable), cmocka_unit_test(test_violation),
		cmocka_unit_test(test_unknown),	     cmocka_unit_test(test_pending),
		cmocka_unit_test(test_memory),	     cmocka_unit_test(test_errors),
		cmocka_unit_test(test_files),	     cmocka_unit_test(test_logs),
		cmocka_unit_test(test_threads),	     cmocka_unit_test(test_options),
		cmocka_unit_test(test_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
