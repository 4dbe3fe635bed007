/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Violations that something may explain which the recording did not see.
 *
 * Calls of a method that writes nothing may be omitted from any order, so they may pass unseen.
 * All calls of other methods must be seen.  If some of them may have passed unseen, a violation is
 * only suspected, and the verdict is UNKNOWN.
 *
 * The same holds if the specification says that an operation leaves no store in the store buffer,
 * and the recording does not know whether the implementation keeps that.
 */
#ifndef KL_CHECK_COVERAGE_H
#define KL_CHECK_COVERAGE_H

#include "check/check.h"

/**
 * kl_coverage_harm() - may calls or stores that a recording missed explain a violation?
 * @spec: the specification
 * @h: the history
 * @classical: check on sequential consistency, where no store waits
 *
 * Return: the coverage of the first method whose missed calls or stores may explain one; NULL if
 * there is no such method.
 */
const struct kl_coverage *kl_coverage_harm(const struct kl_spec *spec, const struct kl_history *h,
					   bool classical);

/* Warn of coverage of methods that the specification lacks; @name is the history's. */
void kl_coverage_warn(const struct kl_spec *spec, const struct kl_history *h, const char *name);

/**
 * kl_coverage_follow() - replace the coverage when it gets harmful while a recording goes on
 * @spec: the specification
 * @to: the history that holds the coverage known so far
 * @from: the history as recorded so far
 * @classical: as of kl_coverage_harm()
 *
 * Return: 1 if violations become suspected ones, 0 if nothing changed, -ENOMEM.
 */
int kl_coverage_follow(const struct kl_spec *spec, struct kl_history *to,
		       const struct kl_history *from, bool classical);

/* Write the reason why a suspected violation is UNKNOWN into @buf. */
void kl_coverage_reason(const struct kl_coverage *c, char *buf, size_t size);

/**
 * kl_report_suspect() - make the violations of a report suspected ones
 * @r: the report
 * @c: the clause to blame
 */
void kl_report_suspect(struct kl_report *r, const struct kl_coverage *c);

#endif
