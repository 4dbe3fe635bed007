/* SPDX-License-Identifier: GPL-2.0 */
/* A line on the terminal that shows the progress of a long run. */
#ifndef KLIN_PROGRESS_H
#define KLIN_PROGRESS_H

#include <stdio.h>

struct progress_line;

/* Print the progress without a newline.  A separate thread calls this function. */
typedef void (*progress_print)(FILE *f, const void *arg);

/**
 * progress_start() - show progress on standard error, if standard error is a terminal
 * @print: prints the progress; called once a second
 * @arg: argument for @print
 *
 * The line appears after a second.  progress_stop() removes it.
 *
 * Return: a handle for progress_stop(); NULL if no progress will be shown.
 */
struct progress_line *progress_start(progress_print print, const void *arg);
/* Remove the line; @l may be NULL. */
void progress_stop(struct progress_line *l);

#endif
