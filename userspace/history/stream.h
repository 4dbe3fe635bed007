/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A history that is read while it grows: a file that is being written, or a pipe; in
 * the text form or in .klh.  What has been read is handed out and forgotten.
 *
 * What has come says what may still come: in .klh each block has its floor; in the
 * text form lines are in order of calls, unless a header line `# floor TIME' says that
 * every operation still to come is called at that time or later; then only these count.
 */
#ifndef KL_HISTORY_STREAM_H
#define KL_HISTORY_STREAM_H

#include "history/history.h"

struct kl_stream;

enum kl_stream_state {
	KL_STREAM_MORE,		/* something came */
	KL_STREAM_WAIT,		/* nothing has come by now */
	KL_STREAM_END,		/* no more will come, and the history is whole */
	KL_STREAM_CUT,		/* no more will come, but its end is missing */
};

/**
 * kl_stream_open() - begin to read
 * @path: the file, "-" for standard input
 * @out: the stream
 *
 * Return: 0; -EINVAL after a message; -ENOMEM without one.
 */
int kl_stream_open(const char *path, struct kl_stream **out);
void kl_stream_close(struct kl_stream *s);

/**
 * kl_stream_read() - read what has come
 * @s: the stream
 * @state: enum kl_stream_state
 *
 * Waits a moment if there is nothing.  Forgets the operations and gaps of the last time, but
 * that gaps stay until there is an operation.
 *
 * Return: 0; -EINVAL after a message; another negative errno.
 */
int kl_stream_read(struct kl_stream *s, enum kl_stream_state *state);

/*
 * What came last, its operations in the order in which they came.  Clock, first state
 * and specification are known once there is an operation or the end.
 */
const struct kl_history *kl_stream_history(const struct kl_stream *s);
/* Has the header been read? */
bool kl_stream_begun(const struct kl_stream *s);
/*
 * Every operation still to come is called at that time or later, says the history itself;
 * @sure: in so many words, and not by the order of its lines.
 */
uint64_t kl_stream_floor(const struct kl_stream *s, bool *sure);

#endif
