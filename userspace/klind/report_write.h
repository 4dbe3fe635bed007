/* SPDX-License-Identifier: GPL-2.0 */
/* One report, see reports.h. */
#ifndef KLIND_REPORT_WRITE_H
#define KLIND_REPORT_WRITE_H

#include "klind/reports.h"

#define REPORT_TEMPORARY ".unfinished-"

/* Into a directory of its own in @dir.  0 or a negative errno, and nothing is left. */
int report_write(const char *dir, const struct incident *i);

#endif
