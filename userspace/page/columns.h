/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A history in columns, as the page holds it.
 *
 * A column has one number for each operation: unsigned LEB128 numbers in base64.  Columns that
 * increase hold differences, and a return is stored as the duration plus one, so that most numbers
 * take one or two bytes.  Methods, values, threads and objects are indices of tables of texts.
 */
#ifndef KL_PAGE_COLUMNS_H
#define KL_PAGE_COLUMNS_H

#include <jansson.h>

#include "check/check.h"

/**
 * kl_page_columns() - make the columns of a history
 * @h: the history
 * @r: the report on it, or NULL
 * @kept: whether to include each operation; NULL: all
 *
 * Return: a JSON object, or NULL if memory is short.  Parts may be missing after
 * kl_json_no_memory(), see kl_json_whole().
 */
json_t *kl_page_columns(const struct kl_history *h, const struct kl_report *r, const bool *kept);

#endif
