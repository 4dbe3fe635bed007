/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An explorer's run as text: a column for each thread, a step a row, and what a step changes.
 *
 *	step  T0                                  T1
 *	   0  the first state
 *	      => x=0 y=0
 *	   1  T0 x = 1 to the buffer [12]
 *	      => T0's buffer: x=1
 *	   2                                      T1 x is 0 (stale: T0's buffer has 1) [21]
 */
#ifndef KL_REPORT_RUN_COLUMNS_H
#define KL_REPORT_RUN_COLUMNS_H

#include <stdio.h>

#include "tso/explore/explore.h"

/* Print the heads of the columns of threads, whose names begin with @letter. */
void kl_print_heads(FILE *f, unsigned int threads, char letter);
/* Print a row: the step's number, and @what in the column of its thread. */
void kl_print_row(FILE *f, unsigned int threads, char letter, unsigned int number,
		  unsigned int thread, const char *what);

/* Print the run to the verdict.  Return: as kl_explore_run(). */
int kl_print_run(FILE *f, struct kl_explorer *x);

#endif
