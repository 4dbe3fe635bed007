/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The story of a run: its operations are a history, whose times are steps of the run, so they have
 * the story of a violated history.  On x86-TSO it also names the store that was in a buffer while
 * another thread loaded the old value.
 *
 *	T0's store x = 1 at step 2 was still in T0's buffer when T1 loaded x at step 5; it had not
 *	left by the end of the run.
 */
#ifndef KL_REPORT_RUN_STORY_H
#define KL_REPORT_RUN_STORY_H

#include <jansson.h>
#include <stdio.h>

#include "tso/explore/explore.h"

/**
 * kl_run_story_print() - print the story of a run that is not linearizable: headline, cast, reasons
 * @f: where to
 * @x: the explorer
 * @sc: the run is one of sequential consistency
 *
 * The history of the run is checked with the run's memory model.  It has no story if klin check
 * does not reject it, because steps of several threads at one time are concurrent; if values of its
 * operations are pointers; or if the run cannot be made again.
 *
 * Return: 0 or a negative errno.
 */
int kl_run_story_print(FILE *f, struct kl_explorer *x, bool sc);
/* Add the same as "story" and "store_buffer" to the object @j.  Return: 0 or a negative errno. */
int kl_run_story_add(json_t *j, struct kl_explorer *x, bool sc);

#endif
