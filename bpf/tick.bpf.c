// SPDX-License-Identifier: GPL-2.0
/*
 * Tells when a CPU's store buffer was certainly empty: an interrupt drains it by
 * being one (Intel SDM, volume 3, "Store Buffer").  This program runs in a timer
 * interrupt of its own (a perf event on each CPU's clock), since to see those of
 * the kernel, or its task switches, would mean to patch code that all CPUs are
 * running.  An event that does not fit is no loss: less is known.
 */
#include "vmlinux-min.h"
#include "klin_event.h"

const volatile struct klin_small_conf conf = {};

#include "slots.h"

SEC("perf_event")
int klin_tick(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct klin_event ev = { .type = KLIN_EV_TICK, .cpu_call = cpu, .cpu_ret = cpu };

	ev.call = ev.ret = klin_time(cpu);
	bpf_perf_event_output(ctx, &events, BPF_F_CURRENT_CPU, &ev, KLIN_EVENT_SIZE(0));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
