/* SPDX-License-Identifier: GPL-2.0 */
/*
 * klind's counters by a unix socket: whoever connects gets them as they are then, in
 * Prometheus' text format, and the end of the file; as an answer of HTTP to whoever asks
 * with a GET.  One client at a time, others wait in the queue; nothing blocks.
 */
#ifndef KLIND_SOCKET_H
#define KLIND_SOCKET_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define KLIND_SOCKET_PATH	107	/* bytes of a path, at most */
#define KLIND_CLIENT_NS		2000000000ull	/* who takes longer is dropped */

struct klind_socket;

/**
 * klind_socket_open() - listen
 * @path: where; what is left there of a daemon that died is replaced, nothing else is
 * @print: writes the counters, 0 or a negative errno
 * @ctx: for @print
 * @out: to be given to klind_socket_close()
 *
 * The owner and the group may connect.
 *
 * Return: 0, or a negative errno after a message.
 */
int klind_socket_open(const char *path, int (*print)(FILE *f, void *ctx), void *ctx,
		      struct klind_socket **out);

/* Is it still where it was bound, so that somebody can connect? */
bool klind_socket_there(const struct klind_socket *s);

/* Stop, and remove the socket, unless something else is in its place. */
void klind_socket_close(struct klind_socket *s);

/**
 * klind_socket_poll() - what to wait for
 * @s: the socket
 * @p: set for poll()
 *
 * Return: by when to call klind_socket_work() at the latest, by the clock of its @now;
 * UINT64_MAX: as poll() says.
 */
uint64_t klind_socket_poll(const struct klind_socket *s, struct pollfd *p);

/* Do what can be done at once; @now in ns of a monotonic clock. */
void klind_socket_work(struct klind_socket *s, uint64_t now);

#endif
