/* SPDX-License-Identifier: GPL-2.0 */
/* A line on the terminal that tells how far a long run has come. */
#ifndef KLIN_PROGRESS_H
#define KLIN_PROGRESS_H

#include <stdio.h>

struct progress_line;

/* Print what there is to see, without a newline; called in a thread of its own. */
typedef void (*progress_print)(FILE *f, const void *arg);

/**
 * progress_start() - show progress on standard error, if that is a terminal
 * @print: called once a second
 * @arg: for @print
 *
 * The line comes after a second, and goes when the work is done.
 *
 * Return: to be given to progress_stop(); NULL if nothing will be shown.
 */
struct progress_line *progress_start(progress_print print, const void *arg);
void progress_stop(struct progress_line *l);

#endif
