// SPDX-License-Identifier: GPL-2.0
/* The verifier's states, interned and joined. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "verify/store.h"

/* Without the first byte, the number of individuals. */
static uint32_t hash_key(const uint8_t *key, unsigned int len)
{
	uint64_t h = len, w;
	unsigned int i;

	for (i = 1; i + 8 <= len; i += 8) {
		memcpy(&w, key + i, 8);
		h = kl_mix(h, w);
	}
	w = 0;
	memcpy(&w, key + i, len - i);
	return kl_mix(h, w);
}

static int grow_table(struct kl_vf_store *st)
{
	const size_t size = st->tsize ? st->tsize * 2 : 1024;
	uint32_t *table = calloc(size, sizeof(*table));
	size_t i, at;

	if (!table)
		return -ENOMEM;
	for (i = 0; i < st->n; i++) {
		for (at = st->e[i].hash & (size - 1); table[at]; at = (at + 1) & (size - 1))
			;
		table[at] = i + 1;
	}
	free(st->table);
	st->table = table;
	st->tsize = size;
	return 0;
}

static size_t place(const struct kl_vf_store *st, uint32_t hash)
{
	size_t at = hash & (st->tsize - 1);

	for (; st->table[at]; at = (at + 1) & (st->tsize - 1)) {
		const struct kl_vf_entry *e = &st->e[st->table[at] - 1];

		if (e->hash == hash && e->core == st->core &&
		    !memcmp(st->bytes + e->at + 1, st->key + 1, st->core - 1))
			break;
	}
	return at;
}

int64_t kl_vf_store_find(const struct kl_vf_store *st)
{
	if (!st->tsize)
		return -1;
	return (int64_t)st->table[place(st, hash_key(st->key, st->core))] - 1;
}

static int enqueue(struct kl_vf_store *st, uint32_t i)
{
	size_t c = st->cqueue, k;

	if (st->nqueue == c) {
		if (kl_grow(st->queue, st->cqueue, st->nqueue + 1))
			return -ENOMEM;
		/* The ring's first part moves behind its second. */
		for (k = 0; k < st->qfirst; k++)
			st->queue[(c + k) % st->cqueue] = st->queue[k];
	}
	st->queue[(st->qfirst + st->nqueue++) % st->cqueue] = i;
	st->e[i].queued = true;
	return 0;
}

/* Unite the edge sets; did they grow? */
static bool join(struct kl_vf_store *st, const struct kl_vf_entry *e)
{
	uint8_t *p = st->bytes + e->at + e->len;
	uint32_t old, both, grown = 0;
	unsigned int i;

	for (i = 0; i < st->nedges; i++) {
		memcpy(&old, p + 4 * i, 4);
		both = old | st->edges[i];
		grown |= old ^ both;
		memcpy(p + 4 * i, &both, 4);
	}
	return grown;
}

int64_t kl_vf_store_add(struct kl_vf_store *st, uint32_t parent, uint32_t actor)
{
	const uint32_t hash = hash_key(st->key, st->core);
	const size_t size = st->len + 4 * (size_t)st->nedges;
	struct kl_vf_entry *e;
	size_t at;

	if (2 * (st->n + 1) > st->tsize && grow_table(st))
		return -ENOMEM;
	at = place(st, hash);
	if (st->table[at]) {
		uint32_t i = st->table[at] - 1;

		if (join(st, &st->e[i]) && !st->e[i].queued && enqueue(st, i))
			return -ENOMEM;
		return i;
	}
	if (st->n >= UINT32_MAX - 1 || kl_grow(st->e, st->ce, st->n + 1) ||
	    kl_grow(st->bytes, st->cbytes, st->nbytes + size))
		return -ENOMEM;
	e = &st->e[st->n];
	*e = (struct kl_vf_entry){
		.at = st->nbytes, .parent = parent, .actor = actor, .hash = hash,
		.len = st->len, .core = st->core, .nedges = st->nedges,
	};
	memcpy(st->bytes + e->at, st->key, st->len);
	memcpy(st->bytes + e->at + st->len, st->edges, 4 * (size_t)st->nedges);
	st->nbytes += size;
	if (enqueue(st, st->n))
		return -ENOMEM;
	st->table[at] = ++st->n;
	return st->n - 1;
}

int kl_vf_store_replace(struct kl_vf_store *st, uint32_t i)
{
	const size_t size = st->len + 4 * (size_t)st->nedges;
	struct kl_vf_entry *e = &st->e[i];

	if (size > e->len + 4 * (size_t)e->nedges) {
		if (kl_grow(st->bytes, st->cbytes, st->nbytes + size))
			return -ENOMEM;
		e->at = st->nbytes;
		st->nbytes += size;
	}
	e->len = st->len;
	e->nedges = st->nedges;
	memcpy(st->bytes + e->at, st->key, st->len);
	memcpy(st->bytes + e->at + st->len, st->edges, 4 * (size_t)st->nedges);
	return e->queued ? 0 : enqueue(st, i);
}

uint32_t kl_vf_store_next(struct kl_vf_store *st)
{
	uint32_t i;

	if (!st->nqueue)
		return KL_VF_NO_STATE;
	i = st->queue[st->qfirst];
	st->qfirst = (st->qfirst + 1) % st->cqueue;
	st->nqueue--;
	st->e[i].queued = false;
	return i;
}

void kl_vf_store_clear(struct kl_vf_store *st)
{
	st->n = st->nbytes = st->nqueue = st->qfirst = 0;
	if (st->table)
		memset(st->table, 0, st->tsize * sizeof(*st->table));
}

void kl_vf_store_free(struct kl_vf_store *st)
{
	free(st->bytes);
	free(st->e);
	free(st->table);
	free(st->queue);
}

uint64_t kl_vf_store_bytes(const struct kl_vf_store *st)
{
	return st->cbytes + st->ce * sizeof(*st->e) + st->tsize * sizeof(*st->table) +
	       st->cqueue * sizeof(*st->queue);
}
