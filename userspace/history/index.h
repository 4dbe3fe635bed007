/* SPDX-License-Identifier: GPL-2.0 */
/* The indexes by which a history finds methods, objects, threads and signatures. */
#ifndef KL_HISTORY_INDEX_H
#define KL_HISTORY_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "history/history.h"

#define KL_RECENT	64
#define KL_HANDFUL	256

/*
 * Numbers of keys, which are in the history's own array.  Open addressing; a slot holds a number
 * + 1, and takes half of what a slot of base/table.h does: objects are many, and come in any
 * order.
 */
struct kl_numbers {
	uint32_t *slot;
	size_t mask, used;
	uint32_t recent[KL_RECENT];	/* number + 1 of the last key with these bits */
};

static inline uint32_t kl_recent_at(uint64_t raw)
{
	return (raw ^ raw >> 6 ^ raw >> 12) % KL_RECENT;
}

/* The number of @raw in @keys, if it is the last key with its bits, else -1. */
static inline int64_t kl_recent(const struct kl_numbers *t, const uint64_t *keys, uint64_t raw)
{
	const uint32_t recent = t->recent[kl_recent_at(raw)];

	return recent && keys[recent - 1] == raw ? (int64_t)recent - 1 : -1;
}

/*
 * The index of signatures.  A slot holds the hash's lower half and the number + 1.
 *
 * If there are many signatures, most occur once, or a few times in a short period.  Then the
 * table becomes a cache: each set of WAYS slots holds the last signatures with its bits of the
 * hash, and a signature that is not found is added once more.  While few are found, as when all
 * values differ, most are looked up only in a small table, @handful, which has frequent ones such
 * as a removal that found nothing.
 */
struct kl_opsigs {
	uint64_t *slot;
	size_t mask;
	bool recent;
	unsigned int turn;	/* the slot of a full set that is replaced next */
	/* number of the last searches, at most LOOKS, and of hits */
	unsigned int looks, found;
	unsigned int blind;	/* number of next signatures that are searched in @handful only */
	unsigned int last_blind;	/* the value that @blind was set to last */
	bool rare;		/* signatures with words are not even searched in @handful */
	uint64_t handful[KL_HANDFUL];
};

/* Operations that lie behind those of the history, see batch.h. */
struct kl_batch {
	size_t n, room, nvals;
	bool words;	/* all their values are words */
};

struct kl_index {
	struct kl_table methods;
	struct kl_numbers objects, threads;
	struct kl_opsigs opsigs;
	struct kl_batch batch;
};

/* As kl_history_thread(); faster for a recent thread. */
static inline int64_t kl_thread_index(struct kl_history *h, uint64_t raw)
{
	const int64_t i = kl_recent(&h->index->threads, h->threads, raw);

	return i < 0 ? kl_history_thread(h, raw) : i;
}

/* As kl_history_object(); faster for a recent object. */
static inline int64_t kl_object_index(struct kl_history *h, uint64_t raw)
{
	const int64_t i = kl_recent(&h->index->objects, h->objects, raw);

	return i < 0 ? kl_history_object(h, raw) : i;
}

#endif
