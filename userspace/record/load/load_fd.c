// SPDX-License-Identifier: GPL-2.0
/*
 * Loads on files of words: eventfd, pipe and sockets.  Some threads write, the others read, and no
 * thread waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "record/load/load_user.h"

struct unique {
	int in, out;
};

static int keep_ends(int in, int out, void **priv)
{
	struct unique *e = malloc(sizeof(*e));

	if (!e)
		return -ENOMEM;
	*e = (struct unique){ in, out };
	*priv = e;
	return 0;
}

/*
 * Write in every second thread, read in the others.  A read that finds nothing counts as an
 * operation; a refused write counts only if @counts is set.  Return: the number of operations, or a
 * negative errno.
 */
static int write_or_read(struct kl_user_task *t, uint64_t value, bool counts)
{
	const struct unique *e = t->priv;
	bool writes = t->index % 2 == 0;
	ssize_t n;

	if (writes)
		n = write(e->in, &value, sizeof(value));
	else
		n = read(e->out, &value, sizeof(value));
	if (n < 0 && errno != EAGAIN)
		return -errno;
	if (n >= 0 || !writes || counts)
		return 1;
	sched_yield();
	return 0;
}

static int step_value(struct kl_user_task *t)
{
	return write_or_read(t, kl_user_value(t), false);
}

enum { EVENTFD_SEMAPHORE };

static const char eventfd_help[] = "threads that write and read an eventfd; semaphore=0";

static int eventfd_setup(const uint64_t *number, void **priv)
{
	int fd = eventfd(0, EFD_NONBLOCK | (number[EVENTFD_SEMAPHORE] ? EFD_SEMAPHORE : 0));

	return fd < 0 ? -errno : keep_ends(fd, fd, priv);
}

/* Add small numbers, and sometimes nearly the maximum, so that a write is refused. */
static int eventfd_step(struct kl_user_task *t)
{
	return write_or_read(t, kl_user_below(t, 1000) ? 1 + kl_user_below(t, 3) :
			     UINT64_MAX - 2, true);
}

static const struct kl_user_kind eventfd_kind = {
	.name = "eventfd", .tasks = 4, .setup = eventfd_setup, .step = eventfd_step,
	.numbers = { [EVENTFD_SEMAPHORE] = { "semaphore", 0, 1, 0 } },
};
KL_USER_LOAD(eventfd);

static const char pipe_help[] = "threads that write and read a pipe, 8 bytes at a time";

static int pipe_setup(const uint64_t *number, void **priv)
{
	int fds[2];

	if (pipe2(fds, O_NONBLOCK))
		return -errno;
	return keep_ends(fds[1], fds[0], priv);
}

static const struct kl_user_kind pipe_kind = {
	.name = "pipe", .tasks = 4, .setup = pipe_setup, .step = step_value,
};
KL_USER_LOAD(pipe);

static const char unix_dgram_help[] =
	"threads that send and receive 8 bytes through a pair of unix sockets";

static int unix_dgram_setup(const uint64_t *number, void **priv)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, fds))
		return -errno;
	return keep_ends(fds[0], fds[1], priv);
}

static const struct kl_user_kind unix_dgram_kind = {
	.name = "unix_dgram", .tasks = 4, .setup = unix_dgram_setup, .step = step_value,
};
KL_USER_LOAD(unix_dgram);
