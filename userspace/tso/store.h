/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The states that a search has seen: each once, in the order in which they were
 * found, in one growing piece of memory, so that the order is the queue of a
 * breadth-first search too.
 */
#ifndef KL_TSO_STORE_H
#define KL_TSO_STORE_H

#include <stddef.h>
#include <stdint.h>

struct kl_store {
	uint8_t *mem;		/* records, one after the other */
	uint64_t used, size;	/* bytes */
	uint64_t *table;	/* places in mem plus 1, and some bits of the hash; 0 is free */
	uint64_t nslots, n;
	uint64_t limit;		/* bytes of both together */
};

/* A record: what follows this head is the state. */
struct kl_record {
	uint64_t parent : 48;	/* where the record is from which this was reached */
	uint64_t len : 16;
};

/* @limit: bytes that the store may take.  Return: 0 or a negative errno. */
int kl_store_init(struct kl_store *s, uint64_t limit);
void kl_store_free(struct kl_store *s);

/**
 * kl_store_add() - a state that was reached
 * @s: the store
 * @state: its bytes
 * @len: how many, at most 65535
 * @parent: the place of the state before it
 * @at: set to its place if it is new
 *
 * Return: 1 if it is new, 0 if it was there, -ENOSPC at the limit, -ENOMEM.
 */
int kl_store_add(struct kl_store *s, const uint8_t *state, size_t len, uint64_t parent,
		 uint64_t *at);

static inline struct kl_record kl_store_head(const struct kl_store *s, uint64_t at)
{
	struct kl_record r;

	__builtin_memcpy(&r, s->mem + at, sizeof(r));
	return r;
}

static inline const uint8_t *kl_store_state(const struct kl_store *s, uint64_t at)
{
	return s->mem + at + sizeof(struct kl_record);
}

static inline uint64_t kl_store_next(const struct kl_store *s, uint64_t at)
{
	return at + sizeof(struct kl_record) + kl_store_head(s, at).len;
}

/* Bytes in use. */
static inline uint64_t kl_store_bytes(const struct kl_store *s)
{
	return s->used + s->nslots * sizeof(*s->table);
}

#endif
