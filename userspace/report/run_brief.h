/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is known of a run, in the lines of a terminal: the verdict and the story first, and of the
 * run as many of its last steps as have room.
 */
#ifndef KL_REPORT_RUN_BRIEF_H
#define KL_REPORT_RUN_BRIEF_H

#include <stdio.h>

#define KL_RUN_LINES	25

/* Texts of whole lines. */
struct kl_run_brief {
	char *head;	/* the verdict */
	char *story;
	char *hint;	/* left out if it has no room */
	char *title;	/* the line before the run */
	char *run;	/* its first line has the names of threads; steps begin with numbers */
	char *end;
};

/* Print the texts whole, or what has room in KL_RUN_LINES lines and how to see more. */
void kl_print_run_brief(FILE *f, const struct kl_run_brief *b);
void kl_run_brief_free(struct kl_run_brief *b);

#endif
