// SPDX-License-Identifier: GPL-2.0
/*
 * A reference count with one part for each CPU, as in struct mount.  To drop a reference, a
 * thread takes a lock and adds up the parts, to see whether it was the last.
 *
 * The mutant is the kernel before 9ea0a46ca2c3 ("fix mntput/mntput race"): it drops the
 * reference before it takes the lock.  A concurrent sum may see that drop, but miss a
 * reference that was taken in a part it has already read.  It then finds 0 although other
 * references remain.
 */
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "rng.h"
#include "subject.h"

#define PARTS 4

enum { M_GET, M_PUT };

static KLIN_METHOD(method_get, "refsum.get");
static KLIN_METHOD(method_put, "refsum.put");

static struct klin_method *const methods[] = { [M_GET] = &method_get, [M_PUT] = &method_put };

/**
 * struct klin_refsum - the count
 * @object: common part of all subjects; the first member
 * @lock: held while a reference is dropped
 * @part: the parts; one reference belongs to the object and is never dropped
 */
struct klin_refsum {
	struct klin_object object;
	spinlock_t lock;
	struct {
		atomic_t n;
	} ____cacheline_aligned_in_smp part[PARTS];
};

static int sum(struct klin_refsum *r)
{
	int n = 0, i;

	for (i = 0; i < PARTS; i++) {
		n += atomic_read(&r->part[i].n);
		klin_window(&r->object);
	}
	return n;
}

static bool put_right(struct klin_refsum *r, unsigned int part)
{
	bool last;

	spin_lock(&r->lock);
	atomic_dec(&r->part[part].n);
	last = !sum(r);
	spin_unlock(&r->lock);
	return last;
}

/* Mutant "early": drop the reference before taking the lock. */

static bool put_early(struct klin_refsum *r, unsigned int part)
{
	bool last;

	atomic_dec(&r->part[part].n);
	spin_lock(&r->lock);
	last = !sum(r);
	spin_unlock(&r->lock);
	return last;
}

typedef bool (*put_fn)(struct klin_refsum *r, unsigned int part);

static noinline void do_get(struct klin_refsum *r, unsigned int part)
{
	klin_call(r, &method_get, 0, 0, 0);
	atomic_inc(&r->part[part].n);
	klin_return(r, &method_get, 0, 0, 0);
}

static noinline bool do_put(struct klin_refsum *r, unsigned int part)
{
	bool last;

	klin_call(r, &method_put, 0, 0, 0);
	last = ((put_fn)r->object.subject->ops)(r, part);
	klin_return(r, &method_put, last, 0, 0);
	return last;
}

/* Take on one CPU's part and drop on another's, as a task does that has moved. */
static void step(struct klin_object *object, struct klin_worker *w)
{
	struct klin_refsum *r = container_of(object, struct klin_refsum, object);

	do_get(r, klin_rng_below(&w->rng, PARTS));
	klin_count(w, M_GET);
	if (do_put(r, klin_rng_below(&w->rng, PARTS)))
		klin_truth(w);
	klin_count(w, M_PUT);
}

static struct klin_object *create(const struct klin_subject *subject)
{
	struct klin_refsum *r = kzalloc(sizeof(*r), GFP_KERNEL);

	if (!r)
		return NULL;
	spin_lock_init(&r->lock);
	atomic_set(&r->part[0].n, 1);
	return &r->object;
}

static void destroy(struct klin_object *object)
{
	kfree(container_of(object, struct klin_refsum, object));
}

static const struct klin_subject subjects[] = {
	{ "refsum", "a reference count, in four parts, dropped under a lock", NULL, put_right },
	{ "refsum.early", "drops before it takes the lock (mntput before 9ea0a46ca2c3)",
	  "refsum", put_early },
};

KLIN_GROUP(klin_refsum_group) = {
	.name = "refsum",
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
	.subjects = subjects,
	.nsubjects = ARRAY_SIZE(subjects),
	.create = create,
	.destroy = destroy,
	.step = step,
};
