/* SPDX-License-Identifier: GPL-2.0 */
/* The gaps of a history that concern a partition. */
#ifndef KL_CHECK_GAPS_H
#define KL_CHECK_GAPS_H

#include "history/history.h"
#include "spec/spec.h"

/**
 * kl_gaps_collect() - collect the gaps of a partition
 * @spec: the specification
 * @h: the history
 * @methods: spec method for each method of the history
 * @ops: indices of the partition's operations; NULL: the first @nops
 * @nops: their number
 * @object: index of its object, KL_ALL_OBJECTS for several
 * @tso: a gap ends only when lost stores have certainly left the store buffers
 * @out: gets the gaps in order of begin, overlapping ones merged; the caller frees them
 * @count: gets their number
 *
 * Return: 0, -ENOMEM, -EOVERFLOW.
 */
int kl_gaps_collect(const struct kl_spec *spec, const struct kl_history *h, const int *methods,
		    const uint32_t *ops, size_t nops, uint32_t object, bool tso,
		    struct kl_gap **out, size_t *count);

#endif
