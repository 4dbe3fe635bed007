/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prints what is known of a run, in the lines of a terminal: the verdict and the story first, and
 * of the run as many of its last steps as have room.
 */
#ifndef KL_REPORT_RUN_BRIEF_H
#define KL_REPORT_RUN_BRIEF_H

#include <stdio.h>

#define KL_RUN_LINES	25

/* Prints a part of a result, in whole lines.  Return: 0 or a negative errno. */
typedef int (*kl_print_part)(FILE *f, const void *result);

/* The parts of a result with a run; NULL: it has no such part. */
struct kl_run_parts {
	kl_print_part head; /* the verdict */
	kl_print_part story;
	kl_print_part hint; /* left out if it has no room */
	kl_print_part title; /* the line before the run */
	kl_print_part run; /* first the names of threads; steps begin with numbers */
	kl_print_part end;
};

/**
 * kl_print_run_brief() - print a result whole, or what has room, and how to see more
 * @f: where to
 * @parts: how to print its parts
 * @result: the result, which the parts get
 *
 * Return: 0 or a negative errno.
 */
int kl_print_run_brief(FILE *f, const struct kl_run_parts *parts, const void *result);

#endif
