// SPDX-License-Identifier: GPL-2.0
/*
 * A register whose write the compiler may inline, as most functions of the kernel.  Of eight
 * writes seven are inlined, and a probe at the function's entry misses them; one is a call.
 */
#include <linux/slab.h>

#include "subject.h"

#define STALE	64	/* the mutant returns an old value at each STALE-th read */

enum { M_READ, M_WRITE };

static KLIN_METHOD(method_read, "register.read");
static KLIN_METHOD(method_write, "register.write");

static struct klin_method *const methods[] = { [M_READ] = &method_read, [M_WRITE] = &method_write };

/**
 * struct klin_register - the register
 * @object: common part of all subjects; the first member
 * @v: its value
 * @before: the previous value, which the mutant sometimes reads
 * @reads: approximate number of reads
 */
struct klin_register {
	struct klin_object object;
	u64 v, before, reads;
};

void klin_register_put(struct klin_register *r, u64 v);
u64 klin_register_get(struct klin_register *r);

void klin_register_put(struct klin_register *r, u64 v)
{
	WRITE_ONCE(r->before, r->v);
	WRITE_ONCE(r->v, v);
	smp_mb();
}

static void (*volatile put_by_call)(struct klin_register *r, u64 v) = klin_register_put;

typedef u64 (*read_fn)(struct klin_register *r);

static u64 value(struct klin_register *r)
{
	return READ_ONCE(r->v);
}

/* Mutant "stale": sometimes read the previous value. */

static u64 stale(struct klin_register *r)
{
	return r->reads++ % STALE ? READ_ONCE(r->v) : READ_ONCE(r->before);
}

noinline u64 klin_register_get(struct klin_register *r)
{
	return ((read_fn)r->object.subject->ops)(r);
}

static noinline void do_write(struct klin_register *r, u64 v)
{
	klin_call(r, &method_write, v, 0, 0);
	if (v % 8)
		klin_register_put(r, v);
	else
		put_by_call(r, v);
	klin_return(r, &method_write, 0, 0, 0);
}

static noinline u64 do_read(struct klin_register *r)
{
	u64 v;

	klin_call(r, &method_read, 0, 0, 0);
	v = klin_register_get(r);
	klin_return(r, &method_read, v, 0, 0);
	return v;
}

/* Thread 0 writes increasing numbers; the other threads must not see them decrease. */
static void step(struct klin_object *object, struct klin_worker *w)
{
	struct klin_register *r = container_of(object, struct klin_register, object);
	u64 v;

	if (w->index == 0) {
		do_write(r, ++w->made);
		klin_count(w, M_WRITE);
		klin_window(object);
		return;
	}
	v = do_read(r);
	if (v < w->made)
		klin_truth(w);
	w->made = v;
	klin_count(w, M_READ);
}

static struct klin_object *create(const struct klin_subject *subject)
{
	struct klin_register *r = kzalloc(sizeof(*r), GFP_KERNEL);

	return r ? &r->object : NULL;
}

static void destroy(struct klin_object *object)
{
	kfree(container_of(object, struct klin_register, object));
}

static const struct klin_subject subjects[] = {
	{ "register", "a word whose write is inlined", NULL, value },
	{ "register.stale", "sometimes reads the previous value", "register", stale },
};

KLIN_GROUP(klin_register_group) = {
	.name = "register",
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
	.subjects = subjects,
	.nsubjects = ARRAY_SIZE(subjects),
	.create = create,
	.destroy = destroy,
	.step = step,
};
