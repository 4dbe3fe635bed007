// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's kfifo as a bounded queue: one lock for writers, one for readers, none between
 * the two (samples/kfifo, <linux/kfifo.h>).  A plain store makes a change visible.  A full
 * barrier at the end of each wrapper makes the store leave the store buffer within the
 * operation.
 */
#include <linux/kfifo.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "rng.h"
#include "subject.h"

#define SIZE 8

enum { M_PUT, M_GET };

static KLIN_METHOD(method_put, "kfifo.put");
static KLIN_METHOD(method_get, "kfifo.get");

static struct klin_method *const methods[] = { [M_PUT] = &method_put, [M_GET] = &method_get };

/**
 * struct klin_kfifo - the queue
 * @object: common part of all subjects; the first member
 * @fifo: the kernel's kfifo
 * @put_lock: held by writers
 * @get_lock: held by readers
 * @last: for each thread, the last of its own values that it took from the queue
 */
struct klin_kfifo {
	struct klin_object object;
	DECLARE_KFIFO(fifo, u64, SIZE);
	spinlock_t put_lock, get_lock;
	u64 last[2];
};

static noinline bool put(struct klin_kfifo *f, u64 v)
{
	bool ok;

	klin_call(f, &method_put, v, 0, 0);
	ok = kfifo_in_spinlocked(&f->fifo, &v, 1, &f->put_lock);
	smp_mb();	/* drains the store buffer, see above */
	klin_return(f, &method_put, ok, 0, 0);
	return ok;
}

static noinline bool get(struct klin_kfifo *f, u64 *v)
{
	bool ok;

	*v = 0;
	klin_call(f, &method_get, 0, 0, 0);
	ok = kfifo_out_spinlocked(&f->fifo, v, 1, &f->get_lock);
	smp_mb();	/* drains the store buffer, see above */
	klin_return(f, &method_get, ok, *v, 0);
	return ok;
}

static void step(struct klin_object *object, struct klin_worker *w)
{
	struct klin_kfifo *f = container_of(object, struct klin_kfifo, object);
	u64 v, *last = &f->last[(w->index & 1)];

	if (klin_rng_below(&w->rng, 100) >= w->mix) {
		put(f, klin_value(w));
		klin_count(w, M_PUT);
		return;
	}
	if (get(f, &v) && (v - 1) % w->workers == w->index) {
		/* A thread must get its own values in the order in which it put them. */
		if (w->workers <= ARRAY_SIZE(f->last) && v <= *last)
			klin_truth(w);
		*last = v;
	}
	klin_count(w, M_GET);
}

static struct klin_object *create(const struct klin_subject *subject)
{
	struct klin_kfifo *f = kzalloc(sizeof(*f), GFP_KERNEL);

	if (!f)
		return NULL;
	INIT_KFIFO(f->fifo);
	spin_lock_init(&f->put_lock);
	spin_lock_init(&f->get_lock);
	return &f->object;
}

static void destroy(struct klin_object *object)
{
	kfree(container_of(object, struct klin_kfifo, object));
}

static const struct klin_subject subjects[] = {
	{ "kfifo", "the kernel's kfifo, with a lock for each end", NULL, NULL },
};

KLIN_GROUP(klin_kfifo_group) = {
	.name = "kfifo",
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
	.subjects = subjects,
	.nsubjects = ARRAY_SIZE(subjects),
	.create = create,
	.destroy = destroy,
	.step = step,
};
