/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The configurations that a depth-first search has visited.
 *
 * For Horn & Kroening a configuration is the set of linearized operations, a bit for each operation
 * of the history, and the state.  Its hash is updated in constant time, by one exclusive-or for an
 * operation.  Their LRU variant keeps only the configurations that were used last.  dfs.c has
 * a shorter key: the state, the first return that is left, and for each slot whether a call before
 * that return is left.  That takes as many bits as operations overlap.
 */
#ifndef KL_CHECK_GENERAL_WGL_CACHE_H
#define KL_CHECK_GENERAL_WGL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

struct kl_cache {
	uint64_t *rec;		/* configurations of @len words each */
	size_t len, n, crec;
	struct kl_table table;
	/* A list in order of use, the most recent first; a @bound of 0 keeps all. */
	size_t bound;
	uint32_t *newer, *older, first, last;
	uint32_t *hash;		/* with a bound: the hash of each configuration in the table */
	size_t cnewer, colder, chash;
	/*
	 * With places: at[place] is 1 + the index of the place's latest configuration, and
	 * before[i] is 1 + the index of the one before configuration i; 0: none.
	 */
	uint32_t *at, *before;
	size_t cbefore;
};

/**
 * kl_cache_init() - make an empty cache
 * @c: the cache
 * @len: words of a configuration
 * @bound: maximal number of configurations; 0: no bound
 *
 * Return: 0, -ENOMEM.
 */
int kl_cache_init(struct kl_cache *c, size_t len, size_t bound);

/**
 * kl_cache_init_places() - make an empty cache of configurations that each have a place
 * @c: the cache, without a bound
 * @len: words of a configuration
 * @places: number of places
 *
 * A search that goes through places in order finds a configuration near the last one in memory, and
 * not anywhere in a table that is as large as the search is long.
 *
 * Return: 0, -ENOMEM.
 */
int kl_cache_init_places(struct kl_cache *c, size_t len, size_t places);
void kl_cache_free(struct kl_cache *c);

/**
 * kl_cache_add() - add a configuration
 * @c: the cache
 * @rec: its words
 * @hash: the hash of these words
 *
 * Return: 1 if it is new, 0 if it was there, -ENOMEM.
 */
int kl_cache_add(struct kl_cache *c, const uint64_t *rec, uint64_t hash);

/**
 * kl_cache_add_at() - add a configuration to a cache with places
 * @c: the cache
 * @rec: its words
 * @place: its place; equal configurations have equal places
 *
 * Return: 1 if it is new, 0 if it was there, -ENOMEM.
 */
int kl_cache_add_at(struct kl_cache *c, const uint64_t *rec, uint32_t place);

static inline size_t kl_cache_bytes(const struct kl_cache *c)
{
	return c->crec * sizeof(*c->rec) + kl_table_bytes(&c->table) +
	       (c->cnewer + c->colder + c->chash) * sizeof(*c->newer) +
	       c->cbefore * sizeof(*c->before);
}

#endif
