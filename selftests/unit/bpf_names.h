/* SPDX-License-Identifier: GPL-2.0 */
/*
 * This header replaces libbpf's, and defines the same names.  So a test can include a BPF program,
 * compile it for this machine, and supply the helpers.
 */
#ifndef BPF_NAMES_H
#define BPF_NAMES_H

#include <stdint.h>

#define __BPF_HELPERS__
#define SEC(name)
#define __uint(name, value) int (*name)[value]
#define __type(name, value) __typeof__(value) *name
#define __noinline __attribute__((noinline))
#define barrier() asm volatile("" ::: "memory")

static void *bpf_map_lookup_elem(void *map, const void *key);
static long bpf_get_stackid(void *ctx, void *map, uint64_t flags);
static long bpf_perf_event_output(void *ctx, void *map, uint64_t flags, void *data, uint64_t size);
static uint64_t bpf_ktime_get_ns(void);
static uint64_t bpf_get_current_pid_tgid(void);
static uint32_t bpf_get_smp_processor_id(void);

#endif
