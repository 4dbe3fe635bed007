/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KL_REPORT_JSON_H
#define KL_REPORT_JSON_H

#include "check/check.h"

/* The report as one JSON object, and a newline. */
void kl_print_json(FILE *f, const struct kl_report *r, const char *name);

#endif
