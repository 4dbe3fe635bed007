/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KL_REPORT_JSON_H
#define KL_REPORT_JSON_H

#include <jansson.h>

#include "report/verdict.h"
#include "tso/explore/explore.h"

/* Members of @j as kl_print_memory() says them. */
void kl_json_memory(json_t *j, bool sc, enum kl_memory_by by, const struct kl_memory *m);

/*
 * The report as one JSON object, with the @cost unless NULL, and a newline.  0 or a negative
 * errno, as of kl_json_put().
 */
int kl_print_json(FILE *f, const struct kl_report *r, const char *name,
		   const struct kl_cost *cost);

/**
 * kl_json_put() - print a value and a newline
 * @f: where to
 * @j: the value; its reference is given up
 * @flags: as of json_dumpf()
 *
 * Who makes a value need not look at each part of it: for want of memory parts are missing,
 * and nothing is printed.
 *
 * Return: 0 or -ENOMEM.  Whether @f took it, @f knows.
 */
int kl_json_put(FILE *f, json_t *j, size_t flags);

/*
 * The value of a text; NULL when out of memory, of which the next kl_json_put() is not told.
 * To be called while no other value is being made.
 */
json_t *kl_json_parse(const char *text);

/* JSON's integers are signed here; what does not fit is a string. */
json_t *kl_json_number(uint64_t v);
/* Names of files can be of any bytes, JSON cannot: U+FFFD stands for each that is no text. */
json_t *kl_json_text(const char *s);
/* A step of an explorer's run, appended to the array @ctx: for kl_explore_run(). */
void kl_json_add_step(void *ctx, const struct kl_explore_step *s);

#endif
