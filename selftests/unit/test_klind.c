// SPDX-License-Identifier: GPL-2.0
/*
 * Parts of klind that need no kernel: the configuration, the metrics in Prometheus' form, and
 * the reports.  A report is complete or absent, reports are limited in number, and they agree
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
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sha256.h"
#include "base/version.h"
#include "generate/generate.h"
#include "history_util.h"
#include "klind/conf.h"
#include "klind/metrics.h"
#include "klind/notify.h"
#include "klind/reports.h"
#include "klind/socket.h"
#include "replayed.h"
#include "tso/engine/tso.h"
#include "watch/flight.h"

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

#define BEGAN "20261128T101112.000013Z"
#define TEN "0123456789"
#define LONG_PATH TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static void test_conf_mistakes(void **state)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{ "", "nothing to watch" },
		{ "[klind]\n", "nothing to watch" },
		{ "memory = 1M\n", "c:1: error: 'memory' is in no section" },
		{ "[spec a]\nmemory 1M\n", "c:2: error: expected KEY = VALUE" },
		{ "[spec a]\n\nmemory = 1\n", "c:3: error: memory = 1: expected bytes" },
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
		  "c:2: error: the key 'reports' belongs into a section [klind]" },
		{ "[klind]\nnothing-like-it = 1\n",
		  "c:2: error: unknown key 'nothing-like-it': expected one of reports" },
		{ "[klind]\nfile = x\n",
		  "c:2: error: the key 'file' belongs into a section [spec NAME]" },
		{ "[klind]\nreports = x\n[spec a]", "c:2: error: reports = x: expected a path" },
		{ "[klind]\nmetrics-socket = m\n[spec a]",
		  "c:2: error: metrics-socket = m: expected" },
		{ "[klind]\nmetrics-socket = /" LONG_PATH "\n[spec a]", "of at most 107 bytes" },
		{ "[klind]\n[spec a]\n[klind]\n", "c:3: error: [klind] already begins in line 1" },
		{ "[spec a]\n[spec a]\n", "c:2: error: [spec a] already begins in line 1" },
		{ "[spec a]\nslots = 1\nslots = 1\n", "c:3: error: slots is already set in line" },
		{ "[spec]\n", "c:1: error: expected [klind], or [spec NAME]" },
		{ "[spec a\n", "expected [klind], or [spec NAME]" },
		{ "[spec ../a]\n", "expected [klind], or [spec NAME]" },
		{ "[spec .a]\n", "expected [klind], or [spec NAME]" },
		{ "[other]\nx = y\n", "c:1: error: expected [klind]" },
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
	/* Each of several mistakes is reported. */
	history_log_start();
	assert_int_equal(klind_conf_parse("c", "[spec a]\nx = 1\n\ny = 2\n", &c), -EINVAL);
	history_log_stop();
	assert_non_null(strstr(history_log, "c:2: "));
	assert_non_null(strstr(history_log, "c:4: "));
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

static int print_counter(FILE *f, const char *path, void *ctx)
{
	int *n = ctx;

	fprintf(f, "counter %d\n", ++*n);
	return 0;
}

static int print_much(FILE *f, const char *path, void *ctx)
{
	int i;

	for (i = 0; i < 1 << 20; i++)
		fputc('x', f);
	return 0;
}

static struct sockaddr_un socket_address(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	return a;
}

