// SPDX-License-Identifier: GPL-2.0
/*
 * klind's reports.  A report is complete or absent, reports are limited in number, and they agree
 * with klin check and klin replay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sha256.h"
#include "base/version.h"
#include "generate/generate.h"
#include "history_util.h"
#include "klind/reports.h"
#include "replayed.h"
#include "watch/flight.h"

#define BEGAN "20261128T101112.000013Z"

/* Bit N - 1 makes the N-th fsync() fail. */
static unsigned int fsyncs, bad_fsyncs;
/* While the test has set disk_held, fsync() waits, as on a slow disk.  @disk guards both flags. */
static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t disk_changed = PTHREAD_COND_INITIALIZER;
static bool disk_held, disk_asked;

/* This function replaces the C library's fsync(). */
int fsync(int fd)
{
	const unsigned int n = fsyncs++;

	pthread_mutex_lock(&disk);
	disk_asked = true;
	pthread_cond_broadcast(&disk_changed);
	while (disk_held)
		pthread_cond_wait(&disk_changed, &disk);
	pthread_mutex_unlock(&disk);
	if (n < 32 && bad_fsyncs >> n & 1) {
		errno = EIO;
		return -1;
	}
	return syscall(SYS_fsync, fd);
}

/* Return: a history with one violation, in one of three objects. */
static struct kl_history *wrong(const struct kl_spec *spec)
{
	const struct kl_gen_config c = {
		.spec = spec, .ops = 600, .seed = 9, .threads = 3, .objects = 3, .keys = 8,
		.delay = 50,
		.mutate = 1,
	};
	struct kl_history *h;

	assert_int_equal(kl_gen(&c, &h), 0);
	h->spec_path = strdup(kl_spec_path(spec));
	h->spec_text = strdup(kl_spec_text(spec));
	return h;
}

static enum kl_verdict check_file(const struct kl_spec *spec, const char *dir, const char *name,
				  uint64_t *object)
{
	const struct kl_options opt = {
		.no_witness = true, .threads = 1,
	};
	struct kl_history *h;
	struct kl_report *r;
	enum kl_verdict v;
	char path[512];
	size_t i;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(kl_history_read(path, &h), 0);
	assert_non_null(h->spec_text);
	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	v = r->verdict;
	for (i = 0; i < r->nparts; i++)
		if (r->parts[i].answer.verdict == KL_VIOLATION)
			*object = r->parts[i].object;
	kl_report_free(r);
	kl_history_free(h);
	return v;
}

/*
 * Return: the number of names in a directory that end in @end; the first in order goes to
 * @first.
 */
static size_t entries(const char *dir, const char *end, char *first, size_t size)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	size_t n = 0;

	assert_non_null(d);
	while ((e = readdir(d))) {
		const size_t len = strlen(e->d_name), tail = strlen(end);

		if (e->d_name[0] == '.' && (!e->d_name[1] || e->d_name[1] == '.'))
			continue;
		if (len < tail || strcmp(e->d_name + len - tail, end))
			continue;
		if (!n++ || strcmp(e->d_name, first) < 0)
			snprintf(first, size, "%s", e->d_name);
	}
	closedir(d);
	return n;
}

/* Keep report.json of each report, for a program that holds them against the schema. */
static void keep_results(const char *dir)
{
	const char *to = getenv("KLIN_REPORTS");
	static unsigned int kept;
	char command[800];

	if (!to)
		return;
	snprintf(command, sizeof(command),
		 "n=0; for f in $(find '%s' -name report.json); do cp \"$f\" '%s'/%u.$n.json; "
		 "n=$((n + 1)); done", dir, to, kept);
	kept++;
	assert_int_equal(system(command), 0);
}

static void remove_all(const char *dir)
{
	char command[600];

	keep_results(dir);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	assert_int_equal(system(command), 0);
}

static const char *member(const json_t *j, const char *name)
{
	return json_string_value(json_object_get(j, name)) ?: "null";
}

