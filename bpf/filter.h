/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The filters, which leave operations out early, before they cost much.
 *
 * A sample of objects records all operations of an object, or none.  A filter by task or CPU may
 * leave out some operations of an object whose other operations are recorded.  That object's
 * history is then incomplete.  So the programs note which objects the omitted operations use, by
 * a hash, with one plain store.
 */
#ifndef KLIN_FILTER_H
#define KLIN_FILTER_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "klin_event.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct klin_left);
} left SEC(".maps");

static __always_inline bool klin_sampled(const volatile struct klin_filter *f, __u64 object,
					 __u32 fault)
{
	return f->sample < 2 || (fault & KLIN_FAULT_OBJECT) ||
	       klin_object_hash(object) % f->sample == 0;
}

static __always_inline bool klin_other_task(const volatile struct klin_filter *f, __u32 tgid)
{
	return f->only && tgid != f->only;
}

/* An operation belongs to the CPU of its call. */
static __always_inline bool klin_left_out(const volatile struct klin_filter *f, __u32 tgid,
					  __u32 cpu)
{
	return klin_other_task(f, tgid) ||
	       (f->by_cpu && !(f->cpus[cpu / 64 & (KLIN_CPU_WORDS - 1)] >> (cpu & 63) & 1));
}

/* Call this at the call of an operation; a later note could come after the operation's effect. */
static __always_inline void klin_note_left(const volatile struct klin_filter *f, __u64 object,
					   __u32 fault)
{
	struct klin_left *l;
	__u32 zero = 0;

	if (!f->note)
		return;
	l = bpf_map_lookup_elem(&left, &zero);
	if (!l)
		return;
	if (fault & KLIN_FAULT_OBJECT)
		l->all = 1;
	else
		l->object[klin_object_hash(object) & (KLIN_LEFT - 1)] = 1;
}

#endif
