// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's own mutex and rw_semaphore, which a load drives so that probes on their
 * functions have events.  The locks are the kernel's, so there are no mutants.
 */
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/slab.h>

#include "rng.h"
#include "subject.h"

/**
 * struct klin_sleeplock - a mutex or a rw_semaphore
 * @object: common part of all subjects; the first member
 * @mutex: the lock of subject mutex
 * @rwsem: the lock of subject rwsem
 * @writers: number of threads inside that may write, as they count themselves
 * @readers: number of threads inside that may read
 */
struct klin_sleeplock {
	struct klin_object object;
	struct mutex mutex;
	struct rw_semaphore rwsem;
	atomic_t writers, readers;
};

static struct klin_object *create(const struct klin_subject *subject)
{
	struct klin_sleeplock *l = kzalloc(sizeof(*l), GFP_KERNEL);

	if (!l)
		return NULL;
	mutex_init(&l->mutex);
	init_rwsem(&l->rwsem);
	return &l->object;
}

static void destroy(struct klin_object *object)
{
	kfree(container_of(object, struct klin_sleeplock, object));
}

/* Check inside the lock that no other thread is inside, or only readers unless @write. */
static void inside(struct klin_sleeplock *l, struct klin_worker *w, bool write)
{
	bool ok;

	if (write)
		ok = atomic_inc_return(&l->writers) == 1 && !atomic_read(&l->readers);
	else
		ok = atomic_inc_return(&l->readers) >= 1 && !atomic_read(&l->writers);
	klin_window(&l->object);
	atomic_dec(write ? &l->writers : &l->readers);
	if (!ok)
		klin_truth(w);
}

enum { M_LOCK, M_TRYLOCK, M_UNLOCK };

static KLIN_METHOD(mutex_method_lock, "mutex.lock");
static KLIN_METHOD(mutex_method_trylock, "mutex.trylock");
static KLIN_METHOD(mutex_method_unlock, "mutex.unlock");

static struct klin_method *const mutex_methods[] = {
	[M_LOCK] = &mutex_method_lock,
	[M_TRYLOCK] = &mutex_method_trylock,
	[M_UNLOCK] = &mutex_method_unlock,
};

static const struct klin_subject mutex_subjects[] = {
	{ "mutex", "the kernel's mutex", NULL, NULL },
};

static const void *mutex_address(const struct klin_object *object)
{
	return &container_of(object, struct klin_sleeplock, object)->mutex;
}

static void mutex_step(struct klin_object *object, struct klin_worker *w)
{
	struct klin_sleeplock *l = container_of(object, struct klin_sleeplock, object);
	bool ok = true;

	if (klin_rng_below(&w->rng, 100) < w->mix) {
		klin_call(l, &mutex_method_trylock, 0, 0, 0);
		ok = mutex_trylock(&l->mutex);
		klin_return(l, &mutex_method_trylock, ok, 0, 0);
		klin_count(w, M_TRYLOCK);
	} else {
		klin_call(l, &mutex_method_lock, 0, 0, 0);
		mutex_lock(&l->mutex);
		klin_return(l, &mutex_method_lock, 0, 0, 0);
		klin_count(w, M_LOCK);
	}
	if (!ok)
		return;
	inside(l, w, true);
	klin_call(l, &mutex_method_unlock, 0, 0, 0);
	mutex_unlock(&l->mutex);
	klin_return(l, &mutex_method_unlock, 0, 0, 0);
	klin_count(w, M_UNLOCK);
}

KLIN_GROUP(klin_mutex_group) = {
	.name = "mutex",
	.methods = mutex_methods,
	.nmethods = ARRAY_SIZE(mutex_methods),
	.subjects = mutex_subjects,
	.nsubjects = ARRAY_SIZE(mutex_subjects),
	.create = create,
	.destroy = destroy,
	.lock = mutex_address,
	.step = mutex_step,
};

enum { M_READ_LOCK, M_READ_TRYLOCK, M_READ_UNLOCK, M_WRITE_LOCK, M_WRITE_TRYLOCK, M_WRITE_UNLOCK };

static KLIN_METHOD(method_read_lock, "rwsem.read_lock");
static KLIN_METHOD(method_read_trylock, "rwsem.read_trylock");
static KLIN_METHOD(method_read_unlock, "rwsem.read_unlock");
static KLIN_METHOD(method_write_lock, "rwsem.write_lock");
static KLIN_METHOD(method_write_trylock, "rwsem.write_trylock");
static KLIN_METHOD(method_write_unlock, "rwsem.write_unlock");

static struct klin_method *const rwsem_methods[] = {
	[M_READ_LOCK] = &method_read_lock,
	[M_READ_TRYLOCK] = &method_read_trylock,
	[M_READ_UNLOCK] = &method_read_unlock,
	[M_WRITE_LOCK] = &method_write_lock,
	[M_WRITE_TRYLOCK] = &method_write_trylock,
	[M_WRITE_UNLOCK] = &method_write_unlock,
};

static const struct klin_subject rwsem_subjects[] = {
	{ "rwsem", "the kernel's rw_semaphore", NULL, NULL },
};

static const void *rwsem_address(const struct klin_object *object)
{
	return &container_of(object, struct klin_sleeplock, object)->rwsem;
}

static bool rwsem_take(struct klin_sleeplock *l, unsigned int method)
{
	bool ok = true;

	klin_call(l, rwsem_methods[method], 0, 0, 0);
	switch (method) {
	case M_READ_LOCK:
		down_read(&l->rwsem);
		break;
	case M_READ_TRYLOCK:
		ok = down_read_trylock(&l->rwsem);
		break;
	case M_WRITE_LOCK:
		down_write(&l->rwsem);
		break;
	case M_WRITE_TRYLOCK:
		ok = down_write_trylock(&l->rwsem);
		break;
	}
	klin_return(l, rwsem_methods[method], ok, 0, 0);
	return ok;
}

static void rwsem_step(struct klin_object *object, struct klin_worker *w)
{
	struct klin_sleeplock *l = container_of(object, struct klin_sleeplock, object);
	bool write = klin_rng_below(&w->rng, 100) >= w->mix, try = klin_rng_below(&w->rng, 2);
	unsigned int method = (write ? M_WRITE_LOCK : M_READ_LOCK) + try;
	bool ok = rwsem_take(l, method);

	klin_count(w, method);
	if (!ok)
		return;
	inside(l, w, write);
	method = write ? M_WRITE_UNLOCK : M_READ_UNLOCK;
	klin_call(l, rwsem_methods[method], 0, 0, 0);
	if (write)
		up_write(&l->rwsem);
	else
		up_read(&l->rwsem);
	klin_return(l, rwsem_methods[method], 0, 0, 0);
	klin_count(w, method);
}

KLIN_GROUP(klin_rwsem_group) = {
	.name = "rwsem",
	.methods = rwsem_methods,
	.nmethods = ARRAY_SIZE(rwsem_methods),
	.subjects = rwsem_subjects,
	.nsubjects = ARRAY_SIZE(rwsem_subjects),
	.create = create,
	.destroy = destroy,
	.lock = rwsem_address,
	.step = rwsem_step,
};
