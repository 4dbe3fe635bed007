/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The accesses to memory of an explorer's run: which store each load read, when each store reached
 * memory, and which store each load missed because it was still in a buffer.
 */
#ifndef KL_REPORT_RUN_ACCESSES_H
#define KL_REPORT_RUN_ACCESSES_H

#include "tso/explore/explore.h"

#define KL_RUN_NONE	UINT32_MAX	/* no access: the value is that of the first state */

struct kl_run_access {
	unsigned int step, thread, line;
	uint32_t addr;
	uint64_t val;
	bool write, flush;	/* @flush: a store reaches memory from a buffer */
	uint32_t from;		/* the store that was read, or that reaches memory */
	unsigned int left;	/* of a store: the step at which it reached memory, or 0 */
	uint32_t missed;	/* of a load: a store of another value in another thread's buffer */
};

struct kl_run_accesses {
	struct kl_run_access *all;
	size_t n, cap;
	bool cut;		/* some are not listed, so nothing is certain about the others */
	int err;
	struct run_machine *machine;	/* who wrote what, after these accesses */
};

void kl_run_accesses_free(struct kl_run_accesses *a);
/* Add the accesses of a step, in order, to @a, which is zero first.  Errors are kept in a->err. */
void kl_run_accesses_add(struct kl_run_accesses *a, const struct kl_explore_step *step);
/* Return: the store that a load of @thread reads now, or KL_RUN_NONE. */
uint32_t kl_run_source(const struct kl_run_accesses *a, unsigned int thread, uint32_t addr);

#endif
