/* SPDX-License-Identifier: GPL-2.0 */
/* One round: the memory that its two threads share, and the steps of each thread. */
#ifndef KLIN_LITMUS_ROUND_H
#define KLIN_LITMUS_ROUND_H

#include <linux/seqlock.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#define KLIN_LINE 128		/* bytes that CPUs fetch together: two cache lines of 64 */
#define KLIN_AHEAD_MAX 31	/* all lines of a page except the first */

/* A word alone in its line. */
struct klin_line {
	u64 word;
	u8 pad[KLIN_LINE - sizeof(u64)];
};

/**
 * struct klin_cell - memory that the threads share in one round
 * @seqlock_room: place for a seqlock_t; its count ends one line and its spinlock
 *	begins the next, so that taking the spinlock does not fetch the count's line for
 *	writing: stores to the count then wait in the store buffer
 * @x1: first word under the seqlock
 * @x2: second word, in the same line
 * @y: the word that thread 1 writes and thread 0 reads
 */
struct klin_cell {
	u8 seqlock_room[2 * KLIN_LINE];
	u64 x1, x2;
	u8 pad[KLIN_LINE - 2 * sizeof(u64)];
	struct klin_line y;
};

/**
 * struct klin_ahead - private memory of one thread, which delays its later stores
 * @first: word in the same page; reading it avoids a TLB miss in the round
 * @line: lines that the thread stores to before the round's own stores
 */
struct klin_ahead {
	struct klin_line first;
	struct klin_line line[KLIN_AHEAD_MAX];
};

/**
 * struct klin_variant - the steps of a round
 * @name: its name in the setting variant=
 * @two: true if there are two results, b and ok
 * @trylock: thread 0 holds the spinlock at the start; thread 1 holds it at the end if
 *	its result is not 0
 * @round: the steps of each thread, which first stores to @n lines of @ahead; returns
 *	the thread's results: for thread 0 b in bit 0, for thread 1 a1 in bit 1 and a2 in
 *	bit 2, or ok in bit 1
 */
struct klin_variant {
	const char *name;
	bool two, trylock;
	u8 (*round[2])(struct klin_cell *c, struct klin_ahead *ahead, u32 n);	/* by thread */
};

static inline seqlock_t *klin_cell_seqlock(struct klin_cell *c)
{
	BUILD_BUG_ON(offsetof(seqlock_t, lock) % __alignof__(seqlock_t));
	BUILD_BUG_ON(sizeof(seqlock_t) > KLIN_LINE);
	return (seqlock_t *)(c->seqlock_room + KLIN_LINE - offsetof(seqlock_t, lock));
}

static inline spinlock_t *klin_cell_spinlock(struct klin_cell *c)
{
	return &klin_cell_seqlock(c)->lock;
}

void klin_cell_renew(struct klin_cell *c);
void klin_cell_warm(const struct klin_cell *c);
const struct klin_variant *klin_variant_find(const char *name);

/* Functions of subjects/probe_targets.c, to which a recorder can be attached inside a round. */
void klin_round_store(u64 *word);
u64 klin_round_load(const u64 *word);
void klin_round_store_hidden(u64 *word);
u64 klin_round_load_hidden(const u64 *word);

#endif
