/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The slab that has an address.  The memory may be freed at any time, so each pointer is read as
 * any data.
 */
#ifndef KLIN_SLAB_H
#define KLIN_SLAB_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "klin_event.h"

#define KLIN_PAGE	4096

struct page {
	unsigned long flags, compound_head;
	unsigned int page_type;
} __attribute__((preserve_access_index));

struct kmem_cache {
	const char *name;
	unsigned int size, object_size, red_left_pad, flags;
	int refcount;
} __attribute__((preserve_access_index));

struct slab {
	struct kmem_cache *slab_cache;
} __attribute__((preserve_access_index));

/* Kernels have the one or the other of these. */
enum pageflags { PG_slab };
enum pagetype { PGTY_slab };
enum _slab_flag_bits { _SLAB_TYPESAFE_BY_RCU };

#define KLIN_TYPESAFE_BIT 19 /* of SLAB_TYPESAFE_BY_RCU before Linux 6.9 */

/* Where the kernel's map of all memory begins and ends, and where its struct pages are. */
struct klin_direct {
	__u64 base, end, pages;
};

static __always_inline __u64 klin_peek(__u64 addr)
{
	__u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), (const void *)addr);
	return v;
}

/*
 * Get where memory is, from the variables whose addresses @at has.  A kernel without them has
 * constants (CONFIG_DYNAMIC_MEMORY_LAYOUT=n).
 */
static __always_inline void klin_find_direct(struct klin_direct *d,
					     const volatile struct klin_slab_conf *at)
{
	d->base = at->page_offset_base ? klin_peek(at->page_offset_base) : 0xffff888000000000ULL;
	d->end = at->vmalloc_base ? klin_peek(at->vmalloc_base) : 0xffffc90000000000ULL;
	d->pages = at->vmemmap_base ? klin_peek(at->vmemmap_base) : 0xffffea0000000000ULL;
}

/* Return: true if the memory behind the page belongs to a slab. */
static __always_inline bool klin_is_slab(const struct page *page)
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
 * Return: the first page of the block of pages that has @addr, NULL if the address is not in the
 * map of all memory, or the kernel's struct page is not known.
 */
static __always_inline const struct page *klin_first_page(const struct klin_direct *d, __u64 addr)
{
	const struct page *page = NULL;
	__u64 head;

	if (addr < d->base || addr >= d->end || !bpf_core_field_exists(page->compound_head))
		return NULL;
	page = (const void *)(d->pages +
			      (addr - d->base) / KLIN_PAGE * bpf_core_type_size(struct page));
	/* A page behind the first of its block points to the first, with bit 0 set. */
	head = BPF_CORE_READ(page, compound_head);
	return head & 1 ? (const void *)(head - 1) : page;
}

/*
 * Find the slab cache that has @addr.  Return: the cache, whose slab begins at *start; or NULL.
 */
static __always_inline const struct kmem_cache *
klin_find_cache(const volatile struct klin_slab_conf *at, __u64 addr, __u64 *start)
{
	const struct slab *slab = NULL;
	const struct page *page;
	struct klin_direct d;

	klin_find_direct(&d, at);
	page = klin_first_page(&d, addr);
	if (!page || !klin_is_slab(page) || !bpf_core_field_exists(slab->slab_cache))
		return NULL;
	*start = d.base + ((__u64)page - d.pages) / bpf_core_type_size(struct page) * KLIN_PAGE;
	slab = (const void *)page;
	return BPF_CORE_READ(slab, slab_cache);
}

/* Return: true if the cache's objects may be used while they are free (SLAB_TYPESAFE_BY_RCU). */
static __always_inline bool klin_keeps_type(const struct kmem_cache *cache)
{
	const __u32 bit = bpf_core_enum_value_exists(enum _slab_flag_bits, _SLAB_TYPESAFE_BY_RCU) ?
				  bpf_core_enum_value(enum _slab_flag_bits, _SLAB_TYPESAFE_BY_RCU) :
				  KLIN_TYPESAFE_BIT;

	return !bpf_core_field_exists(cache->flags) || BPF_CORE_READ(cache, flags) >> bit & 1;
}

#endif