/* report.json says when and where the report was made, by which klin and with which spec. */
static void look_at_origin(const char *path, const struct kl_spec *spec)
{
	char file[600], sha256[KL_SHA256_HEX];
	struct utsname u;
	json_t *j, *m;

	snprintf(file, sizeof(file), "%s/report.json", path);
	j = json_load_file(file, 0, NULL);
	assert_non_null(j);
	m = json_object_get(j, "machine");
	assert_int_equal(uname(&u), 0);
	kl_sha256(kl_spec_text(spec), strlen(kl_spec_text(spec)), sha256);
	assert_string_equal(member(j, "spec"), kl_spec_name(spec));
	assert_string_equal(member(j, "spec_sha256"), sha256);
	assert_string_equal(member(j, "began"), BEGAN);
	assert_int_equal(strlen(member(j, "written")), strlen(BEGAN));
	assert_string_equal(member(j, "host"), u.nodename);
	assert_string_equal(member(j, "kernel"), u.release);
	assert_string_equal(member(json_object_get(j, "klin"), "version"), KLIN_VERSION);
	assert_string_equal(member(m, "kernel_version"), u.version);
	assert_string_equal(member(m, "architecture"), u.machine);
	assert_int_equal(strlen(member(m, "boot")), strlen("00000000-0000-4000-8000-000000000000"));
	assert_true(json_integer_value(json_object_get(m, "cpus")) > 0);
	json_decref(j);
}

/* A report is complete, with and without the operations that the check named. */
static void test_report_is_complete(void **state)
{
	struct kl_spec *spec = shipped_spec("register");
	struct kl_history *h = wrong(spec), *read;
	struct flight *f = flight_new(spec, h, 1 << 22, 0);
	uint64_t written = 0, failed = 0, object = 0, found = 0;
	char dir[] = "/tmp/klin-test-XXXXXX", path[300], name[256] = "", file[600];
	struct kl_replay replay;
	struct reporter *r;
	struct stat st;
	int with;

	assert_int_equal(flight_add(f, h), 0);
	assert_non_null(mkdtemp(dir));
	for (with = 0; with < 2; with++) {
		struct incident i = {
			.began = BEGAN, .kind = INCIDENT_VIOLATION, .name = "reg", .spec = spec,
			.reason = "a \"test\"", .engine = "frontier", .written = &written,
			.failed = &failed, .time = UINT64_MAX,
		};

		snprintf(path, sizeof(path), "%s/reports%d", dir, with);
		assert_int_equal(reporter_new(path, 10, 1 << 30, &r), 0);
		i.flight = flight_take(f, KL_TIME_MAX);
		if (with)
			i.window = flight_take(f, KL_TIME_MAX);
		assert_int_equal(reporter_submit(r, &i), 0);
		reporter_drain(r);
		reporter_free(r);
		assert_int_equal(written, 1 + with);
		assert_int_equal(failed, 0);
		assert_int_equal(entries(path, "-reg-violation", name, sizeof(name)), 1);
		assert_int_equal(entries(path, "", name, sizeof(name)), 1);
		snprintf(path + strlen(path), sizeof(path) - strlen(path), "/%s", name);
		assert_int_equal(check_file(spec, path, "flight.klh", &object), KL_VIOLATION);
		assert_int_equal(check_file(spec, path, "history.klh", &found), KL_VIOLATION);
		assert_int_equal(object, found);
		snprintf(file, sizeof(file), "%s/history.klh", path);
		assert_int_equal(kl_history_read_hashed(file, &read), 0);
		snprintf(file, sizeof(file), "%s/certificate", path);
		assert_int_equal(replay_file(file, spec, read, &(struct kl_limits){ 0 }, &replay),
				 0);
		assert_int_equal(replay.refuted, 1);
		assert_int_equal(replay.open, 0);
		kl_history_free(read);
		snprintf(file, sizeof(file), "%s/counterexample.txt", path);
		assert_true(!stat(file, &st) && st.st_size > 100);
		snprintf(file, sizeof(file), "%s/report.html", path);
		assert_true(!stat(file, &st) && st.st_size > 10000);
		look_at_origin(path, spec);
	}
	remove_all(dir);
	flight_free(f);
	kl_history_free(h);
	kl_spec_free(spec);
}

