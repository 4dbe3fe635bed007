// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's idr as an allocator of the lowest free number, with an external lock, as the
 * idr requires.
 */
#include <linux/idr.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "rng.h"
#include "subject.h"

#define IDS 32	/* numbers are below this one */

enum { M_ALLOC, M_REMOVE };

static KLIN_METHOD(method_alloc, "idr.alloc");
static KLIN_METHOD(method_remove, "idr.remove");

static struct klin_method *const methods[] = {
	[M_ALLOC] = &method_alloc, [M_REMOVE] = &method_remove,
};

/**
 * struct klin_idr - the allocator
 * @object: common part of all subjects; the first member
 * @idr: the kernel's idr
 * @lock: guards changes of @idr
 * @holder: for each number, the index of the thread that holds it plus one; 0 for none
 */
struct klin_idr {
	struct klin_object object;
	struct idr idr;
	spinlock_t lock;
	int holder[IDS];
};

/* Return: the number, or -ENOSPC if all are taken. */
static int alloc_right(struct klin_idr *i)
{
	int id;

	idr_preload(GFP_KERNEL);
	spin_lock(&i->lock);
	id = idr_alloc(&i->idr, i, 0, IDS, GFP_NOWAIT);
	spin_unlock(&i->lock);
	idr_preload_end();
	return id;
}

/* Mutant "replaced": take a number even if another thread has taken it meanwhile. */

static int alloc_replacing(struct klin_idr *i)
{
	int id, got;

	rcu_read_lock();
	for (id = 0; id < IDS; id++)
		if (!idr_find(&i->idr, id))
			break;
	rcu_read_unlock();
	if (id == IDS)
		return -ENOSPC;
	klin_window(&i->object);
	idr_preload(GFP_KERNEL);
	spin_lock(&i->lock);
	got = idr_alloc(&i->idr, i, id, id + 1, GFP_NOWAIT);
	if (got == -ENOSPC) {
		idr_replace(&i->idr, i, id);
		got = id;
	}
	spin_unlock(&i->lock);
	idr_preload_end();
	return got;
}

typedef int (*alloc_fn)(struct klin_idr *i);

/* Return: the number, or IDS if none is free.  If memory runs out, the operation stays pending. */
static noinline int do_alloc(struct klin_idr *i)
{
	int id;

	klin_call(i, &method_alloc, 0, 0, 0);
	id = ((alloc_fn)i->object.subject->ops)(i);
	if (id == -ENOSPC)
		id = IDS;
	if (id >= 0)
		klin_return(i, &method_alloc, id, 0, 0);
	return id;
}

static noinline void do_remove(struct klin_idr *i, unsigned int id)
{
	klin_call(i, &method_remove, id, 0, 0);
	spin_lock(&i->lock);
	idr_remove(&i->idr, id);
	spin_unlock(&i->lock);
	klin_return(i, &method_remove, 0, 0, 0);
}

static void step(struct klin_object *object, struct klin_worker *w)
{
	struct klin_idr *i = container_of(object, struct klin_idr, object);
	int id = klin_rng_below(&w->rng, IDS / 2), me = w->index + 1;

	if (READ_ONCE(i->holder[id]) == me && cmpxchg(&i->holder[id], me, 0) == me) {
		do_remove(i, id);
		klin_count(w, M_REMOVE);
	} else {
		id = do_alloc(i);
		if (id < 0) {
			w->pending++;
			return;
		}
		klin_count(w, M_ALLOC);
		if (id < IDS && xchg(&i->holder[id], me))
			klin_truth(w);
	}
}

static struct klin_object *create(const struct klin_subject *subject)
{
	struct klin_idr *i = kzalloc(sizeof(*i), GFP_KERNEL);

	if (!i)
		return NULL;
	idr_init(&i->idr);
	spin_lock_init(&i->lock);
	return &i->object;
}

static void destroy(struct klin_object *object)
{
	struct klin_idr *i = container_of(object, struct klin_idr, object);

	idr_destroy(&i->idr);
	kfree(i);
}

static const struct klin_subject subjects[] = {
	{ "idr", "the kernel's idr, changed under a lock", NULL, alloc_right },
	{ "idr.replaced", "finds the lowest free number before it takes the lock", "idr",
	  alloc_replacing },
};

KLIN_GROUP(klin_idr_group) = {
	.name = "idr",
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
	.subjects = subjects,
	.nsubjects = ARRAY_SIZE(subjects),
	.create = create,
	.destroy = destroy,
	.step = step,
};
