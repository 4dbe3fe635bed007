/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layout of a diagram: rows and columns of its intervals.  diagram_layout.c computes the
 * layout, and diagram.c draws it.  A rank is the position of a time among all times of the diagram.
 * A band is a part of the diagram that fits the width of the terminal.
 */
#ifndef KL_REPORT_DIAGRAM_LAYOUT_H
#define KL_REPORT_DIAGRAM_LAYOUT_H

#include "report/diagram.h"

#define DG_LABEL	160
#define DG_ITEMS	(KL_DIAGRAM_OPS + 16)	/* operations and gaps */
#define DG_RANKS	(3 * DG_ITEMS + 2)	/* different times, and both ends of time */
#define DG_NONE		(-1)

/* An interval in a lane. */
struct dg_item {
	char label[DG_LABEL];
	int len;			/* length of the label, in characters */
	/* overlapping intervals of a lane have different rows */
	int lane, row;
	int from, to, drain;		/* ranks; drain may be DG_NONE */
	bool open_left, open_right;	/* the call, or the return, was not seen */
	bool gap;
	bool around;			/* of kl_diagram_opts.around */
	uint32_t op;			/* index in h->ops, or in h->gaps if @gap */
	const struct kl_diagram_bad *bad;
};

struct dg_lane {
	uint32_t thread;	/* index of the thread; KL_NO_OP: the lane of the gaps */
	uint16_t cpu;		/* KL_NO_CPU: not known, or more than one */
	int rows;		/* number of rows */
	char name[32];
};

/* The time of a rank. */
struct dg_time {
	uint64_t t;
	bool after;	/* the rank comes after the rank of calls at @t */
};

struct dg_layout {
	struct dg_item item[DG_ITEMS];
	struct dg_lane lane[DG_ITEMS];
	struct dg_time time[DG_RANKS];
	int x[DG_RANKS], band[DG_RANKS];	/* column and band of each rank */
	int nitems, nlanes, nranks, nbands;
	int width;			/* number of columns of a band */
	bool numbered;			/* labels are numbers */
	bool timed;			/* differences of times mean something */
	bool scaled;			/* columns are proportional to times */
};

/* The number of columns of a UTF-8 text: one for each character. */
static inline int dg_columns(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

/*
 * Compute items, lanes and ranks of the operations @ops, which are ascending and without
 * duplicates.  dg_place() follows.
 */
void dg_collect(struct dg_layout *d, const struct kl_history *h, const uint32_t *ops, size_t n,
		const struct kl_diagram_opts *o);

/*
 * Compute the column and the band of each rank, with @width columns a band.  The columns are to
 * scale if one band then has room for each label, and different times have different columns.  If
 * labels are too long, or need too many bands, they become numbers.
 */
void dg_place(struct dg_layout *d, int width);

#endif
