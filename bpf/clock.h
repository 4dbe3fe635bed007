/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading a recording's clock.  Include this file after `conf', whose clock is a constant.  The
 * verifier removes the code of all other clocks.
 */
#ifndef KLIN_CLOCK_H
#define KLIN_CLOCK_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "klin_event.h"

/* All programs share this map: entry 0 is the shared count, and each CPU has an entry after it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct klin_time);
} times SEC(".maps");

/*
 * Read a coarse time: its high bits are the shared count, its low bits a count of this CPU.
 * Programs only load the shared count, so they drain no store buffer.  While the shared count
 * stays the same (a tick), each time of a CPU is one above its last time, until the low bits are
 * all ones.  From then until the next tick the CPU's times are equal.
 *
 * An interrupt between the load and the store of level[] reads a later time than the program that
 * it hit.  So each depth of interrupts stores its times in an entry of its own, and the next time
 * is above all entries.  An interrupt leaves the depth as it found it.  The interrupted program
 * may return an earlier time than the interrupt did, because its call or return came first.
 */
static __always_inline __u64 klin_coarse_time(const struct klin_time *shared, __u32 cpu)
{
	__u64 first = *(volatile const __u64 *)&shared->now << KLIN_TICK_BITS;
	__u64 last = first | ((1ULL << KLIN_TICK_BITS) - 1), next = 0, depth;
	__u32 i = 1 + cpu;
	volatile struct klin_time *own = bpf_map_lookup_elem(&times, &i);

	if (!own)
		return first;
	depth = own->depth;
	own->depth = depth + 1;
#pragma unroll
	for (i = 0; i < KLIN_TIME_LEVELS; i++)
		if (own->level[i] > next)
			next = own->level[i];
	next++;
	if (next < first)
		next = first;
	if (next > last)
		next = last;
	own->level[depth % KLIN_TIME_LEVELS] = next;
	own->depth = depth;
	return next;
}

/* Return: a bound; any time above it, of this CPU or another, was certainly read after @now. */
static __always_inline __u64 klin_last(__u64 now)
{
	if (conf.clock == KLIN_CLOCK_COARSE)
		now |= (1ULL << KLIN_TICK_BITS) - 1;
	return now;
}

/*
 * The kernel's clock waits for earlier loads (lfence or rdtscp).  So an operation's loads are
 * done before the time of its return.  Its loads may begin while the time of its call is read,
 * some 10 ns too early.  Between CPUs 10 ns are less than the clock's error, which is at least
 * the time that a cache line needs between two CPUs (userspace/record/clock_skew.c).  Operations
 * of one CPU are ordered by program order.
 */
static __always_inline __u64 klin_time(__u32 cpu)
{
	struct klin_time *shared;
	__u32 zero = 0;

	if (conf.clock == KLIN_CLOCK_MONO)
		return bpf_ktime_get_ns();
	shared = bpf_map_lookup_elem(&times, &zero);
	if (!shared)
		return 0;
	if (conf.clock == KLIN_CLOCK_SEQ)
		return __sync_fetch_and_add(&shared->now, 1);
	return klin_coarse_time(shared, cpu);
}

#endif
