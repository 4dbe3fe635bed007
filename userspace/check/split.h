/* SPDX-License-Identifier: GPL-2.0 */
/* Splitting a history into partitions (Horn & Kroening, Algorithm 3). */
#ifndef KL_CHECK_SPLIT_H
#define KL_CHECK_SPLIT_H

#include <stdbool.h>

#include "history/history.h"
#include "spec/spec.h"

/**
 * struct kl_split - the partitions of a history
 * @ops: indices of operations, partition by partition and ascending; NULL if one partition has all
 * @at: partition k has ops[at[k]] to ops[at[k + 1] - 1]
 * @object: for each partition, the index of its object, or KL_ALL_OBJECTS
 * @key: for each partition, its key; valid if @by_key
 * @n: number of partitions, which are in order of their first operations
 */
struct kl_split {
	uint32_t *ops;
	size_t *at;
	uint32_t *object;
	uint64_t *key;
	size_t n;
	bool by_key;
};

/**
 * kl_split() - split a history
 * @spec: the specification; its `partition` clause says how
 * @h: the history
 * @methods: spec method for each method of the history
 * @by_object: by object only, not by key
 * @threads: number of threads; the partitions do not depend on it
 * @out: filled; kl_split_free() it
 *
 * If one operation's key is unknown, the history is split by object only.
 *
 * Return: 0, -ENOMEM.
 */
int kl_split(const struct kl_spec *spec, const struct kl_history *h, const int *methods,
	     bool by_object, unsigned int threads, struct kl_split *out);
void kl_split_free(struct kl_split *s);

#endif
