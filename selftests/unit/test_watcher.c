// SPDX-License-Identifier: GPL-2.0
/*
 * klind's watcher, with a recorder, a clock and a disk that the test replaces.  No violation
 * is lost without a message.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "history_util.h"
#include "klind/rate.h"
#include "klind/watcher.h"
#include "record/record.h"

#define SECOND	1000000000ull

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* guards all variables below */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static char log_text[65536];
static uint64_t time_now;
static bool disk_held, disk_asked;
static volatile bool settled;	/* what kl_recorder_settled() says */
static volatile uint64_t lost;	/* number of lost operations of kl_recorder_counts() */
static volatile unsigned int confined;	/* number of times that the watcher gave up privileges */

static void keep(enum kl_level level, const char *line)
{
	size_t used;

	pthread_mutex_lock(&lock);
	used = strlen(log_text);
	snprintf(log_text + used, sizeof(log_text) - used, "%s\n", line);
	/* A watcher that fails follows no longer, but says so. */
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

/* This function replaces libkl.a's kl_now_ns(). */
uint64_t kl_now_ns(void)
{
	return __atomic_load_n(&time_now, __ATOMIC_RELAXED);
}

static void set_time(uint64_t ns)
{
	__atomic_store_n(&time_now, ns, __ATOMIC_RELAXED);
}

/* This function replaces the C library's fsync(). */
int fsync(int fd)
{
	pthread_mutex_lock(&lock);
	disk_asked = true;
	pthread_cond_broadcast(&changed);
	while (disk_held)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return 0;
}

static void hold_disk(bool held)
{
	pthread_mutex_lock(&lock);
	disk_held = held;
	disk_asked = false;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

/* The allocation that fails, counted from 1 while @counting. */
static unsigned long allocs, bad_alloc;
static bool counting;

#ifndef __SANITIZE_ADDRESS__
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

static bool refused(void)
{
	if (!__atomic_load_n(&counting, __ATOMIC_ACQUIRE) ||
	    __atomic_add_fetch(&allocs, 1, __ATOMIC_RELAXED) != bad_alloc)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return refused() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return refused() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return refused() ? NULL : __libc_realloc(p, size);
}
#endif

/* Returns a history each time the test has prepared one. */
struct kl_recorder {
	struct kl_history *h, *none, *next;
	uint64_t floor;
	bool idle;	/* the watcher has processed everything */
	unsigned long rounds; /* number of calls of kl_recorder_follow() */
} recorder;

static struct kl_history *parsed(const char *ops)
{
	struct kl_history *h;
	char text[16384];
	int n = snprintf(text, sizeof(text),
			 "# klin history 1\n# clock mono error 0\n# first init\n"
			 "# memory sc\n# cpus 8\n# spec register\n%s", ops);

	assert_int_equal(kl_text_read("made", text, n, &h), 0);
	return h;
}

int kl_recorder_new(const struct kl_record_opts *opts, struct kl_recorder **out)
{
	recorder = (struct kl_recorder){ .none = parsed("") };
	recorder.h = recorder.none;
	*out = &recorder;
	return 0;
}

void kl_recorder_free(struct kl_recorder *r)
{
	if (r->h != r->none)
		kl_history_free(r->h);
	kl_history_free(r->none);
}

int kl_recorder_attach(struct kl_recorder *r)
{
	return 0;
}

bool kl_recorder_settled(const struct kl_recorder *r)
{
	return settled;
}

int kl_recorder_read_ahead(struct kl_recorder *r)
{
	return 0;
}

int kl_recorder_readable(const struct kl_recorder *r)
{
	return 0;
}

static unsigned int shown; /* number of calls of kl_recorder_show() */

void kl_recorder_show(const struct kl_recorder *r, FILE *f)
{
	shown++;
}

void kl_recorder_counts(const struct kl_recorder *r, struct kl_record_stats *stats)
{
	*stats = (struct kl_record_stats){ .lost = lost };
}

const struct kl_history *kl_recorder_history(struct kl_recorder *r)
{
	return r->h;
}

static void drop_history(struct kl_recorder *r)
{
	if (r->h != r->none)
		kl_history_free(r->h);
	r->h = r->none;
}

const uint64_t *kl_recorder_over(const struct kl_recorder *r, size_t *n)
{
	*n = 0;
	return NULL;
}

int kl_recorder_follow(struct kl_recorder *r, uint64_t *floor)
{
	drop_history(r);
	pthread_mutex_lock(&lock);
	r->idle = !r->next;
	if (r->next)
		r->h = r->next;
	r->next = NULL;
	*floor = r->floor;
	r->rounds++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	if (!r->idle)
		__atomic_store_n(&counting, bad_alloc != 0, __ATOMIC_RELEASE);
	return 0;
}

int kl_recorder_follow_end(struct kl_recorder *r)
{
	drop_history(r);
	return 0;
}

/* Prepare a history in which each of several objects has a violation, from a time on. */
static void give(unsigned int first, unsigned int n, uint64_t from)
{
	char ops[8192] = "";
	size_t len = 0;
	unsigned int i;

	for (i = first; i < first + n; i++)
		len += snprintf(ops + len, sizeof(ops) - len, "t0 @%u %lu %lu write 1 cpu=0\n"
				"t0 @%u %lu %lu read -> 2 cpu=0\n", i, from, from + 1, i, from + 2,
				from + 3);
	pthread_mutex_lock(&lock);
	recorder.next = parsed(ops);
	recorder.floor = from + 100;
	recorder.idle = false;
	pthread_mutex_unlock(&lock);
}

/* Wait until the watcher has processed everything, or has failed. */
static void followed(void)
{
	pthread_mutex_lock(&lock);
	while (!recorder.idle && !strstr(log_text, "watching ended with an error"))
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static size_t said(const char *words)
{
	const char *at = log_text;
	size_t n;

	pthread_mutex_lock(&lock);
	for (n = 0; (at = strstr(at, words)); n++)
		at++;
	pthread_mutex_unlock(&lock);
	return n;
}

static int confine(void)
{
	confined++;
	return 0;
}

static struct klind_counts counts(struct watcher *w)
{
	struct klind_metrics_row row;

	watcher_counts(w, &row);
	return row.counts;
}

static struct watcher *begun(struct reporter *reporter)
{
	const struct klind_watch_conf conf = {
		.name = (char *)"reg", .file = (char *)"register", .classical = true,
		.memory = 64 << 20, .flight = 1 << 20,
	};
	struct watcher *w;

	*log_text = '\0';
	kl_log_sink = keep;
	set_time(SECOND);
	assert_int_equal(watcher_new(&conf, reporter, 10 * SECOND, &w), 0);
	assert_int_equal(counts(w).verdict, KL_UNKNOWN);
	watcher_confine(w, confine);
	assert_int_equal(watcher_start(w), 0);
	assert_int_equal(counts(w).up, 1);
	return w;
}

static void ended(struct watcher *w)
{
	watcher_stop(w);
	watcher_join(w);
}

static void remove_all(const char *dir)
{
	char command[600];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	assert_int_equal(system(command), 0);
}

static void test_rate_limit(void **state)
{
	struct rate r = { .ns = 10, .burst = 2 };

	assert_true(rate_take(&r, 0) && rate_take(&r, 9));
	assert_false(rate_take(&r, 9) || rate_take(&r, 9));
	assert_int_equal(rate_held(&r, 9), 0);
	assert_int_equal(rate_held(&r, 10), 2);
	assert_int_equal(rate_held(&r, 10), 0);
	assert_true(rate_take(&r, 10));
	/* An attempt that came to nothing is not counted. */
	rate_undo(&r);
	assert_true(rate_take(&r, 19) && rate_take(&r, 20));
	assert_false(rate_take(&r, 28));
	assert_true(rate_take(&r, 29));
	r = (struct rate){ .burst = 1 };
	assert_true(rate_take(&r, 5) && rate_take(&r, 5));
}

/* One report and ten messages in an interval, and then the number of suppressed ones. */
static void test_messages_are_limited(void **state)
{
	char dir[] = "/tmp/klin-test-XXXXXX";
	struct reporter *reporter;
	struct watcher *w;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(reporter_new(dir, 100, 1 << 30, &reporter), 0);
	w = begun(reporter);
	give(1, 15, 1000);
	followed();
	assert_int_equal(said("reg: VIOLATION at time"), 10);
	assert_int_equal(said("no report"), 0);
	assert_int_equal(said("suppressed"), 0);
	set_time(12 * SECOND);
	give(21, 1, 2000);
	followed();
	assert_int_equal(said("reg: suppressed 5 messages of kind 'violation'"), 1);
	assert_int_equal(said("reg: wrote no report for 14 more of kind 'violation'"), 1);
	assert_int_equal(said("reg: VIOLATION at time"), 11);
	/* The end reports the suppressed messages, too. */
	give(31, 12, 3000);
	followed();
	assert_int_equal(said("suppressed"), 1);
	ended(w);
	assert_int_equal(said("reg: suppressed 3 messages of kind 'violation'"), 1);
	assert_int_equal(said("reg: wrote no report for 12 more of kind 'violation'"), 1);
	reporter_drain(reporter);
	assert_int_equal(counts(w).violations, 28);
	assert_int_equal(counts(w).suppressed, 14 + 12);
	watcher_free(w);
	reporter_free(reporter);
	kl_log_sink = NULL;
	remove_all(dir);
}

/* Violations are logged even if no reports are wanted. */
static void test_violation_logged_without_reports(void **state)
{
	struct watcher *w = begun(NULL);

	give(1, 1, 1000);
	followed();
	assert_int_equal(said("reg: VIOLATION at time"), 1);
	assert_int_equal(said("no report"), 0);
	ended(w);
	watcher_free(w);
	kl_log_sink = NULL;
}

/* Wait until the watcher has looked at its load at @time.  It does so once in each round. */
static void looked(uint64_t time)
{
	unsigned long before;

	followed();
	set_time(time);
	pthread_mutex_lock(&lock);
	before = recorder.rounds;
	/* The first of these rounds has the new time, and the second begins when it is over. */
	while (recorder.rounds < before + 2)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

/* Before the first operation there is nothing to say, but a lost operation is news. */
static void test_quiet_start(void **state)
{
	struct watcher *w = begun(NULL);

	looked(2 * SECOND);
	assert_string_equal(log_text, "");
	lost = 3;
	looked(3 * SECOND);
	assert_int_equal(said("reg: lost 3 operations"), 1);
	/* Later losses are added up until the interval has ended. */
	lost = 4;
	looked(4 * SECOND);
	lost = 8;
	looked(5 * SECOND);
	assert_int_equal(said("reg: lost"), 1);
	looked(14 * SECOND);
	assert_int_equal(said("reg: lost 5 operations"), 1);
	/* The end does not wait for the interval. */
	lost = 9;
	looked(15 * SECOND);
	assert_int_equal(said("reg: lost"), 2);
	ended(w);
	assert_int_equal(said("reg: lost 1 operation,"), 1);
	lost = 0;
	watcher_free(w);
	kl_log_sink = NULL;
}

/* The thread keeps its privileges until no task is waited for, and gives them up once. */
static void test_confined_once_settled(void **state)
{
	struct watcher *w;

	settled = false;
	confined = 0;
	w = begun(NULL);
	looked(2 * SECOND);
	assert_int_equal(confined, 0);
	settled = true;
	looked(3 * SECOND);
	looked(4 * SECOND);
	assert_int_equal(confined, 1);
	ended(w);
	watcher_free(w);
	kl_log_sink = NULL;
}

/* When a probe becomes blind, the flight recorder's header says so in both places. */
static void test_probe_becomes_blind(void **state)
{
	struct watcher *w;
	int i;

	shown = 0;
	w = begun(NULL);
	for (i = 0; i < 3; i++) {
		pthread_mutex_lock(&lock);
		recorder.next =
			parsed(!i ? "" : "# coverage write unknown \"a live patch came\"\n");
		recorder.idle = false;
		recorder.floor = 100;
		pthread_mutex_unlock(&lock);
		followed();
		assert_int_equal(shown, !i ? 1 : 2);
	}
	ended(w);
	watcher_free(w);
	kl_log_sink = NULL;
}

/* A report that the queue refuses is logged, and does not hold back the next one. */
static void test_refused_report_is_logged(void **state)
{
	uint64_t written = 0, failed = 0;
	struct kl_spec *spec = shipped_spec("register");
	struct incident i = {
		.kind = INCIDENT_VIOLATION, .name = "reg", .spec = spec, .written = &written,
		.failed = &failed,
	};
	char dir[] = "/tmp/klin-test-XXXXXX";
	struct reporter *reporter;
	struct watcher *w;
	int k;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(reporter_new(dir, 100, 1 << 30, &reporter), 0);
	w = begun(reporter);
	hold_disk(true);
	assert_int_equal(reporter_submit(reporter, &i), 0);
	pthread_mutex_lock(&lock);
	while (!disk_asked)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	for (k = 0; k < 8; k++)
		assert_int_equal(reporter_submit(reporter, &i), 0);
	give(1, 1, 1000);
	followed();
	assert_int_equal(said("reg: VIOLATION at time"), 1);
	assert_int_equal(said("reg: no report of kind 'violation': too many reports wait"), 1);
	hold_disk(false);
	reporter_drain(reporter);
	give(2, 1, 2000);
	followed();
	assert_int_equal(said("reg: VIOLATION at time"), 2);
	assert_int_equal(said("no report"), 1);
	ended(w);
	reporter_drain(reporter);
	assert_int_equal(counts(w).suppressed, 1);
	assert_int_equal(written, 9);
	watcher_free(w);
	reporter_free(reporter);
	kl_spec_free(spec);
	kl_log_sink = NULL;
	remove_all(dir);
}

/* Return: true if some report has a report.json. */
static bool a_report(const char *dir)
{
	char command[600];

	snprintf(command, sizeof(command), "ls '%s'/*-reg-violation/report.json >/dev/null 2>&1",
		 dir);
	return !system(command);
}

/*
 * Let allocation @n fail, and check that a violation is still reported, or its loss is.
 * Return: false if there were fewer allocations.
 */
static bool watch_without_memory(unsigned long n)
{
	char dir[] = "/tmp/klin-test-XXXXXX";
	struct reporter *reporter;
	bool told, there, failed;
	struct watcher *w;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(reporter_new(dir, 100, 1 << 30, &reporter), 0);
	w = begun(reporter);
	allocs = 0;
	bad_alloc = n;
	give(1, 1, 1000);
	followed();
	reporter_drain(reporter);
	__atomic_store_n(&counting, false, __ATOMIC_RELEASE);
	ended(w);
	failed = watcher_failed(w);
	watcher_free(w);
	reporter_free(reporter);
	kl_log_sink = NULL;
	bad_alloc = 0;
	told = said("reg: VIOLATION at time");
	there = a_report(dir);
	if (!told && !(failed && said("watching ended with an error")))
		fail_msg("allocation %lu: the violation is not told: %s", n, log_text);
	if (told && !there && !said("cannot write a report"))
		fail_msg("allocation %lu: no report, and no word of it: %s", n, log_text);
	remove_all(dir);
	return allocs >= n;
}

static void test_each_allocation_fails(void **state)
{
	unsigned long n, step;

#ifdef __SANITIZE_ADDRESS__
	print_message("# the sanitizer has an allocator of its own\n");
	return;
#endif
	watch_without_memory(ULONG_MAX);
	step = allocs / wanted_runs(200) + 1;
	assert_true(allocs > 20);
	for (n = 1; watch_without_memory(n); n += step)
		;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rate_limit),
		cmocka_unit_test(test_messages_are_limited),
		cmocka_unit_test(test_violation_logged_without_reports),
		cmocka_unit_test(test_quiet_start),
		cmocka_unit_test(test_confined_once_settled),
		cmocka_unit_test(test_probe_becomes_blind),
		cmocka_unit_test(test_refused_report_is_logged),
		cmocka_unit_test(test_each_allocation_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
