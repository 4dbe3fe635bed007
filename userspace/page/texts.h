/* SPDX-License-Identifier: GPL-2.0 */
/* The entries of operations in the file itself, of which a page holds some. */
#ifndef KL_PAGE_TEXTS_H
#define KL_PAGE_TEXTS_H

#include <jansson.h>

#include "page/page.h"

/**
 * kl_page_texts() - the entries of operations in the file
 * @p: the page, with its history
 * @kept: the operations that the page holds; NULL: all
 *
 * First come operations of violations, then those around them, up to @p->texts bytes.
 *
 * Return: an object with the "list" and the number of operations that are "left" out, or NULL if
 * the file cannot be read again.  Missing memory is noted for kl_json_whole().
 */
json_t *kl_page_texts(const struct kl_page *p, const bool *kept);

#endif
