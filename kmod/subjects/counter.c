// SPDX-License-Identifier: GPL-2.0
/*
 * Subjects with a counter that all contexts use: tasks, hard interrupts and soft interrupts.
 * Interrupts come while a task is inside an operation.  Tasks also begin a second operation
 * inside the first, or move to another CPU inside an operation.
 *
 * A recorder must get all of these right.  It sees the operation of an interrupt under the
 * name of the interrupted task.  If a probe is running when the interrupt comes (counter_timer
 * only), the probe misses the operation.
 *
 * inc returns the old value, so no two calls return the same value.  The load checks this
 * itself, and tests compare the monitor's verdict with this check.
 */
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "compat.h"
#include "counter.h"
#include "rng.h"

#define GIVEN		1024	/* size of the table in which repeated values are found */
#define TIMER_NS	30000	/* maximum delay of the next timer interrupt */
#define DEPTH		3	/* nesting depth of one task's operations */

enum { M_INC, M_GET };
enum { HARD, SOFT, CONTEXTS };

static KLIN_METHOD(method_inc, "counter.inc");
static KLIN_METHOD(method_get, "counter.get");

static struct klin_method *const methods[] = { [M_INC] = &method_inc, [M_GET] = &method_get };

/* Sources of interrupts on one CPU. */
struct klin_counter_cpu {
	struct klin_counter *counter;
	struct hrtimer timer;
	struct irq_work work;
	struct tasklet_struct tasklet;
	u64 turn;
};

/**
 * struct klin_counter_kind - how a subject counts, and in which contexts
 * @inc: raise the count; returns the old value
 * @irq: true if interrupts count, too, while tasks are inside operations
 * @timer: true if interrupts come at any time, also while a probe runs
 * @nested: true if operations also run inside other operations
 * @moving: true if threads move to another CPU inside an operation
 */
struct klin_counter_kind {
	u64 (*inc)(struct klin_counter *c);
	bool irq, timer, nested, moving;
};

/**
 * struct klin_counter - the counter
 * @object: common part of all subjects; the first member
 * @kind: how it counts
 * @n: the count
 * @given: for each remainder modulo GIVEN, the last value returned plus one; 0 for
 *	none
 * @cpu: sources of interrupts of each CPU, or NULL
 */
struct klin_counter {
	struct klin_object object;
	const struct klin_counter_kind *kind;
	u64 n ____cacheline_aligned_in_smp;
	u64 given[GIVEN] ____cacheline_aligned_in_smp;
	struct klin_counter_cpu __percpu *cpu;
};

static u64 inc_atomic(struct klin_counter *c)
{
	klin_window(&c->object);
	return xadd(&c->n, 1);
}

/* Mutant "plain": an increment between the load and the store is lost. */

static u64 inc_plain(struct klin_counter *c)
{
	u64 n = READ_ONCE(c->n);

	klin_window(&c->object);
	WRITE_ONCE(c->n, n + 1);
	return n;
}

#define AGAIN	8	/* further executions of the first instruction in one call */

/**
 * klin_counter_again() - add to a number, by a function that begins with a loop
 * @n: the number
 * @by: how much to add
 * @times: number of further turns of the loop, which add nothing
 * @first: 1
 *
 * The first instruction is the begin of the loop, as compilers make it for llist_add_batch().
 * The arguments change in the loop.
 *
 * Return: the old value.
 */
noinline notrace u64 klin_counter_again(u64 *n, u64 by, u64 times, u64 first)
{
	u64 was;

	/* The arguments stay in their registers, so that no instruction precedes the loop. */
	asm volatile("1: lock xaddq %[by], (%[n])\n\t"
		     "testq %[first], %[first]\n\t"
		     "cmovnzq %[by], %[was]\n\t"
		     "xorl %k[by], %k[by]\n\t"
		     "xorl %k[first], %k[first]\n\t"
		     "pause\n\t"
		     "decq %[times]\n\t"
		     "jns 1b"
		     : [was] "=&a" (was), [by] "+&S" (by), [times] "+&d" (times),
		       [first] "+&c" (first)
		     : [n] "D" (n)
		     : "cc", "memory");
	return was;
}

static u64 inc_again(struct klin_counter *c)
{
	return klin_counter_again(&c->n, 1, AGAIN, 1);
}

