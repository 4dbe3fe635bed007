/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads a history while it grows, from a file that is being written or from a pipe, in the text
 * form or in .klh.  Operations are handed out once and dropped.
 *
 * The input gives a lower bound of the calls of later operations.  In .klh each block has a floor.
 * Lines of the text form are in order of call; if there are header lines `# floor TIME', only these
 * lines give the bound.
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
 * kl_stream_open() - begin to read a growing history
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
 * last call, except that gaps before the first operation are kept until there is an operation.
 *
 * Return: 0, -EINVAL after a message, or another negative errno.
 */
int kl_stream_read(struct kl_stream *s, enum kl_stream_state *state);

/*
 * Return: the history with the operations of the last kl_stream_read(), in the order of the input.
 * Its clock, first state and spec are valid after the first operation or the end.
 */
const struct kl_history *kl_stream_history(const struct kl_stream *s);
/* Return: true if the form is known and, for .klh, the header has been read. */
bool kl_stream_begun(const struct kl_stream *s);
/*
 * Return: a lower bound of the calls of later operations.  @sure becomes true if the input states
 * the bound, and false if the bound follows from the order of the lines.
 */
uint64_t kl_stream_floor(const struct kl_stream *s, bool *sure);

#endif