/* Check a report's files, and report.json's list of missing ones; bit i of @gone is file i. */
static void look_at_report(const char *path, const char *const *files, unsigned int gone,
			   const char *from)
{
	char file[600], command[100];
	struct stat st;
	json_t *j, *missing;
	size_t i, n = 0;

	snprintf(file, sizeof(file), "%s/report.json", path);
	j = json_load_file(file, 0, NULL);
	assert_non_null(j);
	missing = json_object_get(j, "missing");
	for (i = 0; files[i]; i++) {
		const json_t *m;

		snprintf(file, sizeof(file), "%s/%s", path, files[i]);
		assert_int_equal(!stat(file, &st), !(gone >> i & 1));
		if (!(gone >> i & 1))
			continue;
		m = json_array_get(missing, n++);
		assert_string_equal(member(m, "file"), files[i]);
		assert_true(strlen(member(m, "reason")) > 10);
		snprintf(command, sizeof(command), "klin %s %s",
			 i == 1 ? "check --certificate=certificate" :
			 i == 4 ? "report -o report.html" : "check", from);
		assert_string_equal(member(m, "command"), *from && i != 3 ? command : "null");
	}
	assert_int_equal(json_array_size(missing), n);
	assert_string_equal(member(json_object_get(j, "check"), "verdict"), "VIOLATION");
	assert_true(json_is_true(json_object_get(j, "shown_by_history")));
	json_decref(j);
}

/*
 * On a disk that fails at some fsync(), the report names the files that were not written.  If
 * report.json was not written, there is no report, and the log says so.
 */
static void test_report_on_failing_disk(void **state)
{
	/* In order of writing; report.json and two directories follow. */
	static const char *const files[] = {
		"history.klh", "certificate", "counterexample.txt", "flight.klh", "report.html",
		NULL,
	};
	static const struct {
		unsigned int bad, gone;
		const char *from, *log;
	} disks[] = {
		{ 0, 0, "history.klh", NULL },
		/* Without a history its certificate is not written. */
		{ 1, 3, "flight.klh", "the report lacks history.klh: Input/output" },
		{ 2, 2, "history.klh", "the report lacks certificate: Input/output" },
		{ 4, 4, "history.klh", "the report lacks counterexample.txt: Input/output" },
		{ 8, 8, "history.klh", "the report lacks flight.klh: Input/output" },
		{ 14, 14, "history.klh", "the report lacks flight.klh: Input/output" },
		{ 1 | 2 | 4, 15, "", "the report lacks certificate: history.klh is missing" },
		{ 16, 16, "history.klh", "the report lacks report.html: Input/output" },
		{ 32, 0, NULL, "cannot write a report" },
		{ 64, 0, "history.klh", "cannot be synced to disk" },
		{ 128, 0, "history.klh", "cannot be synced to disk" },
	};
	struct kl_spec *spec = shipped_spec("register");
	struct kl_history *h = wrong(spec);
	struct flight *f = flight_new(spec, h, 1 << 22, 0);
	char dir[] = "/tmp/klin-test-XXXXXX", path[300], name[256] = "";
	struct reporter *r;
	unsigned int n;

	assert_int_equal(flight_add(f, h), 0);
	assert_non_null(mkdtemp(dir));
	for (n = 0; n < sizeof(disks) / sizeof(*disks); n++) {
		uint64_t written = 0, failed = 0, incomplete = 0, object = 0;
		const struct incident i = {
			.began = BEGAN, .incomplete = &incomplete,
			.kind = INCIDENT_VIOLATION, .name = "reg", .spec = spec, .reason = "a test",
			.engine = "frontier", .written = &written, .failed = &failed,
			.time = UINT64_MAX, .flight = flight_take(f, KL_TIME_MAX),
			.window = flight_take(f, KL_TIME_MAX),
		};

		assert_int_equal(reporter_new(dir, 10, 1 << 30, &r), 0);
		fsyncs = 0;
		bad_fsyncs = disks[n].bad;
		history_log_start();
		assert_int_equal(reporter_submit(r, &i), 0);
		reporter_drain(r);
		history_log_stop();
		bad_fsyncs = 0;
		reporter_free(r);
		assert_int_equal(written, !!disks[n].from);
		assert_int_equal(failed, !disks[n].from);
		assert_int_equal(incomplete, disks[n].gone != 0);
		assert_int_equal(entries(dir, "", name, sizeof(name)), written);
		if (disks[n].log && !strstr(history_log, disks[n].log))
			fail_msg("'%s' is not in '%s'", disks[n].log, history_log);
		if (!disks[n].from)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, name);
		look_at_report(path, files, disks[n].gone, disks[n].from);
		if (!(disks[n].gone & 1))
			assert_int_equal(check_file(spec, path, "history.klh", &object),
					 KL_VIOLATION);
		remove_all(path);
	}
	remove_all(dir);
	flight_free(f);
	kl_history_free(h);
	kl_spec_free(spec);
}

