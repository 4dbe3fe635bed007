/* SPDX-License-Identifier: GPL-2.0 */
/*
 * <klin.h>: for code that instruments itself.
 *
 * Code defines each method of a structure once, and announces the begin and end of its
 * operations:
 *
 *	static KLIN_METHOD(pop, "mystack.pop");
 *
 *	klin_call(stack, &pop, 0, 0, 0);
 *	found = pop_it(stack, &value);
 *	klin_return(stack, &pop, found, value, 0);
 *
 * Without a listener an announcement costs a jump that is patched out (a static key).  A
 * listener is a BPF program or a tracer on the tracepoints klin:klin_call, klin_return,
 * klin_point and klin_drain; a spec's `probe pop on klin:mystack.pop;` attaches one.  Register
 * a method in the module's init, before its operations are announced, and unregister it in the
 * module's exit.
 *
 * An operation that ends without klin_return() stays pending: it may have taken effect or not.
 * Operations of one task may nest.
 */
#ifndef KLIN_H
#define KLIN_H

#include <linux/compiler.h>
#include <linux/list.h>
#include <linux/tracepoint-defs.h>
#include <linux/types.h>

DECLARE_TRACEPOINT(klin_call);
DECLARE_TRACEPOINT(klin_return);
DECLARE_TRACEPOINT(klin_point);
DECLARE_TRACEPOINT(klin_drain);

/**
 * struct klin_method - a method of a structure, as tracers know it
 * @name: "subject.method", unique in the running kernel
 * @id: number given by klin_method_register(), 0 before; never reused
 * @node: entry in the list of registered methods
 */
struct klin_method {
	const char *name;
	u32 id;
	struct list_head node;
};

/**
 * KLIN_METHOD() - define a method
 * @var: the variable to define; `static` may stand before KLIN_METHOD
 * @name_: a string constant, "subject.method"
 */
#define KLIN_METHOD(var, name_) struct klin_method var = { .name = (name_) }

int klin_method_register(struct klin_method *m);
void klin_method_unregister(struct klin_method *m);

void klin_trace_call(const void *object, u32 method, u64 a, u64 b, u64 c);
void klin_trace_return(const void *object, u32 method, u64 r0, u64 r1, u64 r2);
void klin_trace_point(const void *object, u32 method);
void klin_trace_drain(int cpu);

/**
 * klin_call() - announce the begin of an operation, before its first access
 * @object: the structure that the operation works on
 * @m: the method
 * @a: the first argument, 0 if there is none
 * @b: the second argument
 * @c: the third argument
 *
 * No announcement drains the CPU's store buffer.
 */
static inline void klin_call(const void *object, const struct klin_method *m, u64 a, u64 b, u64 c)
{
	if (tracepoint_enabled(klin_call))
		klin_trace_call(object, m->id, a, b, c);
	barrier();
}

/**
 * klin_return() - announce the end of an operation, after its last access
 * @object: the structure that the operation worked on
 * @m: the method
 * @r0: the first result, 0 if there is none
 * @r1: the second result
 * @r2: the third result
 */
static inline void klin_return(const void *object, const struct klin_method *m, u64 r0, u64 r1,
			       u64 r2)
{
	barrier();
	if (tracepoint_enabled(klin_return))
		klin_trace_return(object, m->id, r0, r1, r2);
}

/**
 * klin_point() - announce that the current operation takes effect here
 * @object: the structure that the operation works on
 * @m: the method
 *
 * The linearization point of Amit et al., 3.1.  It is a hint: a checker tries the order of
 * these points first.  The last klin_point() before the return counts.
 */
static inline void klin_point(const void *object, const struct klin_method *m)
{
	barrier();
	if (tracepoint_enabled(klin_point))
		klin_trace_point(object, m->id);
	barrier();
}

/**
 * klin_drain() - announce that the store buffer of this CPU is empty
 * @cpu: this CPU
 *
 * Call it with preemption disabled, right after smp_mb() or a locked instruction has drained
 * the store buffer.
 */
static inline void klin_drain(int cpu)
{
	barrier();
	if (tracepoint_enabled(klin_drain))
		klin_trace_drain(cpu);
}

#endif
