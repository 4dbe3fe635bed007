/* SPDX-License-Identifier: GPL-2.0 */
/* By what a history finds methods, objects and threads (history.c), and shapes (shapes.c). */
#ifndef KL_HISTORY_INDEX_H
#define KL_HISTORY_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/history.h"

#define KL_RECENT	64
#define KL_HANDFUL	256

/* Open addressing; a slot holds an index + 1, the key is in the history's own array. */
struct kl_table {
	uint32_t *slot;
	size_t mask, used;
	uint32_t recent[KL_RECENT];	/* the same, of the last key of these bits */
};

static inline uint32_t kl_recent_at(uint64_t raw)
{
	return (raw ^ raw >> 6 ^ raw >> 12) % KL_RECENT;
}

/* The index of @raw in @keys, if it is that of the last one of its bits; else -1. */
static inline int64_t kl_recent(const struct kl_table *t, const uint64_t *keys, uint64_t raw)
{
	const uint32_t recent = t->recent[kl_recent_at(raw)];

	return recent && keys[recent - 1] == raw ? (int64_t)recent - 1 : -1;
}

/*
 * The same with the hash's lower half beside the index.  When shapes are many,
 * most come once or a few times soon after one another: then each set of WAYS
 * slots holds the last ones of these bits, and others are added once more.  While
 * few are found there, as where each value is another one, most are only looked up
 * among a handful: an operation that found nothing, say, comes again and again.
 */
struct kl_shapes {
	uint64_t *slot;
	size_t mask;
	bool recent;
	unsigned int turn;	/* which of a set makes room */
	unsigned int looks, found;	/* of LOOKS */
	unsigned int blind;	/* to be looked up only among a handful: */
	unsigned int last_blind;	/* so many, the last time */
	bool rare;		/* or not even there, if they have a word */
	uint64_t handful[KL_HANDFUL];
};

/* Operations that lie behind the history's, see batch.h. */
struct kl_batch {
	size_t n, room, nvals;
	bool words;	/* and nothing else are their values */
};

struct kl_index {
	struct kl_table methods, objects, threads;
	struct kl_shapes shapes;
	struct kl_batch batch;
};

/* kl_history_thread(), which most often was asked for lately. */
static inline int64_t kl_thread_index(struct kl_history *h, uint64_t raw)
{
	const int64_t i = kl_recent(&h->index->threads, h->threads, raw);

	return i < 0 ? kl_history_thread(h, raw) : i;
}

/* The same of kl_history_object(). */
static inline int64_t kl_object_index(struct kl_history *h, uint64_t raw)
{
	const int64_t i = kl_recent(&h->index->objects, h->objects, raw);

	return i < 0 ? kl_history_object(h, raw) : i;
}

#endif
