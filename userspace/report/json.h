/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KL_REPORT_JSON_H
#define KL_REPORT_JSON_H

#include <jansson.h>

#include "report/verdict.h"

/* The report as one JSON object, with the @cost unless NULL, and a newline. */
void kl_print_json(FILE *f, const struct kl_report *r, const char *name,
		   const struct kl_cost *cost);

/* Names of files can be of any bytes, JSON cannot: U+FFFD stands for each that is no text. */
json_t *kl_json_text(const char *s);

#endif
