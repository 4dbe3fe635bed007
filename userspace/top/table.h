/* SPDX-License-Identifier: GPL-2.0 */
/* The table of `klin top' as text, for the screen and for --once. */
#ifndef KL_TOP_TABLE_H
#define KL_TOP_TABLE_H

#include "top/model.h"

#define TOP_WIDTH	500	/* maximal width of the table, in columns */
#define TOP_TEXT	(4 * TOP_WIDTH + 1)	/* size of a line of the table with its NUL byte */

/* Print the titles of the columns that fit into @width columns to @buf. */
void top_table_head(char buf[TOP_TEXT], int width);
/* Print a structure to @buf in the columns that top_table_head() chooses for @width. */
void top_table_line(char buf[TOP_TEXT], const struct top_line *l, int width);

#endif
