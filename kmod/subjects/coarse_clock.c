// SPDX-License-Identifier: GPL-2.0
/*
 * A coarse clock: the time of the last update, under a sequence count.  An update advances the
 * clock by whole intervals.  Now and then it changes the rate, which revalues the part of an
 * interval that has already passed.  The base absorbs the difference, so that the fine clock
 * does not jump.
 *
 * The mutant is the kernel before b71f9804f66c ("timekeeping: Prevent coarse clocks going
 * backwards"): its coarse clock shows the base, even if the base went back.
 */
#include <linux/seqlock.h>
#include <linux/slab.h>

#include "rng.h"
#include "subject.h"

#define INTERVAL 16	/* cycles */
#define SHIFT 4		/* The base is in units of 1 / 2^SHIFT ns. */

enum { M_READ };

static KLIN_METHOD(method_read, "coarse.read");

static struct klin_method *const methods[] = { [M_READ] = &method_read };

/**
 * struct klin_coarse - the clock
 * @object: common part of all subjects; the first member
 * @seq: guards the fields below
 * @base: the time at @cycle_last, in fractions of a nanosecond
 * @shown: the time that the correct coarse clock shows
 * @cycle_last: the cycle up to which @base has advanced
 * @mult: the rate, in fractions of a nanosecond per cycle
 * @now: the cycle counter, which thread 0 advances
 */
struct klin_coarse {
	struct klin_object object;
	seqlock_t seq;
	u64 base, shown;
	u64 cycle_last;
	u64 mult;
	u64 now;
};

/* Only thread 0 calls this. */
static void advance(struct klin_coarse *c, struct klin_worker *w)
{
	u64 offset, mult = 64 + klin_rng_below(&w->rng, 64);

	c->now += 1 + klin_rng_below(&w->rng, 2 * INTERVAL);
	write_seqlock(&c->seq);
	offset = c->now - c->cycle_last;
	while (offset >= INTERVAL) {
		c->base += INTERVAL * c->mult;
		c->cycle_last += INTERVAL;
		offset -= INTERVAL;
	}
	/* The fine clock, base + offset * mult, stays unchanged. */
	c->base += offset * c->mult - offset * mult;
	c->mult = mult;
	if ((s64)(c->base - c->shown) > 0)
		c->shown = c->base;
	write_sequnlock(&c->seq);
}

static u64 shown(const struct klin_coarse *c)
{
	return c->shown;
}

/* Mutant "backwards": show the base. */

static u64 base(const struct klin_coarse *c)
{
	return c->base;
}

typedef u64 (*read_fn)(const struct klin_coarse *c);

static noinline u64 do_read(struct klin_coarse *c)
{
	unsigned int seq;
	u64 t;

	klin_call(c, &method_read, 0, 0, 0);
	do {
		seq = read_seqbegin(&c->seq);
		t = ((read_fn)c->object.subject->ops)(c);
	} while (read_seqretry(&c->seq, seq));
	klin_return(c, &method_read, t >> SHIFT, 0, 0);
	return t >> SHIFT;
}

static void step(struct klin_object *object, struct klin_worker *w)
{
	struct klin_coarse *c = container_of(object, struct klin_coarse, object);
	u64 t;

	if (w->index == 0)
		advance(c, w);
	t = do_read(c);
	if (t < w->made)
		klin_truth(w);
	w->made = t;
	klin_count(w, M_READ);
}

static struct klin_object *create(const struct klin_subject *subject)
{
	struct klin_coarse *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return NULL;
	seqlock_init(&c->seq);
	c->mult = 64;
	/* The first change of the rate must not lead below 0. */
	c->base = c->shown = 64 * INTERVAL;
	return &c->object;
}

static void destroy(struct klin_object *object)
{
	kfree(container_of(object, struct klin_coarse, object));
}

static const struct klin_subject subjects[] = {
	{ "coarse", "a coarse clock", NULL, shown },
	{ "coarse.backwards", "reads the base, which a new rate sets back (before b71f9804f66c)",
	  "coarse", base },
};

KLIN_GROUP(klin_coarse_group) = {
	.name = "coarse",
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
	.subjects = subjects,
	.nsubjects = ARRAY_SIZE(subjects),
	.create = create,
	.destroy = destroy,
	.step = step,
};
