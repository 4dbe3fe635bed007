/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds out whether a probe clause sees all calls of its function.
 *
 * A probe on the entry of a function misses calls that were inlined, and calls of a clone
 * (f.isra.0, f.constprop.0).  Only debugging information shows where the inlined instances are.
 * Inlined instances are recorded, too, if each execution of an instance is seen exactly once.
 *
 * A clause may assert that all calls are seen.  A clone, or an instance that is not recorded,
 * contradicts the assertion unless the assertion names the clone, or the function around the
 * instance.
 */
#ifndef KL_RECORD_ATTACH_COVERAGE_H
#define KL_RECORD_ATTACH_COVERAGE_H

#include "history/coverage.h"
#include "record/attach/target.h"

/**
 * struct kl_instances - the calls that a clause sees
 * @kind: KL_COVER_WHOLE if the clause sees all calls, or what else is known
 * @contradicted: an unrecorded instance or a clone contradicts the clause's assertion
 * @text: name of the function, and the reason for @kind
 * @n: number of inlined instances that are recorded, too
 * @found: a target and a place for each inlined instance
 */
struct kl_instances {
	enum kl_cover kind;
	bool contradicted;
	char text[700];
	unsigned int n;
	struct kl_found found[KL_PLACES_MAX];
};

/**
 * kl_instances_find() - find out which calls a clause sees
 * @k: the kernel
 * @f: the clause's target, which fits the kernel and can be attached
 * @out: gets the result
 *
 * Return: 0 or -ENOMEM.
 */
int kl_instances_find(struct kl_kernel *k, const struct kl_found *f, struct kl_instances *out);

/*
 * Get the name of a live patch of the running kernel.  No debug file has the patch's functions.
 * Return: true if a live patch is loaded.
 */
bool kl_live_patch(const struct kl_kernel *k, char *name, size_t size);

#endif
