// SPDX-License-Identifier: GPL-2.0
/*
 * A timer interrupt on each CPU, which shows now and then that the CPU's store buffer was empty.
 * The timers may fail to start: then klin knows fewer drains, and still records correctly.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "record/recorder.h"
#include "tick.skel.h"

#define TICKS_PER_SECOND	1000

static int attach_cpu(struct kl_recorder *r, const struct bpf_program *prog, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = TICKS_PER_SECOND,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	r->ticks[cpu] = bpf_program__attach_perf_event(prog, fd);
	if (r->ticks[cpu])
		return 0;
	err = -errno;
	close(fd);
	return err;
}

/**
 * kl_ticks_attach() - start the timers on all CPUs but the quiet ones
 * @r: the recorder, its perf buffers open
 */
void kl_ticks_attach(struct kl_recorder *r)
{
	size_t size;
	const struct klin_small_conf conf = { .clock = kl_times_kind(r) };
	const void *elf = tick_bpf__elf_bytes(&size);
	int err = kl_open_object(r, elf, size, &conf, sizeof(conf), &r->tick_obj), cpu;

	if (!err)
		err = bpf_object__load(r->tick_obj);
	if (!err) {
		r->ticks = calloc(r->ncpus, sizeof(*r->ticks));
		err = r->ticks ? 0 : -ENOMEM;
	}
	for (cpu = 0; !err && cpu < r->ncpus; cpu++) {
		if (kl_quiet_is(r, cpu))
			continue;
		err = attach_cpu(r, bpf_object__next_program(r->tick_obj, NULL), cpu);
		/* The CPU is offline. */
		if (err == -ENODEV)
			err = 0;
	}
	if (err)
		kl_warn("cannot start a timer on each CPU: %s; klin will seldom know when a store "
			"buffer is empty", strerror(-err));
}

void kl_ticks_again(struct kl_recorder *r, int cpu)
{
	int err;

	if (!r->ticks || kl_quiet_is(r, cpu))
		return;
	bpf_link__destroy(r->ticks[cpu]);
	r->ticks[cpu] = NULL;
	err = attach_cpu(r, bpf_object__next_program(r->tick_obj, NULL), cpu);
	if (err)
		kl_debug("cannot start a timer on CPU %d: %s", cpu, strerror(-err));
}

void kl_ticks_detach(struct kl_recorder *r)
{
	int cpu;

	for (cpu = 0; r->ticks && cpu < r->ncpus; cpu++)
		bpf_link__destroy(r->ticks[cpu]);
	free(r->ticks);
	r->ticks = NULL;
	bpf_object__close(r->tick_obj);
	r->tick_obj = NULL;
}
