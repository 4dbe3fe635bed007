// SPDX-License-Identifier: GPL-2.0
/*
 * One round of a litmus test on the kernel's own locks: Burckhardt et al., Figure 5, and the
 * same for a trylock. x and y are 0 at first.
 *
 *	seqlock:	thread 0		thread 1
 *			write(1, 1)		y = 1
 *			b = y			(a1, a2) = read()
 *
 *	trylock:	unlock(), held before	y = 1
 *			b = y			ok = trylock()
 *
 * Under sequential consistency b = 0 implies that the read, or the trylock, comes after all
 * steps of thread 0, and so returns (1, 1), or 1.  On x86 the last stores of write() or
 * unlock() may still wait in thread 0's store buffer, and y = 1 in that of thread 1.  Then b =
 * 0 with (0, 0) or 0 is possible, and is no fault of the lock.  A full barrier after write()
 * or unlock() and after y = 1 (variants ..._mb) excludes this outcome (section 1 of the
 * paper).
 *
 * In two old bugs of the kernel the outcome is a fault. x, y and the seqlock's count are 0 at
 * first:
 *
 *	mntput:		thread 0		thread 1
 *			count made odd		y = 1
 *			b = y			ok = count changed
 *			count made even
 *
 * Thread 0 is mntput(), which drops the last reference if there is no other (b = 0).  Thread 1
 * is __legitimize_mnt(), which takes a reference (y) and keeps it if the count has not changed
 * (ok = 0).  With b = ok = 0 the mount is freed although thread 1 has just taken a reference.
 * The barriers are those of 119e1ef80ecf ("fix __legitimize_mnt()/mntput() race"; once more
 * 65781e19dcfc).
 *
 *	futex:		thread 0		thread 1
 *			x1 = 1			y += 1, locked
 *			b = y			ok = x1
 *
 * Thread 0 releases a futex and wakes its waiters if it sees any (b).  Thread 1 announces
 * itself as a waiter (y) and sleeps if the futex is still taken (ok = 0).  With b = ok = 0 it
 * sleeps forever.  The barrier is that of 76835b0ebf8a ("futex: Ensure get_futex_key_refs()
 * always implies a barrier").
 *
 * In the variant probed, store and load are separate functions, so that a recorder can be
 * attached between them.  The rate of the outcome then shows how the recorder affects the
 * store buffer (tools/bench-drain):
 *
 *	probed:		thread 0		thread 1
 *			store(x1, 1)		store(y, 1)
 *			b = load(y)		ok = load(x1)
 *
 * The variant hidden uses functions that ftrace does not manage.  For comparison, probed_mb
 * has full barriers between store and load, and probed_waitN has N turns of an empty loop:
 * they show the effect of a drain, and of a mere delay.
 *
 * To make the outcome frequent, thread 1 first stores to private memory that is not in its
 * cache (the setting ahead): y = 1 queues behind these stores.  Thread 0 does so too if it
 * holds the spinlock at first.  In write() it does not: the count would stay odd meanwhile,
 * and the reader would wait.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "delay.h"
#include "handover.h"
#include "litmus_round.h"

/**
 * klin_cell_renew() - bring a cell into its first state
 * @c: a cell that no thread uses
 */
void klin_cell_renew(struct klin_cell *c)
{
	seqlock_init(klin_cell_seqlock(c));
	c->x1 = 0;
	c->x2 = 0;
	c->y.word = 0;
}

/**
 * klin_cell_warm() - bring all data of a round into this CPU's cache
 * @c: a cell whose round has not begun
 *
 * After both threads have called this function, the caches share all lines.  Stores then wait
 * until they own their line, and loads do not wait.
 */
void klin_cell_warm(const struct klin_cell *c)
{
	unsigned int at;

	for (at = 0; at < sizeof(*c); at += KLIN_LINE / 2)
		(void)READ_ONCE(((const u8 *)c)[at]);
}

static __always_inline void store_ahead(struct klin_ahead *ahead, u32 n)
{
	while (n--)
		WRITE_ONCE(ahead->line[n].word, 1);
}

