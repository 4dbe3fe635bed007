// SPDX-License-Identifier: GPL-2.0
/*
 * Definitions of the tracepoints, and the out-of-line parts of <klin.h>.  A header for other
 * code must not include a whole trace header (Documentation/trace/tracepoints.rst), so
 * <klin.h> tests the static key and calls these functions.
 */
#include "klin.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

EXPORT_TRACEPOINT_SYMBOL_GPL(klin_call);
EXPORT_TRACEPOINT_SYMBOL_GPL(klin_return);
EXPORT_TRACEPOINT_SYMBOL_GPL(klin_point);
EXPORT_TRACEPOINT_SYMBOL_GPL(klin_drain);

void klin_trace_call(const void *object, u32 method, u64 a, u64 b, u64 c)
{
	trace_klin_call(object, method, a, b, c);
}
EXPORT_SYMBOL_GPL(klin_trace_call);

void klin_trace_return(const void *object, u32 method, u64 r0, u64 r1, u64 r2)
{
	trace_klin_return(object, method, r0, r1, r2);
}
EXPORT_SYMBOL_GPL(klin_trace_return);

void klin_trace_point(const void *object, u32 method)
{
	trace_klin_point(object, method);
}
EXPORT_SYMBOL_GPL(klin_trace_point);

void klin_trace_drain(int cpu)
{
	trace_klin_drain(cpu);
}
EXPORT_SYMBOL_GPL(klin_trace_drain);
