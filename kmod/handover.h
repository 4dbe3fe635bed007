/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spin locks that one function takes and another function releases.  Sparse checks the balance
 * of locks in each function, so the annotations here hide the imbalance.
 */
#ifndef KLIN_HANDOVER_H
#define KLIN_HANDOVER_H

#include <linux/spinlock.h>

static __always_inline void klin_handover_lock(spinlock_t *lock)
{
	spin_lock(lock);
	__release(lock);
}

static __always_inline bool klin_handover_trylock(spinlock_t *lock)
{
	const bool taken = spin_trylock(lock);

	if (taken)
		__release(lock);
	return taken;
}

static __always_inline void klin_handover_unlock(spinlock_t *lock)
{
	__acquire(lock);
	spin_unlock(lock);
}

#endif
