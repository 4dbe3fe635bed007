// SPDX-License-Identifier: GPL-2.0
/*
 * Subjects with two words under a sequence lock (Burckhardt et al., Figure 3), with the
 * kernel's own seqlock_t and seqcount_spinlock_t.
 *
 * Both words are 0 at first, and all writes store two equal words.  A read of two different
 * words is therefore torn.  The load checks this, and tests compare the monitor's verdict with
 * this check.
 */
#include <linux/kcsan-checks.h>
#include <linux/kernel.h>
#include <linux/seqlock.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "rng.h"
#include "seqlock.h"
#include "subject.h"

enum { M_WRITE, M_READ };

static KLIN_METHOD(method_write, "seqlock.write");
static KLIN_METHOD(method_read, "seqlock.read");

static struct klin_method *const methods[] = {
	[M_WRITE] = &method_write,
	[M_READ] = &method_read,
};

/* Access to the two words, in all variants. */
static void store_words(struct klin_pair *p, u64 a, u64 b)
{
	WRITE_ONCE(p->a, a);
	klin_window(&p->object);
	WRITE_ONCE(p->b, b);
	klin_point(p, &method_write);
}

static void load_words(struct klin_pair *p, u64 *a, u64 *b)
{
	klin_point(p, &method_read);
	*a = READ_ONCE(p->a);
	klin_window(&p->object);
	*b = READ_ONCE(p->b);
}

/* Subject "seqlock": seqlock_t. */

static void seqlock_write(struct klin_pair *p, u64 a, u64 b)
{
	write_seqlock(&p->seqlock);
	store_words(p, a, b);
	write_sequnlock(&p->seqlock);
}

static bool seqlock_read(struct klin_pair *p, u64 *a, u64 *b)
{
	unsigned int turns = 0;
	unsigned int seq;

	for (;;) {
		seq = read_seqbegin(&p->seqlock);
		load_words(p, a, b);
		if (!read_seqretry(&p->seqlock, seq))
			return true;
		if (!klin_wait_on(&p->object, &turns))
			return false;
	}
}

static const struct klin_pair_ops seqlock_ops = { seqlock_write, seqlock_read };

/* Subject "seqcount": seqcount_spinlock_t, with a separate lock for the writers. */

static void seqcount_write(struct klin_pair *p, u64 a, u64 b)
{
	spin_lock(&p->lock);
	write_seqcount_begin(&p->seqcount);
	store_words(p, a, b);
	write_seqcount_end(&p->seqcount);
	spin_unlock(&p->lock);
}

static bool seqcount_read(struct klin_pair *p, u64 *a, u64 *b)
{
	unsigned int turns = 0;
	unsigned int seq;

	for (;;) {
		seq = read_seqcount_begin(&p->seqcount);
		load_words(p, a, b);
		if (!read_seqcount_retry(&p->seqcount, seq))
			return true;
		if (!klin_wait_on(&p->object, &turns))
			return false;
	}
}

static const struct klin_pair_ops seqcount_ops = { seqcount_write, seqcount_read };

/* Mutant "no_retry": the reader waits for an even count, but does not check it afterwards. */

static bool no_retry_read(struct klin_pair *p, u64 *a, u64 *b)
{
	(void)read_seqbegin(&p->seqlock);
	load_words(p, a, b);
	return true;
}

static const struct klin_pair_ops no_retry_ops = { seqlock_write, no_retry_read };

/*
 * Mutant "one_inc": the writer raises the count once, at the end.  The count is not odd during
 * a write, so the reader only checks that it has not changed.
 */

static void one_inc_write(struct klin_pair *p, u64 a, u64 b)
{
	spin_lock(&p->lock);
	store_words(p, a, b);
	kcsan_nestable_atomic_begin();	/* which raw_write_seqcount_begin() would call */
	raw_write_seqcount_end(&p->seqcount);
	spin_unlock(&p->lock);
}

static bool any_count_read(struct klin_pair *p, u64 *a, u64 *b)
{
	unsigned int turns = 0;
	unsigned int seq;

	for (;;) {
		seq = raw_read_seqcount(&p->seqcount);
		load_words(p, a, b);
		if (!read_seqcount_retry(&p->seqcount, seq))
			return true;
		if (!klin_wait_on(&p->object, &turns))
			return false;
	}
}

static const struct klin_pair_ops one_inc_ops = { one_inc_write, any_count_read };

/* Mutant "odd_ignored": the writer is correct, but the reader accepts an odd count. */

static const struct klin_pair_ops odd_ignored_ops = { seqcount_write, any_count_read };

/* Mutant "no_lock": the count is raised atomically, but writers do not exclude each other. */

