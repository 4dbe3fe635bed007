/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes operations from a list of calls and returns.  The events get the times 1, 2, ... of an
 * exact clock, in their order.
 *
 * Such histories come from programs in which an operation's stores have left the store buffer
 * when it returns, or from several machines, so the drain of an operation is its return.
 */
#ifndef KL_HISTORY_FORMATS_PAIR_EVENTS_H
#define KL_HISTORY_FORMATS_PAIR_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/history.h"
#include "history/index.h"
#include "history/scan.h"
#include "history/source.h"

#define KL_PAIR_VALS (2 * KL_MAX_ARGS)

/*
 * A process and its open operation.  The operation gets its signature when its results are known,
 * or known to be lost; a method without results gets it at the call.
 */
struct kl_process {
	uint32_t op;		/* index of the open operation + 1, or 0 */
	/* index of its thread; if it is free: index of the next free one + 1 */
	uint32_t thread;
	struct kl_opsig sig;
	struct kl_val vals[KL_PAIR_VALS];	/* arguments, followed by results */
};

struct kl_pairs {
	struct kl_history *h;	/* the caller has made its one object, by kl_history_object() */
	struct kl_scan *scan;
	/*
	 * processes that have an open operation, and free ones; not every thread has one, because
	 * there may be a thread for each operation
	 */
	struct kl_process *process;
	size_t nprocess, cprocess;
	uint32_t *place;	/* by thread: index of its process + 1, or 0 */
	size_t cplace;
	uint32_t free;		/* index of the first free process + 1, or 0 */
	uint64_t now;		/* the time of the last event */
	struct {
		bool known;
		uint16_t method;
		uint32_t sig;
	} bare;	/* the last operation without values */
	struct kl_source_events *events; /* of the history's operations, in their order */
	size_t nevents, cevents;
	uint32_t index;		/* the :index of the present event, plus 1; 0: it has none */
	const char *entry; /* where the present event begins in @scan->text, or NULL */
	size_t dropped;		/* number of operations that kl_pairs_drop() ended */
	struct kl_source_other *other; /* entries of kl_pairs_other() */
	size_t nother, cother;
};

/* Make a process for the thread with this index.  Return: 0, -ENOMEM or -EOVERFLOW. */
int kl_pairs_place(struct kl_pairs *p, size_t thread);

/* Get the process with this number, valid until the next call.  Return: 0 or a negative errno. */
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
 * kl_pairs_call() - process a call as the next event
 * @p: the events
 * @tok: the event in the input, for messages
 * @process: the calling process
 * @s: method and numbers of values, at most KL_PAIR_VALS
 * @args: the arguments
 *
 * Return: 0, -EINVAL after a message if the process has not returned from another operation, or
 * another negative errno.
 */
int kl_pairs_call(struct kl_pairs *p, const char *tok, struct kl_process *process,
		  const struct kl_opsig *s, const struct kl_val *args);

/**
 * kl_pairs_return() - process a return as the next event
 * @p: the events
 * @process: the returning process
 * @res: the results
 *
 * Return: 0, -ENOMEM or -EOVERFLOW.
 */
int kl_pairs_return(struct kl_pairs *p, struct kl_process *process, const struct kl_val *res);
/* Set arguments that were unknown at the call, before the return.  Return: as kl_pairs_return(). */
int kl_pairs_fill(struct kl_pairs *p, struct kl_process *process, const struct kl_val *args);
/*
 * Add another operation of the process, with the call of its open one, and with the present event
 * as its return.  @vals: arguments, followed by results.  Return: as kl_pairs_return().
 */
int kl_pairs_again(struct kl_pairs *p, const struct kl_process *process, const struct kl_val *vals);
/*
 * End an operation with an unknown outcome: it may have taken effect, or may take effect later.
 * Return: as kl_pairs_return().
 */
int kl_pairs_lose(struct kl_pairs *p, struct kl_process *process);
/* Remove an operation that took no effect.  Return: as kl_pairs_return(). */
int kl_pairs_drop(struct kl_pairs *p, struct kl_process *process);

/* Note the present entry as one of no operation, for reports.  Return: 0 or -ENOMEM. */
int kl_pairs_other(struct kl_pairs *p);

/* Return: true if kl_pairs_drop() has removed @op; it is in the history until kl_pairs_end(). */
bool kl_pairs_dropped(const struct kl_op *op);

/* Finish the history after the last event.  Return: 0 or a negative errno. */
int kl_pairs_end(struct kl_pairs *p);
void kl_pairs_free(struct kl_pairs *p);

#endif
