/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracepoints of klin.  Code announces its operations by <klin.h>, not directly by these.
 * BPF programs attach to them as raw tracepoints, with arguments in the order of TP_PROTO.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM klin

#if !defined(KLIN_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define KLIN_TRACE_H

#include <linux/tracepoint.h>

TRACE_EVENT(klin_call,
	TP_PROTO(const void *object, u32 method, u64 a, u64 b, u64 c),
	TP_ARGS(object, method, a, b, c),
	TP_STRUCT__entry(
		__field(const void *, object)
		__field(u32, method)
		__field(u64, a)
		__field(u64, b)
		__field(u64, c)
	),
	TP_fast_assign(
		__entry->object = object;
		__entry->method = method;
		__entry->a = a;
		__entry->b = b;
		__entry->c = c;
	),
	TP_printk("object=%p method=%u args=%llu,%llu,%llu", __entry->object, __entry->method,
		  __entry->a, __entry->b, __entry->c)
);

TRACE_EVENT(klin_return,
	TP_PROTO(const void *object, u32 method, u64 r0, u64 r1, u64 r2),
	TP_ARGS(object, method, r0, r1, r2),
	TP_STRUCT__entry(
		__field(const void *, object)
		__field(u32, method)
		__field(u64, r0)
		__field(u64, r1)
		__field(u64, r2)
	),
	TP_fast_assign(
		__entry->object = object;
		__entry->method = method;
		__entry->r0 = r0;
		__entry->r1 = r1;
		__entry->r2 = r2;
	),
	TP_printk("object=%p method=%u results=%llu,%llu,%llu", __entry->object, __entry->method,
		  __entry->r0, __entry->r1, __entry->r2)
);

TRACE_EVENT(klin_point,
	TP_PROTO(const void *object, u32 method),
	TP_ARGS(object, method),
	TP_STRUCT__entry(
		__field(const void *, object)
		__field(u32, method)
	),
	TP_fast_assign(
		__entry->object = object;
		__entry->method = method;
	),
	TP_printk("object=%p method=%u", __entry->object, __entry->method)
);

TRACE_EVENT(klin_drain,
	TP_PROTO(int cpu),
	TP_ARGS(cpu),
	TP_STRUCT__entry(
		__field(int, cpu)
	),
	TP_fast_assign(
		__entry->cpu = cpu;
	),
	TP_printk("cpu=%d", __entry->cpu)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
