/* SPDX-License-Identifier: GPL-2.0 */
/* The result of a litmus test as text, as herd prints it, and as JSON. */
#ifndef KL_REPORT_LITMUS_RESULT_H
#define KL_REPORT_LITMUS_RESULT_H

#include <jansson.h>
#include <stdio.h>

#include "tso/litmus/litmus.h"

/* Print all final states and the condition. */
void kl_litmus_print(FILE *f, const struct kl_litmus *l, const struct kl_litmus_result *r);

/* Print the name of a register or location of final states. */
void kl_litmus_print_item(FILE *f, const struct kl_litmus *l, unsigned int i);
/* Print the condition without its quantifier. */
void kl_litmus_print_condition(FILE *f, const struct kl_litmus *l);

/* Return: whether the condition holds in final states: "Never", "Sometimes" or "Always". */
const char *kl_litmus_observation(const struct kl_litmus_result *r);

/**
 * kl_litmus_json() - the result of a litmus test as JSON
 * @path: the test's file
 * @l: the test
 * @r: its result
 *
 * Return: the test's object; parts are missing after kl_json_no_memory().
 */
json_t *kl_litmus_json(const char *path, const struct kl_litmus *l,
		       const struct kl_litmus_result *r);

/* As kl_litmus_json(), of a test without a result.  @l: NULL if it could not be read. */
json_t *kl_litmus_none_json(const char *path, const struct kl_litmus *l, const char *verdict,
			    const char *reason);

#endif
