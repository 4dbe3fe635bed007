/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads a history while it grows, from a file that is being written or from a pipe, in the text
 * form or in .klh, or a log of another program by a reader of its own.  Operations are handed out
 * once and dropped.
 *
 * The input gives a lower bound of the calls of later operations.  In .klh each block has a floor.
 * Lines of the text form are in order of call; if there are header lines `# floor TIME', only these
 * lines give the bound.
 */
#ifndef KL_HISTORY_STREAM_H
#define KL_HISTORY_STREAM_H

#include "history/history.h"

struct kl_stream;

/* number of signatures from which kl_history_renew() removes unused ones */
#define KL_STREAM_OPSIGS 65536

/*
 * A reader of logs of other programs.  Functions return 0, -EINVAL after a message, or another
 * negative errno, unless they say something else.
 */
struct kl_stream_log {
	/* Return: 1 if the text may be such a log, 0 if not, -EAGAIN if more text is needed. */
	int (*is)(struct kl_stream_log *log, const char *text, size_t len, bool end);
	/* Read the first @used bytes of the text; all if the log has an @end. */
	int (*read)(struct kl_stream_log *log, const char *text, size_t len, bool end,
		    size_t *used);
	/* Drop the operations of the last read(). */
	int (*forget)(struct kl_stream_log *log);
	struct kl_history *(*history)(struct kl_stream_log *log);
	/* Return: as kl_stream_floor(). */
	uint64_t (*floor)(struct kl_stream_log *log, bool *sure);
	/* Return: true if the text itself says that it has ended. */
	bool (*ended)(struct kl_stream_log *log);
	void (*free)(struct kl_stream_log *log);
};

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
/* Read logs that have none of klin's own forms by @log, which the stream frees. */
void kl_stream_use(struct kl_stream *s, struct kl_stream_log *log);

/*
 * Return: what ends the input, in words, besides an interrupt; "" if only an interrupt does; or NULL
 * if the input is no file, and ends by itself.
 */
const char *kl_stream_ends_by(const struct kl_stream *s);

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
