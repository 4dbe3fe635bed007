/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The objects of recorded operations, so that free.bpf.c knows them when their memory is freed.
 *
 * An object is known by its address.  When its memory is freed and used again, another object has
 * the address.  The program of a call therefore puts the object into a table, before it records the
 * call; the program of a free takes it out, and tells userspace.  An object that finds no room is
 * marked in its events.
 *
 * A known object costs a look into one cache line.  A new one takes a locked instruction, which
 * drains the store buffer.
 */
#ifndef KLIN_LIVES_H
#define KLIN_LIVES_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "klin_event.h"

/* All programs of a recording share these maps. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KLIN_BUCKETS);
	__type(key, __u32);
	__type(value, struct klin_bucket);
} living SEC(".maps");

/* Blocks of memory that have, or had, such objects; most frees are of others. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct klin_blocks);
} blocks SEC(".maps");

static __always_inline __u8 *klin_block(__u64 addr)
{
	const __u32 zero = 0;
	struct klin_blocks *b = bpf_map_lookup_elem(&blocks, &zero);

	return b ? &b->used[klin_object_hash(addr >> KLIN_BLOCK_BITS) & (KLIN_BLOCKS - 1)] : NULL;
}

/* Return: the bucket for objects in the granule of @addr. */
static __always_inline struct klin_bucket *klin_bucket(__u64 addr)
{
	const __u32 i = klin_object_hash(addr >> KLIN_GRANULE_BITS) & (KLIN_BUCKETS - 1);

	return bpf_map_lookup_elem(&living, &i);
}

/* Put an object into the table.  Return: 0, or 1 if there is no room. */
__noinline int klin_live(__u64 object)
{
	struct klin_bucket *b = klin_bucket(object);
	__u64 there;
	__u8 *used;
	__u32 i;

	if (!b)
		return 1;
#pragma unroll
	for (i = 0; i < KLIN_BUCKET; i++)
		if (b->object[i] == object)
			return 0;
	used = klin_block(object);
	if (!used)
		return 1;
	*used = 1;
	barrier();
#pragma unroll
	for (i = 0; i < KLIN_BUCKET; i++) {
		there = b->object[i] ?: __sync_val_compare_and_swap(&b->object[i], 0, object);
		if (!there || there == object)
			return 0;
	}
	return 1;
}

/*
 * Note the object of an operation at a time when the object exists; @fault: klin_event.fault.
 * Return: flags for the event.  Numbers that are no addresses of the kernel, and variables of its
 * image, are never freed.
 */
static __always_inline __u32 klin_note_life(__u64 object, __u32 fault)
{
	if (fault & KLIN_FAULT_OBJECT || object < KLIN_KERNEL_FROM || object >= KLIN_IMAGE_FROM)
		return 0;
	return klin_live(object) ? KLIN_F_UNWATCHED : 0;
}

#endif
