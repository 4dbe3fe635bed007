// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's xarray as a map from small indices to numbers.  A plain store makes a change
 * visible.  A full barrier at the end of each wrapper makes the store leave the store buffer
 * within the operation.
 */
#include <linux/slab.h>
#include <linux/xarray.h>

#include "rng.h"
#include "subject.h"

#define KEYS 2

enum { M_STORE, M_LOAD, M_ERASE, M_CAS };

static KLIN_METHOD(method_store, "xarray.store");
static KLIN_METHOD(method_load, "xarray.load");
static KLIN_METHOD(method_erase, "xarray.erase");
static KLIN_METHOD(method_cas, "xarray.cas");

static struct klin_method *const methods[] = {
	[M_STORE] = &method_store, [M_LOAD] = &method_load, [M_ERASE] = &method_erase,
	[M_CAS] = &method_cas,
};

/**
 * struct klin_xarray - the map
 * @object: common part of all subjects; the first member
 * @xa: the kernel's xarray
 * @wrong: 1 after a cas has replaced another value than the expected one
 */
struct klin_xarray {
	struct klin_object object;
	struct xarray xa;
	int wrong;
};

/* Return: the number of an entry, 0 for no entry. */
static u64 number(const void *entry)
{
	return entry ? xa_to_value(entry) : 0;
}

/* Return: 1 if @old was replaced; 0 if another value was found, or an errno: nothing changed. */

static int cas_right(struct klin_xarray *x, unsigned long k, u64 old, u64 new)
{
	void *want = old ? xa_mk_value(old) : NULL;
	void *found = xa_cmpxchg(&x->xa, k, want, xa_mk_value(new), GFP_KERNEL);

	return xa_err(found) ?: found == want;
}

/* Mutant "cas_in_two": compare first, store then. */

static int cas_in_two(struct klin_xarray *x, unsigned long k, u64 old, u64 new)
{
	void *found;

	if (number(xa_load(&x->xa, k)) != old)
		return 0;
	klin_window(&x->object);
	found = xa_store(&x->xa, k, xa_mk_value(new), GFP_KERNEL);
	if (xa_is_err(found))
		return xa_err(found);
	if (number(found) != old)
		xchg(&x->wrong, 1);
	return 1;
}

typedef int (*cas_fn)(struct klin_xarray *x, unsigned long k, u64 old, u64 new);

/* Return: false if memory ran out, so that the operation stays pending; else true. */
static noinline bool do_store(struct klin_xarray *x, unsigned long k, u64 v)
{
	void *old;

	klin_call(x, &method_store, k, v, 0);
	old = xa_store(&x->xa, k, xa_mk_value(v), GFP_KERNEL);
	smp_mb();	/* drains the store buffer, see above */
	if (xa_is_err(old))
		return false;
	klin_return(x, &method_store, number(old), 0, 0);
	return true;
}

static noinline u64 do_load(struct klin_xarray *x, unsigned long k)
{
	u64 v;

	klin_call(x, &method_load, k, 0, 0);
	v = number(xa_load(&x->xa, k));
	klin_return(x, &method_load, v, 0, 0);
	return v;
}

static noinline u64 do_erase(struct klin_xarray *x, unsigned long k)
{
	u64 old;

	klin_call(x, &method_erase, k, 0, 0);
	old = number(xa_erase(&x->xa, k));
	smp_mb();	/* drains the store buffer, see above */
	klin_return(x, &method_erase, old, 0, 0);
	return old;
}

/* Return: as do_store(). */
static noinline bool do_cas(struct klin_xarray *x, unsigned long k, u64 old, u64 new)
{
	int ok;

	klin_call(x, &method_cas, k, old, new);
	ok = ((cas_fn)x->object.subject->ops)(x, k, old, new);
	smp_mb();	/* drains the store buffer, see above */
	if (ok < 0)
		return false;
	klin_return(x, &method_cas, ok, 0, 0);
	return true;
}

/* Count an operation that ended, or one that stays pending. */
static void count(struct klin_worker *w, unsigned int method, bool ended)
{
	if (ended)
		klin_count(w, method);
	else
		w->pending++;
}

static void step(struct klin_object *object, struct klin_worker *w)
{
	struct klin_xarray *x = container_of(object, struct klin_xarray, object);
	unsigned long k = klin_rng_below(&w->rng, KEYS);
	u64 seen = do_load(x, k);

	klin_count(w, M_LOAD);
	if (klin_rng_below(&w->rng, 200) < w->mix)
		return;
	switch (klin_rng_below(&w->rng, 8)) {
	case 0:
		count(w, M_STORE, do_store(x, k, klin_value(w)));
		return;
	case 1:
		do_erase(x, k);
		klin_count(w, M_ERASE);
		return;
	}
	count(w, M_CAS, do_cas(x, k, seen, klin_value(w)));
	if (xchg(&x->wrong, 0))
		klin_truth(w);
}

static struct klin_object *create(const struct klin_subject *subject)
{
	struct klin_xarray *x = kzalloc(sizeof(*x), GFP_KERNEL);

	if (!x)
		return NULL;
	xa_init(&x->xa);
	return &x->object;
}

static void destroy(struct klin_object *object)
{
	struct klin_xarray *x = container_of(object, struct klin_xarray, object);

	xa_destroy(&x->xa);
	kfree(x);
}

static const struct klin_subject subjects[] = {
	{ "xarray", "the kernel's xarray", NULL, cas_right },
	{ "xarray.cas_in_two", "a load and a store instead of xa_cmpxchg()", "xarray", cas_in_two },
};

KLIN_GROUP(klin_xarray_group) = {
	.name = "xarray",
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
	.subjects = subjects,
	.nsubjects = ARRAY_SIZE(subjects),
	.create = create,
	.destroy = destroy,
	.step = step,
};
