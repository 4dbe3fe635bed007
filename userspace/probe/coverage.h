/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does a probe clause see all calls of its function?
 *
 * A probe on the entry of a function does not see calls that were inlined, nor those of a
 * clone (f.isra.0, f.constprop.0).  Only debugging information tells where these are; the
 * inlined ones are recorded, too, where each can be counted for certain.
 */
#ifndef KL_PROBE_COVERAGE_H
#define KL_PROBE_COVERAGE_H

#include "history/coverage.h"
#include "probe/target.h"

/**
 * struct kl_instances - what a clause covers
 * @kind: how far all calls are seen
 * @text: the function, and why
 * @found: of @n inlined instances: a target and a place of their own for each of these
 */
struct kl_instances {
	enum kl_cover kind;
	char text[500];
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

#endif
