/* SPDX-License-Identifier: GPL-2.0 */
/* Two words under a sequence lock: the object, and the functions that probes attach to. */
#ifndef KLIN_SEQLOCK_H
#define KLIN_SEQLOCK_H

#include <linux/atomic.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>

#include "subject.h"

struct klin_pair;

/* Operations of a variant. read returns false if the load is stopped first. */
struct klin_pair_ops {
	void (*write)(struct klin_pair *p, u64 a, u64 b);
	bool (*read)(struct klin_pair *p, u64 *a, u64 *b);
};

/**
 * struct klin_pair - two words that belong together
 * @object: common part of all subjects; the first member
 * @ops: the variant
 * @a: the first word
 * @b: the second word
 * @seqlock: guards the words in the seqlock variants
 * @seqcount: the count, in the seqcount variants
 * @lock: held by writers, in the seqcount variants
 * @count: the count of the variant without a lock
 */
struct klin_pair {
	struct klin_object object;
	const struct klin_pair_ops *ops;
	u64 a, b;
	seqlock_t seqlock;
	seqcount_spinlock_t seqcount;
	spinlock_t lock;
	atomic_t count;
};

void klin_seqlock_write(struct klin_pair *p, u64 a, u64 b);
bool klin_seqlock_read(struct klin_pair *p, u64 *a, u64 *b);

#endif
