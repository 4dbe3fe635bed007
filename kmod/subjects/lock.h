/* SPDX-License-Identifier: GPL-2.0 */
/* A lock with trylock: the object, and the functions probes attach to. */
#ifndef KLIN_LOCK_H
#define KLIN_LOCK_H

#include <linux/spinlock.h>

#include "subject.h"

struct klin_lock;

/* How a variant works; lock is false when the load was stopped first. */
struct klin_lock_ops {
	bool (*lock)(struct klin_lock *l);
	bool (*trylock)(struct klin_lock *l);
	void (*unlock)(struct klin_lock *l);
};

/**
 * struct klin_lock - a lock
 * @object: what all subjects have; the first member
 * @ops: the variant
 * @spin: the lock of spin
 * @taken: the lock of the variants of tas: 1 when taken
 * @next: the next ticket to be given, in the variants of ticket
 * @owner: the ticket that may enter
 * @holder: number of the thread inside plus one; 0 for none
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
