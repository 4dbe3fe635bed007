/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An index of an array by hash: open addressing with linear probing, at most half full.
 *
 * An entry holds the hash and the number of an element.  So most comparisons end at the hash, and
 * the table grows without reading the elements.  The caller keeps and compares the elements:
 *
 *	kl_table_for_each(&t, hash, at, i)
 *		if (element[i] == key)
 *			return i;
 *	ret = kl_table_add(&t, hash, n);
 *	...
 *	element[n++] = key;
 *
 * These files have hash tables of their own, each tuned for its use: history/index.h (objects,
 * threads, signatures), check/loglinear/words.h, check/general/configs.h, tso/machine/visited.h,
 * tso/machine/step_cache.h and tso/explore/spec_configs_set.c.
 */
#ifndef KL_BASE_TABLE_H
#define KL_BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define KL_TABLE_END	UINT32_MAX	/* never the number of an element */

/* A table; all zero at first. */
struct kl_table {
	uint64_t *slot;		/* hash << 32 | number + 1; 0 is free */
	size_t mask;		/* number of slots - 1 */
	size_t n;		/* number of entries */
};

/**
 * kl_table_reserve() - make room for entries that kl_table_put() adds
 * @t: the table
 * @more: number of these entries
 *
 * Return: 0, -EOVERFLOW if there would be more than 2^32 - 2 entries, or -ENOMEM.
 */
int kl_table_reserve(struct kl_table *t, size_t more);
/* Remove all entries; the slots stay. */
void kl_table_clear(struct kl_table *t);
/* Free the slots; the table is empty. */
void kl_table_free(struct kl_table *t);
/* Remove the entry of element @i, which has the hash @hash and must be in the table. */
void kl_table_remove(struct kl_table *t, uint32_t hash, uint32_t i);

/* Add an entry for element @i; kl_table_reserve() has made room for it. */
static inline void kl_table_put(struct kl_table *t, uint32_t hash, uint32_t i)
{
	size_t at = hash & t->mask;

	while (t->slot[at])
		at = (at + 1) & t->mask;
	t->slot[at] = (uint64_t)hash << 32 | (i + 1);
	t->n++;
}

/* Add an entry for element @i.  Return: 0, or an error of kl_table_reserve(). */
static inline int kl_table_add(struct kl_table *t, uint32_t hash, uint32_t i)
{
	const int ret = 2 * t->n < t->mask ? 0 : kl_table_reserve(t, 1);

	if (!ret)
		kl_table_put(t, hash, i);
	return ret;
}

/*
 * Find the next element with this hash, from the slot @at on; @at becomes the slot after it.
 * Return: the element's number, or KL_TABLE_END if there is none.
 */
static inline uint32_t kl_table_next(const struct kl_table *t, uint32_t hash, size_t *at)
{
	uint64_t entry;

	if (!t->slot)
		return KL_TABLE_END;
	while ((entry = t->slot[*at & t->mask])) {
		++*at;
		if (entry >> 32 == hash)
			return (uint32_t)entry - 1;
	}
	return KL_TABLE_END;
}

/* Loop over the number @i of each element with this hash; @at is a size_t that the loop needs. */
#define kl_table_for_each(t, hash, at, i) \
	for ((at) = (uint32_t)(hash); \
	     ((i) = kl_table_next((t), (uint32_t)(hash), &(at))) != KL_TABLE_END; )

static inline size_t kl_table_bytes(const struct kl_table *t)
{
	return t->slot ? (t->mask + 1) * sizeof(*t->slot) : 0;
}

#endif