static int ask_for(struct reporter *r, struct incident *i, const char *name,
		   enum incident_kind kind, struct flight *f)
{
	i->name = name;
	i->kind = kind;
	i->flight = flight_take(f, KL_TIME_MAX);
	return reporter_submit(r, i);
}

/*
 * With a slow disk, many requests of one watcher do not displace the first of another kind or
 * watcher.
 */
static void test_queue_is_fair(void **state)
{
	struct kl_spec *spec = shipped_spec("register");
	struct kl_history *h = wrong(spec);
	struct flight *f = flight_new(spec, h, 1 << 22, 0);
	char dir[] = "/tmp/klin-test-XXXXXX", name[256] = "";
	uint64_t written = 0, failed = 0;
	struct incident i = {
		.spec = spec, .began = BEGAN, .written = &written, .failed = &failed,
	};
	struct reporter *r;
	int k;

	assert_int_equal(flight_add(f, h), 0);
	assert_non_null(mkdtemp(dir));
	assert_int_equal(reporter_new(dir, 100, 1 << 30, &r), 0);
	disk_held = true;
	disk_asked = false;
	assert_int_equal(ask_for(r, &i, "a", INCIDENT_REQUEST, f), 0);
	/* This request has left the queue. */
	pthread_mutex_lock(&disk);
	while (!disk_asked)
		pthread_cond_wait(&disk_changed, &disk);
	pthread_mutex_unlock(&disk);
	for (k = 0; k < 8; k++)
		assert_int_equal(ask_for(r, &i, "a", INCIDENT_REQUEST, f), 0);
	assert_int_equal(ask_for(r, &i, "a", INCIDENT_REQUEST, f), -EBUSY);
	assert_int_equal(ask_for(r, &i, "b", INCIDENT_VIOLATION, f), 0);
	assert_int_equal(ask_for(r, &i, "b", INCIDENT_VIOLATION, f), -EBUSY);
	assert_int_equal(ask_for(r, &i, "a", INCIDENT_VIOLATION, f), 0);
	assert_int_equal(ask_for(r, &i, "b", INCIDENT_REQUEST, f), 0);
	assert_int_equal(ask_for(r, &i, "a", INCIDENT_REQUEST, f), -EBUSY);
	pthread_mutex_lock(&disk);
	disk_held = false;
	pthread_cond_broadcast(&disk_changed);
	pthread_mutex_unlock(&disk);
	reporter_drain(r);
	reporter_free(r);
	assert_int_equal(written, 12);
	assert_int_equal(failed, 0);
	assert_int_equal(entries(dir, "-b-violation", name, sizeof(name)), 1);
	assert_int_equal(entries(dir, "-a-violation", name, sizeof(name)), 1);
	assert_int_equal(entries(dir, "-request", name, sizeof(name)), 10);
	remove_all(dir);
	flight_free(f);
	kl_history_free(h);
	kl_spec_free(spec);
}

/* Old reports that cannot be removed or counted are logged, and the others are removed. */
static void test_failing_removals_are_logged(void **state)
{
	static const char *const logged[] = {
		"/.unfinished-abcdef: cannot remove this unfinished report: Directory not empty",
		"/20010101T000000.000000Z-full-request: cannot remove this report, so that ",
		"/20020101T000000.000000Z-file-request: cannot count this report, so that ",
		"/20020101T000000.000000Z-file-request: cannot remove this report, so that ",
	};
	struct kl_spec *spec = shipped_spec("register");
	char dir[] = "/tmp/klin-test-XXXXXX", path[300], name[256] = "";
	uint64_t written = 0, failed = 0;
	const struct incident i = {
		.began = BEGAN, .kind = INCIDENT_REQUEST, .name = "reg", .spec = spec,
		.written = &written, .failed = &failed,
	};
	struct reporter *r;
	size_t k;
	FILE *f;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "mkdir -p %s/.unfinished-abcdef/folder "
		 "%s/20010101T000000.000000Z-full-request/folder "
		 "%s/20030101T000000.000000Z-good-request", dir, dir, dir);
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof(path), "%s/20020101T000000.000000Z-file-request", dir);
	f = fopen(path, "w");
	assert_true(f && !fclose(f));
	history_log_start();
	assert_int_equal(reporter_new(dir, 1, 1 << 30, &r), 0);
	assert_int_equal(reporter_submit(r, &i), 0);
	reporter_drain(r);
	history_log_stop();
	for (k = 0; k < sizeof(logged) / sizeof(*logged); k++)
		if (!strstr(history_log, logged[k]))
			fail_msg("'%s' is not in '%s'", logged[k], history_log);
	assert_null(strstr(history_log, "good-request"));
	assert_int_equal(entries(dir, "-good-request", name, sizeof(name)), 0);
	assert_int_equal(entries(dir, "-reg-request", name, sizeof(name)), 1);
	reporter_free(r);
	remove_all(dir);
	kl_spec_free(spec);
}

