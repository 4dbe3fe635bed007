// SPDX-License-Identifier: GPL-2.0
/*
 * Records times at which a CPU's store buffer was certainly empty: every interrupt drains it
 * (Intel SDM, volume 3, "Store Buffer").  This program runs in a timer interrupt of its own, by
 * a perf event on each CPU's clock.  Probes on the kernel's timer or task switches would patch
 * code that all CPUs run.  An event that does not fit is not a loss: klin only knows less.
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
