/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rings of programs at returns: memory that userspace maps, and that programs write by plain
 * stores.  That costs a tenth of the kernel's output to a perf buffer.  A ring belongs to one
 * program on one CPU, so it has one writer (see klin_event.h).  All other events go into the
 * CPU's perf buffer: of places (place.bpf.c), of drains, of frames whose returns were missed, and
 * events that do not fit into the ring.
 *
 * Include this file after slots.h; `conf' has `ring' and `nvals'.
 */
#ifndef KLIN_RING_H
#define KLIN_RING_H

#include "slots.h"

/* The CPUs' rings, one after the other; entries have only the values that `conf' uses. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct klin_event));
} ring SEC(".maps");

/*
 * Write an event into the ring.  Return: false if there is no room, or no ring.
 *
 * x86 keeps stores in order, and a load before later stores.  So the event is written before the
 * head moves, and an overwritten entry was read before the tail moved.
 */
static __always_inline bool klin_put(struct klin_cpu *c, __u32 cpu, const struct klin_event *ev)
{
	const __u32 entries = conf.ring, nvals = conf.nvals;
	const struct klin_home *home;
	__u64 head = c->head, *to;
	__u32 at = c->at, i;

	if (!entries)
		return false;
	home = bpf_map_lookup_elem(&homes, &cpu);
	if (!home || home->open != *(volatile const __u32 *)&home->came)
		return false;
	if (head - *(volatile __u64 *)&c->tail >= entries)
		return false;
	i = home->ring * entries + at;
	to = bpf_map_lookup_elem(&ring, &i);
	if (!to)
		return false;
	barrier();
#pragma unroll
	for (i = 0; i < sizeof(*ev) / sizeof(*to); i++)
		if (i < KLIN_EVENT_SIZE(0) / sizeof(*to) + nvals)
			to[i] = ((const __u64 *)ev)[i];
	c->at = at + 1 < entries ? at + 1 : 0;
	barrier();
	*(volatile __u64 *)&c->head = head + 1;
	return true;
}

/* Only the program at returns calls this function; @c has its counts. */
static __always_inline void klin_record(void *ctx, struct klin_cpu *c, __u32 cpu,
					struct klin_event *ev, __u32 size)
{
	c->events++;
	barrier();
	if (!klin_put(c, cpu, ev))
		klin_output(ctx, c, ev, size);
	else if (c->losing)
		c->losing = 0;
}

#endif
