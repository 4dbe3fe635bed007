/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Serve klind's counters on a unix socket.  Each client gets the current counters in Prometheus'
 * text format, and then the connection is closed.  A client that sends an HTTP GET gets an HTTP
 * response; with the path /top, or one below it, JSON for `klin top', see top/wire.h.  Clients are
 * served one at a time; the others wait in the listen queue.  Apart from klind_socket_open(), the
 * functions never block.
 */
#ifndef KLIND_SOCKET_H
#define KLIND_SOCKET_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define KLIND_SOCKET_PATH	107	/* maximal length of a path, in bytes */
#define KLIND_CLIENT_NS		2000000000ull	/* maximal time of one client, in ns */

struct klind_socket;

/*
 * Print an answer to @f.  @path: the path of an HTTP request; empty: the client sent another text.
 * Return: 0 or a negative errno.
 */
typedef int (*klind_print)(FILE *f, const char *path, void *ctx);

/**
 * klind_socket_open() - create a socket and listen
 * @path: path of the socket; a stale socket of a dead daemon is replaced, any other file is kept
 * @print: prints the answers
 * @ctx: argument of @print
 * @out: gets the socket; the caller frees it by klind_socket_close()
 *
 * The socket's mode is 0660: its owner and its group may connect.
 *
 * Return: 0, or a negative errno after a message.
 */
int klind_socket_open(const char *path, klind_print print, void *ctx, struct klind_socket **out);
/* Return: true if the answer to this path is JSON; else it has Prometheus' text format. */
bool klind_socket_json(const char *path);

/* Return: true if the socket's path still leads to the socket, so that clients can connect. */
bool klind_socket_there(const struct klind_socket *s);

/* Close the socket, and remove its path unless another file has replaced it. */
void klind_socket_close(struct klind_socket *s);

/**
 * klind_socket_poll() - prepare a poll() for the next event of the socket
 * @s: the socket
 * @p: gets the descriptor and its events
 *
 * Return: the latest time to call klind_socket_work(), in ns of the clock of its @now; UINT64_MAX
 * if there is no deadline.
 */
uint64_t klind_socket_poll(const struct klind_socket *s, struct pollfd *p);

/* Accept, read and send as far as possible without blocking.  @now: monotonic time, in ns. */
void klind_socket_work(struct klind_socket *s, uint64_t now);

#endif
