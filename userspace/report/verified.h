/* SPDX-License-Identifier: GPL-2.0 */
/* What a verification found, as people and programs read it. */
#ifndef KL_REPORT_VERIFIED_H
#define KL_REPORT_VERIFIED_H

#include <stdio.h>

#include "tso/explore/explore.h"
#include "verify/verify.h"

struct kl_verified {
	const char *file;
	struct kl_verifier *x;
	enum kl_verify_verdict verdict;
	enum kl_explore_memory model;	/* what the file says */
	bool trail, stats;		/* show them */
	bool searched;			/* a concrete run that goes wrong was looked for */
	struct kl_verify_search search;	/* so far */
	struct kl_explorer *run;	/* and here it is, or NULL */
};

/* VERIFIED, VIOLATION, NOT PROVED or UNKNOWN. */
const char *kl_verified_verdict(const struct kl_verified *v);
/* As text; 0 or a negative errno. */
int kl_verified_print(FILE *f, const struct kl_verified *v);
/* As one JSON object and a newline; 0 or a negative errno. */
int kl_verified_json(FILE *f, const struct kl_verified *v);

#endif
