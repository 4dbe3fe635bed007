// SPDX-License-Identifier: GPL-2.0
/* Configurations of klind, and its metrics in Prometheus' form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "history_util.h"
#include "klind/conf.h"
#include "klind/metrics.h"

static void test_conf_is_read(void **state)
{
	static const char text[] =
		"# a comment\n; another\n[klind]\n reports = /var/lib/a b\n"
		"keep-reports=7\nkeep-bytes = 2G\nreport-interval = 500ms\nmetrics = /m.prom\r\n"
		"metrics-socket = /run/m\n"
		"[spec range]\nfile = port_range\nobject = 0xffff888003c42000\nattach = kprobe\n"
		"buffer = 64\nslots = 8\nclock-error = 200ns\nmemory-model = sc\nmemory = 64M\n"
		"flight-memory = 128K\nflight-time = 2min\nreport-unknown = yes\nstacks = yes\n"
		"[ spec   queue ]\nflight-time = 0\n[spec q]\nattach = plain";
	const struct klind_watch_conf *w;
	struct klind_conf *c, *d;

	assert_int_equal(klind_conf_parse("conf", text, &c), 0);
	assert_string_equal(c->reports, "/var/lib/a b");
	assert_string_equal(c->metrics, "/m.prom");
	assert_string_equal(c->socket, "/run/m");
	assert_int_equal(c->keep, 7);
	assert_int_equal(c->keep_bytes, 2ull << 30);
	assert_int_equal(c->report_ns, 500000000);
	assert_int_equal(c->metrics_ns, 10000000000ull);
	assert_int_equal(c->nwatch, 3);
	assert_int_equal(c->watch[2].attach, KLIND_PLAIN);
	w = &c->watch[0];
	assert_string_equal(w->name, "range");
	assert_string_equal(w->file, "port_range");
	assert_int_equal(w->line, 10);
	assert_true(w->one_object && w->clock_known && w->report_unknown && w->classical &&
		    w->stacks);
	assert_int_equal(w->object, 0xffff888003c42000ull);
	assert_int_equal(w->attach, KLIND_KPROBE);
	assert_int_equal(w->pages, 64);
	assert_int_equal(w->slots, 8);
	assert_int_equal(w->clock_error, 200);
	assert_int_equal(w->memory, 64 << 20);
	assert_int_equal(w->flight, 128 << 10);
	assert_int_equal(w->flight_ns, 120000000000ull);
	w = &c->watch[1];
	assert_string_equal(w->file, "queue");
	assert_false(w->one_object || w->clock_known || w->report_unknown || w->classical ||
		     w->stacks);
	assert_int_equal(w->attach, KLIND_AUTO);
	/* Equal watchers are recognized wherever they stand in the file. */
	assert_int_equal(klind_conf_parse("conf",
					  "\n\n[spec queue]\n[spec range]\nobject = 1\n", &d),
			 0);
	assert_true(klind_watch_conf_equal(w, &d->watch[0]));
	assert_false(klind_watch_conf_equal(&c->watch[0], &d->watch[1]));
	klind_conf_free(d);
	klind_conf_free(c);
}

