/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KL_REPORT_JSON_H
#define KL_REPORT_JSON_H

#include <jansson.h>

#include "report/verdict.h"
#include "tso/explore.h"

/* The report as one JSON object, with the @cost unless NULL, and a newline. */
void kl_print_json(FILE *f, const struct kl_report *r, const char *name,
		   const struct kl_cost *cost);

/* JSON's integers are signed here; what does not fit is a string. */
json_t *kl_json_number(uint64_t v);
/* Names of files can be of any bytes, JSON cannot: U+FFFD stands for each that is no text. */
json_t *kl_json_text(const char *s);
/* A step of an explorer's run, appended to the array @ctx: for kl_explore_run(). */
void kl_json_add_step(void *ctx, const struct kl_explore_step *s);

#endif
