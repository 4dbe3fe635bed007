// SPDX-License-Identifier: GPL-2.0
/* A client of klind's socket, see client.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "top/client.h"
#include "top/wire.h"

#define PIECE	(64u << 10)	/* size of the room for one read() */

void top_client_init(struct top_client *c, const char *path)
{
	*c = (struct top_client){ .path = path, .fd = -1 };
}

static void end_request(struct top_client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

void top_client_free(struct top_client *c)
{
	end_request(c);
	free(c->answer);
	c->answer = NULL;
	c->cap = 0;
}

int top_client_start(struct top_client *c, const char *name, uint64_t now)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int err;

	if (strlen(c->path) >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	memcpy(a.sun_path, c->path, strlen(c->path));
	snprintf(c->request, sizeof(c->request), "GET " TOP_PATH "%s%s HTTP/1.0\r\n\r\n",
		 name ? "/" : "", name ? name : "");
	c->asked = c->len = 0;
	c->until = now + TOP_CLIENT_NS;
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (c->fd < 0)
		return -errno;
	if (!connect(c->fd, (const struct sockaddr *)&a, sizeof(a)))
		return 0;
	err = -errno;
	end_request(c);
	return err;
}

void top_client_poll(const struct top_client *c, struct pollfd *p)
{
	*p = (struct pollfd){
		.fd = c->fd,
		.events = c->fd >= 0 && c->asked < strlen(c->request) ? POLLOUT : POLLIN,
	};
}

static int send_request(struct top_client *c)
{
	const size_t len = strlen(c->request);
	ssize_t n;

	while (c->asked < len) {
		n = send(c->fd, c->request + c->asked, len - c->asked, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		c->asked += n;
	}
	return 0;
}

/* Return: 1 at the end of the stream, 0 if more may come, or a negative errno. */
static int receive(struct top_client *c)
{
	ssize_t n;

	for (;;) {
		if (c->len > TOP_ANSWER)
			return -EMSGSIZE;
		if (kl_grow(c->answer, c->cap, c->len + PIECE))
			return -ENOMEM;
		n = read(c->fd, c->answer + c->len, PIECE - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		if (!n)
			return 1;
		c->len += n;
	}
}

/* Find the body of an HTTP response.  Return: 1; -EPROTO or -ENOTSUP as top_client_work(). */
static int find_body(struct top_client *c)
{
	char *end;

	c->answer[c->len] = '\0';
	end = strstr(c->answer, "\r\n\r\n");
	if (strncmp(c->answer, "HTTP/1.0 200 ", 13) || !end)
		return -EPROTO;
	*end = '\0';
	if (!strcasestr(c->answer, "\r\nContent-Type: application/json"))
		return -ENOTSUP;
	c->body = end + 4;
	c->body_len = c->answer + c->len - c->body;
	return 1;
}

int top_client_work(struct top_client *c, uint64_t now)
{
	int ret = now >= c->until ? -ETIMEDOUT : send_request(c);

	if (!ret)
		ret = receive(c);
	if (!ret)
		return 0;
	end_request(c);
	return ret < 0 ? ret : find_body(c);
}

const char *top_client_error(int err)
{
	switch (-err) {
	case EPROTO:
		return "the answer is not klind's";
	case ENOTSUP:
		return "this klind has no " TOP_PATH "; restart it after an update";
	case EMSGSIZE:
		return "the answer is too long";
	case ETIMEDOUT:
		return "no answer in 5 seconds";
	case ENOENT:
	case ECONNREFUSED:
		return "klind does not run, or has no metrics-socket here";
	case EAGAIN:
		return "too many clients wait for klind";
	default:
		return strerror(-err);
	}
}