#define TEN "0123456789"
#define LONG_PATH TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static void test_conf_mistakes(void **state)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{ "", "nothing to watch" },
		{ "[klind]\n", "nothing to watch" },
		{ "memory = 1M\n", "c:1:1: error: 'memory' is in no section" },
		{ "// A queue.\nspec queue {\n",
		  "c:1:1: error: expected a section, [klind] or [spec NAME]; a comment begins" },
		{ "[spec a]\nmemory 1M\n", "c:2:1: error: expected KEY = VALUE" },
		{ "[spec a]\n\nmemory = 1\n", "c:3:10: error: memory = 1: expected bytes" },
		{ "[spec a]\nmemory = 1Q\n", "from 1M to 1T" },
		{ "[spec a]\nmemory = -1M\n", "expected bytes" },
		{ "[spec a]\nmemory = 99999999999999999999\n", "expected bytes" },
		{ "[spec a]\nmemory = 17592186044416M\n", "expected bytes" },
		{ "[spec a]\nbuffer = 3\n", "expected a power of two, from 1 to 262144" },
		{ "[spec a]\nflight-time = 10\n", "expected a time with its unit" },
		{ "[spec a]\nattach = fast\n", "expected auto, fentry, kprobe or plain" },
		{ "[spec a]\nattach = plain\n[spec b]\n[spec c]\nattach = plain\n",
		  "c:4: error: attach = plain: klin.ko records one structure at a time, and "
		  "[spec a]" },
		{ "[spec a]\nmemory-model = x86\n", "expected tso or sc" },
		{ "[spec a]\nreport-unknown = maybe\n", "expected yes or no" },
		{ "[spec a]\nattach = plain\nstacks = yes\n", "needs BPF programs" },
		{ "[spec a]\nobject = here\n", "expected an address" },
		{ "[spec a]\nfile =\n", "expected the name or path of a specification" },
		{ "[spec a]\nreports = /x\n",
		  "c:2:1: error: the key 'reports' belongs into a section [klind]" },
		{ "[klind]\nnothing-like-it = 1\n",
		  "c:2:1: error: unknown key 'nothing-like-it': expected one of reports" },
		{ "[klind]\nfile = x\n",
		  "c:2:1: error: the key 'file' belongs into a section [spec NAME]" },
		{ "[klind]\nreports = x\n[spec a]", "c:2:11: error: reports = x: expected a path" },
		{ "[klind]\nmetrics-socket = m\n[spec a]",
		  "c:2:18: error: metrics-socket = m: expected" },
		{ "[klind]\nmetrics-socket = /" LONG_PATH "\n[spec a]", "of at most 107 bytes" },
		{ "[klind]\n[spec a]\n[klind]\n",
		  "c:3:1: error: [klind] already begins in line 1" },
		{ "[spec a]\n[spec a]\n", "c:2:1: error: [spec a] already begins in line 1" },
		{ "[spec a]\nslots = 1\nslots = 1\n",
		  "c:3:1: error: slots is already set in line" },
		{ "[spec]\n", "c:1:1: error: expected [klind], or [spec NAME]" },
		{ "[spec a] # mine\n", "c:1:1: error: a comment needs a line of its own" },
		{ "[spec\u00a0a]\n", "; the blank here does not break: write a blank" },
		{ "[klind]\nreports = \"/x\"\n", "a path that begins with /, without quotes" },
		{ "[spec a\n", "expected [klind], or [spec NAME]" },
		{ "[spec ../a]\n", "expected [klind], or [spec NAME]" },
		{ "[spec .a]\n", "expected [klind], or [spec NAME]" },
		{ "[other]\nx = y\n", "c:1:1: error: expected [klind]" },
	};
	struct klind_conf *c;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		history_log_start();
		assert_int_equal(klind_conf_parse("c", bad[i].text, &c), -EINVAL);
		history_log_stop();
		if (!strstr(history_log, bad[i].message))
			fail_msg("'%s': '%s' is not in '%s'", bad[i].text, bad[i].message,
				 history_log);
	}
	/* There is one message about all lines before the first section. */
	history_log_start();
	assert_int_equal(klind_conf_parse("c", "spec q {\n\tx = 1;\n}\n", &c), -EINVAL);
	history_log_stop();
	assert_non_null(strstr(history_log, "c:1:1: "));
	assert_null(strstr(history_log, "c:2:"));
	/* Each of several mistakes is reported. */
	history_log_start();
	assert_int_equal(klind_conf_parse("c", "[spec a]\nx = 1\n\ny = 2\n", &c), -EINVAL);
	history_log_stop();
	assert_non_null(strstr(history_log, "c:2:1: "));
	assert_non_null(strstr(history_log, "c:4:1: "));
}

/*
 * Each family appears once, with its help and type, then its samples; all lines have the right
 * form.
 */
