/* SPDX-License-Identifier: GPL-2.0 */
/* A lock with trylock: the object, and the functions that probes attach to. */
#ifndef KLIN_LOCK_H
#define KLIN_LOCK_H

#include <linux/spinlock.h>

#include "subject.h"

struct klin_lock;

/* Operations of a variant. lock returns false if the load is stopped first. */
struct klin_lock_ops {
	bool (*lock)(struct klin_lock *l);
	bool (*trylock)(struct klin_lock *l);
	void (*unlock)(struct klin_lock *l);
};

/**
 * struct klin_lock - a lock
 * @object: common part of all subjects; the first member
 * @ops: the variant
 * @spin: the lock of variant spin
 * @taken: the lock of the tas variants: 1 if taken
 * @next: the next ticket to hand out, in the ticket variants
 * @owner: the ticket that may enter
 * @holder: index of the thread inside plus one; 0 for none
 */
struct klin_lock {
	struct klin_object object;
	const struct klin_lock_ops *ops;
	spinlock_t spin;
	u32 taken;
	u32 next, owner;
	unsigned int holder;
};

bool klin_lock_lock(struct klin_lock *l);
bool klin_lock_trylock(struct klin_lock *l);
void klin_lock_unlock(struct klin_lock *l);

#endif
