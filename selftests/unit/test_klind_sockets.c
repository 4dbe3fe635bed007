// SPDX-License-Identifier: GPL-2.0
/* The socket that serves klind's metrics, and the one that says when klind is ready. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "history_util.h"
#include "klind/notify.h"
#include "klind/socket.h"

#define TEN "0123456789"
#define LONG_PATH TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notify_sockets),
		cmocka_unit_test(test_socket_clients),
		cmocka_unit_test(test_socket_paths),
		cmocka_unit_test(test_socket_client_does_not_read),
		cmocka_unit_test(test_socket_path_in_use),
	};

	return cmocka_run_group_tests_name("klind_sockets", tests, NULL, NULL);
}
