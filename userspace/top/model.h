/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The model of `klin top': the watched structures with their rates, in an order, one of them
 * selected.  It knows neither the socket nor the screen.
 */
#ifndef KL_TOP_MODEL_H
#define KL_TOP_MODEL_H

#include <stddef.h>

#include "top/row.h"

enum top_sort { TOP_BY_VERDICT, TOP_BY_RATE, TOP_BY_LAG, TOP_BY_LOST, TOP_BY_NAME, TOP_SORTS };

extern const char *const top_sorts[TOP_SORTS];	/* names of the orders */

/* A structure.  A rate is between its last two samples with different times. */
struct top_line {
	struct top_row row;
	bool has_rate;		/* false: one sample only, or the counters have restarted */
	double rate, lost_rate;	/* operations recorded, and lost, per second */
};

struct top_model {
	struct top_line *lines;	/* sorted by name */
	const struct top_line **order;	/* pointers into @lines in the order of @sort */
	size_t n;
	size_t selected;	/* index into @order */
	enum top_sort sort;
};

/**
 * top_model_sample() - take new rows
 * @m: the model
 * @rows: all structures that are watched now; the function sorts them by name
 * @n: number of rows
 *
 * Structures that @rows lacks are forgotten.  The same structure stays selected, if it is there.
 *
 * Return: 0 or -ENOMEM, with the model unchanged.
 */
int top_model_sample(struct top_model *m, struct top_row *rows, size_t n);

/* Change the order; the same structure stays selected. */
void top_model_sort(struct top_model *m, enum top_sort sort);
/* Select the structure that is @by further down, or the last one there is. */
void top_model_move(struct top_model *m, long by);
/* Return: the selected structure; NULL if there is none. */
const struct top_line *top_model_selected(const struct top_model *m);
void top_model_free(struct top_model *m);

#endif
