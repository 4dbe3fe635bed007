/* SPDX-License-Identifier: GPL-2.0 */
/* Verdicts as JSON. */
#ifndef KL_REPORT_JSON_H
#define KL_REPORT_JSON_H

#include <jansson.h>

#include "history/source_text.h"
#include "report/json_value.h"
#include "report/verdict.h"
#include "tso/explore/explore.h"

/* Add members with the memory model and its source to @j, as in kl_print_memory(). */
void kl_json_memory(json_t *j, bool sc, enum kl_memory_by by, const struct kl_memory *m);

/* Add the members `object' and `key' with the name of a partition to @j. */
void kl_json_part_name(json_t *j, const struct kl_history *h, const struct kl_part_result *p);

/*
 * Make a JSON object of the report, with the cost and the command of @style, or without if @style
 * is NULL.  See kl_json_whole().
 */
json_t *kl_report_json(const struct kl_report *r, const char *name,
		       const struct kl_verdict_style *style);

/* Append a step of an explorer's run to the array @ctx; for kl_explore_run(). */
void kl_json_add_step(void *ctx, const struct kl_explore_step *s);

/*
 * An operation of a history: its thread, method, arguments, results (null while it is pending; a
 * value that is not known is null), its text, the times of its call and return, and the CPU on
 * which it returned, or was called while it is pending, if that is known.
 */
json_t *kl_op_json(const struct kl_history *h, const struct kl_op *op);
/* A word: a number, or a text as in the input. */
json_t *kl_word_json(const struct kl_history *h, uint64_t word);
/* A thread: its number, its name, or null if the file has no threads. */
json_t *kl_thread_json(const struct kl_history *h, uint32_t thread);

/**
 * kl_op_json_placed() - an operation of a history as JSON, and its place in that history
 * @whole: the history
 * @id: index of the operation in @whole
 * @h: @whole, or a part of it that has the operation, perhaps as pending
 * @op: the operation in @h
 *
 * All objects of one operation have the same id.
 *
 * Return: an object as that of kl_op_json(), with the id, and the file, line and column where the
 * operation begins, if they are known.
 */
json_t *kl_op_json_placed(const struct kl_history *whole, uint32_t id, const struct kl_history *h,
			  const struct kl_op *op);

/*
 * Add the lines of an operation's entries in the source to @source, and, if they can be read again,
 * the entries themselves and their times.
 */
void kl_source_text_json(json_t *source, const struct kl_history *h, uint32_t id);
/*
 * Add the text of an entry of the source to @j, and its time; those of a return under names that
 * begin with "return_".
 */
void kl_source_entry_json(json_t *j, enum kl_source_half half, const struct kl_source_text *t);

#endif
