/* SPDX-License-Identifier: GPL-2.0 */
/* The calls and returns of a history in one order, for forms that know no times. */
#ifndef KL_HISTORY_ORDER_H
#define KL_HISTORY_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "history/history.h"

/**
 * kl_history_events() - all calls and returns, so that their order says the same
 * @h: the history, finished
 * @form: the form they are for, in messages
 * @events: index of the operation * 2, + 1 if it is its return; none for the
 *	return of a pending one.  free() them
 * @n: how many
 *
 * What only times, points or gaps can say is refused: gaps, calls that were not
 * seen, an unknown first state, more than one object, operations of a thread
 * that nest, or of several threads that follow one another within a tie.
 *
 * Return: 0, -EINVAL after a message, -ENOMEM.
 */
int kl_history_events(const struct kl_history *h, const char *form, uint64_t **events, size_t *n);

/* Does the path of the spec that @h was made for end in this file name, as specs/@name.lin? */
bool kl_history_is(const struct kl_history *h, const char *name);

#endif
