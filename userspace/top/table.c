// SPDX-License-Identifier: GPL-2.0
/* The table as text, see table.h. */
#include <stdio.h>
#include <string.h>

#include "top/table.h"
#include "top/text.h"

enum column { NAME, VERDICT, RATE, OPS, LAG, LOST, GAPS, VIOLATIONS, OBJECTS, WAITING, MEMORY };

static const struct {
	const char *title;
	int width;	/* without the space before it */
	int need;	/* the column is left out on a narrower table */
} columns[] = {
	[NAME] = { "STRUCTURE", 14, 0 },
	[VERDICT] = { "VERDICT", 12, 27 },
	[RATE] = { "OPS/S", 6, 34 },
	[OPS] = { "OPS", 6, 62 },
	[LAG] = { "LAG", 5, 40 },
	[LOST] = { "LOST", 6, 48 },
	[GAPS] = { "GAPS", 5, 68 },
	[VIOLATIONS] = { "VIOL", 5, 54 },
	[OBJECTS] = { "OBJS", 6, 75 },
	[WAITING] = { "WAIT", 6, 88 },
	[MEMORY] = { "MEM", 6, 95 },
};

#define COLUMNS	(sizeof(columns) / sizeof(*columns))

static int bounded(int width)
{
	return width < 1 ? 1 : width > TOP_WIDTH ? TOP_WIDTH : width;
}

/* Return: the width of the first column, which takes what the others leave, up to 40. */
static int name_width(int width)
{
	int left = width;
	size_t i;

	for (i = 1; i < COLUMNS; i++)
		if (width >= columns[i].need)
			left -= columns[i].width + 1;
	return left > 40 ? 40 : left;
}

/* Append a cell: the name and the verdict are at the left of theirs, numbers at the right. */
static void append(char *buf, enum column at, int width, const char *text)
{
	const int room = at == NAME ? name_width(width) : columns[at].width;
	char cut[TOP_TEXT];
	int used;

	if (width < columns[at].need)
		return;
	used = top_text_cut(cut, sizeof(cut), text, room, NULL);
	buf += strlen(buf);
	if (at <= VERDICT)
		sprintf(buf, "%s%s%*s", at ? " " : "", cut, room - used, "");
	else
		sprintf(buf, " %*s%s", room - used, "", cut);
}

void top_table_head(char buf[TOP_TEXT], int width)
{
	size_t i;

	*buf = '\0';
	for (i = 0; i < COLUMNS; i++)
		append(buf, i, bounded(width), columns[i].title);
}

static void append_number(char *buf, enum column at, int width, double v)
{
	char text[32];

	top_text_number(text, sizeof(text), v);
	append(buf, at, width, text);
}

void top_table_line(char buf[TOP_TEXT], const struct top_line *l, int width)
{
	const struct top_counts *c = &l->row.c;
	char text[32];

	width = bounded(width);
	*buf = '\0';
	append(buf, NAME, width, l->row.name);
	append(buf, VERDICT, width, l->row.up || l->row.verdict == KL_VIOLATION ?
	       kl_verdict_name(l->row.verdict) : "NOT WATCHED");
	if (l->has_rate)
		append_number(buf, RATE, width, l->rate);
	else
		append(buf, RATE, width, "-");
	append_number(buf, OPS, width, c->recorded);
	top_text_time(text, sizeof(text), c->lag_ns);
	append(buf, LAG, width, text);
	append_number(buf, LOST, width, c->lost);
	append_number(buf, GAPS, width, c->gaps);
	append_number(buf, VIOLATIONS, width, c->violations);
	append_number(buf, OBJECTS, width, (double)c->linearizable + c->violated + c->unknown);
	append_number(buf, WAITING, width, c->waiting);
	append_number(buf, MEMORY, width, c->bytes);
}
