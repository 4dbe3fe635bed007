/* SPDX-License-Identifier: GPL-2.0 */
/* Memory: growable arrays with checked sizes, and arenas. */
#ifndef KL_BASE_MEM_H
#define KL_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

/**
 * kl_grow_() - make room for @need elements of @size bytes in a growable array
 * @p: the array, may be NULL; replaced if it moves
 * @cap: its capacity in elements, updated
 * @need: number of elements wanted
 * @size: bytes of an element
 *
 * Return: 0, -EOVERFLOW if the size in bytes is too large, or -ENOMEM.
 */
int kl_grow_(void **p, size_t *cap, size_t need, size_t size);

/* kl_grow(array, capacity, needed) is kl_grow_() with the element's size. */
#define kl_grow(p, cap, need) \
	((size_t)(need) <= (cap) ? 0 : kl_grow_((void **)&(p), &(cap), (need), sizeof(*(p))))

/**
 * kl_expect_() - make room in a growable array that will be large
 * @p: the array, replaced
 * @cap: its capacity in elements, updated
 * @n: number of elements present
 * @need: expected number of elements
 * @size: bytes of an element
 *
 * Memory that grows in small steps moves often and gets no huge pages.  This function does
 * nothing if memory runs out or the array is not large.
 */
void kl_expect_(void **p, size_t *cap, size_t n, size_t need, size_t size);

/* kl_expect(array, capacity, present, expected) is kl_expect_() with the element's size. */
#define kl_expect(p, cap, n, need) \
	kl_expect_((void **)&(p), &(cap), (n), (need), sizeof(*(p)))

/**
 * kl_big_alloc() - allocate a large array that is filled from its beginning
 * @bytes: its size
 *
 * The kernel is asked for huge pages if the array is large.  The array begins at a cache line.
 *
 * Return: the memory, for free(), or NULL.
 */
void *kl_big_alloc(size_t bytes);
/**
 * kl_zero_map() - allocate a large array of zeros that is used sparsely
 * @bytes: its size
 * @touched: upper bound of the bytes that will be used; huge pages are asked for only if
 *	it is large
 *
 * A large array begins at a huge page and is a fresh mapping, so unused pages take no memory.
 *
 * Return: the memory, all zero, for kl_zero_unmap(), or NULL.
 */
void *kl_zero_map(size_t bytes, size_t touched);
void kl_zero_unmap(void *p, size_t bytes);
/* Ask the kernel for huge pages for existing memory of @bytes, unless @bytes is small. */
void kl_big_hint(void *p, size_t bytes);

/* An arena: many small allocations, freed together. */
struct kl_arena {
	struct kl_arena_chunk *chunk;
	size_t used;		/* bytes handed out, in all chunks */
};

/**
 * kl_arena_alloc() - allocate zeroed memory from an arena, aligned for any type
 * @a: the arena, all zero at first
 * @size: bytes
 *
 * Return: the memory, or NULL.
 */
void *kl_arena_alloc(struct kl_arena *a, size_t size);
char *kl_arena_strndup(struct kl_arena *a, const char *s, size_t len);
void kl_arena_free(struct kl_arena *a);

#endif
