// SPDX-License-Identifier: GPL-2.0
/* Entries of a history in its file, which is read again: source_text.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history/source_text.h"

#define LINES 5000 /* more than the reader's block of lines */

static char path[] = "/tmp/klin-source-text-XXXXXX";

/* Write the file anew, of a line "t1 @0 ..." for each operation with a comment before each. */
static void write_lines(const char *last)
{
	FILE *f = fopen(path, "w");
	int i;

	assert_non_null(f);
	fputs("# klin history 1\n", f);
	for (i = 0; i < LINES; i++)
		fprintf(f, "# %0*d\nt1 @0 %d %d write %d\n", i % 90, i, 2 * i, 2 * i + 1, i);
	fputs(last, f);
	assert_int_equal(fclose(f), 0);
}

static struct kl_history *read_again(void)
{
	struct kl_history *h;

	assert_int_equal(kl_history_read(path, &h), 0);
	return h;
}

static void assert_text(const struct kl_history *h, size_t op, enum kl_source_half half,
			const char *wanted)
{
	struct kl_source_text t;

	assert_int_equal(kl_source_text(h, op, half, &t), 1);
	assert_int_equal(t.len, strlen(wanted));
	assert_memory_equal(t.text, wanted, t.len);
	assert_false(t.cut);
}

static void any_line_of_a_large_file_is_found(void **state)
{
	const char last[] = "t1 @0 20000 20001 write 7 cpu=1";
	struct kl_history *h;
	struct kl_source_text t;
	char line[64];
	size_t i, op;

	(void)state;
	write_lines(last);
	h = read_again();
	assert_text(h, LINES, KL_SOURCE_CALL, last);
	for (i = 0; i < 3 * LINES; i++) {
		/* Forth, back, and in jumps. */
		op = i < LINES ? i : i < 2 * LINES ? 2 * LINES - i - 1 : i * 617 % LINES;
		snprintf(line, sizeof(line), "t1 @0 %zu %zu write %zu", 2 * op, 2 * op + 1, op);
		assert_text(h, op, KL_SOURCE_CALL, line);
	}
	/* The line has the whole operation. */
	assert_int_equal(kl_source_text(h, 3, KL_SOURCE_RETURN, &t), 0);
	kl_history_free(h);
}

static void a_file_that_has_changed_is_not_read(void **state)
{
	struct kl_source_text t;
	struct kl_history *h;

	(void)state;
	write_lines("");
	h = read_again();
	write_lines("# longer\n");
	assert_int_equal(kl_source_text(h, 3, KL_SOURCE_CALL, &t), 0);
	kl_history_free(h);
	h = read_again();
	assert_int_equal(unlink(path), 0);
	assert_int_equal(kl_source_text(h, 3, KL_SOURCE_CALL, &t), 0);
	kl_history_free(h);
}

/* Read a register's write and read from memory; their :error has @n letters "é". */
static struct kl_history *parse(size_t n, char **text)
{
	static const char *const types[] = { "invoke, :f :write, :value 1", "info, :f :write" };
	struct kl_history *h;
	size_t len, i, k;
	FILE *f = open_memstream(text, &len);

	assert_non_null(f);
	for (i = 0; i < 2; i++) {
		fprintf(f, "%s{:process 0, :type :%s,\n :error \"", i ? " #x.Op " : "", types[i]);
		for (k = 0; k < n; k++)
			fputs("\xc3\xa9", f);
		fprintf(f, "\", :time %zu}", i + 5);
	}
	fclose(f);
	assert_int_equal(kl_history_parse("memory", *text, len, KL_FORM_AUTO, &h), 0);
	return h;
}

static void an_entry_is_a_map_with_its_tag(void **state)
{
	struct kl_source_text t;
	struct kl_history *h;
	char *text;

	(void)state;
	h = parse(3, &text);
	/* The first operation is the write of the first state. */
	assert_int_equal(kl_source_text(h, 0, KL_SOURCE_CALL, &t), 0);
	assert_int_equal(kl_source_text(h, 1, KL_SOURCE_CALL, &t), 1);
	assert_memory_equal(t.text, text, t.len);
	assert_int_equal(t.text[t.len - 1], '}');
	assert_true(t.entry.timed);
	assert_int_equal(t.entry.time, 5);
	assert_text(h, 1, KL_SOURCE_RETURN, strstr(text, "#x.Op"));
	assert_int_equal(kl_source_events(h, 1)->end_line, 3);
	assert_int_equal(kl_source_events(h, 1)->ret_line, 0);
	kl_history_free(h);
	free(text);
}

static void a_long_entry_is_cut_between_characters(void **state)
{
	const size_t sizes[] = { 2040, 2041, 2042, 8000, 50000 };
	struct kl_source_text t;
	struct kl_history *h;
	char *text;
	size_t i;

	(void)state;
	for (i = 0; i < 5; i++) {
		h = parse(sizes[i], &text);
		assert_int_equal(kl_source_text(h, 1, KL_SOURCE_CALL, &t), 1);
		assert_true(t.cut);
		assert_in_range(t.len, KL_SOURCE_TEXT - 1, KL_SOURCE_TEXT);
		assert_memory_equal(t.text, text, t.len);
		assert_int_equal(t.text[t.len - 1] & 0xff, 0xa9);
		/* The keys of an entry that is too long to be read again are not known. */
		assert_int_equal(t.entry.timed, i < 4);
		kl_history_free(h);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_line_of_a_large_file_is_found),
		cmocka_unit_test(a_file_that_has_changed_is_not_read),
		cmocka_unit_test(an_entry_is_a_map_with_its_tag),
		cmocka_unit_test(a_long_entry_is_cut_between_characters),
	};
	const int fd = mkstemp(path);
	int ret;

	if (fd < 0)
		return 1;
	close(fd);
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return ret;
}
