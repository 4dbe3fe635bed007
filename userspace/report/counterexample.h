/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counterexamples as text: a time diagram of the operations, the longest order that is possible,
 * and the operation that the order cannot include.
 */
#ifndef KL_REPORT_COUNTEREXAMPLE_H
#define KL_REPORT_COUNTEREXAMPLE_H

#include "check/check.h"
#include "report/diagram.h"

/**
 * kl_print_counterexample() - print a counterexample as a time diagram, with the reason
 * @f: the stream to print to
 * @spec: the specification
 * @c: the counterexample
 * @of: number of operations of its partition
 * @colour: of the diagram
 *
 * Return: 0 or a negative errno.
 */
int kl_print_counterexample(FILE *f, const struct kl_spec *spec,
			     const struct kl_counterexample *c, uint32_t of,
			     enum kl_diagram_auto colour);

#endif
