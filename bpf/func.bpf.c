// SPDX-License-Identifier: GPL-2.0
/*
 * Programs of one probe clause on a function: fentry and fexit, or kprobe and
 * kretprobe.  Userspace opens this object once for each clause.
 */
#ifndef KLIN_STEPS
#define KLIN_STEPS KLIN_FEW_INSNS
#endif

#include "vmlinux-min.h"
#include "klin_event.h"

const volatile struct klin_conf conf = {};

#include "ring.h"
#include "fetch.h"
#include "filter.h"

struct fetched {
	__u64 val[KLIN_MAX_VALS];
	__u64 object;
	__u32 fault;
};

static __always_inline bool skipped(__u32 tgid)
{
	return conf.self && tgid == conf.self;
}

static __always_inline bool wanted(__u64 object, __u32 fault)
{
	return conf.all ||
	       ((!conf.one_object || (fault & KLIN_FAULT_OBJECT) || object == conf.object) &&
		klin_sampled(&conf.filter, object, fault));
}

/* Of the same call as one with this stack, for another clause on this function. */
static __always_inline bool sibling(const struct klin_frame *f, __u64 sp)
{
	return f->open == KLIN_OPEN && f->sp == sp && f->func == conf.func &&
	       f->ev.probe != conf.probe;
}

/*
 * A frame that is over, or whose function has left the stack: its return was missed.
 * Frames of other stacks (interrupts have their own) say nothing.
 */
static __always_inline bool stale(const struct klin_frame *f, __u64 sp)
{
	if (f->open == KLIN_OVER)
		return true;
	return f->open == KLIN_OPEN && f->sp && !((f->sp ^ sp) >> KLIN_STACK_BITS) && sp >= f->sp &&
	       !sibling(f, sp);
}

static __always_inline void at_call(void *ctx, struct klin_cpu *c, __u64 sp, __u32 cpu,
				    __u64 *args)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct fetched v;
	struct klin_frame *f;
	struct klin_slot *s;
	__u32 key, i, top, used;

	/* Of the values those that are used are fetched. */
	v.object = 0;
	v.fault = 0;
	if (skipped(id >> 32) ||
	    (!conf.all && !conf.filter.note && klin_left_out(&conf.filter, id >> 32, cpu)))
		return;
	if (!klin_fetch(conf.call, args, 0, v.val, &v.object, &v.fault))
		return;
	if (conf.call_object && !wanted(v.object, v.fault))
		return;
	if (!conf.all && klin_left_out(&conf.filter, id >> 32, cpu)) {
		if (!conf.call_object)
			v.fault |= KLIN_FAULT_OBJECT;
		klin_note_left(&conf.filter, v.object, v.fault);
		return;
	}

	key = klin_key(id, cpu);
	s = klin_slot(key, conf.slot_mask, true);
	if (!s) {
		klin_missed(c);
		return;
	}
	for (i = 0; i < KLIN_DEPTH && s->top != s->base; i++) {
		top = s->top - 1;
		f = &s->frames[top & (KLIN_DEPTH - 1)];
		if (!stale(f, sp))
			break;
		klin_send_stale(ctx, c, f);
		/* An interrupt's frame that is left above is sent when its place is taken. */
		s->top = top;
	}

	f = klin_push(ctx, s, c);
	if (!f)
		return;
	f->sp = sp;
	f->func = conf.func;
	f->ev.probe = conf.probe;
	f->ev.object = v.object;
	f->ev.tid = key;
	f->ev.cpu_call = cpu;
	f->ev.fault = v.fault;
	used = conf.call_vals;
#pragma unroll
	for (i = 0; i < KLIN_MAX_VALS && used >> i; i++)
		if (used & 1U << i)
			f->ev.val[i] = v.val[i];
	if (conf.keep_args) {
#pragma unroll
		for (i = 0; i < KLIN_MAX_PARAMS; i++)
			if (conf.ret_args & 1U << i)
				f->args[i] = args[i];
	}
	f->ev.call = klin_time(cpu);
	barrier();
	f->open = KLIN_OPEN;
}

/*
 * A return whose call was not seen: what was to be fetched then is unknown, and
 * so is all that follows from arguments which only the call's side has.  NULL: it is
 * counted as missed.
 */
static __always_inline struct klin_frame *without_call(void *ctx, struct klin_cpu *c,
						       struct klin_slot *s, __u32 key, __u32 cpu)
{
	struct klin_frame *f = klin_push(ctx, s, c);

	if (!f)
		return NULL;
	f->func = conf.func;
	f->ev.probe = conf.probe;
	f->ev.call = 0;
	f->ev.object = 0;
	f->ev.tid = key;
	f->ev.flags = KLIN_F_NOCALL;
	f->ev.cpu_call = cpu;
	f->ev.fault = conf.call_vals;
	if (conf.call_object)
		f->ev.fault |= KLIN_FAULT_OBJECT;
	if (conf.keep_args)
		f->ev.fault |= KLIN_FAULT_OBJECT | KLIN_FAULT_WHEN | ((1U << KLIN_MAX_VALS) - 1);
	return f;
}

