/* SPDX-License-Identifier: GPL-2.0 */
/* Where things are in a diagram: worked out by diagram_layout.c, drawn by diagram.c. */
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
	int len;			/* of the label shown, in characters */
	int lane, row;			/* row: inside the lane, where intervals overlap */
	int from, to, drain;		/* ranks; drain may be DG_NONE */
	bool open_left, open_right;	/* call or return not seen */
	bool gap;
	uint32_t op;
	const struct kl_diagram_bad *bad;
};

struct dg_lane {
	uint32_t thread;	/* index, KL_NO_OP: gaps */
	uint16_t cpu;		/* KL_NO_CPU if not known, or more than one */
	int rows;
	char name[32];
};

/* Of a rank.  Where a call and its return have one time, returns come after calls. */
struct dg_time {
	uint64_t t;
	bool after;
};

struct dg_layout {
	struct dg_item item[DG_ITEMS];
	struct dg_lane lane[DG_ITEMS];
	struct dg_time time[DG_RANKS];
	int x[DG_RANKS], band[DG_RANKS];	/* its column, in which band */
	int nitems, nlanes, nranks, nbands;
	int width;			/* columns of a band */
	bool numbered;			/* labels are numbers */
};

/* How many characters a text of UTF-8 has: each is a column. */
static inline int dg_columns(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

/* Items, lanes and ranks of @ops, ascending and each once; then columns with dg_place(). */
void dg_collect(struct dg_layout *d, const struct kl_history *h, const uint32_t *ops, size_t n,
		const struct kl_diagram_opts *o);

/* Columns for @width of them, in as many bands as needed; labels become numbers if they must. */
void dg_place(struct dg_layout *d, int width);

#endif
