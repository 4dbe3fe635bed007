/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Violations that a call which no probe saw may explain.
 *
 * A method that writes nothing can be left out of any order, so that it does no harm when
 * calls of it pass by; of every other one all calls have to be seen.  Where that is not
 * known a violation is suspected, and the verdict is UNKNOWN.
 */
#ifndef KL_CHECK_COVERAGE_H
#define KL_CHECK_COVERAGE_H

#include "check/check.h"

/**
 * kl_coverage_harm() - may calls that a recording missed explain a violation?
 * @spec: the specification
 * @h: the history
 *
 * Return: what is said of the first clause that makes it so, or NULL: none does.
 */
const struct kl_coverage *kl_coverage_harm(const struct kl_spec *spec,
					   const struct kl_history *h);

/**
 * kl_coverage_follow() - take over what a recording that goes on has found out meanwhile
 * @spec: the specification
 * @to: says what was known of the coverage until now
 * @from: the history, as far as it has come
 *
 * Return: 1 if violations are suspected ones by now, and were none before; 0 if nothing
 * changed; -ENOMEM.
 */
int kl_coverage_follow(const struct kl_spec *spec, struct kl_history *to,
		       const struct kl_history *from);

/* The reason of such an UNKNOWN, in @buf. */
void kl_coverage_reason(const struct kl_coverage *c, char *buf, size_t size);

/**
 * kl_report_suspect() - make the violations of a report suspected ones
 * @r: the report
 * @c: the clause to blame
 */
void kl_report_suspect(struct kl_report *r, const struct kl_coverage *c);

#endif
