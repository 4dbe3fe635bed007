// SPDX-License-Identifier: GPL-2.0
/*
 * The counter of an eventfd in semaphore mode.  VFIO and KVM also take from the counter
 * without checking it first, when they release an eventfd.
 *
 * The mutant is the kernel before 758b49204781 ("eventfd: prevent underflow for eventfd
 * semaphores"): it takes 1 from 0.
 */
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "rng.h"
#include "subject.h"

enum { M_POST, M_TAKE };

static KLIN_METHOD(method_post, "eventsem.post");
static KLIN_METHOD(method_take, "eventsem.take");

static struct klin_method *const methods[] = { [M_POST] = &method_post, [M_TAKE] = &method_take };

/**
 * struct klin_eventsem - the counter
 * @object: common part of all subjects; the first member
 * @lock: guards @count
 * @count: the counter
 */
struct klin_eventsem {
	struct klin_object object;
	spinlock_t lock;
	u64 count;
};

static u64 how_many(const struct klin_eventsem *e)
{
	return e->count ? 1 : 0;
}

/* Mutant "underflow": take 1 even if the counter is 0. */

static u64 one(const struct klin_eventsem *e)
{
	return 1;
}

typedef u64 (*how_many_fn)(const struct klin_eventsem *e);

static noinline void post(struct klin_eventsem *e, u64 n)
{
	klin_call(e, &method_post, n, 0, 0);
	spin_lock(&e->lock);
	if (U64_MAX - e->count < n)
		n = U64_MAX - e->count;
	e->count += n;
	spin_unlock(&e->lock);
	klin_return(e, &method_post, 0, 0, 0);
}

static noinline u64 take(struct klin_eventsem *e, struct klin_worker *w)
{
	u64 n;

	klin_call(e, &method_take, 0, 0, 0);
	spin_lock(&e->lock);
	n = ((how_many_fn)e->object.subject->ops)(e);
	if (n > e->count)
		klin_truth(w);
	e->count -= n;
	spin_unlock(&e->lock);
	klin_return(e, &method_take, n, 0, 0);
	return n;
}

static void step(struct klin_object *object, struct klin_worker *w)
{
	struct klin_eventsem *e = container_of(object, struct klin_eventsem, object);

	if (klin_rng_below(&w->rng, 100) >= w->mix) {
		post(e, 1);
		klin_count(w, M_POST);
	} else {
		take(e, w);
		klin_count(w, M_TAKE);
	}
}

static struct klin_object *create(const struct klin_subject *subject)
{
	struct klin_eventsem *e = kzalloc(sizeof(*e), GFP_KERNEL);

	if (!e)
		return NULL;
	spin_lock_init(&e->lock);
	return &e->object;
}

static void destroy(struct klin_object *object)
{
	kfree(container_of(object, struct klin_eventsem, object));
}

static const struct klin_subject subjects[] = {
	{ "eventsem", "an eventfd's counter in semaphore mode", NULL, how_many },
	{ "eventsem.underflow", "subtracts 1 from 0 (eventfd before 758b49204781)", "eventsem",
	  one },
};

KLIN_GROUP(klin_eventsem_group) = {
	.name = "eventsem",
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
	.subjects = subjects,
	.nsubjects = ARRAY_SIZE(subjects),
	.create = create,
	.destroy = destroy,
	.step = step,
};
