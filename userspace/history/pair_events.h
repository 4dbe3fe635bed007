/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations from a list of events, a call or a return each.  The order of the
 * events is all that counts: they are at times 1, 2, ... of an exact clock.
 *
 * Such histories come from programs in which an operation's stores have left the
 * store buffer when it returns, or from machines apart: drain is the return.
 */
#ifndef KL_HISTORY_PAIR_EVENTS_H
#define KL_HISTORY_PAIR_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/history.h"
#include "history/index.h"
#include "history/scan.h"

#define KL_PAIR_VALS	3

/*
 * A process, and the operation that it is in, whose shape is noted in the history once its
 * results are known, or are known not to be; if it has none, when it is called.
 */
struct kl_process {
	uint32_t op;		/* the operation's index + 1, 0: none */
	uint32_t thread;	/* its index; of a place that is free, the next one, as below */
	struct kl_shape shape;
	struct kl_val vals[KL_PAIR_VALS];	/* arguments, then results */
};

struct kl_pairs {
	struct kl_history *h;	/* with an object, that of all operations */
	struct kl_scan *scan;
	/* Those in an operation, and some others: threads may be as many as operations. */
	struct kl_process *process;
	size_t nprocess, cprocess;
	uint32_t *place;	/* by thread: the index + 1 of its process, 0: none */
	size_t cplace;
	uint32_t free;		/* the same of the first that is free */
	uint64_t now;		/* time of the last event */
	struct {
		bool known;
		uint16_t method;
		uint32_t shape;
	} bare;			/* of the last operation that had no values at all */
	size_t dropped;
};

/* A place for the process of this thread; 0, -ENOMEM, -EOVERFLOW. */
int kl_pairs_place(struct kl_pairs *p, size_t thread);

/* The process of this number, good until another one is asked for; 0 or a negative errno. */
static inline int kl_pairs_process(struct kl_pairs *p, uint64_t number, struct kl_process **out)
{
	const int64_t thread = kl_thread_index(p->h, number);
	int ret;

	*out = NULL;
	if (thread < 0)
		return thread;
	if ((size_t)thread >= p->cplace || !p->place[thread]) {
		ret = kl_pairs_place(p, thread);
		if (ret)
			return ret;
	}
	*out = &p->process[p->place[thread] - 1];
	return 0;
}

/**
 * kl_pairs_call() - the next event is a call
 * @p: the events
 * @tok: the event in the input, for messages
 * @process: who calls
 * @s: method and numbers of values, KL_PAIR_VALS at most
 * @args: the arguments
 *
 * Return: 0; -EINVAL after a message when the process has not returned from
 * another operation; another negative errno.
 */
int kl_pairs_call(struct kl_pairs *p, const char *tok, struct kl_process *process,
		  const struct kl_shape *s, const struct kl_val *args);

/**
 * kl_pairs_return() - the next event is a return
 * @p: the events
 * @process: from the operation that it is in
 * @res: its results
 *
 * Return: 0, -ENOMEM, -EOVERFLOW.
 */
int kl_pairs_return(struct kl_pairs *p, struct kl_process *process, const struct kl_val *res);
/* The arguments that its call left open: before its return.  The same. */
int kl_pairs_fill(struct kl_pairs *p, struct kl_process *process, const struct kl_val *args);
/* Its outcome stays unknown: it may have taken effect, or may still do.  The same. */
int kl_pairs_lose(struct kl_pairs *p, struct kl_process *process);
/* It did not happen.  The same. */
int kl_pairs_drop(struct kl_pairs *p, struct kl_process *process);

bool kl_pairs_dropped(const struct kl_op *op);

/* After the last event: finishes the history.  0 or a negative errno. */
int kl_pairs_end(struct kl_pairs *p);
void kl_pairs_free(struct kl_pairs *p);

#endif
