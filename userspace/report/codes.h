/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reasons and limits of a result by name, for programs:
 *
 *	"reasons": [ { "code": "taken_twice", "sentence": "queue @1: t3's deq() ...", "partitions": 1 } ],
 *	"limits_met": [ "work_limit" ]
 */
#ifndef KL_REPORT_CODES_H
#define KL_REPORT_CODES_H

#include <jansson.h>
#include <stddef.h>

/**
 * kl_json_add_reason() - add a reason of the verdict to a result
 * @j: the result
 * @code: the reason's name
 * @sentence: the sentence, without a full stop; that of the first reason of this name is kept
 * @parts: the number of partitions that it decides, which is added up; 0 without partitions
 */
void kl_json_add_reason(json_t *j, const char *code, const char *sentence, size_t parts);

/* Add a limit that the run has met to a result, once. */
void kl_json_add_limit(json_t *j, const char *code);

/* Add the reasons and limits of the members "partitions" and "why_unknown" to a check's result. */
void kl_json_add_codes(json_t *j);

#endif
