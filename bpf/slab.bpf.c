// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the slab cache that has an address, for reports.  Userspace runs this program
 * itself for each new object; it is attached to nothing.  The memory may be freed at any time, so
 * each pointer is read as any data, and the answer is only a name.
 */
#include "vmlinux-min.h"
#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include "klin_event.h"

struct page {
	unsigned long flags, compound_head;
	unsigned int page_type;
} __attribute__((preserve_access_index));

struct kmem_cache {
	const char *name;
	unsigned int size, object_size, red_left_pad;
	int refcount;
} __attribute__((preserve_access_index));

struct slab {
	struct kmem_cache *slab_cache;
} __attribute__((preserve_access_index));

/* Kernels have the one or the other of these. */
enum pageflags { PG_slab };
enum pagetype { PGTY_slab };

const volatile struct klin_slab_conf conf = {};

static __always_inline __u64 load(__u64 addr)
{
	__u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), (const void *)addr);
	return v;
}

/* Return: true if the memory behind the page belongs to a slab. */
static __always_inline bool is_slab(const struct page *page)
{
	if (bpf_core_enum_value_exists(enum pageflags, PG_slab))
		return BPF_CORE_READ(page, flags) >>
		       bpf_core_enum_value(enum pageflags, PG_slab) & 1;
	if (bpf_core_enum_value_exists(enum pagetype, PGTY_slab))
		return BPF_CORE_READ(page, page_type) >> 24 ==
		       bpf_core_enum_value(enum pagetype, PGTY_slab);
	return false;
}

/*
 * Find the place of q->addr in its object.  The objects of a slab follow each other from the start
 * of its first page; where the kernel looks for overflows, some bytes are before each.
 */
static __always_inline void find_offset(struct klin_slab_query *q, const struct kmem_cache *cache,
					__u64 start)
{
	__u32 size, offset, pad = 0;

	if (!bpf_core_field_exists(cache->size) || !bpf_core_field_exists(cache->object_size) ||
	    !bpf_core_field_exists(cache->refcount))
		return;
	if (bpf_core_field_exists(cache->red_left_pad))
		pad = BPF_CORE_READ(cache, red_left_pad);
	size = BPF_CORE_READ(cache, size);
	if (!size)
		return;
	offset = (q->addr - start) % size;
	if (offset < pad || offset - pad >= BPF_CORE_READ(cache, object_size))
		return;
	q->offset = offset - pad;
	q->size = BPF_CORE_READ(cache, object_size);
	q->shared = BPF_CORE_READ(cache, refcount) != 1;
}

SEC("syscall")
int klin_slab(struct klin_slab_query *q)
{
	const __u64 base = load(conf.page_offset_base), end = load(conf.vmalloc_base);
	const __u64 pages = load(conf.vmemmap_base);
	const struct page *page = NULL;
	const struct slab *slab = NULL;
	const struct kmem_cache *cache;
	char name[sizeof(q->name)] = "";
	__u64 head;

	if (!base || !pages || q->addr < base || q->addr >= end ||
	    !bpf_core_field_exists(page->compound_head) ||
	    !bpf_core_field_exists(slab->slab_cache))
		goto out;
	page = (const void *)(pages + (q->addr - base) / 4096 * bpf_core_type_size(struct page));
	/* A page behind the first of its block points to the first, with bit 0 set. */
	head = BPF_CORE_READ(page, compound_head);
	if (head & 1)
		page = (const void *)(head - 1);
	if (is_slab(page)) {
		slab = (const void *)page;
		cache = BPF_CORE_READ(slab, slab_cache);
		bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(cache, name));
		find_offset(q, cache, base + ((__u64)page - pages) /
			    bpf_core_type_size(struct page) * 4096);
	}
out:
	__builtin_memcpy(q->name, name, sizeof(name));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
