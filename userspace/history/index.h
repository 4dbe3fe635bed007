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
 * A hash table, with open addressing, of the keys (objects or threads) in an array of the history.
 * A slot holds the index of a key + 1.  It takes half the memory of a slot of base/table.h, because
 * a history may have many objects.
 */
struct kl_numbers {
	uint32_t *slot;
	size_t mask, used;
	uint32_t recent[KL_RECENT];	/* index + 1 of the last key with this kl_recent_at() */
};

static inline uint32_t kl_recent_at(uint64_t raw)
{
	return (raw ^ raw >> 6 ^ raw >> 12) % KL_RECENT;
}

/* Return: the index of @raw in @keys if @raw is in t->recent, else -1. */
static inline int64_t kl_recent(const struct kl_numbers *t, const uint64_t *keys, uint64_t raw)
{
	const uint32_t recent = t->recent[kl_recent_at(raw)];

	return recent && keys[recent - 1] == raw ? (int64_t)recent - 1 : -1;
}

/*
 * The hash table of signatures.  A slot holds the lower half of a hash, and the number of a
 * signature + 1.
 *
 * If there are many signatures, most occur once, or a few times in a short period.  Then the
 * table becomes a cache (@recent): each set of WAYS slots holds the last signatures whose hashes
 * belong to the set.  A signature that is not found is added to the history once more.
 *
 * While few searches hit, as when all values differ, most signatures are searched only in the small
 * table @handful.  It holds frequent signatures, such as that of a removal that found nothing.
 */
struct kl_opsigs {
	uint64_t *slot;
	size_t mask;
	bool recent;
	unsigned int turn;	/* the slot of a full set that is replaced next, modulo WAYS */
	/* searches since the last decision of count_look(), and hits among them */
	unsigned int looks, found;
	unsigned int blind;	/* how many of the next signatures are searched in @handful only */
	unsigned int last_blind;	/* the value that @blind was set to last */
	/* while @blind > 0, signatures with words are not searched at all */
	bool rare;
	uint64_t handful[KL_HANDFUL];
};

/* Operations that are stored behind the last operation of the history, see batch.h. */
struct kl_batch {
	size_t n, room, nvals;	/* operations, room for operations, and values */
	bool words;	/* all values of the batch are words */
};

struct kl_index {
	struct kl_table methods;
	struct kl_numbers objects, threads;
	struct kl_opsigs opsigs;
	struct kl_batch batch;
};

/* As kl_history_thread(), but faster for a recent thread. */
static inline int64_t kl_thread_index(struct kl_history *h, uint64_t raw)
{
	const int64_t i = kl_recent(&h->index->threads, h->threads, raw);

	return i < 0 ? kl_history_thread(h, raw) : i;
}

/* As kl_history_object(), but faster for a recent object. */
static inline int64_t kl_object_index(struct kl_history *h, uint64_t raw)
{
	const int64_t i = kl_recent(&h->index->objects, h->objects, raw);

	return i < 0 ? kl_history_object(h, raw) : i;
}

#endif
