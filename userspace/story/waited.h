/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Why a history is only linearizable with store buffers: a store that was still in the buffer when
 * another thread saw the word below it.
 *
 *	t0 |- write(1) -|	t1 |- read() -> 0 -|	write's store leaves after the read
 */
#ifndef KL_STORY_WAITED_H
#define KL_STORY_WAITED_H

#include "check/check.h"

/**
 * struct kl_waited - a store that waited, in the order that was found
 * @store: the operation that stored, as an index in the history
 * @seen_by: the operation that took effect before the store left the buffer
 * @sentence: without a full stop
 */
struct kl_waited {
	uint32_t store, seen_by;
	char *sentence;
};

/**
 * kl_waited_find() - find a store that waited
 * @spec: the specification
 * @h: the history
 * @p: a partition
 * @out: gets it; its sentence is NULL if the partition has an order without store buffers, or the
 *	order that was found shows no such store.  The caller frees the sentence.
 *
 * Return: 0 or -ENOMEM.
 */
int kl_waited_find(const struct kl_spec *spec, const struct kl_history *h,
		   const struct kl_part_result *p, struct kl_waited *out);

#endif