static void no_lock_write(struct klin_pair *p, u64 a, u64 b)
{
	preempt_disable();
	atomic_inc(&p->count);
	smp_wmb();	/* pairs with no_lock_read(), as the barrier below does */
	store_words(p, a, b);
	smp_wmb();
	atomic_inc(&p->count);
	preempt_enable();
}

static bool no_lock_read(struct klin_pair *p, u64 *a, u64 *b)
{
	unsigned int turns = 0;
	int seq;

	for (;;) {
		seq = atomic_read_acquire(&p->count);
		if (!(seq & 1)) {
			load_words(p, a, b);
			smp_rmb();	/* pairs with no_lock_write() */
			if (atomic_read(&p->count) == seq)
				return true;
		}
		if (!klin_wait_on(&p->object, &turns))
			return false;
	}
}

static const struct klin_pair_ops no_lock_ops = { no_lock_write, no_lock_read };

/* Mutant "read_outside": the second word is loaded after the count has been checked. */

static bool read_outside_read(struct klin_pair *p, u64 *a, u64 *b)
{
	unsigned int turns = 0;
	unsigned int seq;

	for (;;) {
		seq = read_seqbegin(&p->seqlock);
		klin_point(p, &method_read);
		*a = READ_ONCE(p->a);
		if (!read_seqretry(&p->seqlock, seq))
			break;
		if (!klin_wait_on(&p->object, &turns))
			return false;
	}
	klin_window(&p->object);
	*b = READ_ONCE(p->b);
	return true;
}

static const struct klin_pair_ops read_outside_ops = { seqlock_write, read_outside_read };

/* Functions that the load calls, to which fentry and fexit can be attached. */

/**
 * klin_seqlock_write() - write both words
 * @p: the pair
 * @a: the first word
 * @b: the second word
 */
noinline void klin_seqlock_write(struct klin_pair *p, u64 a, u64 b)
{
	p->ops->write(p, a, b);
}

/**
 * klin_seqlock_read() - read both words
 * @p: the pair
 * @a: receives the first word
 * @b: receives the second word
 *
 * Return: true, or false if the load was stopped before the read was complete.
 */
noinline bool klin_seqlock_read(struct klin_pair *p, u64 *a, u64 *b)
{
	return p->ops->read(p, a, b);
}

static const struct klin_subject subjects[] = {
	{ "seqlock", "two words under the kernel's seqlock_t", NULL, &seqlock_ops },
	{ "seqcount", "two words under the kernel's seqcount_spinlock_t", NULL, &seqcount_ops },
	{ "seqlock.no_retry", "the reader does not check the count after reading", "seqlock",
	  &no_retry_ops },
	{ "seqlock.read_outside", "the reader loads the second word after checking the count",
	  "seqlock", &read_outside_ops },
	{ "seqcount.one_inc", "the writer raises the count only once, at the end", "seqcount",
	  &one_inc_ops },
	{ "seqcount.odd_ignored", "the reader does not wait for an even count", "seqcount",
	  &odd_ignored_ops },
	{ "seqcount.no_lock", "writers raise the count atomically but take no lock", "seqcount",
	  &no_lock_ops },
};

static struct klin_object *create(const struct klin_subject *subject)
{
	struct klin_pair *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return NULL;
	p->ops = subject->ops;
	seqlock_init(&p->seqlock);
	spin_lock_init(&p->lock);
	seqcount_spinlock_init(&p->seqcount, &p->lock);
	return &p->object;
}

static void destroy(struct klin_object *object)
{
	kfree(container_of(object, struct klin_pair, object));
}

static const void *spinlock(const struct klin_object *object)
{
	const struct klin_pair *p = container_of(object, struct klin_pair, object);

	if (p->ops->write == seqlock_write)
		return &p->seqlock.lock;
	return p->ops->write == no_lock_write ? NULL : &p->lock;
}

static void step(struct klin_object *object, struct klin_worker *w)
{
	struct klin_pair *p = container_of(object, struct klin_pair, object);
	u64 a, b;

	if (klin_rng_below(&w->rng, 100) >= w->mix) {
		a = w->made++ * w->workers + w->index + 1;
		klin_call(p, &method_write, a, a, 0);
		klin_seqlock_write(p, a, a);
		klin_return(p, &method_write, 0, 0, 0);
		klin_count(w, M_WRITE);
		return;
	}

	klin_call(p, &method_read, 0, 0, 0);
	if (!klin_seqlock_read(p, &a, &b)) {
		w->pending++;
		return;
	}
	klin_return(p, &method_read, a, b, 0);
	klin_count(w, M_READ);
	if (a != b)
		WRITE_ONCE(w->truth, w->truth + 1);
}

KLIN_GROUP(klin_seqlock_group) = {
	.name = "seqlock",
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
	.subjects = subjects,
	.nsubjects = ARRAY_SIZE(subjects),
	.create = create,
	.destroy = destroy,
	.lock = spinlock,
	.step = step,
};
