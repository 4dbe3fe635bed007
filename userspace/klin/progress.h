/* SPDX-License-Identifier: GPL-2.0 */
/* A line on the terminal that tells how far a long check has come. */
#ifndef KLIN_PROGRESS_H
#define KLIN_PROGRESS_H

#include "check/check.h"

struct progress_line;

/**
 * progress_start() - show progress on standard error, if that is a terminal
 * @p: what to show
 * @total: operations
 *
 * The line comes after a second, and goes when the work is done.
 *
 * Return: to be given to progress_stop(); NULL if nothing will be shown.
 */
struct progress_line *progress_start(const struct kl_progress *p, uint64_t total);
void progress_stop(struct progress_line *l);

#endif
