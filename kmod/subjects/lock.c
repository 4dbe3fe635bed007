// SPDX-License-Identifier: GPL-2.0
/*
 * Subjects with lock, trylock and unlock: the kernel's spinlock_t, a test-and-set lock and a
 * ticket lock.
 *
 * The holder of a lock keeps preemption disabled, as with the kernel's own locks.  A waiter
 * does not, so that a load can be stopped after a mutant has lost its lock.  Each holder
 * stores its number and checks for other holders.  Tests compare the monitor's verdict with
 * this check.
 */
#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "handover.h"
#include "lock.h"
#include "rng.h"

enum { M_LOCK, M_TRYLOCK, M_UNLOCK };

static KLIN_METHOD(method_lock, "lock.lock");
static KLIN_METHOD(method_trylock, "lock.trylock");
static KLIN_METHOD(method_unlock, "lock.unlock");

static struct klin_method *const methods[] = {
	[M_LOCK] = &method_lock,
	[M_TRYLOCK] = &method_trylock,
	[M_UNLOCK] = &method_unlock,
};

/* Subject "spin": the kernel's lock. */

static bool kernel_lock(struct klin_lock *l)
{
	klin_handover_lock(&l->spin);
	return true;
}

static bool kernel_trylock(struct klin_lock *l)
{
	return klin_handover_trylock(&l->spin);
}

static void kernel_unlock(struct klin_lock *l)
{
	klin_handover_unlock(&l->spin);
}

static const struct klin_lock_ops spin_ops = { kernel_lock, kernel_trylock, kernel_unlock };

/* Subject "tas": test, then test and set; unlock is a plain store. */

static bool tas_trylock(struct klin_lock *l)
{
	preempt_disable();
	if (!READ_ONCE(l->taken)) {
		klin_window(&l->object);
		if (!xchg_acquire(&l->taken, 1))
			return true;
	}
	preempt_enable();
	return false;
}

static bool tas_lock(struct klin_lock *l)
{
	unsigned int turns = 0;

	while (!tas_trylock(l))
		if (!klin_wait_on(&l->object, &turns))
			return false;
	return true;
}

static void tas_unlock(struct klin_lock *l)
{
	smp_store_release(&l->taken, 0);	/* pairs with xchg_acquire() */
	preempt_enable();
}

static const struct klin_lock_ops tas_ops = { tas_lock, tas_trylock, tas_unlock };

/* Mutant "plain": a store instead of the exchange. */

static bool plain_trylock(struct klin_lock *l)
{
	preempt_disable();
	if (!READ_ONCE(l->taken)) {
		klin_window(&l->object);
		WRITE_ONCE(l->taken, 1);
		return true;
	}
	preempt_enable();
	return false;
}

static bool plain_lock(struct klin_lock *l)
{
	unsigned int turns = 0;

	while (!plain_trylock(l))
		if (!klin_wait_on(&l->object, &turns))
			return false;
	return true;
}

static const struct klin_lock_ops plain_ops = { plain_lock, plain_trylock, tas_unlock };

/* Mutant "trylock_frees": a failed trylock takes the exit path that releases the lock. */

static bool frees_trylock(struct klin_lock *l)
{
	bool ok = false;

	preempt_disable();
	if (READ_ONCE(l->taken))
		goto out;
	klin_window(&l->object);
	ok = !xchg_acquire(&l->taken, 1);
out:
	if (!ok)
		tas_unlock(l);
	return ok;
}

static const struct klin_lock_ops frees_ops = { tas_lock, frees_trylock, tas_unlock };

/* Mutant "bounded": the wait has a limit, and lock ignores whether the limit ended it. */

static bool bounded_lock(struct klin_lock *l)
{
	int left = 10;

	while (left-- && !tas_trylock(l))
		cpu_relax();
	if (left < 0)
		preempt_disable();
	return true;
}

static const struct klin_lock_ops bounded_ops = { bounded_lock, tas_trylock, tas_unlock };

/*
 * Subject "ticket".  A waiter enters when its own or a later ticket is called, so a mutant that
 * calls too many tickets lets two threads in instead of hanging.
 */

static bool ticket_may_enter(const struct klin_lock *l, u32 ticket)
{
	u32 owner = smp_load_acquire(&l->owner);	/* pairs with ticket_unlock() */

	return (s32)(owner - ticket) >= 0;
}

static bool ticket_wait(struct klin_lock *l, u32 ticket)
{
	unsigned int turns = 0;

	while (!ticket_may_enter(l, ticket))
		if (!klin_wait_on(&l->object, &turns))
			return false;
	preempt_disable();
	return true;
}

static bool ticket_lock(struct klin_lock *l)
{
	klin_window(&l->object);
	return ticket_wait(l, xadd(&l->next, 1));
}

static bool ticket_trylock(struct klin_lock *l)
{
	u32 next = READ_ONCE(l->next);

	if (!ticket_may_enter(l, next))
		return false;
	preempt_disable();
	klin_window(&l->object);
	if (cmpxchg(&l->next, next, next + 1) == next)
		return true;
	preempt_enable();
	return false;
}

static void ticket_unlock(struct klin_lock *l)
{
	/* Pairs with ticket_may_enter().  In mutants two threads can hold the lock. */
	smp_store_release(&l->owner, READ_ONCE(l->owner) + 1);
	preempt_enable();
}

