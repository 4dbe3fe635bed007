/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The states that a search has seen, in the order in which they were found, in
 * one growing piece of memory, so that the order is the queue of a breadth-first
 * search too.
 *
 * Beside its bytes a state has a tag.  One of two states with the same bytes may
 * be enough, the other's runs being runs of the first: the user knows.
 */
#ifndef KL_TSO_MACHINE_VISITED_H
#define KL_TSO_MACHINE_VISITED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KL_NO_STATE	UINT32_MAX
#define KL_STORE_STATE_MAX 16383	/* bytes of a state */
#define KL_STORE_BEHIND	8	/* bytes behind a state that can be read, whatever they are */

/* A record: what follows this head is the state. */
struct kl_record {
	uint32_t parent;	/* the record from which this was reached */
	uint32_t tag;
	uint32_t next;		/* some other state reached from it, KL_NO_STATE: none */
	uint16_t len : 14;
	uint16_t idle : 1;	/* need not be followed: another stands for it */
	uint16_t ends : 1;	/* some run from it comes to an end; the user's */
} __attribute__((packed));

struct kl_store {
	uint8_t *mem;		/* records, one after the other */
	uint64_t used, size;	/* bytes */
	uint32_t *table;	/* places of records plus 1, 0 is free */
	uint8_t *hint;		/* of each place in the table: some more bits of the hash */
	uint64_t nslots, n;
	uint64_t limit;		/* bytes of all together */
	uint64_t open;		/* records from this one on have not been followed yet */
	uint32_t found;		/* the last one added, or the one that was there */
	/* May the state with tag @a stand for that with tag @b?  NULL: never. */
	bool (*covers)(void *ctx, uint32_t a, uint32_t b);
	void *ctx;
};

/* @limit: bytes that the store may take.  Return: 0 or a negative errno. */
int kl_store_init(struct kl_store *s, uint64_t limit);
void kl_store_free(struct kl_store *s);

/*
 * The hash of a state, behind which there are KL_STORE_BEHIND bytes, or which is whole words of
 * 8 bytes.  Where the store will look for it comes nearer to the CPU meanwhile, and with
 * kl_store_near(), some time later, what it will find there.
 */
uint64_t kl_store_hash(const struct kl_store *s, const uint8_t *state, size_t len);
void kl_store_near(const struct kl_store *s, uint64_t h);

/**
 * kl_store_add() - a state that was reached
 * @s: the store
 * @h: its hash
 * @state: its bytes
 * @len: how many, at most KL_STORE_STATE_MAX
 * @tag: its tag
 * @parent: the place of the state before it, KL_NO_STATE: there is none
 *
 * A new state that stands for one which is not followed yet takes its place.
 *
 * Return: 1 if it is new, 0 if it or one that stands for it was there, -ENOSPC
 * at the limit, -E2BIG for a state that is too long by itself, -ENOMEM.
 */
int kl_store_add(struct kl_store *s, uint64_t h, const uint8_t *state, size_t len, uint32_t tag,
		 uint32_t parent);

static inline struct kl_record *kl_store_head(const struct kl_store *s, uint32_t at)
{
	return (struct kl_record *)(s->mem + 4 * (uint64_t)at);
}

static inline const uint8_t *kl_store_state(const struct kl_store *s, uint32_t at)
{
	return s->mem + 4 * (uint64_t)at + sizeof(struct kl_record);
}

static inline uint32_t kl_store_next(const struct kl_store *s, uint32_t at)
{
	return at + (sizeof(struct kl_record) + kl_store_head(s, at)->len + 3) / 4;
}

/* Is there a record at @at, or is it behind the last one? */
static inline bool kl_store_has(const struct kl_store *s, uint32_t at)
{
	return 4 * (uint64_t)at < s->used;
}

/* Bytes in use. */
static inline uint64_t kl_store_bytes(const struct kl_store *s)
{
	return s->used + s->nslots * (sizeof(*s->table) + sizeof(*s->hint));
}

#endif
