/* SPDX-License-Identifier: GPL-2.0 */
/* The result of `klin explore', printed as text or as JSON. */
#ifndef KL_REPORT_EXPLORED_H
#define KL_REPORT_EXPLORED_H

#include <stdio.h>

#include "report/output.h"
#include "tso/explore/explore.h"
#include "tso/explore/outcomes.h"

struct kl_explored {
	const char *file;
	const char *command;		/* command line that repeats the run */
	/* @sc: explored on sequential consistency; @stats: print numbers of states and so on */
	bool sc, stats;
	enum kl_explore_memory model;	/* the memory model that the file names */
	bool model_given;		/* the command line named the memory model */
	bool run;			/* show the run to a violation */
	bool full;			/* show all of it; else the story, in a terminal's lines */
	bool shortest;			/* no run to a violation has fewer steps */
	bool compact;			/* the search kept only hashes of states */
	bool histories;			/* print histories instead of a verdict */
	enum kl_explore_verdict verdict;
	struct kl_explorer *x;
	/* @has_sc: @on_sc is the verdict for the same client on sequential consistency */
	bool has_sc;
	enum kl_explore_verdict on_sc;
	struct kl_outcomes *outcomes;	/* instead of x; verdict is KL_EX_OK or unknown */
};

/* Return: the reason for a verdict UNKNOWN. */
const char *kl_explored_reason(const struct kl_explored *e);
/* Return: what is most likely to settle UNKNOWN, without a full stop; NULL if nothing is known. */
const char *kl_explored_advice(const struct kl_explored *e);
/* Print the result as text.  Return: 0 or a negative errno. */
int kl_explored_print(FILE *f, const struct kl_explored *e);
/* Print the result in a form that is made from JSON.  Return: 0 or a negative errno. */
int kl_explored_put(FILE *f, const struct kl_explored *e, enum kl_output form);

#endif
