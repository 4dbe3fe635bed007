/* SPDX-License-Identifier: GPL-2.0 */
/* Operations that need a value which nothing wrote. */
#ifndef KL_CHECK_UNWRITTEN_H
#define KL_CHECK_UNWRITTEN_H

#include "check/engine.h"

/**
 * kl_unwritten() - find an operation that needs a value which nothing wrote
 * @p: a partition
 * @run: an interpreter of its specification
 * @looks: bounds the search, after which nothing is found
 *
 * Each value of a variable is its first value, or an operation wrote it.  If the results of an
 * operation ask for another one, the partition has no order, with or without store buffers.  The
 * operations that are found are those whose variables are scalars and arrays, where no operation
 * writes what depends on the state before.
 *
 * Return: the item, KL_NO_OP if none is found, or -ENOMEM.
 */
int64_t kl_unwritten(const struct kl_part *p, struct kl_run *run, struct kl_looks *looks);

#endif
