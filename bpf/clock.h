/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a time is.  To be included where `conf' is known, whose clock is a constant
 * that the verifier knows: of the others nothing is left in the program.
 */
#ifndef KLIN_CLOCK_H
#define KLIN_CLOCK_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "klin_event.h"

/* Shared by all programs: first what all CPUs read, then a line a CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct klin_time);
} times SEC(".maps");

/*
 * Ticks and epochs: the shared count is only loaded, which orders and drains nothing.
 * Times of one CPU rise inside a tick, too; at its end they stay equal.  An interrupt
 * between load and store takes later times than the one that is stored then.  So that they
 * do not go back, each level has its own: how deep it is, is the same again when an
 * interrupt is over, and what comes next is above all levels.  The time itself may be as
 * early as that: its operation was called, or had returned, before the interrupt came.
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

/* What is later than this, maybe of another CPU, was taken after @now for certain. */
static __always_inline __u64 klin_last(__u64 now)
{
	if (conf.clock == KLIN_CLOCK_COARSE)
		now |= (1ULL << KLIN_TICK_BITS) - 1;
	return now;
}

/*
 * The kernel's clock waits for the loads before it (lfence or rdtscp): what a return loaded
 * was loaded before its time.  Nothing keeps an operation's loads behind the time of its
 * call, they may be done while the counter is read, some 10 ns too early.  Between CPUs
 * that is less than the clock's error, which is at least what a cache line needs from one
 * to the other (userspace/record/clock_skew.c), and one CPU's operations have their own order.
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
