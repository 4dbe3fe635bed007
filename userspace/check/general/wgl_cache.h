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
#ifndef KL_CHECK_GENERAL_WGL_CACHE_H
#define KL_CHECK_GENERAL_WGL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kl_cache {
	uint64_t *rec;		/* len words each */
	uint64_t *hash;		/* of each */
	size_t len, n, crec, chash;
	uint32_t *table;	/* hash -> number + 1 */
	size_t tsize, used;
	/* The most recently used comes first; bound 0: all are kept. */
	size_t bound;
	uint32_t *newer, *older, first, last;
	size_t cnewer, colder;
	/* If places are told: number + 1 of the latest at each, and of the one before each. */
	uint32_t *at, *before;
	size_t cbefore;
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

/**
 * kl_cache_init_places() - an empty cache of configurations that each have a place
 * @c: the cache, all are kept
 * @len: words of a configuration
 * @places: numbers of places are below
 *
 * A search that goes through places in order finds what it looks for near what it
 * looked for last: not in a table that is as large as the search was long.
 *
 * Return: 0, -ENOMEM.
 */
int kl_cache_init_places(struct kl_cache *c, size_t len, size_t places);
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

/**
 * kl_cache_add_at() - add a configuration to a cache with places
 * @c: the cache
 * @rec: its words
 * @place: where it belongs; equal configurations have equal places
 *
 * Return: 1 if it is new, 0 if it was there, -ENOMEM.
 */
int kl_cache_add_at(struct kl_cache *c, const uint64_t *rec, uint32_t place);

static inline size_t kl_cache_bytes(const struct kl_cache *c)
{
	return c->crec * sizeof(*c->rec) + c->chash * sizeof(*c->hash) +
	       c->tsize * sizeof(*c->table) + (c->cnewer + c->colder) * sizeof(*c->newer) +
	       c->cbefore * sizeof(*c->before);
}

#endif
