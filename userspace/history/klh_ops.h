/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the operations of a block of .klh, see klh_format.h. */
#ifndef KL_HISTORY_KLH_OPS_H
#define KL_HISTORY_KLH_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "history/history.h"
#include "history/klh_numbers.h"

struct klh_ops;

struct klh_ops *klh_ops_new(void);
void klh_ops_free(struct klh_ops *o);

/* Begin a block. */
void klh_ops_begin(struct klh_ops *o);

/**
 * klh_ops_read() - read the next operations of a block
 * @o: the reader, always of the same file
 * @h: the history that gets the operations; its methods, objects and threads are there
 * @col: the block's columns; the columns of operations move behind the operations
 * @n: number of operations
 * @what: receives, for -EINVAL, a message that says what is wrong
 *
 * Return: 0, -EINVAL, -ENOMEM or -EOVERFLOW.
 */
int klh_ops_read(struct klh_ops *o, struct kl_history *h, struct klh_cursor *col, size_t n,
		 const char **what);

/* Return: true if some operations were not in the order of kl_history_finish(). */
bool klh_ops_unordered(const struct klh_ops *o);

#endif
