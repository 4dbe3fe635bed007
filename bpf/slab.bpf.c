// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the slab cache that has an address, for reports.  Userspace runs this program itself for
 * each new object; it is attached to nothing.  The answer is only a name.
 */
#include "vmlinux-min.h"
#include "slab.h"

const volatile struct klin_slab_conf conf = {};

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
	__u64 start = 0;
	const struct kmem_cache *cache = klin_find_cache(&conf, q->addr, &start);
	char name[sizeof(q->name)] = "";

	if (cache) {
		bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(cache, name));
		find_offset(q, cache, start);
	}
	__builtin_memcpy(q->name, name, sizeof(name));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
