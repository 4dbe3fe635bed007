/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The set of states that a search has visited.  States are stored one after the other in the order
 * in which they were found.  This order is also the queue of a breadth-first search.
 *
 * A state has bytes and a tag.  A callback says whether a state covers another one with the same
 * bytes: then all runs of the second are runs of the first, and only the first is followed.
 */
#ifndef KL_TSO_MACHINE_VISITED_H
#define KL_TSO_MACHINE_VISITED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KL_NO_STATE	UINT32_MAX
#define KL_VISITED_STATE_MAX 16383	/* bytes of a state */
#define KL_VISITED_PAD	8	/* readable bytes after a state, which the hash may load */

/* The head of a record; the bytes of the state follow. */
struct kl_record {
	uint32_t parent;	/* place of the state from which this one was reached */
	uint32_t tag;
	uint32_t next;		/* place of a state reached from this one, or KL_NO_STATE */
	uint16_t len : 14;	/* bytes of the state */
	uint16_t idle : 1;	/* the state need not be followed: another state covers it */
	uint16_t ends : 1;	/* some run from the state ends; the caller sets this */
} __attribute__((packed));

/* The place of a record is its offset in mem[], in units of 4 bytes. */
struct kl_visited {
	uint8_t *mem;		/* records, one after the other */
	uint64_t used, size;	/* bytes of @mem in use; and its size */
	uint32_t *table;	/* hash table of places plus 1; 0 is a free slot */
	uint8_t *hint;		/* for each slot, 8 other bits of the hash */
	uint64_t nslots, n;	/* number of slots; number of records */
	uint64_t limit;		/* bytes of @mem, @table and @hint together */
	uint64_t open;		/* place of the first record that was not followed yet */
	uint32_t found;		/* place of the record that kl_visited_add() added or found */
	/* Return: true if the state with tag @a covers the state with tag @b.  NULL: never. */
	bool (*covers)(void *ctx, uint32_t a, uint32_t b);
	void *ctx;
};

/* Make an empty set of at most @limit bytes.  Return: 0 or a negative errno. */
int kl_visited_init(struct kl_visited *s, uint64_t limit);
void kl_visited_free(struct kl_visited *s);

/*
 * Compute the hash of a state.  Either KL_VISITED_PAD readable bytes follow the state, or its
 * length is a multiple of 8.  The state's slot is prefetched.  kl_visited_prefetch(), called some
 * time later, prefetches the record in the slot.
 */
uint64_t kl_visited_hash(const struct kl_visited *s, const uint8_t *state, size_t len);
void kl_visited_prefetch(const struct kl_visited *s, uint64_t h);

/**
 * kl_visited_add() - add a state that was reached
 * @s: the set
 * @h: hash of the state
 * @state: bytes of the state
 * @len: number of bytes, at most KL_VISITED_STATE_MAX
 * @tag: tag of the state
 * @parent: place of the state before it, or KL_NO_STATE
 *
 * A new state replaces a state that it covers, unless the covered state was followed already.
 *
 * Return: 1 if the state is new, 0 if the set has it or a state that covers it, -ENOSPC at the
 * limit, -E2BIG if the state is too long, -ENOMEM.
 */
int kl_visited_add(struct kl_visited *s, uint64_t h, const uint8_t *state, size_t len, uint32_t tag,
		   uint32_t parent);

static inline struct kl_record *kl_visited_head(const struct kl_visited *s, uint32_t at)
{
	return (struct kl_record *)(s->mem + 4 * (uint64_t)at);
}

static inline const uint8_t *kl_visited_state(const struct kl_visited *s, uint32_t at)
{
	return s->mem + 4 * (uint64_t)at + sizeof(struct kl_record);
}

static inline uint32_t kl_visited_next(const struct kl_visited *s, uint32_t at)
{
	return at + (sizeof(struct kl_record) + kl_visited_head(s, at)->len + 3) / 4;
}

/* Return: true if there is a record at @at; false if @at is the end. */
static inline bool kl_visited_has(const struct kl_visited *s, uint32_t at)
{
	return 4 * (uint64_t)at < s->used;
}

/* Return: number of bytes in use. */
static inline uint64_t kl_visited_bytes(const struct kl_visited *s)
{
	return s->used + s->nslots * (sizeof(*s->table) + sizeof(*s->hint));
}

#endif