static const struct klin_lock_ops ticket_ops = { ticket_lock, ticket_trylock, ticket_unlock };

/* Mutant "trylock_racy": trylock takes its ticket by a load and a store. */

static bool racy_trylock(struct klin_lock *l)
{
	u32 next = READ_ONCE(l->next);

	if (!ticket_may_enter(l, next))
		return false;
	preempt_disable();
	klin_window(&l->object);
	WRITE_ONCE(l->next, next + 1);
	return true;
}

static const struct klin_lock_ops racy_ops = { ticket_lock, racy_trylock, ticket_unlock };

/* Mutant "same_ticket": lock takes its ticket by a load and a store. */

static bool same_lock(struct klin_lock *l)
{
	u32 ticket = READ_ONCE(l->next);

	klin_window(&l->object);
	WRITE_ONCE(l->next, ticket + 1);
	return ticket_wait(l, ticket);
}

static const struct klin_lock_ops same_ops = { same_lock, ticket_trylock, ticket_unlock };

/* Functions that the load calls, to which fentry and fexit can be attached. */

/**
 * klin_lock_lock() - take the lock, waiting until it is free
 * @l: the lock
 *
 * Return: true with preemption disabled, or false if the load was stopped before the lock was
 * taken.
 */
noinline bool klin_lock_lock(struct klin_lock *l)
{
	return l->ops->lock(l);
}

/**
 * klin_lock_trylock() - take the lock if it is free
 * @l: the lock
 *
 * Return: true with preemption disabled if the lock was taken, else false.
 */
noinline bool klin_lock_trylock(struct klin_lock *l)
{
	return l->ops->trylock(l);
}

/**
 * klin_lock_unlock() - release the lock
 * @l: the lock, held by the caller
 */
noinline void klin_lock_unlock(struct klin_lock *l)
{
	l->ops->unlock(l);
}

static const struct klin_subject subjects[] = {
	{ "spin", "the kernel's spinlock_t", NULL, &spin_ops },
	{ "tas", "a test-and-set lock", NULL, &tas_ops },
	{ "ticket", "a ticket lock", NULL, &ticket_ops },
	{ "tas.plain", "takes the lock by a plain store, not an exchange", "tas", &plain_ops },
	{ "tas.trylock_frees", "a trylock that fails releases the lock", "tas",
	  &frees_ops },
	{ "tas.bounded", "lock returns without the lock after a limited wait", "tas",
	  &bounded_ops },
	{ "ticket.trylock_racy", "trylock takes its ticket without a compare-and-swap", "ticket",
	  &racy_ops },
	{ "ticket.same_ticket", "lock takes its ticket by a load and a store", "ticket",
	  &same_ops },
};

static struct klin_object *create(const struct klin_subject *subject)
{
	struct klin_lock *l = kzalloc(sizeof(*l), GFP_KERNEL);

	if (!l)
		return NULL;
	l->ops = subject->ops;
	spin_lock_init(&l->spin);
	return &l->object;
}

static void destroy(struct klin_object *object)
{
	kfree(container_of(object, struct klin_lock, object));
}

static const void *spinlock(const struct klin_object *object)
{
	const struct klin_lock *l = container_of(object, struct klin_lock, object);

	return l->ops == &spin_ops ? &l->spin : NULL;
}

/* The critical section, with preemption disabled. */
static void hold(struct klin_lock *l, struct klin_worker *w)
{
	bool alone = !READ_ONCE(l->holder);

	WRITE_ONCE(l->holder, w->index + 1);
	klin_window(&l->object);
	alone &= READ_ONCE(l->holder) == w->index + 1;
	WRITE_ONCE(l->holder, 0);
	if (!alone)
		WRITE_ONCE(w->truth, w->truth + 1);
}

static bool take(struct klin_lock *l, struct klin_worker *w)
{
	bool ok;

	if (klin_rng_below(&w->rng, 100) < w->mix) {
		klin_call(l, &method_trylock, 0, 0, 0);
		ok = klin_lock_trylock(l);
		if (ok)
			klin_point(l, &method_trylock);
		klin_return(l, &method_trylock, ok, 0, 0);
		klin_count(w, M_TRYLOCK);
		return ok;
	}

	klin_call(l, &method_lock, 0, 0, 0);
	if (!klin_lock_lock(l)) {
		w->pending++;
		return false;
	}
	klin_point(l, &method_lock);
	klin_return(l, &method_lock, 0, 0, 0);
	klin_count(w, M_LOCK);
	return true;
}

static void step(struct klin_object *object, struct klin_worker *w)
{
	struct klin_lock *l = container_of(object, struct klin_lock, object);

	if (!take(l, w))
		return;
	hold(l, w);
	klin_call(l, &method_unlock, 0, 0, 0);
	klin_point(l, &method_unlock);
	klin_lock_unlock(l);
	klin_return(l, &method_unlock, 0, 0, 0);
	klin_count(w, M_UNLOCK);
}

KLIN_GROUP(klin_lock_group) = {
	.name = "lock",
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
	.subjects = subjects,
	.nsubjects = ARRAY_SIZE(subjects),
	.create = create,
	.destroy = destroy,
	.lock = spinlock,
	.step = step,
};
