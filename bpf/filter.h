/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations that are left out, before they cost much.
 *
 * Of a sample of objects each one's operations are all recorded, or none.  By task or
 * CPU it is not so: those that are left out may be on an object of others that are
 * recorded, and then all that is known of it is worth nothing.  So it is noted which
 * objects they are on, by a hash, with one plain store.
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

/* An operation is its call's CPU's. */
static __always_inline bool klin_left_out(const volatile struct klin_filter *f, __u32 tgid,
					  __u32 cpu)
{
	return klin_other_task(f, tgid) ||
	       (f->by_cpu && !(f->cpus[cpu / 64 & (KLIN_CPU_WORDS - 1)] >> (cpu & 63) & 1));
}

/* To be called at the call: what was noted later might have been done before. */
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
