/* SPDX-License-Identifier: GPL-2.0 */
/* SIGINT and SIGTERM end a long run early; the run then reports how far it came. */
#ifndef KLIN_STOP_H
#define KLIN_STOP_H

#include <stdbool.h>

/**
 * stop_on_signals() - let SIGINT and SIGTERM set a flag instead of ending the program
 * @reads: a signal also interrupts a read() that waits
 *
 * Return: the flag, for kl_limits.stop.
 */
const volatile int *stop_on_signals(bool reads);
/* Let SIGINT and SIGTERM end the program again. */
void stop_by_default(void);

#endif
