/* SPDX-License-Identifier: GPL-2.0 */
/* Functions that only readers and writers of histories use. */
#ifndef KL_HISTORY_INTERNAL_H
#define KL_HISTORY_INTERNAL_H

#include "history/history.h"

/* Make room for @n more operations with different signatures, and for their @nvals values. */
int kl_history_room(struct kl_history *h, size_t n, size_t nvals);

/*
 * Append @n operations that are already at h->ops + h->nops; kl_history_room() made room for them.
 * Their threads, objects and methods are valid.  Their signatures lie behind those of the history.
 * Their @nvals values lie behind those of the history: for each operation its arguments, then its
 * results (KL_ANY if it is pending).  With @words, each operation has a value, and all are words.
 */
int kl_history_append(struct kl_history *h, size_t n, size_t nvals, bool words);

/* Append the operations of kl_batch_add().  Return: 0 or a negative errno. */
int kl_history_flush(struct kl_history *h);

/* Set points and drains of the next @n operations to unknown, see kl_history_set_points(). */
int kl_history_no_points(struct kl_history *h, size_t n);

/*
 * Make room for about @times as many operations and signatures as the history has, if this takes at
 * most @most bytes.  The batch must be empty.
 */
void kl_history_expect(struct kl_history *h, double times, size_t most);

/**
 * kl_history_overlap() - find two operations of a thread that overlap without nesting
 * @h: the history, finished
 * @outer: the operation that was called first
 * @inner: the operation that was called inside @outer and returned after it
 *
 * Operations of a thread follow one another, or nest (by an interrupt).  Operations whose call or
 * return was not seen are ignored.  So is an overlap within the clock's error, because the thread
 * may have moved to another CPU.
 *
 * Return: 1 if there are two such operations, 0 if not, or -ENOMEM.
 */
int kl_history_overlap(const struct kl_history *h, size_t *outer, size_t *inner);

/*
 * Return: true if @name is a valid name of a method, which every form can hold, and which no reader
 * takes for a number.
 */
bool kl_name_is_valid(const char *name, size_t len);

#endif
