/* SPDX-License-Identifier: GPL-2.0 */
/* The text around a diagram: the caption above; operations, order and reason below. */
#ifndef KL_REPORT_DIAGRAM_TEXT_H
#define KL_REPORT_DIAGRAM_TEXT_H

#include "report/diagram_layout.h"

/*
 * Print the unit of the times, and the number of operations that the diagram leaves out.  @stores:
 * the character that marks waiting stores, or NULL if the diagram has no such marks.
 */
void dg_print_caption(FILE *f, const struct kl_history *h, const struct dg_layout *d,
		      size_t left_out, const char *stores);

/*
 * Print the list of operations if it is needed, the longest orders, and the reason.  Return: 0 or
 * -ENOMEM.
 */
int dg_print_text(FILE *f, const struct kl_history *h, const struct dg_layout *d,
		  const struct kl_diagram_opts *o, int width);

#endif