static int connected(const char *path)
{
	const struct sockaddr_un a = socket_address(path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static void say(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

/* Read all that has arrived.  Return: true at the end of the stream. */
static bool received(int fd, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n = -1;

	while (len < size - 1 && (n = read(fd, buf + len, size - 1 - len)) > 0)
		len += n;
	buf[len] = '\0';
	return n == 0;
}

/* Notifications reach a socket with a path and an abstract one; without a socket nothing fails. */
static void test_notify_sockets(void **state)
{
	char dir[] = "/tmp/klin-test-XXXXXX", path[64], buf[64];
	struct sockaddr_un a;
	socklen_t len;
	int fd, i;

	assert_non_null(mkdtemp(dir));
	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s%s/notify", i ? "@" : "", dir);
		a = socket_address(path);
		len = offsetof(struct sockaddr_un, sun_path) + strlen(path);
		if (i)
			a.sun_path[0] = '\0';
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
		assert_int_equal(bind(fd, (const struct sockaddr *)&a, len), 0);
		setenv("NOTIFY_SOCKET", path, 1);
		klind_notify("READY=1");
		assert_int_equal(recv(fd, buf, sizeof(buf), 0), 7);
		assert_memory_equal(buf, "READY=1", 7);
		unsetenv("NOTIFY_SOCKET");
		klind_notify("READY=1");
		assert_int_equal(recv(fd, buf, sizeof(buf), 0), -1);
		close(fd);
		unlink(path);
	}
	history_log_start();
	setenv("NOTIFY_SOCKET", path, 1);
	klind_notify("READY=1");
	unsetenv("NOTIFY_SOCKET");
	history_log_stop();
	assert_non_null(strstr(history_log, "cannot report klind's state"));
	assert_int_equal(rmdir(dir), 0);
}

static void test_socket_clients(void **state)
{
	char dir[] = "/tmp/klin-test-XXXXXX", path[64], buf[4096];
	struct klind_socket *s;
	int printed = 0, fd, other;
	uint64_t now = 1;
	struct pollfd p;
	struct stat st;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/metrics", dir);
	assert_int_equal(klind_socket_open(path, print_counter, &printed, &s), 0);
	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | 0660);
	assert_true(klind_socket_poll(s, &p) == UINT64_MAX && p.fd >= 0 && p.events == POLLIN);

	/* A client that sends nothing and closes its side. */
	fd = connected(path);
	shutdown(fd, SHUT_WR);
	klind_socket_work(s, now);
	assert_true(received(fd, buf, sizeof(buf)));
	assert_string_equal(buf, "counter 1\n");
	close(fd);

	/* A client that sends an HTTP request in two pieces. */
	fd = connected(path);
	say(fd, "GET /metrics HTTP/1.1\r\nHost: klind\r\n");
	klind_socket_work(s, now);
	assert_false(received(fd, buf, sizeof(buf)));
	assert_string_equal(buf, "");
	say(fd, "\r\n");
	klind_socket_work(s, now);
	assert_true(received(fd, buf, sizeof(buf)));
	assert_int_equal(strncmp(buf, "HTTP/1.0 200 OK\r\n", 17), 0);
	assert_non_null(strstr(buf, "\r\nContent-Type: text/plain; version=0.0.4\r\n"));
	assert_non_null(strstr(buf, "\r\n\r\ncounter 2\n"));
	close(fd);

	/* A silent client gets its answer after a time-out; a second client waits for it. */
	fd = connected(path);
	other = connected(path);
	say(other, "GET / HTTP/1.1\r\n\r\n");
	klind_socket_work(s, now);
	assert_int_equal(klind_socket_poll(s, &p), now + KLIND_CLIENT_NS / 2);
	assert_false(received(other, buf, sizeof(buf)));
	now += KLIND_CLIENT_NS / 2;
	klind_socket_work(s, now);
	assert_true(received(fd, buf, sizeof(buf)));
	assert_string_equal(buf, "counter 3\n");
	assert_true(received(other, buf, sizeof(buf)));
	assert_non_null(strstr(buf, "counter 4\n"));
	close(fd);
	close(other);

	/* A client that is gone before its answer. */
	fd = connected(path);
	close(fd);
	klind_socket_work(s, now);
	assert_true(klind_socket_poll(s, &p) == UINT64_MAX);
	klind_socket_close(s);
	assert_int_equal(lstat(path, &st), -1);
	assert_int_equal(rmdir(dir), 0);
}

static int print_path(FILE *f, const char *path, void *ctx)
{
	fprintf(f, "<%s>", path);
	return 0;
}

/* The path of a request is handed on; /top, and what is below it, is answered by JSON. */
static void test_socket_paths(void **state)
{
	static const struct {
		const char *request, *path;
		bool json;
	} t[] = {
		{ "GET /top HTTP/1.0\r\n\r\n", "/top", true },
		{ "GET /top?x=1 HTTP/1.0\r\n\r\n", "/top", true },
		{ "GET /top/range HTTP/1.1\r\nHost: a\r\n\r\n", "/top/range", true },
		{ "GET /topmost HTTP/1.0\r\n\r\n", "/topmost", false },
		{ "GET / HTTP/1.0\r\n\r\n", "/", false },
		{ "GET \r\n\r\n", "", false },
		{ "top\n\n", "", false },
	};
	char dir[] = "/tmp/klin-test-XXXXXX", path[64], buf[4096], end[64];
	struct klind_socket *s;
	size_t i;
	int fd;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/metrics", dir);
	assert_int_equal(klind_socket_open(path, print_path, NULL, &s), 0);
	for (i = 0; i < sizeof(t) / sizeof(*t); i++) {
		fd = connected(path);
		say(fd, t[i].request);
		klind_socket_work(s, 1);
		assert_true(received(fd, buf, sizeof(buf)));
		snprintf(end, sizeof(end), "<%s>", t[i].path);
		assert_string_equal(strchr(buf, '<'), end);
		assert_int_equal(strstr(buf, "Content-Type: application/json\r\n") != NULL,
				 t[i].json);
		close(fd);
	}
	klind_socket_close(s);
	assert_int_equal(rmdir(dir), 0);
}

/* A client that does not read its answer is dropped in the end, and blocks nobody. */
static void test_socket_client_does_not_read(void **state)
{
	char dir[] = "/tmp/klin-test-XXXXXX", path[64], *buf = malloc(2 << 20);
	struct klind_socket *s;
	struct pollfd p;
	int fd, other;

	assert_non_null(buf);
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/metrics", dir);
	assert_int_equal(klind_socket_open(path, print_much, NULL, &s), 0);
	fd = connected(path);
	other = connected(path);
	shutdown(fd, SHUT_WR);
	shutdown(other, SHUT_WR);
	klind_socket_work(s, 1);
	assert_int_equal(klind_socket_poll(s, &p), 1 + KLIND_CLIENT_NS);
	assert_int_equal(p.events, POLLOUT);
	klind_socket_work(s, 1 + KLIND_CLIENT_NS);
	received(fd, buf, 2 << 20);
	assert_true(strlen(buf) < 1 << 20);
	/* The next client reads its answer in pieces. */
	assert_false(received(other, buf, 4096));
	while (!received(other, buf, 2 << 20))
		klind_socket_work(s, 2 + KLIND_CLIENT_NS);
	assert_true(klind_socket_poll(s, &p) == UINT64_MAX);
	close(fd);
	close(other);
	klind_socket_close(s);
	assert_int_equal(rmdir(dir), 0);
	free(buf);
}

static void refused(const char *path, int err, const char *message)
{
	struct klind_socket *s;
	int printed = 0;

	history_log_start();
	assert_int_equal(klind_socket_open(path, print_counter, &printed, &s), err);
	history_log_stop();
	if (!strstr(history_log, message))
		fail_msg("'%s' is not in '%s'", message, history_log);
}

/* A dead daemon's socket is replaced; another file, or a socket in use, is not touched. */
static void test_socket_path_in_use(void **state)
{
	char dir[] = "/tmp/klin-test-XXXXXX", path[64], *text;
	struct sockaddr_un a;
	struct klind_socket *s;
	int printed = 0, fd;
	struct stat st;
	size_t len;
	FILE *f;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/metrics", dir);
	a = socket_address(path);

	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&a, sizeof(a)), 0);
	close(fd);
	assert_int_equal(klind_socket_open(path, print_counter, &printed, &s), 0);
	refused(path, -EADDRINUSE, "another process listens on this socket");
	fd = connected(path);
	shutdown(fd, SHUT_WR);
	klind_socket_work(s, 1);
	close(fd);
	/* Connections that only checked whether a daemon runs are answered, too. */
	assert_int_equal(printed, 2);

	/* A file replaces the socket. */
	assert_true(klind_socket_there(s));
	assert_int_equal(unlink(path), 0);
	assert_false(klind_socket_there(s));
	f = fopen(path, "w");
	assert_true(f && fputs("mine", f) >= 0 && !fclose(f));
	assert_false(klind_socket_there(s));
	klind_socket_close(s);
	refused(path, -EADDRINUSE, "exists and is not a socket");
	assert_int_equal(kl_read_file(path, &text, &len), 0);
	assert_string_equal(text, "mine");
	free(text);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("nowhere", path), 0);
	refused(path, -EADDRINUSE, "exists and is not a socket");
	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(unlink(path), 0);
	fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&a, sizeof(a)), 0);
	refused(path, -EADDRINUSE, "is a socket of another type");
	close(fd);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
	refused(path, -ENOENT, "No such file");
	refused("/" LONG_PATH, -EINVAL, "too long for a socket");
}

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
		cmocka_unit_test(test_conf_is_read),
		cmocka_unit_test(test_conf_mistakes),
		cmocka_unit_test(test_metrics_form),
		cmocka_unit_test(test_metrics_file_is_replaced),
		cmocka_unit_test(test_metrics_file_of_another_kind),
		cmocka_unit_test(test_notify_sockets),
		cmocka_unit_test(test_socket_clients),
		cmocka_unit_test(test_socket_paths),
		cmocka_unit_test(test_socket_client_does_not_read),
		cmocka_unit_test(test_socket_path_in_use),
		cmocka_unit_test(test_report_is_complete),
		cmocka_unit_test(test_report_on_failing_disk),
		cmocka_unit_test(test_queue_is_fair),
		cmocka_unit_test(test_old_reports_are_removed),
		cmocka_unit_test(test_failing_removals_are_logged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
