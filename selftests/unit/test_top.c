// SPDX-License-Identifier: GPL-2.0
/*
 * The model of `klin top': rates from two samples, counters that restart, orders, and the selected
 * structure.  Also klind's answers, which `klin top' reads as klind wrote them, and its texts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "top/model.h"
#include "top/table.h"
#include "top/text.h"
#include "top/wire.h"

#define SECOND	1000000000ull

static struct top_row row(const char *name, uint64_t at, uint64_t recorded)
{
	struct top_row r = { .up = true, .verdict = KL_LINEARIZABLE,
			     .c = { .at = at, .recorded = recorded } };

	snprintf(r.name, sizeof(r.name), "%s", name);
	return r;
}

static void sample(struct top_model *m, struct top_row r)
{
	assert_int_equal(top_model_sample(m, &r, 1), 0);
}

/* A rate is between two samples by their own times; the same sample again keeps it. */
static void test_rates(void **state)
{
	struct top_model m = { 0 };
	struct top_row r;

	sample(&m, row("a", 5 * SECOND, 1000));
	assert_false(m.order[0]->has_rate);
	r = row("a", 7 * SECOND, 4000);
	r.c.lost = 8;
	sample(&m, r);
	assert_true(m.order[0]->has_rate);
	assert_true(m.order[0]->rate == 1500 && m.order[0]->lost_rate == 4);
	sample(&m, r);
	assert_true(m.order[0]->has_rate && m.order[0]->rate == 1500);
	/* The largest numbers are no problem. */
	r = row("a", 8 * SECOND, UINT64_MAX);
	r.c.lost = 8;
	sample(&m, r);
	assert_true(m.order[0]->rate > 1.8e19);
	top_model_free(&m);
}

/* Counters of a new klind begin at 0, and its clock may begin anew, too. */
static void test_restart(void **state)
{
	struct top_model m = { 0 };

	sample(&m, row("a", 5 * SECOND, 1000));
	sample(&m, row("a", 6 * SECOND, 2000));
	sample(&m, row("a", 7 * SECOND, 10));
	assert_false(m.order[0]->has_rate);
	sample(&m, row("a", 8 * SECOND, 20));
	assert_true(m.order[0]->has_rate && m.order[0]->rate == 10);
	sample(&m, row("a", SECOND, 5000));
	assert_false(m.order[0]->has_rate);
	sample(&m, row("b", 2 * SECOND, 6000));
	assert_true(m.n == 1 && !m.order[0]->has_rate);
	top_model_free(&m);
}

static void expect_order(const struct top_model *m, const char *names)
{
	char found[100] = "";
	size_t i;

	for (i = 0; i < m->n; i++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%.9s",
			 m->order[i]->row.name);
	assert_string_equal(found, names);
}

static void test_orders(void **state)
{
	struct top_row rows[] = { row("d", SECOND, 0), row("b", SECOND, 0), row("a", SECOND, 0),
				  row("c", SECOND, 0), row("e", SECOND, 0) };
	struct top_model m = { 0 };

	rows[0].verdict = KL_VIOLATION;
	rows[3].verdict = KL_UNKNOWN;
	rows[4].up = false;
	assert_int_equal(top_model_sample(&m, rows, 5), 0);
	expect_order(&m, "decab");
	/* At first the structure at the top is selected; it stays so wherever it goes. */
	assert_string_equal(top_model_selected(&m)->row.name, "d");
	/* The function has sorted the rows by name. */
	rows[1].c = (struct top_counts){ .at = 2 * SECOND, .recorded = 100, .lag_ns = 7 };
	rows[2].c = (struct top_counts){ .at = 2 * SECOND, .recorded = 300, .lost = 1 };
	rows[4].c = (struct top_counts){ .at = 2 * SECOND, .gaps = 4 };
	assert_int_equal(top_model_sample(&m, rows, 5), 0);
	top_model_sort(&m, TOP_BY_RATE);
	expect_order(&m, "cbead");
	assert_int_equal(m.selected, 4);
	top_model_sort(&m, TOP_BY_LAG);
	expect_order(&m, "bacde");
	top_model_sort(&m, TOP_BY_LOST);
	expect_order(&m, "ceabd");
	top_model_sort(&m, TOP_BY_NAME);
	expect_order(&m, "abcde");
	assert_string_equal(top_model_selected(&m)->row.name, "d");
	/* Without the selected structure its place is selected. */
	rows[3] = rows[4];
	assert_int_equal(top_model_sample(&m, rows, 4), 0);
	assert_string_equal(top_model_selected(&m)->row.name, "e");
	assert_int_equal(top_model_sample(&m, rows, 2), 0);
	assert_string_equal(top_model_selected(&m)->row.name, "b");
	top_model_move(&m, -1);
	assert_int_equal(m.selected, 0);
	top_model_move(&m, -100);
	assert_int_equal(m.selected, 0);
	top_model_move(&m, 1l << 30);
	assert_int_equal(m.selected, 1);
	assert_int_equal(top_model_sample(&m, rows, 0), 0);
	assert_null(top_model_selected(&m));
	top_model_move(&m, 1);
	assert_null(top_model_selected(&m));
	top_model_free(&m);
}

