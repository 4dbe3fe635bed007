/* SPDX-License-Identifier: GPL-2.0 */
/* The words around a diagram. */
#ifndef KL_REPORT_DIAGRAM_TEXT_H
#define KL_REPORT_DIAGRAM_TEXT_H

#include "report/diagram_layout.h"

/*
 * What the times are; @left_out operations did not fit the picture; @stores is
 * how the store buffer is drawn, NULL if it is not.
 */
void dg_print_caption(FILE *f, const struct kl_history *h, const struct dg_layout *d,
		      size_t left_out, const char *stores);

/* The list of operations if it is needed, the longest orders, and why. 0 or -ENOMEM. */
int dg_print_text(FILE *f, const struct kl_history *h, const struct dg_layout *d,
		  const struct kl_diagram_opts *o, int width);

#endif
