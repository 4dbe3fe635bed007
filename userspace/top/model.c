// SPDX-License-Identifier: GPL-2.0
/* Structures, rates and orders, see model.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "top/model.h"

const char *const top_sorts[TOP_SORTS] = {
	[TOP_BY_VERDICT] = "verdict", [TOP_BY_RATE] = "rate", [TOP_BY_LAG] = "lag",
	[TOP_BY_LOST] = "lost", [TOP_BY_NAME] = "name",
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct top_row *)a)->name, ((const struct top_row *)b)->name);
}

/* A name is the first member of a row, and a row that of a line. */
static const struct top_line *find_line(const struct top_model *m, const char *name)
{
	size_t low = 0, high = m->n, mid;
	int c;

	while (low < high) {
		mid = low + (high - low) / 2;
		c = strcmp(name, m->lines[mid].row.name);
		if (!c)
			return &m->lines[mid];
		if (c < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

/* Return: a number for the verdict; what needs a person's attention has a larger one. */
static int urgency(const struct top_row *r)
{
	return r->verdict == KL_VIOLATION ? 3 : !r->up ? 2 : r->verdict == KL_UNKNOWN;
}

static int descending(double a, double b)
{
	return a > b ? -1 : a < b;
}

static int compare(const struct top_line *a, const struct top_line *b, enum top_sort sort)
{
	int c = 0;

	switch (sort) {
	case TOP_BY_VERDICT:
		c = urgency(&b->row) - urgency(&a->row);
		break;
	case TOP_BY_RATE:
		c = descending(a->has_rate ? a->rate : -1, b->has_rate ? b->rate : -1);
		break;
	case TOP_BY_LAG:
		c = descending(a->row.c.lag_ns, b->row.c.lag_ns);
		break;
	case TOP_BY_LOST:
		c = descending(a->row.c.lost, b->row.c.lost) ?:
		    descending(a->row.c.gaps, b->row.c.gaps);
		break;
	default:
		break;
	}
	/* Lines lie in the order of their names, also those of one name. */
	return c ?: a < b ? -1 : a > b;
}

static int compare_lines(const void *a, const void *b, void *sort)
{
	return compare(*(const struct top_line *const *)a, *(const struct top_line *const *)b,
		       *(const enum top_sort *)sort);
}

void top_model_sort(struct top_model *m, enum top_sort sort)
{
	const struct top_line *selected = top_model_selected(m);
	size_t i;

	m->sort = sort;
	if (m->n)
		qsort_r(m->order, m->n, sizeof(*m->order), compare_lines, &sort);
	for (i = 0; i < m->n; i++)
		if (m->order[i] == selected)
			m->selected = i;
}

/* Set the rates of @l, whose row is new, from the line before. */
static void set_rates(struct top_line *l, const struct top_line *old)
{
	const struct top_counts *was = &old->row.c, *is = &l->row.c;
	double seconds;

	if (is->recorded < was->recorded || is->lost < was->lost || is->at < was->at)
		return;
	if (is->at == was->at) {
		l->has_rate = old->has_rate;
		l->rate = old->rate;
		l->lost_rate = old->lost_rate;
		return;
	}
	seconds = (is->at - was->at) / 1e9;
	l->has_rate = true;
	l->rate = (is->recorded - was->recorded) / seconds;
	l->lost_rate = (is->lost - was->lost) / seconds;
}

int top_model_sample(struct top_model *m, struct top_row *rows, size_t n)
{
	struct top_line *lines = calloc(n + 1, sizeof(*lines));
	const struct top_line **order = calloc(n + 1, sizeof(*order));
	const struct top_line *selected = top_model_selected(m), *old;
	size_t i, at = m->selected;
	bool kept = false;

	if (!lines || !order) {
		free(lines);
		free(order);
		return -ENOMEM;
	}
	if (n)
		qsort(rows, n, sizeof(*rows), compare_names);
	for (i = 0; i < n; i++) {
		lines[i].row = rows[i];
		order[i] = &lines[i];
		old = find_line(m, rows[i].name);
		if (old)
			set_rates(&lines[i], old);
		if (selected && !kept && !strcmp(selected->row.name, rows[i].name)) {
			at = i;
			kept = true;
		}
	}
	free(m->lines);
	free(m->order);
	m->lines = lines;
	m->order = order;
	m->n = n;
	/* The rows are still in order of names.  A row that is gone leaves its place selected. */
	m->selected = kept ? at : n;
	top_model_sort(m, m->sort);
	if (!kept)
		m->selected = at < n ? at : n ? n - 1 : 0;
	return 0;
}

void top_model_move(struct top_model *m, long by)
{
	if (!m->n)
		return;
	if (by < 0 && (size_t)-by > m->selected)
		m->selected = 0;
	else if (by > 0 && (size_t)by >= m->n - m->selected)
		m->selected = m->n - 1;
	else
		m->selected += by;
}

const struct top_line *top_model_selected(const struct top_model *m)
{
	return m->selected < m->n ? m->order[m->selected] : NULL;
}

void top_model_free(struct top_model *m)
{
	free(m->lines);
	free(m->order);
	*m = (struct top_model){ .sort = m->sort };
}
