/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KL_REPORT_COUNTEREXAMPLE_H
#define KL_REPORT_COUNTEREXAMPLE_H

#include "check/check.h"

/**
 * kl_print_counterexample() - a counterexample as a time diagram, with the reason
 * @f: where to
 * @spec: the specification
 * @c: the counterexample
 * @of: operations of its partition
 *
 * Return: 0 or a negative errno.
 */
int kl_print_counterexample(FILE *f, const struct kl_spec *spec,
			     const struct kl_counterexample *c, uint32_t of);

#endif
