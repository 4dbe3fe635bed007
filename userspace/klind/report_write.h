/* SPDX-License-Identifier: GPL-2.0 */
/* One report, see reports.h. */
#ifndef KLIND_REPORT_WRITE_H
#define KLIND_REPORT_WRITE_H

#include "klind/reports.h"

#define REPORT_TEMPORARY ".unfinished-"

#define REPORT_NAME	256

/*
 * Into a directory in @dir, called @name.  0; 1 if files are missing, as report.json says; without
 * report.json: a negative errno, and nothing is left.
 */
int report_write(const char *dir, const struct incident *i, char name[REPORT_NAME]);

#endif
