/* SPDX-License-Identifier: GPL-2.0 */
/* What an exploration found, as people and programs read it. */
#ifndef KL_REPORT_EXPLORED_H
#define KL_REPORT_EXPLORED_H

#include <stdio.h>

#include "tso/explore/explore.h"
#include "tso/explore/outcomes.h"

struct kl_explored {
	const char *file;
	const char *again;		/* the command line */
	bool sc, stats;
	enum kl_explore_memory model;	/* what the file says */
	bool model_given;		/* the command line says @sc */
	bool run;			/* show the run to a violation */
	bool shortest;			/* there is none with fewer steps */
	bool compact;			/* states were known by their hashes */
	bool histories;			/* that was the question */
	enum kl_explore_verdict verdict;
	struct kl_explorer *x;
	/* Of the same client on SC, if has_sc. */
	bool has_sc;
	enum kl_explore_verdict on_sc;
	struct kl_outcomes *outcomes;	/* instead of x; verdict is KL_EX_OK or unknown */
};

/* Why the verdict is not known. */
const char *kl_explored_why(const struct kl_explored *e);
/* As text; 0 or a negative errno. */
int kl_explored_print(FILE *f, const struct kl_explored *e);
/* The steps of the run to what was found, as text; 0 or a negative errno. */
int kl_explored_run(FILE *f, struct kl_explorer *x);
/* As one JSON object and a newline; 0 or a negative errno. */
int kl_explored_json(FILE *f, const struct kl_explored *e);

#endif
