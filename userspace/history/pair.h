/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations from a list of events, a call or a return each.  The order of the
 * events is all that counts: they are at times 1, 2, ... of an exact clock.
 *
 * Such histories come from programs in which an operation's stores have left the
 * store buffer when it returns, or from machines apart: drain is the return.
 */
#ifndef KL_HISTORY_PAIR_H
#define KL_HISTORY_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/history.h"
#include "history/scan.h"

struct kl_pairs {
	struct kl_history *h;
	struct kl_scan *scan;
	uint32_t *open;		/* by thread: the index + 1 of the operation under way */
	size_t copen;
	uint64_t now;		/* time of the last event */
	size_t dropped;
};

/**
 * kl_pairs_call() - the next event is a call
 * @p: the events
 * @tok: the event in the input, for messages
 * @process: who calls
 * @op: the object is given; the rest is set here
 * @s: method and numbers of values
 * @args: the arguments
 *
 * Return: 0; -EINVAL after a message when the process has not returned from
 * another operation; another negative errno.
 */
int kl_pairs_call(struct kl_pairs *p, const char *tok, uint64_t process, struct kl_op *op,
		  const struct kl_shape *s, const struct kl_val *args);

/* The operation that @process is in, NULL if none. */
struct kl_op *kl_pairs_open(const struct kl_pairs *p, uint64_t process);

/**
 * kl_pairs_return() - the next event is a return
 * @p: the events
 * @op: of this operation, which kl_pairs_open() found
 * @res: its results
 *
 * Return: 0, -ENOMEM, -EOVERFLOW.
 */
int kl_pairs_return(struct kl_pairs *p, struct kl_op *op, const struct kl_val *res);
/* Its outcome stays unknown: it may have taken effect, or may still do. */
void kl_pairs_lose(struct kl_pairs *p, struct kl_op *op);
/* It did not happen. */
void kl_pairs_drop(struct kl_pairs *p, struct kl_op *op);

bool kl_pairs_dropped(const struct kl_op *op);

/* After the last event: finishes the history. */
int kl_pairs_end(struct kl_pairs *p);
void kl_pairs_free(struct kl_pairs *p);

#endif
