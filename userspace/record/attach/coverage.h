/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does a probe clause see all calls of its function?
 *
 * A probe on the entry of a function does not see calls that were inlined, nor those of a
 * clone (f.isra.0, f.constprop.0).  Only debugging information tells where these are; the
 * inlined ones are recorded, too, where each can be counted for certain.
 *
 * What is shown, an instance that is not recorded or a clone, counts for more than what the
 * clause asserts, unless the assertion names the function around it, or the clone.
 */
#ifndef KL_RECORD_ATTACH_COVERAGE_H
#define KL_RECORD_ATTACH_COVERAGE_H

#include "history/coverage.h"
#include "record/attach/target.h"

/**
 * struct kl_instances - what a clause covers
 * @kind: how far all calls are seen
 * @contradicted: not as the clause asserts
 * @text: the function, and why
 * @found: of @n inlined instances: a target and a place of their own for each of these
 */
struct kl_instances {
	enum kl_cover kind;
	bool contradicted;
	char text[700];
	unsigned int n;
	struct kl_found found[KL_PLACES_MAX];
};

/**
 * kl_instances_find() - find out what a clause covers
 * @k: the kernel
 * @f: its target, which fits and can be attached
 * @out: what it covers
 *
 * Return: 0 or -ENOMEM.
 */
int kl_instances_find(struct kl_kernel *k, const struct kl_found *f, struct kl_instances *out);

/* The name of a live patch of the running kernel, whose functions are in no debug file. */
bool kl_live_patch(const struct kl_kernel *k, char *name, size_t size);

#endif
