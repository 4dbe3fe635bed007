// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's rhashtable as a map, which grows and shrinks in use.  A plain store makes a
 * change visible.  A full barrier at the end of each wrapper makes the store leave the store
 * buffer within the operation.
 */
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "rng.h"
#include "subject.h"

#define KEYS 64

enum { M_INSERT, M_REMOVE, M_LOOKUP };

static KLIN_METHOD(method_insert, "rhashtable.insert");
static KLIN_METHOD(method_remove, "rhashtable.remove");
static KLIN_METHOD(method_lookup, "rhashtable.lookup");

static struct klin_method *const methods[] = {
	[M_INSERT] = &method_insert, [M_REMOVE] = &method_remove, [M_LOOKUP] = &method_lookup,
};

/**
 * struct klin_entry - an element
 * @head: entry in the table
 * @key: its key
 * @value: its value
 * @rcu: frees it after a grace period
 */
struct klin_entry {
	struct rhash_head head;
	u32 key;
	u64 value;
	struct rcu_head rcu;
};

static const struct rhashtable_params params = {
	.head_offset = offsetof(struct klin_entry, head),
	.key_offset = offsetof(struct klin_entry, key),
	.key_len = sizeof(u32),
	.min_size = 4,
	.automatic_shrinking = true,
};

/**
 * struct klin_rhashtable - the map
 * @object: common part of all subjects; the first member
 * @table: the kernel's rhashtable
 * @taken: for each key, 1 after a thread has inserted it, 2 while a thread removes it,
 *	then 0
 */
struct klin_rhashtable {
	struct klin_object object;
	struct rhashtable table;
	int taken[KEYS];
};

/* Return: 0, -EEXIST, or another errno if the table could not grow and was not changed. */

static int insert_right(struct klin_rhashtable *t, struct klin_entry *e)
{
	return rhashtable_lookup_insert_fast(&t->table, &e->head, params);
}

/* Mutant "insert_twice": look the key up first, then insert without a check. */

static int insert_twice(struct klin_rhashtable *t, struct klin_entry *e)
{
	if (rhashtable_lookup_fast(&t->table, &e->key, params))
		return -EEXIST;
	klin_window(&t->object);
	return rhashtable_insert_fast(&t->table, &e->head, params);
}

typedef int (*insert_fn)(struct klin_rhashtable *t, struct klin_entry *e);

/* Return: as insert_right().  After an errno other than -EEXIST the operation stays pending. */
static noinline int do_insert(struct klin_rhashtable *t, struct klin_entry *e)
{
	u64 key = e->key, value = e->value;
	int err;

	klin_call(t, &method_insert, key, value, 0);
	err = ((insert_fn)t->object.subject->ops)(t, e);
	smp_mb();	/* drains the store buffer, see above */
	if (!err || err == -EEXIST)
		klin_return(t, &method_insert, !err, 0, 0);
	return err;
}

static noinline struct klin_entry *do_remove(struct klin_rhashtable *t, u32 key)
{
	struct klin_entry *e;

	klin_call(t, &method_remove, key, 0, 0);
	rcu_read_lock();
	e = rhashtable_lookup(&t->table, &key, params);
	/* If another thread has removed the element, it did so during this operation. */
	if (e && rhashtable_remove_fast(&t->table, &e->head, params))
		e = NULL;
	rcu_read_unlock();
	smp_mb();	/* drains the store buffer, see above */
	klin_return(t, &method_remove, !!e, 0, 0);
	return e;
}

static noinline u64 do_lookup(struct klin_rhashtable *t, u32 key)
{
	struct klin_entry *e;
	u64 value;

	klin_call(t, &method_lookup, key, 0, 0);
	rcu_read_lock();
	e = rhashtable_lookup(&t->table, &key, params);
	value = e ? e->value : 0;
	rcu_read_unlock();
	klin_return(t, &method_lookup, value, 0, 0);
	return value;
}

static void insert(struct klin_rhashtable *t, struct klin_worker *w, u32 key)
{
	struct klin_entry *e = kzalloc(sizeof(*e), GFP_KERNEL);
	int err;

	if (!e)
		return;
	e->key = key;
	e->value = klin_value(w);
	/* No other insertion of the key may succeed until its removal begins. */
	err = do_insert(t, e);
	if (err)
		kfree(e);
	else if (xchg(&t->taken[key], 1) == 1)
		klin_truth(w);
	if (!err || err == -EEXIST)
		klin_count(w, M_INSERT);
	else
		w->pending++;
}

static void remove(struct klin_rhashtable *t, struct klin_worker *w, u32 key)
{
	struct klin_entry *e;

	/*
	 * Only one thread at a time removes a key, so that the check is exact.  Another thread may
	 * insert the key while @taken is still 2.
	 */
	if (cmpxchg(&t->taken[key], 1, 2) != 1)
		return;
	e = do_remove(t, key);
	klin_count(w, M_REMOVE);
	if (e)
		kfree_rcu(e, rcu);
	cmpxchg(&t->taken[key], 2, 0);
}

static void step(struct klin_object *object, struct klin_worker *w)
{
	struct klin_rhashtable *t = container_of(object, struct klin_rhashtable, object);
	/* Few keys for a while, then many, so that the table grows and shrinks. */
	u32 key = klin_rng_below(&w->rng, w->ops & 1024 ? KEYS : 4);

	if (klin_rng_below(&w->rng, 100) < w->mix) {
		do_lookup(t, key);
		klin_count(w, M_LOOKUP);
	} else if (klin_rng_below(&w->rng, 2)) {
		insert(t, w, key);
	} else {
		remove(t, w, key);
	}
}

static struct klin_object *create(const struct klin_subject *subject)
{
	struct klin_rhashtable *t = kzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return NULL;
	if (rhashtable_init(&t->table, &params)) {
		kfree(t);
		return NULL;
	}
	return &t->object;
}

static void free_entry(void *entry, void *unused)
{
	kfree(entry);
}

static void destroy(struct klin_object *object)
{
	struct klin_rhashtable *t = container_of(object, struct klin_rhashtable, object);

	rhashtable_free_and_destroy(&t->table, free_entry, NULL);
	kfree(t);
}

static const struct klin_subject subjects[] = {
	{ "rhashtable", "the kernel's rhashtable", NULL, insert_right },
	{ "rhashtable.insert_twice", "looks the key up, then inserts without a check", "rhashtable",
	  insert_twice },
};

KLIN_GROUP(klin_rhashtable_group) = {
	.name = "rhashtable",
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
	.subjects = subjects,
	.nsubjects = ARRAY_SIZE(subjects),
	.create = create,
	.destroy = destroy,
	.step = step,
};
