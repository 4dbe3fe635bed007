/* SPDX-License-Identifier: GPL-2.0 */
/* Endless streams of operations of a real structure, in order of return. */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "check/online/online.h"

#define STREAM_THREADS	64

/* The single fault of a stream. */
enum stream_fault {
	STREAM_RIGHT,
	/* a wrong result: the opposite (set), an old value (register), or an element far inside */
	STREAM_RESULT,
	STREAM_LOST,	/* an added element is missing when its turn comes */
	STREAM_AGAIN,	/* a removed element is removed again, or an overwritten value is read */
};

struct stream_config {
	enum { STREAM_QUEUE, STREAM_SET, STREAM_PQUEUE, STREAM_STACK, STREAM_REGISTER } type;
	unsigned int threads;	/* at most STREAM_THREADS */
	/* number of keys, approximate number of elements, or number of values of a register */
	uint32_t size;
	uint64_t seed;
	enum stream_fault fault;
	uint64_t fault_at;	/* number of the operation with the fault */
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
	uint64_t fault_event;	/* number of calls and returns before the fault; 0: not yet */
	uint64_t lost;
	int methods[3];		/* method numbers of the spec */
};

/* Return: the name of the specification. */
const char *stream_spec(const struct stream_config *c);
/* Return: 0 or -ENOMEM. */
int stream_init(struct stream *s, const struct stream_config *c, const struct kl_spec *spec);
void stream_free(struct stream *s);
/* Get the next operation; its pointers are valid until the thread's next operation. */
void stream_next(struct stream *s, struct kl_online_op *op);
/* At the end: get the pending operation of thread @i.  Return: false if it has none. */
bool stream_pending(struct stream *s, unsigned int i, struct kl_online_op *op);
/* Return: a time at or after which all later operations are called. */
uint64_t stream_floor(const struct stream *s);

#endif
