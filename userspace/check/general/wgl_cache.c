// SPDX-License-Identifier: GPL-2.0
/* Configurations that were seen, see wgl_cache.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "check/general/wgl_cache.h"

#define NONE UINT32_MAX
#define EXPECTED ((size_t)1 << 20)	/* words that there is room for from the start, at most */
#define FEW	16	/* configurations of a place that are looked through one by one */

int kl_cache_init(struct kl_cache *c, size_t len, size_t bound)
{
	memset(c, 0, sizeof(*c));
	c->len = len;
	c->bound = bound;
	c->first = c->last = NONE;
	c->tsize = 256;
	c->table = calloc(c->tsize, sizeof(*c->table));
	return c->table ? 0 : -ENOMEM;
}

int kl_cache_init_places(struct kl_cache *c, size_t len, size_t places)
{
	int ret = kl_cache_init(c, len, 0);

	if (ret)
		return ret;
	c->at = calloc(places + 1, sizeof(*c->at));
	if (!c->at)
		return -ENOMEM;
	/* In an order that is found at once each place has one, about. */
	kl_expect(c->rec, c->crec, 0, places < EXPECTED / len ? places * len : EXPECTED);
	return 0;
}

void kl_cache_free(struct kl_cache *c)
{
	free(c->at);
	free(c->before);
	free(c->rec);
	free(c->hash);
	free(c->table);
	free(c->newer);
	free(c->older);
	memset(c, 0, sizeof(*c));
}

static int grow_table(struct kl_cache *c)
{
	size_t size = c->tsize * 2, i, at;
	uint32_t *table = calloc(size, sizeof(*table));

	if (!table)
		return -ENOMEM;
	for (i = 0; i < c->tsize; i++) {
		if (!c->table[i])
			continue;
		at = c->hash[c->table[i] - 1] & (size - 1);
		while (table[at])
			at = (at + 1) & (size - 1);
		table[at] = c->table[i];
	}
	free(c->table);
	c->table = table;
	c->tsize = size;
	return 0;
}

/* Take the entry at @at out of the table, and close the hole. */
static void remove_bucket(struct kl_cache *c, size_t at)
{
	const size_t mask = c->tsize - 1;
	size_t next;

	for (next = (at + 1) & mask; c->table[next]; next = (next + 1) & mask) {
		const size_t home = c->hash[c->table[next] - 1] & mask;

		if (((next - home) & mask) < ((next - at) & mask))
			continue;
		c->table[at] = c->table[next];
		at = next;
	}
	c->table[at] = 0;
	c->used--;
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

/* A place for one more: a new one, or that of the one not used for longest. */
static int64_t new_place(struct kl_cache *c)
{
	uint32_t i = c->last;
	size_t at;
	int ret;

	if (c->bound && c->n == c->bound) {
		unlink_used(c, i);
		for (at = c->hash[i] & (c->tsize - 1); c->table[at] != i + 1; )
			at = (at + 1) & (c->tsize - 1);
		remove_bucket(c, at);
		return i;
	}
	if (c->n >= NONE - 1)
		return -ENOMEM;
	ret = kl_grow(c->rec, c->crec, (c->n + 1) * c->len) ?:
	      kl_grow(c->hash, c->chash, c->n + 1);
	if (!ret && c->bound)
		ret = kl_grow(c->newer, c->cnewer, c->n + 1) ?:
		      kl_grow(c->older, c->colder, c->n + 1);
	if (!ret && c->used * 2 >= c->tsize)
		ret = grow_table(c);
	return ret ? ret : (int64_t)c->n++;
}

int kl_cache_add(struct kl_cache *c, const uint64_t *rec, uint64_t hash)
{
	int64_t i;
	size_t at;

	for (at = hash & (c->tsize - 1); c->table[at]; at = (at + 1) & (c->tsize - 1)) {
		i = c->table[at] - 1;
		if (c->hash[i] != hash ||
		    memcmp(c->rec + i * c->len, rec, c->len * sizeof(*rec)))
			continue;
		if (c->bound) {
			unlink_used(c, i);
			link_used(c, i);
		}
		return 0;
	}
	i = new_place(c);
	if (i < 0)
		return i;
	/* Making room may have moved what the table has. */
	for (at = hash & (c->tsize - 1); c->table[at]; )
		at = (at + 1) & (c->tsize - 1);
	memcpy(c->rec + i * c->len, rec, c->len * sizeof(*rec));
	c->hash[i] = hash;
	c->table[at] = i + 1;
	c->used++;
	if (c->bound)
		link_used(c, i);
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
	/* All of a place after the first few are in the table. */
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