/* The oldest reports are removed, and so are unfinished ones; a failed write leaves no files. */
static void test_old_reports_are_removed(void **state)
{
	struct kl_spec *spec = shipped_spec("register");
	struct kl_history *h = wrong(spec);
	struct flight *f = flight_new(spec, h, 1 << 22, 0);
	char dir[] = "/tmp/klin-test-XXXXXX", path[300], first[256] = "", name[256] = "";
	uint64_t written = 0, failed = 0;
	struct incident i = {
		.began = BEGAN, .kind = INCIDENT_REQUEST, .name = "reg", .spec = spec,
		.written = &written, .failed = &failed,
	};
	struct reporter *r;
	int k;

	assert_int_equal(flight_add(f, h), 0);
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/.unfinished-abcdef", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	/* Files that are not klind's stay. */
	snprintf(path, sizeof(path), "%s/notes", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(reporter_new(dir, 3, 1 << 30, &r), 0);
	assert_int_equal(entries(dir, "", name, sizeof(name)), 1);
	for (k = 0; k < 5; k++) {
		i.flight = flight_take(f, KL_TIME_MAX);
		assert_int_equal(reporter_submit(r, &i), 0);
		reporter_drain(r);
		if (!k)
			entries(dir, "-request", first, sizeof(first));
	}
	assert_int_equal(written, 5);
	assert_int_equal(entries(dir, "-request", name, sizeof(name)), 3);
	assert_true(strcmp(first, name) < 0);
	assert_int_equal(entries(dir, "notes", name, sizeof(name)), 1);
	/* Existing reports with later times, from before the clock was set back. */
	for (k = 0; k < 3; k++) {
		snprintf(path, sizeof(path), "%s/29990101T00000%d.000000Z-late-unknown", dir, k);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	i.flight = flight_take(f, KL_TIME_MAX);
	assert_int_equal(reporter_submit(r, &i), 0);
	reporter_drain(r);
	assert_int_equal(entries(dir, "-late-unknown", name, sizeof(name)), 2);
	assert_int_equal(entries(dir, "-request", name, sizeof(name)), 1);
	for (k = 0; k < 3; k++) {
		snprintf(path, sizeof(path), "%s/29990101T00000%d.000000Z-late-unknown", dir, k);
		rmdir(path);
	}
	reporter_free(r);
	/* A limit of bytes that is smaller than one report. */
	assert_int_equal(reporter_new(dir, 3, 4096, &r), 0);
	i.flight = flight_take(f, KL_TIME_MAX);
	history_log_start();
	assert_int_equal(reporter_submit(r, &i), 0);
	reporter_drain(r);
	history_log_stop();
	assert_int_equal(entries(dir, "-request", name, sizeof(name)), 0);
	/* The directory has been removed. */
	remove_all(dir);
	i.flight = flight_take(f, KL_TIME_MAX);
	history_log_start();
	assert_int_equal(reporter_submit(r, &i), 0);
	reporter_drain(r);
	history_log_stop();
	assert_int_equal(failed, 1);
	assert_non_null(strstr(history_log, "cannot write a report"));
	assert_non_null(strstr(history_log, "cannot remove old reports: No such file"));
	reporter_free(r);
	history_log_start();
	assert_int_equal(reporter_new("/nonexistent/x", 3, 4096, &r), -EINVAL);
	history_log_stop();
	flight_free(f);
	kl_history_free(h);
	kl_spec_free(spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report_is_complete),
		cmocka_unit_test(test_report_on_failing_disk),
		cmocka_unit_test(test_queue_is_fair),
		cmocka_unit_test(test_old_reports_are_removed),
		cmocka_unit_test(test_failing_removals_are_logged),
	};

	return cmocka_run_group_tests_name("klind_reports", tests, NULL, NULL);
}