static __always_inline u8 write_then(struct klin_cell *c, bool mb)
{
	seqlock_t *sl = klin_cell_seqlock(c);

	write_seqlock(sl);
	WRITE_ONCE(c->x1, 1);
	WRITE_ONCE(c->x2, 1);
	write_sequnlock(sl);
	if (mb)
		smp_mb();	/* pairs with the other thread's */
	return READ_ONCE(c->y.word);
}

static __always_inline u8 unlock_then(struct klin_cell *c, struct klin_ahead *ahead, u32 n, bool mb)
{
	store_ahead(ahead, n);
	klin_handover_unlock(klin_cell_spinlock(c));
	if (mb)
		smp_mb();	/* pairs with the other thread's */
	return READ_ONCE(c->y.word);
}

static __always_inline void store_y(struct klin_cell *c, struct klin_ahead *ahead, u32 n, bool mb)
{
	store_ahead(ahead, n);
	WRITE_ONCE(c->y.word, 1);
	if (mb)
		smp_mb();	/* pairs with the other thread's */
}

static __always_inline u8 then_read(struct klin_cell *c, struct klin_ahead *ahead, u32 n,
				    bool mb)
{
	seqlock_t *sl = klin_cell_seqlock(c);
	unsigned int seq;
	u64 a1, a2;

	store_y(c, ahead, n, mb);
	do {
		seq = read_seqbegin(sl);
		a1 = READ_ONCE(c->x1);
		a2 = READ_ONCE(c->x2);
	} while (read_seqretry(sl, seq));
	return a1 << 1 | a2 << 2;
}

static __always_inline u8 then_trylock(struct klin_cell *c, struct klin_ahead *ahead, u32 n,
				       bool mb)
{
	store_y(c, ahead, n, mb);
	return klin_handover_trylock(klin_cell_spinlock(c)) << 1;
}

static __always_inline u8 put_mount(struct klin_cell *c, bool mb)
{
	seqlock_t *sl = klin_cell_seqlock(c);
	u8 b;

	write_seqlock(sl);
	if (mb)
		smp_mb();	/* pairs with the barrier of legitimize() */
	b = READ_ONCE(c->y.word);
	write_sequnlock(sl);
	return b;
}

static __always_inline u8 legitimize(struct klin_cell *c, struct klin_ahead *ahead, u32 n,
				     bool mb)
{
	/* The count had its first value, 0, before the round. */
	store_y(c, ahead, n, mb);
	return read_seqretry(klin_cell_seqlock(c), 0) << 1;
}

static __always_inline u8 wake(struct klin_cell *c, struct klin_ahead *ahead, u32 n, bool mb)
{
	store_ahead(ahead, n);
	WRITE_ONCE(c->x1, 1);
	if (mb)
		smp_mb();	/* pairs with the locked instruction of futex_wait() */
	return READ_ONCE(c->y.word);
}

static __always_inline u8 store_load(u64 *mine, const u64 *other, struct klin_ahead *ahead, u32 n,
				     u32 turns)
{
	store_ahead(ahead, n);
	klin_round_store(mine);
	if (turns)
		klin_turns(turns);
	return klin_round_load(other);
}

static u8 put_mount_plain(struct klin_cell *c, struct klin_ahead *ahead, u32 n)
{
	return put_mount(c, false);
}

static u8 put_mount_mb(struct klin_cell *c, struct klin_ahead *ahead, u32 n)
{
	return put_mount(c, true);
}

static u8 legitimize_plain(struct klin_cell *c, struct klin_ahead *ahead, u32 n)
{
	return legitimize(c, ahead, n, false);
}

static u8 legitimize_mb(struct klin_cell *c, struct klin_ahead *ahead, u32 n)
{
	return legitimize(c, ahead, n, true);
}

static u8 wake_plain(struct klin_cell *c, struct klin_ahead *ahead, u32 n)
{
	return wake(c, ahead, n, false);
}

static u8 wake_mb(struct klin_cell *c, struct klin_ahead *ahead, u32 n)
{
	return wake(c, ahead, n, true);
}

static u8 futex_wait(struct klin_cell *c, struct klin_ahead *ahead, u32 n)
{
	xadd(&c->y.word, 1);
	return READ_ONCE(c->x1) << 1;
}

