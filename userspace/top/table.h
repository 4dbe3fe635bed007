/* SPDX-License-Identifier: GPL-2.0 */
/* The table of `klin top' as text, for the screen and for --once. */
#ifndef KL_TOP_TABLE_H
#define KL_TOP_TABLE_H

#include "top/model.h"

#define TOP_WIDTH	500	/* maximal width of the table, in columns */
#define TOP_TEXT	(4 * TOP_WIDTH + 1)	/* size of a line of the table with its NUL byte */

/* The columns of the table, for help texts. */
#define TOP_COLUMNS                                                            \
	"OPS/S  operations recorded in a second\n"                             \
	"OPS    operations recorded so far\n"                                  \
	"LAG    time from the last event checked to the latest return read\n"  \
	"LOST   operations lost, skipped under overload, or too late\n"        \
	"GAPS   periods in which operations of an object may have been lost\n" \
	"VIOL   violations found\n"                                            \
	"OBJS   objects or keys that the check knows\n"                        \
	"WAIT   operations that the check has yet to process\n"                \
	"MEM    memory of the check, in bytes\n"

/* Print the titles of the columns that fit into @width columns to @buf. */
void top_table_head(char buf[TOP_TEXT], int width);
/* Print a structure to @buf in the columns that top_table_head() chooses for @width. */
void top_table_line(char buf[TOP_TEXT], const struct top_line *l, int width);

#endif
