// SPDX-License-Identifier: GPL-2.0
/* A history that arrives in pieces, as `klin monitor' reads it, see fuzz.h. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "history/klh.h"
#include "history/stream.h"
#include "selftests/fuzz/fuzz.h"

#define PIECES	12	/* maximum number of pieces; a pipe holds 16 */
#define PIECE	4096	/* maximum size of a piece, up to which writes to a pipe are atomic */

/*
 * Open a pipe from which each read() gets one piece.  Return: its descriptor, or -1 if the
 * pipe has too little room.
 */
static int open_pieces(const uint8_t *data, size_t size, char *path, size_t room)
{
	const size_t piece = size / PIECES + 1;
	size_t at, n;
	int fd[2];

	if (size > PIECES * (PIECE - 1))
		return -1;
	if (pipe2(fd, O_CLOEXEC | O_DIRECT | O_NONBLOCK))
		fuzz_broken("cannot make a pipe");
	for (at = 0; at < size; at += n) {
		n = size - at < piece ? size - at : piece;
		if (write(fd[1], data + at, n) != (ssize_t)n)
			fuzz_broken("cannot write to a pipe");
	}
	close(fd[1]);
	snprintf(path, room, "/proc/self/fd/%d", fd[0]);
	return fd[0];
}

/* No operation may be called before @floor, which the .klh promised before it arrived. */
static void look(const struct kl_history *h, uint64_t floor)
{
	size_t i;

	for (i = 0; i < h->nops; i++)
		if (h->ops[i].call < floor)
			fuzz_broken("an operation is called before the floor");
}

bool fuzz_stream(const uint8_t *data, size_t size, size_t *nops)
{
	enum kl_stream_state state = KL_STREAM_WAIT;
	const bool klh = kl_klh_is((const char *)data, size);
	uint64_t floor = KL_TIME_MIN;
	struct kl_stream *s;
	char path[64];
	bool sure;
	int fd = open_pieces(data, size, path, sizeof(path)), ret;

	*nops = 0;
	if (fd < 0)
		return false;
	if (kl_stream_open(path, &s))
		fuzz_broken("cannot open a pipe");
	do {
		ret = kl_stream_read(s, &state);
		if (!ret && kl_stream_history(s)) {
			look(kl_stream_history(s), floor);
			*nops += kl_stream_history(s)->nops;
			floor = kl_stream_floor(s, &sure);
			/* In a text the check takes an operation below a stated floor as late. */
			if (!sure || !klh)
				floor = KL_TIME_MIN;
		}
	} while (!ret && (state == KL_STREAM_MORE || state == KL_STREAM_WAIT));
	kl_stream_close(s);
	close(fd);
	return !ret && state == KL_STREAM_END;
}
