// SPDX-License-Identifier: GPL-2.0
/*
 * Tells when a CPU's store buffer was certainly empty: a task switch takes the
 * run queue's lock, a locked instruction, and a timer interrupt drains by being
 * one (Intel SDM, volume 3, "Store Buffer").  Both happen anyway; here only
 * their times are noted.  An event that does not fit is no loss: less is known.
 */
#include "vmlinux-min.h"
#include "slots.h"

const volatile __u64 apart_ns = 0;	/* more often would tell little */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} last SEC(".maps");

static __always_inline int drained(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct klin_event ev = { .type = KLIN_EV_SWITCH, .cpu_call = cpu, .cpu_ret = cpu };
	__u64 *then = bpf_map_lookup_elem(&last, &cpu);

	ev.ret = bpf_ktime_get_ns();
	if (!then || ev.ret - *then < apart_ns)
		return 0;
	*then = ev.ret;
	ev.call = ev.ret;
	bpf_perf_event_output(ctx, &events, BPF_F_CURRENT_CPU, &ev, KLIN_EVENT_SIZE(0));
	return 0;
}

SEC("raw_tp/sched_switch")
int klin_switch(void *ctx)
{
	return drained(ctx);
}

SEC("raw_tp/local_timer_entry")
int klin_timer(void *ctx)
{
	return drained(ctx);
}

char LICENSE[] SEC("license") = "GPL";
