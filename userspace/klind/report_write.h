/* SPDX-License-Identifier: GPL-2.0 */
/* Write one report, see reports.h. */
#ifndef KLIND_REPORT_WRITE_H
#define KLIND_REPORT_WRITE_H

#include "klind/reports.h"

/* prefix of a report's directory while it is being written */
#define REPORT_TEMPORARY ".unfinished-"

#define REPORT_NAME	256	/* size of a report's name with its NUL byte */

/* Print the present time, UTC, as it begins names of reports: 20261121T233015.123456Z. */
void report_time(char *buf, size_t size);

/**
 * report_write() - write the report of an incident
 * @dir: path of the directory of reports
 * @i: the incident
 * @name: gets the name of the report's directory in @dir
 *
 * Return: 0; 1 if the report lacks files, which report.json names; a negative errno if report.json
 * cannot be written, and then no directory is left behind.
 */
int report_write(const char *dir, const struct incident *i, char name[REPORT_NAME]);

#endif
