/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads a history while it grows, from a file that is being written or from a pipe, in the text
 * form or in .klh.  Operations are handed out once and dropped.
 *
 * The input bounds the calls of later operations from below.  In .klh each block has a floor.
 * Lines of the text form are in order of call; with header lines `# floor TIME' only these are
 * the bound.
 */
#ifndef KL_HISTORY_STREAM_H
#define KL_HISTORY_STREAM_H

#include "history/history.h"

struct kl_stream;

enum kl_stream_state {
	KL_STREAM_MORE,	/* there is new input */
	KL_STREAM_WAIT,	/* there is no new input yet */
	KL_STREAM_END,	/* the input has ended, and the history is whole */
	KL_STREAM_CUT,	/* the input has ended, but the end of the history is missing */
};

/**
 * kl_stream_open() - begin to read
 * @path: the file, "-" for standard input
 * @out: the stream
 *
 * Return: 0, -EINVAL after a message, or -ENOMEM without a message.
 */
int kl_stream_open(const char *path, struct kl_stream **out);
void kl_stream_close(struct kl_stream *s);

/**
 * kl_stream_read() - read new input
 * @s: the stream
 * @state: enum kl_stream_state
 *
 * The function waits for a moment if there is no input.  It drops the operations and gaps of the
 * last call, but keeps gaps until there is an operation.
 *
 * Return: 0, -EINVAL after a message, or another negative errno.
 */
int kl_stream_read(struct kl_stream *s, enum kl_stream_state *state);

/*
 * The operations of the last call, in the order of the input.  Clock, first state and spec are
 * known after the first operation or the end.
 */
const struct kl_history *kl_stream_history(const struct kl_stream *s);
/* Has the header been read? */
bool kl_stream_begun(const struct kl_stream *s);
/*
 * A lower bound of the calls of later operations.  @sure: it is stated explicitly, and not only by
 * the order of the lines.
 */
uint64_t kl_stream_floor(const struct kl_stream *s, bool *sure);

#endif