/* Cause an interrupt on this CPU: an irq_work, or a timer. */
static void disturb(struct klin_counter *c, struct klin_worker *w)
{
	struct klin_counter_cpu *cpu;
	u64 what = klin_rng_below(&w->rng, 8);

	preempt_disable();
	cpu = this_cpu_ptr(c->cpu);
	if (what == 0)
		irq_work_queue(&cpu->work);
	else if (what == 1 && c->kind->timer && !hrtimer_active(&cpu->timer))
		hrtimer_start(&cpu->timer, klin_rng_below(&w->rng, TIMER_NS),
			      HRTIMER_MODE_REL_PINNED_HARD);
	preempt_enable();
}

static void move(struct klin_worker *w)
{
	unsigned int cpu;

	if (klin_rng_below(&w->rng, 32))
		return;
	cpu = cpumask_next(raw_smp_processor_id(), cpu_online_mask);
	if (cpu >= nr_cpu_ids)
		cpu = cpumask_first(cpu_online_mask);
	/* Fails if the CPU goes offline; the thread then stays on its CPU. */
	set_cpus_allowed_ptr(current, cpumask_of(cpu));
}

static u64 inc_inside(struct klin_counter *c, struct klin_worker *w, unsigned int depth);
static u64 get_inside(struct klin_counter *c, struct klin_worker *w, unsigned int depth);

/* Do what may happen inside an operation of a task. */
static void inside(struct klin_counter *c, struct klin_worker *w, unsigned int depth)
{
	if (c->kind->irq)
		disturb(c, w);
	if (c->kind->moving)
		move(w);
	if (c->kind->nested && depth < DEPTH && !klin_rng_below(&w->rng, 4)) {
		if (klin_rng_below(&w->rng, 2))
			inc_inside(c, w, depth + 1);
		else
			get_inside(c, w, depth + 1);
	}
}

/* Functions that the load calls, to which fentry and fexit can be attached. */

/**
 * klin_counter_inc() - raise the count
 * @c: the counter
 * @w: the thread; NULL in an interrupt
 * @depth: number of this thread's operations that enclose this one
 *
 * Return: the old value.
 */
noinline u64 klin_counter_inc(struct klin_counter *c, struct klin_worker *w, unsigned int depth)
{
	u64 n;

	if (w)
		inside(c, w, depth);
	n = c->kind->inc(c);
	klin_point(c, &method_inc);
	if (w)
		inside(c, w, depth);
	return n;
}

/**
 * klin_counter_get() - read the count
 * @c: the counter
 * @w: the thread; NULL in an interrupt
 * @depth: number of this thread's operations that enclose this one
 *
 * Return: the count.
 */
noinline u64 klin_counter_get(struct klin_counter *c, struct klin_worker *w, unsigned int depth)
{
	u64 n;

	if (w)
		inside(c, w, depth);
	n = READ_ONCE(c->n);
	if (w)
		inside(c, w, depth);
	return n;
}

static u64 do_inc(struct klin_counter *c, struct klin_worker *w, struct klin_worker *sums,
		  unsigned int depth)
{
	u64 n;

	klin_call(c, &method_inc, 0, 0, 0);
	n = klin_counter_inc(c, w, depth);
	klin_return(c, &method_inc, n, 0, 0);
	klin_count(sums, M_INC);
	/* The table holds value + 1, since 0 stands for none. */
	if (xchg(&c->given[n % GIVEN], n + 1) == n + 1)
		klin_truth(sums);
	return n;
}

static u64 do_get(struct klin_counter *c, struct klin_worker *w, struct klin_worker *sums,
		  unsigned int depth)
{
	u64 n;

	klin_call(c, &method_get, 0, 0, 0);
	n = klin_counter_get(c, w, depth);
	klin_return(c, &method_get, n, 0, 0);
	klin_count(sums, M_GET);
	return n;
}

static u64 inc_inside(struct klin_counter *c, struct klin_worker *w, unsigned int depth)
{
	return do_inc(c, w, w, depth);
}

static u64 get_inside(struct klin_counter *c, struct klin_worker *w, unsigned int depth)
{
	return do_get(c, w, w, depth);
}

static void step(struct klin_object *object, struct klin_worker *w)
{
	struct klin_counter *c = container_of(object, struct klin_counter, object);

	if (klin_rng_below(&w->rng, 100) >= w->mix)
		do_inc(c, w, w, 0);
	else
		do_get(c, w, w, 0);
}

/* Interrupts have their own counters, each with one writer. */
static void interrupt(struct klin_counter_cpu *cpu, unsigned int context)
{
	struct klin_counter *c = cpu->counter;
	struct klin_worker *sums = &c->object.others[CONTEXTS * smp_processor_id() + context];

	if (sums->ops % 4)
		do_inc(c, NULL, sums, 0);
	else
		do_get(c, NULL, sums, 0);
}