/* Many structures, also of one name, which only a wrong answer has. */
static void test_many_rows(void **state)
{
	struct top_row *rows = calloc(TOP_ROWS, sizeof(*rows));
	struct top_model m = { .sort = TOP_BY_RATE };
	size_t i, k;

	assert_non_null(rows);
	for (k = 0; k < 2; k++) {
		for (i = 0; i < TOP_ROWS; i++) {
			char name[20];

			snprintf(name, sizeof(name), "s%03zu", i * 7 % 900);
			rows[i] = row(name, SECOND * k, 1000 + k * (i * 7 % 900));
		}
		assert_int_equal(top_model_sample(&m, rows, TOP_ROWS), 0);
	}
	assert_int_equal(m.n, TOP_ROWS);
	for (i = 1; i < m.n; i++)
		assert_true(m.order[i - 1]->rate >= m.order[i]->rate);
	assert_true(m.order[0]->rate == 899);
	top_model_free(&m);
	free(rows);
}

/* Write an answer to the directory that KLIN_ANSWERS names, for the test of the schema. */
static void keep(const char *name, const char *text)
{
	const char *to = getenv("KLIN_ANSWERS");
	char path[4096];
	FILE *f;

	if (!to)
		return;
	snprintf(path, sizeof(path), "%s/%s.json", to, name);
	f = fopen(path, "w");
	assert_true(f && fputs(text, f) >= 0 && !fclose(f));
}

/* The reader gets what the writer was given, also numbers beyond those of JSON. */
/* Return: the text of an object, which is freed. */
static char *dump(json_t *j)
{
	char *text = json_dumps(j, JSON_COMPACT);

	json_decref(j);
	assert_non_null(text);
	return text;
}

static void test_answer_is_read(void **state)
{
	struct top_row rows[2] = { row("a", UINT64_MAX, 1ull << 63), row("b", 1, 2) }, *read;
	uint64_t more, i, *counts = (uint64_t *)&rows[1].c;
	char story[TOP_STORY];
	size_t n;
	char *text;

	/* Each counter has a value of its own, so that none can be forgotten. */
	for (i = 0; i < sizeof(rows[1].c) / sizeof(*counts); i++)
		counts[i] = 100 + i;
	rows[1].up = false;
	rows[1].verdict = KL_UNKNOWN;
	snprintf(rows[1].reason, sizeof(rows[1].reason), "events were lost");
	text = dump(top_rows_json(rows, 2));
	assert_int_equal(top_rows_read(text, strlen(text), &read, &n, &more), 0);
	assert_true(n == 2 && !more);
	assert_memory_equal(read, rows, sizeof(rows));
	keep("top", text);
	free(read);
	for (i = 0; i < strlen(text); i++)
		assert_int_equal(top_rows_read(text, i, &read, &n, &more), -EPROTO);
	assert_int_equal(top_story_read(text, strlen(text), story), -EPROTO);
	free(text);
	text = dump(top_story_json("a", "one\ntwo\x1b[2J"));
	assert_int_equal(top_story_read(text, strlen(text), story), 0);
	assert_string_equal(story, "one\ntwo?[2J");
	keep("top-story", text);
	free(text);
	text = dump(top_story_json("a", NULL));
	assert_int_equal(top_story_read(text, strlen(text), story), 0);
	assert_string_equal(story, "");
	free(text);
}

static void test_texts(void **state)
{
	static const struct {
		const char *text, *clean;
	} t[] = {
		{ "plain", "plain" },
		{ "\x1b]0;x\x07", "?]0;x?" },
		{ "a\tb\rc\nd\x7f", "a b?c?d?" },
		{ "\xc2\x9b" "31m", "?31m" },		/* CSI as one character */
		{ "\x9b" "31m", "?31m" },		/* CSI as one byte */
		{ "\xe2\x80\xae" "abc", "?abc" },	/* right to left from here on */
		{ "\xc0\x9b", "??" },			/* Escape, written too long */
		{ "\xed\xa0\x80", "???" },		/* half of a surrogate pair */
		{ "\xe6\x97", "??" },			/* cut short */
		{ "\xe6\x97\xa5", "\xe6\x97\xa5" },
	};
	char buf[40];
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(*t); i++) {
		top_text_clean(buf, sizeof(buf), t[i].text, 0);
		assert_string_equal(buf, t[i].clean);
	}
	top_text_clean(buf, 6, "1234\xe6\x97\xa5", 0);
	assert_string_equal(buf, "1234");
	top_text_number(buf, sizeof(buf), 99999);
	assert_string_equal(buf, "99999");
	top_text_number(buf, sizeof(buf), 100000);
	assert_string_equal(buf, "100k");
	top_text_number(buf, sizeof(buf), 999999);
	assert_string_equal(buf, "1.0M");
	top_text_number(buf, sizeof(buf), 1.8446744073709552e19);
	assert_string_equal(buf, "18E");
	top_text_time(buf, sizeof(buf), 0);
	assert_string_equal(buf, "0");
	top_text_time(buf, sizeof(buf), 1500000000);
	assert_string_equal(buf, "1.5s");
	top_text_time(buf, sizeof(buf), 90 * 60 * SECOND);
	assert_string_equal(buf, "1.5h");
}

/* No line of the table is wider than asked for, at any width. */
static void test_table_width(void **state)
{
	struct top_line l = { .has_rate = true, .rate = 1e30 };
	char head[TOP_TEXT], line[TOP_TEXT];
	int width;

	memset(l.row.name, 'n', sizeof(l.row.name) - 1);
	memset(&l.row.c, 0x7f, sizeof(l.row.c));
	for (width = -1; width < TOP_WIDTH + 10; width++) {
		top_table_head(head, width);
		top_table_line(line, &l, width);
		assert_int_equal(strlen(head), strlen(line));
		assert_true((int)strlen(line) <= (width < 1 ? 1 : width));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_many_rows),
		cmocka_unit_test(test_answer_is_read),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_table_width),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests_name("top", tests, NULL, NULL);
}
