/* SPDX-License-Identifier: GPL-2.0 */
/* A client of klind's socket that never blocks, so that the screen obeys keys meanwhile. */
#ifndef KL_TOP_CLIENT_H
#define KL_TOP_CLIENT_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "top/row.h"

#define TOP_CLIENT_NS	5000000000ull	/* maximal time of a request, in ns */

struct top_client {
	const char *path;	/* path of the socket */
	int fd;			/* -1: no request is under way */
	uint64_t until;		/* time when the request is given up, in ns */
	char request[TOP_NAME + 64];
	size_t asked;		/* number of bytes of @request that were sent */
	char *answer;
	size_t len, cap;	/* number of bytes in @answer, and its size */
	const char *body;	/* after top_client_work() returned 1: the JSON text in @answer */
	size_t body_len;
};

/* Prepare a client of the socket @path, which must stay valid. */
void top_client_init(struct top_client *c, const char *path);
void top_client_free(struct top_client *c);

/**
 * top_client_start() - connect and begin a request
 * @c: a client without a request under way
 * @name: the structure whose story is wanted; NULL: the counters of all structures
 * @now: monotonic time, in ns
 *
 * Return: 0 or a negative errno.
 */
int top_client_start(struct top_client *c, const char *name, uint64_t now);

/* Prepare a poll() for the request; without a request @p has no descriptor. */
void top_client_poll(const struct top_client *c, struct pollfd *p);

/**
 * top_client_work() - send and receive as far as possible
 * @c: a client with a request under way
 * @now: monotonic time, in ns
 *
 * Return: 1 if the answer is complete, 0 if not; a negative errno: -ETIMEDOUT, -EMSGSIZE if the
 * answer is too long, -EPROTO if it is none of klind's, -ENOTSUP if klind knows no such request.
 */
int top_client_work(struct top_client *c, uint64_t now);

/* Return: the sentence for an error of a request. */
const char *top_client_error(int err);

#endif