static u8 write_plain(struct klin_cell *c, struct klin_ahead *ahead, u32 n)
{
	return write_then(c, false);
}

static u8 write_mb(struct klin_cell *c, struct klin_ahead *ahead, u32 n)
{
	return write_then(c, true);
}

static u8 unlock_plain(struct klin_cell *c, struct klin_ahead *ahead, u32 n)
{
	return unlock_then(c, ahead, n, false);
}

static u8 unlock_mb(struct klin_cell *c, struct klin_ahead *ahead, u32 n)
{
	return unlock_then(c, ahead, n, true);
}

static u8 read_plain(struct klin_cell *c, struct klin_ahead *ahead, u32 n)
{
	return then_read(c, ahead, n, false);
}

static u8 read_mb(struct klin_cell *c, struct klin_ahead *ahead, u32 n)
{
	return then_read(c, ahead, n, true);
}

static u8 trylock_plain(struct klin_cell *c, struct klin_ahead *ahead, u32 n)
{
	return then_trylock(c, ahead, n, false);
}

static u8 trylock_mb(struct klin_cell *c, struct klin_ahead *ahead, u32 n)
{
	return then_trylock(c, ahead, n, true);
}

static u8 probed_mb_0(struct klin_cell *c, struct klin_ahead *ahead, u32 n)
{
	store_ahead(ahead, n);
	klin_round_store(&c->x1);
	smp_mb();	/* pairs with that of probed_mb_1() */
	return klin_round_load(&c->y.word);
}

static u8 probed_mb_1(struct klin_cell *c, struct klin_ahead *ahead, u32 n)
{
	store_ahead(ahead, n);
	klin_round_store(&c->y.word);
	smp_mb();	/* pairs with that of probed_mb_0() */
	return klin_round_load(&c->x1) << 1;
}

static u8 hidden_0(struct klin_cell *c, struct klin_ahead *ahead, u32 n)
{
	store_ahead(ahead, n);
	klin_round_store_hidden(&c->x1);
	return klin_round_load_hidden(&c->y.word);
}

static u8 hidden_1(struct klin_cell *c, struct klin_ahead *ahead, u32 n)
{
	store_ahead(ahead, n);
	klin_round_store_hidden(&c->y.word);
	return klin_round_load_hidden(&c->x1) << 1;
}

#define PROBED(name, turns)								\
static u8 name##_0(struct klin_cell *c, struct klin_ahead *ahead, u32 n)		\
{											\
	return store_load(&c->x1, &c->y.word, ahead, n, turns);				\
}											\
static u8 name##_1(struct klin_cell *c, struct klin_ahead *ahead, u32 n)		\
{											\
	return store_load(&c->y.word, &c->x1, ahead, n, turns) << 1;			\
}

PROBED(probed, 0)
PROBED(wait3, 3)
PROBED(wait30, 30)
PROBED(wait300, 300)

static const struct klin_variant variants[] = {
	{ "seqlock", false, false, { write_plain, read_plain } },
	{ "seqlock_mb", false, false, { write_mb, read_mb } },
	{ "trylock", true, true, { unlock_plain, trylock_plain } },
	{ "trylock_mb", true, true, { unlock_mb, trylock_mb } },
	{ "mntput", true, false, { put_mount_plain, legitimize_plain } },
	{ "mntput_mb", true, false, { put_mount_mb, legitimize_mb } },
	{ "futex", true, false, { wake_plain, futex_wait } },
	{ "futex_mb", true, false, { wake_mb, futex_wait } },
	{ "probed", true, false, { probed_0, probed_1 } },
	{ "probed_mb", true, false, { probed_mb_0, probed_mb_1 } },
	{ "probed_wait3", true, false, { wait3_0, wait3_1 } },
	{ "probed_wait30", true, false, { wait30_0, wait30_1 } },
	{ "probed_wait300", true, false, { wait300_0, wait300_1 } },
	{ "hidden", true, false, { hidden_0, hidden_1 } },
};

/**
 * klin_variant_find() - find a variant by name
 * @name: its name
 *
 * Return: the variant, or NULL if there is none of this name.
 */
const struct klin_variant *klin_variant_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(variants); i++)
		if (!strcmp(variants[i].name, name))
			return &variants[i];
	return NULL;
}
