/* SPDX-License-Identifier: GPL-2.0 */
/* Streams of operations without end, of a structure that is really used, in order of return. */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "check/online/online.h"

#define STREAM_THREADS	64

/* How it goes wrong, once. */
enum stream_fault {
	STREAM_RIGHT,
	STREAM_RESULT,	/* another result: a set's opposite, one far inside, an old one */
	STREAM_LOST,	/* what was added never was: it is missing when its turn comes */
	STREAM_AGAIN,	/* what was removed is so once more, what was written over read */
};

struct stream_config {
	enum { STREAM_QUEUE, STREAM_SET, STREAM_PQUEUE, STREAM_STACK, STREAM_REGISTER } type;
	unsigned int threads;	/* at most STREAM_THREADS */
	uint32_t size;		/* keys; values inside, about; values of a register */
	uint64_t seed;
	enum stream_fault fault;
	uint64_t fault_at;	/* operation */
};

struct stream {
	struct stream_config c;
	uint64_t now, seed, nops, added, events;
	struct stream_thread {
		struct kl_val vals[2];
		uint64_t call, word;
		uint8_t step, method;
	} t[STREAM_THREADS];
	uint64_t *inside;	/* a ring, a heap, a stack, flags of keys, or the register */
	uint64_t head, n, cap;
	uint64_t fault_event;	/* calls and returns before it went wrong; 0: not yet */
	uint64_t lost;
	int methods[3];		/* of the spec */
};

/* The name of the specification. */
const char *stream_spec(const struct stream_config *c);
/* 0 or -ENOMEM. */
int stream_init(struct stream *s, const struct stream_config *c, const struct kl_spec *spec);
void stream_free(struct stream *s);
/* The next operation; what it points to stays until its thread's next one. */
void stream_next(struct stream *s, struct kl_online_op *op);
/* At the end: the operation that thread @i is in, pending; false if it is in none. */
bool stream_pending(struct stream *s, unsigned int i, struct kl_online_op *op);
/* All that comes is called at that time or later. */
uint64_t stream_floor(const struct stream *s);

#endif
