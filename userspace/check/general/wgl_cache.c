// SPDX-License-Identifier: GPL-2.0
/* The cache of visited configurations, see wgl_cache.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "check/general/wgl_cache.h"

#define NONE UINT32_MAX
/* maximal number of words that are allocated at the start */
#define EXPECTED ((size_t)1 << 20)
#define FEW	16	/* configurations of a place that are compared one by one */

int kl_cache_init(struct kl_cache *c, size_t len, size_t bound)
{
	memset(c, 0, sizeof(*c));
	c->len = len;
	c->bound = bound;
	c->first = c->last = NONE;
	return kl_table_reserve(&c->table, FEW);
}

int kl_cache_init_places(struct kl_cache *c, size_t len, size_t places)
{
	int ret = kl_cache_init(c, len, 0);

	if (ret)
		return ret;
	c->at = calloc(places + 1, sizeof(*c->at));
	if (!c->at)
		return -ENOMEM;
	/* A search that finds an order at once has about one configuration for each place. */
	kl_expect(c->rec, c->crec, 0, places < EXPECTED / len ? places * len : EXPECTED);
	return 0;
}

void kl_cache_free(struct kl_cache *c)
{
	free(c->at);
	free(c->before);
	free(c->rec);
	free(c->hash);
	kl_table_free(&c->table);
	free(c->newer);
	free(c->older);
	memset(c, 0, sizeof(*c));
}

static void unlink_used(struct kl_cache *c, uint32_t i)
{
	if (c->newer[i] == NONE)
		c->first = c->older[i];
	else
		c->older[c->newer[i]] = c->older[i];
	if (c->older[i] == NONE)
		c->last = c->newer[i];
	else
		c->newer[c->older[i]] = c->newer[i];
}

static void link_used(struct kl_cache *c, uint32_t i)
{
	c->newer[i] = NONE;
	c->older[i] = c->first;
	if (c->first == NONE)
		c->last = i;
	else
		c->newer[c->first] = i;
	c->first = i;
}

/* Return: the index of free room, or of the least recently used configuration; or -ENOMEM. */
static int64_t new_place(struct kl_cache *c)
{
	const uint32_t i = c->last;
	int ret;

	if (c->bound && c->n == c->bound) {
		unlink_used(c, i);
		kl_table_remove(&c->table, c->hash[i], i);
		return i;
	}
	if (c->n >= NONE - 1)
		return -ENOMEM;
	ret = kl_grow(c->rec, c->crec, (c->n + 1) * c->len) ?: kl_table_reserve(&c->table, 1);
	if (!ret && c->bound)
		ret = kl_grow(c->hash, c->chash, c->n + 1) ?:
		      kl_grow(c->newer, c->cnewer, c->n + 1) ?:
		      kl_grow(c->older, c->colder, c->n + 1);
	return ret ? ret : (int64_t)c->n++;
}

int kl_cache_add(struct kl_cache *c, const uint64_t *rec, uint64_t hash)
{
	int64_t place;
	uint32_t i;
	size_t at;

	kl_table_for_each(&c->table, hash, at, i) {
		if (memcmp(c->rec + i * c->len, rec, c->len * sizeof(*rec)))
			continue;
		if (c->bound) {
			unlink_used(c, i);
			link_used(c, i);
		}
		return 0;
	}
	place = new_place(c);
	if (place < 0)
		return place;
	memcpy(c->rec + place * c->len, rec, c->len * sizeof(*rec));
	kl_table_put(&c->table, hash, place);
	if (c->bound) {
		c->hash[place] = hash;
		link_used(c, place);
	}
	return 1;
}

int kl_cache_add_at(struct kl_cache *c, const uint64_t *rec, uint32_t place)
{
	uint64_t hash = 0;
	uint32_t i, few = 0;
	size_t k;
	int ret;

	for (i = c->at[place]; i && few < FEW; i = c->before[i - 1], few++) {
		const uint64_t *r = c->rec + (i - 1) * c->len;

		for (k = 0; k < c->len && r[k] == rec[k]; k++)
			;
		if (k == c->len)
			return 0;
	}
	/* Configurations of a place after the first few are in the table. */
	if (few == FEW) {
		for (k = 0; k < c->len; k++)
			hash = kl_mix(hash, rec[k]);
		ret = kl_cache_add(c, rec, hash);
		return ret < 0 ? ret : kl_grow(c->before, c->cbefore, c->n) ?: ret;
	}
	if (c->n >= NONE - 1)
		return -ENOMEM;
	ret = kl_grow(c->rec, c->crec, (c->n + 1) * c->len) ?:
	      kl_grow(c->before, c->cbefore, c->n + 1);
	if (ret)
		return ret;
	memcpy(c->rec + c->n * c->len, rec, c->len * sizeof(*rec));
	c->before[c->n] = c->at[place];
	c->at[place] = ++c->n;
	return 1;
}
