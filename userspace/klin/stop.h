/* SPDX-License-Identifier: GPL-2.0 */
/* Signals that end a long run, which then says how far it came. */
#ifndef KLIN_STOP_H
#define KLIN_STOP_H

#include <stdbool.h>

/**
 * stop_on_signals() - take SIGINT and SIGTERM as a wish to end
 * @reads: a read() that waits ends, too
 *
 * Return: what becomes true then, for kl_limits.stop.
 */
const volatile int *stop_on_signals(bool reads);
/* From now on they end the program again. */
void stop_by_default(void);

#endif
