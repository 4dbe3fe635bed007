/* SPDX-License-Identifier: GPL-2.0 */
/* The calls and returns of a history in one order, for forms without times. */
#ifndef KL_HISTORY_FORMATS_ORDER_H
#define KL_HISTORY_FORMATS_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "history/history.h"

/**
 * kl_history_events() - list all calls and returns in an order that agrees with their times
 * @h: the history, finished
 * @form: name of the form, for messages
 * @events: for each event the operation's index * 2, + 1 for a return; a pending operation has no
 *	return.  To be freed by free()
 * @n: number of events
 *
 * An order cannot express gaps, calls that were not seen, an unknown first state, more than one
 * object, nested operations of a thread, or a thread that calls again within the clock's error of
 * its return.  These are errors.  With an exact clock, one thread may return and call at one time.
 *
 * Return: 0, -EINVAL after a message, or -ENOMEM.
 */
int kl_history_events(const struct kl_history *h, const char *form, uint64_t **events, size_t *n);

/* Return: true if the spec of @h is @name: the path of the spec ends with @name or @name.lin. */
bool kl_history_is(const struct kl_history *h, const char *name);

#endif
