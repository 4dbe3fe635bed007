/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The story of a run that ends badly: which instruction fails on which value and who stored that
 * value, or who waits for what that nobody will do.
 *
 *	T0 waits at line 12: l is 1, as T1 had stored it at step 5 (line 9); T1 has ended
 */
#ifndef KL_REPORT_RUN_END_H
#define KL_REPORT_RUN_END_H

#include <jansson.h>
#include <stdio.h>

#include "report/run_accesses.h"

/**
 * kl_run_end_print() - print headline, cast and facts
 * @f: where to
 * @x: the explorer, after kl_explore_run()
 * @a: the accesses of the run
 *
 * Nothing is printed for a run that is not linearizable.  Return: 0 or a negative errno.
 */
int kl_run_end_print(FILE *f, struct kl_explorer *x, const struct kl_run_accesses *a);
/* Add the same as "run_story" to the object @j.  Return: 0 or a negative errno. */
int kl_run_end_add(json_t *j, struct kl_explorer *x, const struct kl_run_accesses *a);

#endif
