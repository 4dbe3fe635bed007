// SPDX-License-Identifier: GPL-2.0
/* The verifier's states, interned and joined. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "verify/store.h"

/* Hash a key without its first byte, the number of individuals. */
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

/* Return: the entry with the core of the state in key[], or KL_TABLE_END. */
static uint32_t find(const struct kl_vf_store *st, uint32_t hash)
{
	uint32_t i;
	size_t at;

	kl_table_for_each(&st->table, hash, at, i)
		if (st->e[i].core == st->core &&
		    !memcmp(st->bytes + st->e[i].at + 1, st->key + 1, st->core - 1))
			break;
	return i;
}

int64_t kl_vf_store_find(const struct kl_vf_store *st)
{
	const uint32_t i = find(st, hash_key(st->key, st->core));

	return i == KL_TABLE_END ? -1 : (int64_t)i;
}

static int enqueue(struct kl_vf_store *st, uint32_t i)
{
	size_t c = st->cqueue, k;

	if (st->nqueue == c) {
		if (kl_grow(st->queue, st->cqueue, st->nqueue + 1))
			return -ENOMEM;
		/* The first part of the ring moves behind the second. */
		for (k = 0; k < st->qfirst; k++)
			st->queue[(c + k) % st->cqueue] = st->queue[k];
	}
	st->queue[(st->qfirst + st->nqueue++) % st->cqueue] = i;
	st->e[i].queued = true;
	return 0;
}

/* Add the edges in st->edges to the edge sets of an entry.  Return: true if these grew. */
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
	const uint32_t i = find(st, hash);
	struct kl_vf_entry *e;

	if (i != KL_TABLE_END) {
		if (join(st, &st->e[i]) && !st->e[i].queued && enqueue(st, i))
			return -ENOMEM;
		return i;
	}
	if (st->n >= UINT32_MAX - 1 || kl_grow(st->e, st->ce, st->n + 1) ||
	    kl_grow(st->bytes, st->cbytes, st->nbytes + size) ||
	    kl_table_reserve(&st->table, 1))
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
	kl_table_put(&st->table, hash, st->n);
	return st->n++;
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
	kl_table_clear(&st->table);
}

void kl_vf_store_free(struct kl_vf_store *st)
{
	free(st->bytes);
	free(st->e);
	kl_table_free(&st->table);
	free(st->queue);
}

uint64_t kl_vf_store_bytes(const struct kl_vf_store *st)
{
	return st->cbytes + st->ce * sizeof(*st->e) + kl_table_bytes(&st->table) +
	       st->cqueue * sizeof(*st->queue);
}