static void on_tasklet(struct tasklet_struct *t)
{
	interrupt(container_of(t, struct klin_counter_cpu, tasklet), SOFT);
}

static void on_work(struct irq_work *work)
{
	struct klin_counter_cpu *cpu = container_of(work, struct klin_counter_cpu, work);

	interrupt(cpu, HARD);
	/* The tasklet runs at the end of this interrupt, unless the interrupt hit a softirq. */
	if (cpu->turn++ % 2)
		tasklet_schedule(&cpu->tasklet);
}

static enum hrtimer_restart on_timer(struct hrtimer *timer)
{
	interrupt(container_of(timer, struct klin_counter_cpu, timer), HARD);
	return HRTIMER_NORESTART;
}

static void free_counter(struct klin_counter *c)
{
	free_percpu(c->cpu);
	kfree(c->object.others);
	kfree(c);
}

static struct klin_object *create(const struct klin_subject *subject)
{
	struct klin_counter *c = kzalloc(sizeof(*c), GFP_KERNEL);
	int cpu;

	if (!c)
		return NULL;
	c->kind = subject->ops;
	if (!c->kind->irq)
		return &c->object;

	c->object.nothers = CONTEXTS * nr_cpu_ids;
	c->object.others = kcalloc(c->object.nothers, sizeof(*c->object.others), GFP_KERNEL);
	c->cpu = alloc_percpu(struct klin_counter_cpu);
	if (!c->object.others || !c->cpu) {
		free_counter(c);
		return NULL;
	}
	for_each_possible_cpu(cpu) {
		struct klin_counter_cpu *at = per_cpu_ptr(c->cpu, cpu);

		at->counter = c;
		at->work = IRQ_WORK_INIT_HARD(on_work);
		tasklet_setup(&at->tasklet, on_tasklet);
		hrtimer_setup(&at->timer, on_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	}
	return &c->object;
}

static bool busy(struct klin_counter_cpu *cpu)
{
	return hrtimer_active(&cpu->timer) || irq_work_is_busy(&cpu->work) ||
	       test_bit(TASKLET_STATE_SCHED, &cpu->tasklet.state) ||
	       test_bit(TASKLET_STATE_RUN, &cpu->tasklet.state);
}

/* The work queues the tasklet before it ends, so waiting for both in turn misses neither. */
static void quiesce(struct klin_object *object)
{
	struct klin_counter *c = container_of(object, struct klin_counter, object);
	int cpu;

	if (!c->cpu)
		return;
	for_each_possible_cpu(cpu)
		while (busy(per_cpu_ptr(c->cpu, cpu)))
			klin_nap();
}

static void destroy(struct klin_object *object)
{
	free_counter(container_of(object, struct klin_counter, object));
}

static const struct klin_counter_kind counter = { .inc = inc_atomic };
static const struct klin_counter_kind counter_plain = { .inc = inc_plain };
static const struct klin_counter_kind again = { .inc = inc_again };
static const struct klin_counter_kind irq = { .inc = inc_atomic, .irq = true };
static const struct klin_counter_kind irq_plain = { .inc = inc_plain, .irq = true };
static const struct klin_counter_kind timer = { .inc = inc_atomic, .irq = true, .timer = true };
static const struct klin_counter_kind nested = { .inc = inc_atomic, .nested = true };
static const struct klin_counter_kind moving = { .inc = inc_atomic, .moving = true };

static const struct klin_subject subjects[] = {
	{ "counter", "a counter", NULL, &counter },
	{ "counter.plain", "increments by a load and a store", "counter", &counter_plain },
	{ "counter_again", "a counter; a loop jumps to the function's first instruction", NULL,
	  &again },
	{ "counter_irq", "a counter that interrupts increment during operations", NULL, &irq },
	{ "counter_irq.plain", "loses increments by interrupts between load and store",
	  "counter_irq", &irq_plain },
	{ "counter_timer", "a counter that timer interrupts increment at any time", NULL, &timer },
	{ "counter_nested", "a counter; operations begin inside others of their task", NULL,
	  &nested },
	{ "counter_moving", "a counter; threads change their CPU during operations", NULL,
	  &moving },
};

KLIN_GROUP(klin_counter_group) = {
	.name = "counter",
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
	.subjects = subjects,
	.nsubjects = ARRAY_SIZE(subjects),
	.create = create,
	.destroy = destroy,
	.step = step,
	.quiesce = quiesce,
};
