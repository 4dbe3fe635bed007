// SPDX-License-Identifier: GPL-2.0
/*
 * The answer of an engine, see check.h.  It stands apart from check.c, so that klin-replay can use
 * answers without linking the engines.
 */
#include <stdlib.h>

#include "check/check.h"

const char *kl_verdict_name(enum kl_verdict v)
{
	static const char *const names[] = { "LINEARIZABLE", "VIOLATION", "UNKNOWN" };

	return names[v];
}

void kl_answer_free(struct kl_answer *a)
{
	free(a->steps);
	free(a->core);
	a->steps = NULL;
	a->core = NULL;
	a->nsteps = a->ncore = 0;
}
