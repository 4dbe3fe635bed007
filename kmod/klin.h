/* SPDX-License-Identifier: GPL-2.0 */
/*
 * <klin.h>: for code that instruments itself.
 *
 * A method of a structure is declared once, and its operations say when they
 * begin and end:
 *
 *	static KLIN_METHOD(pop, "mystack.pop");
 *
 *	klin_call(stack, &pop, 0, 0, 0);
 *	found = pop_it(stack, &value);
 *	klin_return(stack, &pop, found, value, 0);
 *
 * While nobody listens this costs a jump that is patched out (a static key).
 * A listener is a BPF program or a tracer on the tracepoints klin:klin_call,
 * klin_return, klin_point and klin_drain; a spec's `probe pop on
 * klin:mystack.pop;` attaches one.  Methods must be registered before their
 * operations are announced, in the module's init, and unregistered in its exit.
 *
 * An operation that ends without klin_return() stays pending: it may have taken
 * effect or not.  Operations of one task may nest.
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
 * @id: given by klin_method_register(), 0 before; never used twice
 * @node: in the list of registered methods
 */
struct klin_method {
	const char *name;
	u32 id;
	struct list_head node;
};

/**
 * KLIN_METHOD - define a method
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
 * klin_call - an operation begins; to be called before its first access
 * @object: the structure it works on
 * @m: which method it is
 * @a: its first argument, 0 if there is none
 * @b: its second argument
 * @c: its third argument
 *
 * Neither this nor the other announcements drain the CPU's store buffer.
 */
static inline void klin_call(const void *object, const struct klin_method *m, u64 a, u64 b, u64 c)
{
	if (tracepoint_enabled(klin_call))
		klin_trace_call(object, m->id, a, b, c);
	barrier();
}

/**
 * klin_return - an operation ends; to be called after its last access
 * @object: the structure it worked on
 * @m: which method it is
 * @r0: its first result, 0 if there is none
 * @r1: its second result
 * @r2: its third result
 */
static inline void klin_return(const void *object, const struct klin_method *m, u64 r0, u64 r1,
			       u64 r2)
{
	barrier();
	if (tracepoint_enabled(klin_return))
		klin_trace_return(object, m->id, r0, r1, r2);
}

/**
 * klin_point - the operation under way takes effect here
 * @object: the structure it works on
 * @m: which method it is
 *
 * The linearization point of Amit et al., 3.1: a hint, from which a checker
 * takes the order to try first.  The last one before the return counts.
 */
static inline void klin_point(const void *object, const struct klin_method *m)
{
	barrier();
	if (tracepoint_enabled(klin_point))
		klin_trace_point(object, m->id);
	barrier();
}

/**
 * klin_drain - the store buffer of this CPU is empty now
 * @cpu: this CPU
 *
 * To be called with preemption disabled, right after what drained it (smp_mb()
 * or a locked instruction).
 */
static inline void klin_drain(int cpu)
{
	barrier();
	if (tracepoint_enabled(klin_drain))
		klin_trace_drain(cpu);
}

#endif
