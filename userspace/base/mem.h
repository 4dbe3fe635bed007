/* SPDX-License-Identifier: GPL-2.0 */
/* Memory: growable arrays with checked sizes, and arenas. */
#ifndef KL_BASE_MEM_H
#define KL_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

/**
 * kl_grow_() - make room for @need elements of @size bytes in a growable array
 * @p: the array, may be NULL; replaced when it moves
 * @cap: its capacity in elements, updated
 * @need: elements wanted
 * @size: bytes an element
 *
 * Return: 0, -EOVERFLOW when the size cannot be represented, -ENOMEM.
 */
int kl_grow_(void **p, size_t *cap, size_t need, size_t size);

/* kl_grow(array, capacity, needed): the typed form. */
#define kl_grow(p, cap, need) \
	((size_t)(need) <= (cap) ? 0 : kl_grow_((void **)&(p), &(cap), (need), sizeof(*(p))))

/**
 * kl_expect_() - make room in a growable array that will be large
 * @p: the array, replaced
 * @cap: its capacity in elements, updated
 * @n: elements that are there
 * @need: elements that there will be, about
 * @size: bytes an element
 *
 * Where memory is large and grows little by little, it is neither in place nor in huge
 * pages.  Without memory, and where it is not large, nothing happens.
 */
void kl_expect_(void **p, size_t *cap, size_t n, size_t need, size_t size);

/* kl_expect(array, capacity, there, needed): the typed form. */
#define kl_expect(p, cap, n, need) \
	kl_expect_((void **)&(p), &(cap), (n), (need), sizeof(*(p)))

/**
 * kl_big_alloc() - memory for a large array that is filled from its beginning
 * @bytes: how many
 *
 * The kernel is asked for huge pages, where that pays; in any case it begins where a line of
 * the cache does.
 *
 * Return: the memory, to be given to free(), or NULL.
 */
void *kl_big_alloc(size_t bytes);
/**
 * kl_zero_map() - memory for a large array that is zero at first, and filled here and there
 * @bytes: how many
 * @touched: of these, at most; where they are few, in pages that are small
 *
 * It begins where a huge page does, and is never memory that was used before: what is
 * not touched costs nothing.
 *
 * Return: the memory, all zero, to be given to kl_zero_unmap(), or NULL.
 */
void *kl_zero_map(size_t bytes, size_t touched);
void kl_zero_unmap(void *p, size_t bytes);
/* Ask for huge pages under memory that is there already. */
void kl_big_hint(void *p, size_t bytes);

/* An arena: many small allocations, freed together. */
struct kl_arena {
	struct kl_arena_chunk *chunk;
	size_t used;		/* bytes handed out, over all chunks */
};

/**
 * kl_arena_alloc() - zeroed memory from an arena, aligned for any type
 * @a: the arena, all zero at first
 * @size: bytes
 *
 * Return: the memory or NULL.
 */
void *kl_arena_alloc(struct kl_arena *a, size_t size);
char *kl_arena_strndup(struct kl_arena *a, const char *s, size_t len);
void kl_arena_free(struct kl_arena *a);

#endif
