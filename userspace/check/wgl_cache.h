/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The configurations that a depth-first search has seen.
 *
 * Horn & Kroening's is the pair of the linearized operations (a bit for each of
 * the history's) and the state, found by a hash that is kept up to date in
 * constant time, one exclusive-or for an operation; optionally only the pairs
 * that were used last are kept (their LRU variant).  Ours is what the search's
 * list shows instead: its first return and, for each slot, whether the call
 * before it is left, which takes as many words as operations overlap.
 */
#ifndef KL_CHECK_WGL_CACHE_H
#define KL_CHECK_WGL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kl_cache {
	uint64_t *rec;		/* len words each */
	uint64_t *hash;		/* of each */
	size_t len, n, crec, chash;
	uint32_t *table;	/* hash -> number + 1 */
	size_t tsize;
	/* The most recently used comes first; bound 0: all are kept. */
	size_t bound;
	uint32_t *newer, *older, first, last;
	size_t cnewer, colder;
};

/**
 * kl_cache_init() - an empty cache
 * @c: the cache
 * @len: words of a configuration
 * @bound: how many are kept, 0: all
 *
 * Return: 0, -ENOMEM.
 */
int kl_cache_init(struct kl_cache *c, size_t len, size_t bound);
void kl_cache_free(struct kl_cache *c);

/**
 * kl_cache_add() - add a configuration
 * @c: the cache
 * @rec: its words
 * @hash: of them
 *
 * Return: 1 if it is new, 0 if it was there, -ENOMEM.
 */
int kl_cache_add(struct kl_cache *c, const uint64_t *rec, uint64_t hash);

static inline size_t kl_cache_bytes(const struct kl_cache *c)
{
	return c->crec * sizeof(*c->rec) + c->chash * sizeof(*c->hash) +
	       c->tsize * sizeof(*c->table) + (c->cnewer + c->colder) * sizeof(*c->newer);
}

#endif
