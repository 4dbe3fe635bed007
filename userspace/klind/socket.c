// SPDX-License-Identifier: GPL-2.0
/* klind's counters by a unix socket, see socket.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "base/memstream.h"
#include "klind/socket.h"

#define REQUEST		4096	/* bytes of a request that are looked at */
#define WAITING		16	/* clients in the queue */

static const char http_ok[] =
	"HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nConnection: close\r\n\r\n";

struct klind_socket {
	char *path;
	dev_t dev;		/* of what was bound there */
	ino_t ino;
	int fd;
	int (*print)(FILE *f, void *ctx);
	void *ctx;
	struct {
		int fd;		/* -1: there is none */
		uint64_t until;
		char request[REQUEST];
		size_t asked;	/* bytes of it */
		char *answer;	/* NULL: the request is not whole */
		size_t len, sent;
	} client;
};

static int address(const char *path, struct sockaddr_un *a)
{
	if (strlen(path) > KLIND_SOCKET_PATH) {
		kl_err("%s: too long for a socket: expected at most %d bytes", path,
		       KLIND_SOCKET_PATH);
		return -EINVAL;
	}
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	memcpy(a->sun_path, path, strlen(path));
	return 0;
}

/* Is it a socket of ours on which nobody listens any longer?  -EADDRINUSE if not. */
static int check_stale(const struct sockaddr_un *a)
{
	const char *path = a->sun_path;
	struct stat st;
	int fd, err;

	if (lstat(path, &st))
		return -errno;
	if (!S_ISSOCK(st.st_mode)) {
		kl_err("%s is there already and is no socket: it is left alone", path);
		return -EADDRINUSE;
	}
	if (st.st_uid != geteuid()) {
		kl_err("%s is another user's socket: it is left alone", path);
		return -EADDRINUSE;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	err = connect(fd, (const struct sockaddr *)a, sizeof(*a)) ? errno : 0;
	close(fd);
	if (err == ECONNREFUSED)
		return 0;
	if (!err || err == EAGAIN)
		kl_err("%s: somebody is listening there", path);
	else if (err == EPROTOTYPE)
		kl_err("%s is a socket of another kind: it is left alone", path);
	else
		kl_err("%s is left alone: whether somebody listens there cannot be told: %s", path,
		       strerror(err));
	return -EADDRINUSE;
}

static int bind_to(int fd, const struct sockaddr_un *a)
{
	int err;

	if (!bind(fd, (const struct sockaddr *)a, sizeof(*a)))
		return 0;
	if (errno != EADDRINUSE)
		return -errno;
	err = check_stale(a);
	if (err)
		return err;
	if (unlink(a->sun_path))
		return -errno;
	if (!bind(fd, (const struct sockaddr *)a, sizeof(*a)))
		return 0;
	/* Somebody was faster; that is still to be said. */
	return errno == EADDRINUSE ? -EBUSY : -errno;
}

/*
 * Note what was bound, and let the owner and the group connect, whatever the umask is.
 * Not with what has been put in its place meanwhile: no link is followed.
 */
static int own(struct klind_socket *s)
{
	char proc[40];
	struct stat st;
	int fd = open(s->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int err = -ESTALE;

	if (fd < 0)
		return -errno;
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	if (!fstat(fd, &st) && S_ISSOCK(st.st_mode) && st.st_uid == geteuid()) {
		s->dev = st.st_dev;
		s->ino = st.st_ino;
		err = chmod(proc, 0660) ? -errno : 0;
	}
	close(fd);
	return err;
}

int klind_socket_open(const char *path, int (*print)(FILE *f, void *ctx), void *ctx,
		      struct klind_socket **out)
{
	struct klind_socket *s = calloc(1, sizeof(*s));
	struct sockaddr_un a;
	int err;

	if (!s)
		return -ENOMEM;
	s->fd = s->client.fd = -1;
	s->print = print;
	s->ctx = ctx;
	err = address(path, &a);
	if (err)
		goto err_free;
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	/* What is bound has this mode, but for the umask: nobody connects too early. */
	err = s->fd < 0 || fchmod(s->fd, 0660) ? -errno : bind_to(s->fd, &a);
	if (err)
		goto err_say;
	s->path = strdup(path);
	if (!s->path) {
		unlink(path);
		err = -ENOMEM;
		goto err_say;
	}
	err = own(s);
	if (!err && listen(s->fd, WAITING))
		err = -errno;
	if (err)
		goto err_say;
	*out = s;
	return 0;

err_say:
	if (err != -EADDRINUSE)
		kl_err("no socket for metrics at %s: %s", path, strerror(-err));
err_free:
	klind_socket_close(s);
	return err;
}

static void drop_client(struct klind_socket *s)
{
	if (s->client.fd >= 0)
		close(s->client.fd);
	free(s->client.answer);
	memset(&s->client, 0, sizeof(s->client));
	s->client.fd = -1;
}

bool klind_socket_there(const struct klind_socket *s)
{
	struct stat st;

	/* While it is open no other file gets its number. */
	return !lstat(s->path, &st) && st.st_dev == s->dev && st.st_ino == s->ino;
}

void klind_socket_close(struct klind_socket *s)
{
	if (!s)
		return;
	drop_client(s);
	if (s->path && klind_socket_there(s))
		unlink(s->path);
	if (s->fd >= 0)
		close(s->fd);
	free(s->path);
	free(s);
}

uint64_t klind_socket_poll(const struct klind_socket *s, struct pollfd *p)
{
	if (s->client.fd < 0) {
		*p = (struct pollfd){ .fd = s->fd, .events = POLLIN };
		return UINT64_MAX;
	}
	*p = (struct pollfd){ .fd = s->client.fd, .events = s->client.answer ? POLLOUT : POLLIN };
	return s->client.until - (s->client.answer ? 0 : KLIND_CLIENT_NS / 2);
}

/* Has it said all that it wants?  Whoever says nothing and stays has until half its time. */
static bool asked(struct klind_socket *s, uint64_t now, bool *http)
{
	char *text = s->client.request;
	bool end = false;
	ssize_t n;

	while (s->client.asked < REQUEST - 1) {
		n = read(s->client.fd, text + s->client.asked, REQUEST - 1 - s->client.asked);
		if (n < 0 && errno == EINTR)
			continue;
		end = n == 0 || (n < 0 && errno != EAGAIN);
		if (n <= 0)
			break;
		s->client.asked += n;
	}
	*http = !strncmp(text, "GET ", 4);
	return end || s->client.asked == REQUEST - 1 || strstr(text, "\r\n\r\n") ||
	       strstr(text, "\n\n") || now + KLIND_CLIENT_NS / 2 >= s->client.until;
}

static int answer(struct klind_socket *s, bool http)
{
	struct kl_memstream m;
	int err = kl_memstream_open(&m), ret;

	if (err)
		return err;
	if (http)
		fputs(http_ok, m.f);
	err = s->print(m.f, s->ctx);
	ret = kl_memstream_close(&m, &s->client.answer, &s->client.len);
	return ret ? ret : err;
}

/* False when it is done with, one way or the other. */
static bool serve_client(struct klind_socket *s, uint64_t now)
{
	bool http;
	ssize_t n;

	if (now >= s->client.until)
		return false;
	if (!s->client.answer) {
		if (!asked(s, now, &http))
			return true;
		if (answer(s, http))
			return false;
	}
	while (s->client.sent < s->client.len) {
		n = send(s->client.fd, s->client.answer + s->client.sent,
			 s->client.len - s->client.sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		s->client.sent += n;
	}
	return false;
}

void klind_socket_work(struct klind_socket *s, uint64_t now)
{
	unsigned int i;

	/* Not more than wait in the queue: who calls has other things to do. */
	for (i = 0; i < WAITING; i++) {
		if (s->client.fd < 0) {
			s->client.fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
			if (s->client.fd < 0)
				return;
			s->client.until = now + KLIND_CLIENT_NS;
		}
		if (serve_client(s, now))
			return;
		drop_client(s);
	}
}
