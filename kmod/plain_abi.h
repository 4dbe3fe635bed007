/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Layout of klin.ko's own recording, which the reader shares: debugfs klin/plain.  A file
 * records from KLIN_PLAIN_START to KLIN_PLAIN_STOP, or until it is closed.  The mapped memory
 * consists of the parts of struct klin_plain_map, which a BPF recording keeps in maps.
 */
#ifndef KLIN_PLAIN_ABI_H
#define KLIN_PLAIN_ABI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "../bpf/klin_event.h"

/**
 * struct klin_plain_size - sizes of the memory
 * @ncpus: number of possible CPUs
 * @slots: number of kept slots, a power of two; each belongs to a task.  Further tasks
 *	borrow a lent slot for an operation
 * @entries: number of events in a CPU's buffer, a power of two
 */
struct klin_plain_size {
	__u32 ncpus, slots, entries;
};

/* A CPU's buffer: events [tail..head), modulo the entries.  Each cache line has one writer. */
struct klin_plain_ring {
	__u64 head;		/* written by the module */
	__u64 pad[7];
	__u64 tail;		/* written by the reader */
	__u64 more[7];
};

struct klin_plain_entry {
	struct klin_event ev;
	__u64 pad;
};

/* Offsets of the parts, in bytes. */
struct klin_plain_map {
	__u64 times;		/* struct klin_time: the shared one, then one for each CPU */
	__u64 cpus;		/* struct klin_cpu: KLIN_SIDES for each CPU */
	__u64 rings;		/* struct klin_plain_ring, one for each CPU */
	__u64 slots;		/* struct klin_slot: KLIN_ALL_SLOTS() of them */
	__u64 events;		/* struct klin_plain_entry: @entries for each CPU */
	__u64 size;		/* total, in whole pages */
};

#define KLIN_PLAIN_SIZE		_IOW('k', 1, struct klin_plain_size)	/* once, before mmap() */
#define KLIN_PLAIN_START	_IOW('k', 2, struct klin_tp_conf)	/* once */
#define KLIN_PLAIN_STOP		_IO('k', 3)	/* afterwards the module writes nothing */

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
