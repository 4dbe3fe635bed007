/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Draws a small history as text, with a lane for each thread and an interval for each operation.
 * The diagram shows the order of events, not the distances between them.  For example:
 *
 *	t3  |-write(1, 2)-|
 *	t4    |=read() -> (1, 0)=|
 *	               ^ no order explains this
 */
#ifndef KL_REPORT_DIAGRAM_H
#define KL_REPORT_DIAGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "history/history.h"

#define KL_DIAGRAM_OPS	64	/* largest number of operations in a diagram */

/* An operation that no order explains. */
struct kl_diagram_bad {
	uint32_t op;		/* index in h->ops */
	const char *text;	/* text below the operation; NULL for a default text */
};

/* A longest possible order. */
struct kl_diagram_order {
	const uint32_t *ops;	/* indices in h->ops */
	size_t n;		/* number of operations */
	/* state before the operations, or NULL if the order starts with them */
	const char *before;
	const char *state;	/* state after the operations, or NULL if not known */
};

enum kl_diagram_auto { KL_DIAGRAM_AUTO, KL_DIAGRAM_OFF, KL_DIAGRAM_ON };

/* The default is all 0. */
struct kl_diagram_opts {
	/* further operations, drawn with dots if the picture then is as readable */
	const uint32_t *around;
	size_t naround;
	const struct kl_diagram_bad *bad;
	size_t nbad;
	const struct kl_diagram_order *orders;
	size_t norders;
	const char *why;	/* a sentence, printed last */
	unsigned int width;	/* in columns; 0: COLUMNS, the terminal's width, or 80 */
	/*
	 * TSO: does a method leave stores in the buffer?  By index in h->methods.  Marks after
	 * operations of these methods reach to the drain, and lanes name the CPU.  NULL: no marks.
	 */
	const bool *stores;
	bool list;		/* list the operations with their times */
	enum kl_diagram_auto utf8;	/* auto: on in a UTF-8 locale */
	/* auto: on for a terminal, if NO_COLOR is not set and TERM is not "dumb" */
	enum kl_diagram_auto colour;
	/* the stream that the text will go to in the end; NULL: the one that it is printed to */
	FILE *terminal;
};

/**
 * kl_diagram() - draw operations of a history
 * @f: the stream to print to
 * @h: the history, finished
 * @ops: indices of the operations to draw
 * @n: number of indices; only the first KL_DIAGRAM_OPS operations are drawn, with a note
 * @o: options; NULL for the diagram alone
 *
 * A diagram that is wider than the terminal continues below in further bands.  If labels do not
 * fit, they become numbers, and a list of operations follows.
 *
 * Return: 0, -ENOMEM, or -EIO after a write error.
 */
int kl_diagram(FILE *f, const struct kl_history *h, const uint32_t *ops, size_t n,
	       const struct kl_diagram_opts *o);

/* Return: true if @f shows colours by default: a terminal, if no NO_COLOR forbids it. */
bool kl_colour_wanted(FILE *f);

#endif
