/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A small history as people see it in a terminal: a lane for each thread, an
 * interval for each operation.  Only the order of events is drawn, not the
 * distances between them.
 */
#ifndef KL_REPORT_DIAGRAM_H
#define KL_REPORT_DIAGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "history/history.h"

#define KL_DIAGRAM_OPS	64	/* more do not make a picture */

/* An operation that nothing explains. */
struct kl_diagram_bad {
	uint32_t op;		/* index in h->ops */
	const char *text;	/* printed below it, may be NULL */
};

/* A longest possible order. */
struct kl_diagram_order {
	const uint32_t *ops;	/* indices in h->ops */
	size_t n;
	const char *before;	/* the state before them, NULL if they begin */
	const char *state;	/* after them, NULL if not told */
};

enum kl_diagram_auto { KL_DIAGRAM_AUTO, KL_DIAGRAM_OFF, KL_DIAGRAM_ON };

/* All 0 is a good default. */
struct kl_diagram_opts {
	const struct kl_diagram_bad *bad;
	size_t nbad;
	const struct kl_diagram_order *orders;
	size_t norders;
	const char *why;	/* a sentence, printed last */
	unsigned int width;	/* in columns; 0: COLUMNS, the terminal, or 80 */
	/*
	 * TSO: which methods leave stores in the buffer, by index in h->methods; until
	 * when is marked behind their operations, and lanes tell the CPU.  NULL: no marks.
	 */
	const bool *stores;
	bool list;		/* list the operations with their times */
	enum kl_diagram_auto utf8;	/* auto: if the locale is */
	enum kl_diagram_auto colour;	/* auto: if @f is a terminal and NO_COLOR is not set */
};

/**
 * kl_diagram() - draw operations of a history
 * @f: where to
 * @h: the history, finished
 * @ops: indices of the operations to draw
 * @n: how many, at most KL_DIAGRAM_OPS; more are cut off, and that is said
 * @o: what else to show; NULL for the picture alone
 *
 * What is wider than the terminal goes on below, in a second band.  Where the
 * labels leave no room they become numbers, and a list follows.
 *
 * Return: 0, -ENOMEM, -EIO.
 */
int kl_diagram(FILE *f, const struct kl_history *h, const uint32_t *ops, size_t n,
	       const struct kl_diagram_opts *o);

#endif