static __always_inline void at_return(void *ctx, struct klin_cpu *c, __u64 sp, __u32 cpu,
				      __u64 *args, __u64 retval)
{
	__u64 id = bpf_get_current_pid_tgid(), now, last;
	__u32 key = klin_key(id, cpu), i, at, top, probe;
	struct klin_frame *f = NULL, *above;
	struct klin_slot *s;
	bool wants;

	if (skipped(id >> 32) || (!conf.all && klin_other_task(&conf.filter, id >> 32)))
		return;
	s = klin_slot(key, conf.slot_mask, !conf.call_filter);
	if (!s) {
		if (!conf.call_filter)
			klin_missed(c);
		return;
	}
	/* What was called after this is of an interrupt that hit this program. */
	now = klin_time(cpu);
	last = klin_last(now);
	probe = conf.probe;
	top = s->top;
	at = top;
	for (i = 0; i < KLIN_DEPTH; i++) {
		if (at == s->base)
			break;
		at--;
		above = &s->frames[at & (KLIN_DEPTH - 1)];
		if (above->open == KLIN_OPEN && above->sp == sp && above->ev.probe == probe &&
		    above->ev.call <= last) {
			f = above;
			break;
		}
	}
	if (!f) {
		if (conf.call_filter)
			return;
		f = without_call(ctx, c, s, key, cpu);
		if (!f)
			return;
		at = top;
	} else {
		if (!klin_take(c, s, f, at, KLIN_BUSY))
			return;
		/* Those above were called later and are gone from the stack, but for siblings. */
		for (i = 0; i < KLIN_DEPTH && s->top != at + 1; i++) {
			top = s->top - 1;
			above = &s->frames[top & (KLIN_DEPTH - 1)];
			if (sibling(above, sp))
				break;
			klin_send_stale(ctx, c, above);
			s->top = top;
		}
	}

	if (conf.keep_args) {
#pragma unroll
		for (i = 0; i < KLIN_MAX_PARAMS; i++)
			if (conf.ret_args & 1U << i)
				args[i] = f->args[i];
	}
	f->ev.ret = now;
	f->ev.cpu_ret = cpu;
	wants = (conf.keep_args && f->ev.flags & KLIN_F_NOCALL) ||
		klin_fetch(conf.ret, args, retval, f->ev.val, &f->ev.object, &f->ev.fault);
	if (wants && (conf.call_object || wanted(f->ev.object, f->ev.fault)))
		klin_record(ctx, c, cpu, &f->ev, KLIN_EVENT_SIZE(conf.nvals));
	barrier();
	if (s->top != at + 1) {
		f->open = KLIN_OVER;
		return;
	}
	f->open = KLIN_FILLING;
	s->top = at;
	/* Siblings that returned before this one. */
	for (i = 0; i < KLIN_DEPTH && s->top != s->base; i++) {
		top = s->top - 1;
		if (s->frames[top & (KLIN_DEPTH - 1)].open != KLIN_OVER)
			break;
		s->top = top;
	}
}

/* The address of the trampoline's frame, the same at the call and the return. */
static __always_inline __u64 stack_of(void *ctx, struct klin_cpu *c)
{
	return klin_number_of(ctx, c);
}

/* Those that are used; nothing reads the others. */
static __always_inline void func_args(void *ctx, __u64 *args, __u32 used)
{
	__u32 i;

	if (!used)
		return;
#pragma unroll
	for (i = 0; i < KLIN_MAX_PARAMS; i++) {
		if (used & 1U << i) {
			args[i] = 0;
			bpf_get_func_arg(ctx, i, &args[i]);
		}
	}
}

SEC("fentry")
int klin_fentry(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct klin_cpu *c = klin_this_cpu(cpu, KLIN_AT_CALL);
	__u64 args[KLIN_MAX_PARAMS];

	if (!c)
		return 0;
	func_args(ctx, args, conf.call_args);
	at_call(ctx, c, stack_of(ctx, c), cpu, args);
	return 0;
}

SEC("fexit")
int klin_fexit(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct klin_cpu *c = klin_this_cpu(cpu, KLIN_AT_RETURN);
	__u64 args[KLIN_MAX_PARAMS], retval = 0;

	if (!c)
		return 0;
	func_args(ctx, args, conf.ret_args);
	bpf_get_func_ret(ctx, &retval);
	at_return(ctx, c, stack_of(ctx, c), cpu, args, retval);
	return 0;
}

SEC("kprobe")
int klin_kprobe(struct pt_regs *ctx)
{
	__u64 args[KLIN_MAX_PARAMS] = { ctx->di, ctx->si, ctx->dx, ctx->cx, ctx->r8, ctx->r9 };
	__u32 cpu = bpf_get_smp_processor_id();
	struct klin_cpu *c = klin_this_cpu(cpu, KLIN_AT_CALL);

	if (!c)
		return 0;
	c->runs++;
	at_call(ctx, c, ctx->sp, cpu, args);
	return 0;
}

SEC("kretprobe")
int klin_kretprobe(struct pt_regs *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct klin_cpu *c = klin_this_cpu(cpu, KLIN_AT_RETURN);
	__u64 args[KLIN_MAX_PARAMS] = {};

	if (!c)
		return 0;
	c->runs++;
	/* The return address is off the stack by now. */
	at_return(ctx, c, ctx->sp - 8, cpu, args, ctx->ax);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