static void test_metrics_form(void **state)
{
	const struct klind_metrics_row rows[] = {
		{ "a", { .recorded = UINT64_MAX, .lag_ns = 1500000000, .verdict = KL_UNKNOWN,
			 .parts = { 1, 2, 3 } } },
		{ "b-2.x", { .violations = 4, .verdict = KL_VIOLATION } },
	};
	static const char *const expected[] = {
		"klin_operations_recorded_total{spec=\"a\"} 18446744073709551615\n",
		"klin_lag_seconds{spec=\"a\"} 1.500000000\n",
		"klin_violations_total{spec=\"b-2.x\"} 4\n",
		"klin_verdict{spec=\"a\",verdict=\"unknown\"} 1\n",
		"klin_verdict{spec=\"a\",verdict=\"violation\"} 0\n",
		"klin_verdict{spec=\"b-2.x\",verdict=\"violation\"} 1\n",
		"klin_partitions{spec=\"a\",verdict=\"linearizable\"} 1\n",
		"klin_partitions{spec=\"a\",verdict=\"violation\"} 2\n",
		"klin_partitions{spec=\"a\",verdict=\"unknown\"} 3\n",
		"# TYPE klin_violations_total counter\n",
		"# TYPE klin_lag_seconds gauge\n",
	};
	char *text, *line, *next, name[80], family[80] = "", type[16];
	size_t len, i, helps = 0, types = 0;
	FILE *f = open_memstream(&text, &len);

	klind_metrics_print(f, rows, 2);
	fclose(f);
	for (i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		if (!strstr(text, expected[i]))
			fail_msg("%s is not in\n%s", expected[i], text);
	for (line = text; *line; line = next) {
		next = strchr(line, '\n');
		assert_non_null(next);
		*next++ = '\0';
		if (sscanf(line, "# HELP %79s", name) == 1) {
			assert_true(strlen(line) > strlen("# HELP ") + strlen(name) + 1);
			helps++;
		} else if (sscanf(line, "# TYPE %79s %15s", family, type) == 2) {
			assert_string_equal(name, family);
			/* By convention the names of counters, and no others, have _total. */
			assert_int_equal(!strcmp(type, "counter"), !!strstr(family, "_total"));
			types++;
		} else {
			assert_int_equal(strncmp(line, family, strlen(family)), 0);
			assert_int_equal(line[strlen(family)], '{');
		}
	}
	assert_true(helps > 15 && helps == types);
	free(text);
}

/* A file of metrics is replaced atomically or stays; others may read it. */
static void test_metrics_file_is_replaced(void **state)
{
	const struct klind_metrics_row rows[] = { { "a", { .recorded = 1 } } };
	char dir[] = "/tmp/klin-test-XXXXXX", path[64], *text;
	struct stat st;
	mode_t mask;
	size_t len;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/klin.prom", dir);
	mask = umask(077);
	assert_int_equal(klind_metrics_write(path, rows, 1), 0);
	umask(mask);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_int_equal(kl_read_file(path, &text, &len), 0);
	assert_non_null(strstr(text, "klin_operations_recorded_total{spec=\"a\"} 1\n"));
	free(text);
	/* No other file is left. */
	unlink(path);
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(klind_metrics_write(path, rows, 1), -ENOENT);
}

/* A name that another user may have created is not opened, nor its target. */
static void test_metrics_file_of_another_kind(void **state)
{
	const struct klind_metrics_row rows[] = { { "a", { .recorded = 1 } } };
	char dir[] = "/tmp/klin-test-XXXXXX", path[64], other[64];

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/klin.prom", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	/* The FIFO has no reader: opening it would block forever. */
	assert_int_equal(mkfifo(other, 0600), 0);
	assert_int_equal(klind_metrics_write(other, rows, 1), -EEXIST);
	assert_int_equal(symlink("other", path), 0);
	assert_int_equal(klind_metrics_write(path, rows, 1), -ELOOP);
	unlink(path);
	assert_int_equal(symlink("nothing", path), 0);
	assert_int_equal(klind_metrics_write(path, rows, 1), -ELOOP);
	unlink(path);
	unlink(other);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conf_is_read),
		cmocka_unit_test(test_conf_mistakes),
		cmocka_unit_test(test_metrics_form),
		cmocka_unit_test(test_metrics_file_is_replaced),
		cmocka_unit_test(test_metrics_file_of_another_kind),
	};

	return cmocka_run_group_tests_name("klind", tests, NULL, NULL);
}
