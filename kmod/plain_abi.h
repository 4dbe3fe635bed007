/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What klin.ko's own recording and its reader share: debugfs klin/plain.  A file
 * records from KLIN_PLAIN_START to KLIN_PLAIN_STOP, or until it is closed; what is
 * mapped of it has the parts of struct klin_plain_map, which BPF programs have as maps.
 */
#ifndef KLIN_PLAIN_ABI_H
#define KLIN_PLAIN_ABI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "../bpf/klin_event.h"

/**
 * struct klin_plain_size - how much memory
 * @ncpus: all possible CPUs
 * @slots: tasks that can keep a slot, a power of two; others are lent one for an operation
 * @entries: events a CPU's buffer holds, a power of two
 */
struct klin_plain_size {
	__u32 ncpus, slots, entries;
};

/* A CPU's buffer: events [tail..head), modulo the entries.  Each line has one writer. */
struct klin_plain_ring {
	__u64 head;		/* the module's */
	__u64 pad[7];
	__u64 tail;		/* the reader's */
	__u64 more[7];
};

struct klin_plain_entry {
	struct klin_event ev;
	__u64 pad;
};

/* Where the parts are, in bytes. */
struct klin_plain_map {
	__u64 times;		/* struct klin_time: the shared one, then one a CPU */
	__u64 cpus;		/* struct klin_cpu: KLIN_SIDES a CPU */
	__u64 rings;		/* struct klin_plain_ring, one a CPU */
	__u64 slots;		/* struct klin_slot: KLIN_ALL_SLOTS() */
	__u64 events;		/* struct klin_plain_entry: a CPU's after the other's */
	__u64 size;		/* of all, whole pages */
};

#define KLIN_PLAIN_SIZE		_IOW('k', 1, struct klin_plain_size)	/* once, before mmap() */
#define KLIN_PLAIN_START	_IOW('k', 2, struct klin_tp_conf)	/* once */
#define KLIN_PLAIN_STOP		_IO('k', 3)	/* nothing is written when it is done */

static inline __u64 klin_plain_part(__u64 *at, __u64 bytes)
{
	const __u64 here = *at;

	*at += (bytes + 4095) / 4096 * 4096;
	return here;
}

static inline struct klin_plain_map klin_plain_layout(const struct klin_plain_size *s)
{
	struct klin_plain_map m;
	__u64 at = 0, n = s->ncpus;

	m.times = klin_plain_part(&at, (1 + n) * sizeof(struct klin_time));
	m.cpus = klin_plain_part(&at, KLIN_SIDES * n * sizeof(struct klin_cpu));
	m.rings = klin_plain_part(&at, n * sizeof(struct klin_plain_ring));
	m.slots = klin_plain_part(&at, (__u64)KLIN_ALL_SLOTS(s->slots) * sizeof(struct klin_slot));
	m.events = klin_plain_part(&at, n * s->entries * sizeof(struct klin_plain_entry));
	m.size = at;
	return m;
}

#endif
