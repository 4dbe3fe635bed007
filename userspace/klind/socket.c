// SPDX-License-Identifier: GPL-2.0
/* Serve klind's counters on a unix socket, see socket.h. */
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
#include "top/wire.h"

#define REQUEST		4096	/* size of the buffer for a request */
#define WAITING		16	/* length of the listen queue */

#define HTTP_OK		"HTTP/1.0 200 OK\r\nContent-Type: %s\r\nConnection: close\r\n\r\n"

struct klind_socket {
	char *path;
	dev_t dev;		/* device and inode number of the socket file */
	ino_t ino;
	int fd;
	klind_print print;
	void *ctx;
	struct {
		int fd;		/* -1: no client */
		uint64_t until;	/* time when the client is dropped, in ns */
		char request[REQUEST];
		size_t asked;	/* number of bytes in @request */
		char *answer;	/* NULL: the request is not complete */
		size_t len, sent;	/* length of @answer; number of bytes sent */
	} client;
};

static int set_address(const char *path, struct sockaddr_un *a)
{
	if (strlen(path) > KLIND_SOCKET_PATH) {
		kl_err("%s: the path is too long for a socket: expected at most %d bytes", path,
		       KLIND_SOCKET_PATH);
		return -EINVAL;
	}
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	memcpy(a->sun_path, path, strlen(path));
	return 0;
}

/*
 * Check that a file at the socket's path is a stale socket of the effective user.
 * Return: 0 if so; -EADDRINUSE after a message if not; another negative errno.
 */
static int check_stale(const struct sockaddr_un *a)
{
	const char *path = a->sun_path;
	struct stat st;
	int fd, err;

	if (lstat(path, &st))
		return -errno;
	if (!S_ISSOCK(st.st_mode)) {
		kl_err("%s exists and is not a socket; remove it or choose another path", path);
		return -EADDRINUSE;
	}
	if (st.st_uid != geteuid()) {
		kl_err("%s is another user's socket; remove it or choose another path", path);
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
		kl_err("%s: another process listens on this socket; stop that process or choose "
		       "another path", path);
	else if (err == EPROTOTYPE)
		kl_err("%s is a socket of another type; remove it or choose another path", path);
	else
		kl_err("%s: cannot find out whether a process listens on this socket: %s; remove "
		       "it or choose another path", path, strerror(err));
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
	/*
	 * If another process bound the path meanwhile, return -EBUSY: the caller takes -EADDRINUSE
	 * to mean that a message was printed.
	 */
	return errno == EADDRINUSE ? -EBUSY : -errno;
}

/*
 * Record the identity of the bound socket, and set its mode to 0660 whatever the umask is.
 * Another user may have replaced the socket meanwhile.  So open it without following links, and
 * change the mode of the opened file only.
 *
 * Return: 0; -ESTALE if the file is no socket of the effective user; another negative errno.
 */
static int secure_socket(struct klind_socket *s)
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

int klind_socket_open(const char *path, klind_print print, void *ctx, struct klind_socket **out)
{
	struct klind_socket *s = calloc(1, sizeof(*s));
	struct sockaddr_un a;
	int err;

	if (!s)
		return -ENOMEM;
	s->fd = s->client.fd = -1;
	s->print = print;
	s->ctx = ctx;
	err = set_address(path, &a);
	if (err)
		goto err_free;
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	/* bind() applies this mode and the umask, so no other user can connect early. */
	err = s->fd < 0 || fchmod(s->fd, 0660) ? -errno : bind_to(s->fd, &a);
	if (err)
		goto err_say;
	s->path = strdup(path);
	if (!s->path) {
		unlink(path);
		err = -ENOMEM;
		goto err_say;
	}
	err = secure_socket(s);
	if (!err && listen(s->fd, WAITING))
		err = -errno;
	if (err)
		goto err_say;
	*out = s;
	return 0;

err_say:
	if (err != -EADDRINUSE)
		kl_err("cannot open the metrics socket %s: %s", path, strerror(-err));
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

	/* The bound socket keeps its inode, so no other file can get its number. */
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

/*
 * Read the request.  @http: gets true if it begins with GET.
 *
 * Return: true if the request is complete: it ends with an empty line or the end of the stream, it
 * fills the buffer, or half of the client's time is over.
 */
static bool read_request(struct klind_socket *s, uint64_t now, bool *http)
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

bool klind_socket_json(const char *path)
{
	const size_t len = strlen(TOP_PATH);

	return !strncmp(path, TOP_PATH, len) && (!path[len] || path[len] == '/');
}

static int make_answer(struct klind_socket *s, bool http)
{
	char *path = s->client.request + (http ? strlen("GET ") : s->client.asked);
	struct kl_memstream m;
	int err = kl_memstream_open(&m), ret;

	if (err)
		return err;
	path[strcspn(path, " ?\r\n")] = '\0';
	if (http)
		fprintf(m.f, HTTP_OK, klind_socket_json(path) ? "application/json" :
			"text/plain; version=0.0.4");
	err = s->print(m.f, path, s->ctx);
	ret = kl_memstream_close(&m, &s->client.answer, &s->client.len);
	return ret ? ret : err;
}

/* Return: true if the client needs more time; false if it is served, failed, or too slow. */
static bool serve_client(struct klind_socket *s, uint64_t now)
{
	bool http;
	ssize_t n;

	if (now >= s->client.until)
		return false;
	if (!s->client.answer) {
		if (!read_request(s, now, &http))
			return true;
		if (make_answer(s, http))
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

	/* Serve a bounded number of clients in one call, so that the caller's loop goes on. */
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
