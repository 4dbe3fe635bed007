/* SPDX-License-Identifier: GPL-2.0 */
/* What the readers and writers of histories share among themselves. */
#ifndef KL_HISTORY_INTERNAL_H
#define KL_HISTORY_INTERNAL_H

#include "history/history.h"

/* Room for @n more operations, each of another shape, and for @nvals values of these. */
int kl_history_room(struct kl_history *h, size_t n, size_t nvals);

/*
 * kl_history_add() of @n operations that are at h->ops + h->nops already; what they refer
 * to is there, and kl_history_room().  Their shapes lie behind those of the history, and
 * behind its values those of each, arguments, then results (KL_ANY if it is pending), one
 * after the other, @nvals in all.  @words: each has one, and all are words.
 */
int kl_history_append(struct kl_history *h, size_t n, size_t nvals, bool words);

/* Append the operations that kl_batch_add() put there; 0 or a negative errno. */
int kl_history_flush(struct kl_history *h);

/* Of the next @n operations no times are told, see kl_history_tell(). */
int kl_history_untold(struct kl_history *h, size_t n);

/*
 * Room for about @times what is there, operations and shapes, if that is at most @most bytes.
 * Nothing is left to be flushed.
 */
void kl_history_expect(struct kl_history *h, double times, size_t most);

/**
 * kl_history_overlap() - find two operations of one thread that cross
 * @h: the history, finished
 * @outer: the one that was called first
 * @inner: the one called inside it that returned after it
 *
 * A thread does one thing at a time: its operations follow one another or nest
 * (an interrupt).  Those whose call or return was not seen are left out, and the
 * clock's error is allowed for (the thread may have moved to another CPU).
 *
 * Return: 1 if there are two, 0 if not, -ENOMEM.
 */
int kl_history_overlap(const struct kl_history *h, size_t *outer, size_t *inner);

/* May a method be called so?  Every form can hold it, and every reader tells it from a number. */
bool kl_name_is_valid(const char *name, size_t len);

extern const char *const kl_clock_names[4];
extern const char *const kl_gap_reasons[3];

#endif
