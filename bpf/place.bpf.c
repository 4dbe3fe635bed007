// SPDX-License-Identifier: GPL-2.0
/*
 * Programs of a clause on a place in a function: the entry of another function that was inlined
 * into it, or an offset.  Userspace opens this object once for each place.
 *
 * The function's call leaves a waiting frame.  A hit of the place makes that frame an operation,
 * whose call is the function's call.  Further hits in the same call make further frames.  At the
 * function's return all these operations return.  userspace/dwarf/check.c says why the interval
 * of such an operation is the function's, and not a shorter one.
 *
 * Events go into the perf buffers: a kprobe costs more than they do, and an inlined function may
 * have too many places for a ring each.
 *
 * This object also has the program that notes a linearization point.
 */
#define KLIN_WITH_REGS
#define KLIN_STEPS KLIN_INSNS

#include "vmlinux-min.h"
#include "klin_event.h"

const volatile struct klin_conf conf = {};

#include "slots.h"
#include "fetch.h"
#include "lives.h"

static __always_inline bool skipped(__u32 tgid)
{
	return (conf.self && tgid == conf.self) || (conf.filter.only && tgid != conf.filter.only);
}

static __always_inline bool wanted(__u64 object, __u32 fault)
{
	return !conf.one_object || (fault & KLIN_FAULT_OBJECT) || object == conf.object;
}

static __always_inline bool same_stack(__u64 a, __u64 b)
{
	return !((a ^ b) >> KLIN_STACK_BITS);
}

static __always_inline bool is_open(const struct klin_frame *f)
{
	return f->open == KLIN_OPEN || f->open == KLIN_WAITING;
}

/* Return: true if @f is closed, or if its function has left the stack. */
static __always_inline bool stale(const struct klin_frame *f, __u64 sp)
{
	if (f->open == KLIN_OVER)
		return true;
	return is_open(f) && f->sp && same_stack(f->sp, sp) && sp >= f->sp &&
	       !(f->sp == sp && f->func == conf.func && f->ev.probe != conf.probe);
}

static __always_inline void pop_over(struct klin_slot *s)
{
	__u32 i, top;

	for (i = 0; i < KLIN_DEPTH && klin_any_below(s, s->top); i++) {
		top = s->top - 1;
		if (s->frames[top & (KLIN_DEPTH - 1)].open != KLIN_OVER)
			break;
		s->top = top;
	}
}

static __always_inline void open_frame(void *ctx, struct klin_cpu *c, struct klin_slot *s,
				       __u64 sp, __u32 key, __u32 cpu, const __u64 *args)
{
	struct klin_frame *f;
	__u32 i, top;

	for (i = 0; i < KLIN_DEPTH && klin_any_below(s, s->top); i++) {
		top = s->top - 1;
		f = &s->frames[top & (KLIN_DEPTH - 1)];
		if (!stale(f, sp))
			break;
		klin_send_stale(ctx, c, f);
		s->top = top;
	}
	f = klin_push(ctx, s, c);
	if (!f)
		return;
	f->sp = sp;
	f->func = conf.func;
	f->ev.probe = conf.probe;
	f->ev.object = 0;
	f->ev.tid = key;
	f->ev.cpu_call = cpu;
#pragma unroll
	for (i = 0; i < KLIN_MAX_PARAMS; i++)
		if (i < conf.nparams)
			f->args[i] = args[i];
	f->ev.call = klin_time(bpf_get_smp_processor_id());
	barrier();
	f->open = KLIN_WAITING;
}

static __always_inline void at_call(void *ctx, struct klin_cpu *c, __u64 sp, __u32 cpu,
				    const __u64 *args)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct klin_slot *s;
	__u32 key;

	if (skipped(id >> 32))
		return;
	key = klin_key(id, cpu);
	s = klin_slot(c, key, conf.slot_mask, true);
	if (!s) {
		klin_missed(c);
		return;
	}
	open_frame(ctx, c, s, sp, key, cpu, args);
	klin_leave(s);
}

/*
 * Find the innermost open call of the function; *where becomes its index.  Return: NULL if the
 * call was not seen.
 */
static __always_inline struct klin_frame *find_call(struct klin_slot *s, __u64 sp, __u32 *where)
{
	struct klin_frame *f;
	__u32 at = s->top, i;

	for (i = 0; i < KLIN_DEPTH && klin_any_below(s, at); i++) {
		at--;
		f = &s->frames[at & (KLIN_DEPTH - 1)];
		if (is_open(f) && f->func == conf.func && f->ev.probe == conf.probe &&
		    f->sp >= sp && same_stack(f->sp, sp)) {
			*where = at;
			return f;
		}
	}
	return NULL;
}

/*
 * A hit in a call that was not seen: all values are unknown.  The frame's stack address is that
 * of the hit, which is below that of the function's return.
 */
static __always_inline void without_call(void *ctx, struct klin_cpu *c, struct klin_slot *s,
					 __u64 sp, __u32 key, __u32 cpu)
{
	struct klin_frame *f = klin_push(ctx, s, c);

	if (!f)
		return;
	f->sp = sp;
	f->func = conf.func;
	f->ev.probe = conf.probe;
	f->ev.call = 0;
	f->ev.object = 0;
	f->ev.tid = key;
	f->ev.flags = KLIN_F_NOCALL;
	f->ev.cpu_call = cpu;
	f->ev.fault = KLIN_FAULT_OBJECT | KLIN_FAULT_WHEN | ((1U << KLIN_MAX_VALS) - 1);
	f->ev.point = klin_time(bpf_get_smp_processor_id());
	barrier();
	f->open = KLIN_OPEN;
}

/*
 * A hit in a call that was not seen, where the clause needs nothing of the call.  The operation
 * was called at some earlier time, and its return will not be seen.  The main function of
 * a kernel thread, for example, may never return.
 */
static __always_inline void alone(void *ctx, struct klin_cpu *c, struct klin_slot *s, __u64 sp,
				  __u32 key, __u32 cpu, const __u64 *val, __u64 object, __u32 fault)
{
	struct klin_frame *f = klin_push(ctx, s, c);
	__u32 i;

	if (!f)
		return;
	f->sp = sp;
	f->func = conf.func;
	f->ev.probe = conf.probe;
	f->ev.call = 0;
	f->ev.object = object;
	f->ev.fault = fault;
	f->ev.tid = key;
	f->ev.flags = KLIN_F_NOCALL | KLIN_F_NORET;
	f->ev.flags |= klin_note_life(object, fault);
	if (conf.stacks)
		f->ev.flags |= klin_stack(ctx);
	f->ev.cpu_call = f->ev.cpu_ret = cpu;
#pragma unroll
	for (i = 0; i < KLIN_MAX_VALS; i++)
		f->ev.val[i] = val[i];
	f->ev.ret = f->ev.point = klin_time(bpf_get_smp_processor_id());
	klin_send(ctx, c, &f->ev, sizeof(f->ev));
	barrier();
	f->open = KLIN_OVER;
	pop_over(s);
}

static __always_inline void at_place(struct pt_regs *ctx, struct klin_cpu *c, struct klin_slot *s,
				     __u32 key, __u32 cpu)
{
	__u64 args[KLIN_MAX_PARAMS] = {}, val[KLIN_MAX_VALS] = {}, sp = ctx->sp, object = 0;
	struct klin_frame *f, *first;
	__u32 fault = 0, at = 0, i;

	first = find_call(s, sp, &at);
	if (!first && !conf.alone) {
		without_call(ctx, c, s, sp, key, cpu);
		return;
	}
	/* Further hits in a call that was not seen add nothing. */
	if (first && first->ev.flags & KLIN_F_NOCALL)
		return;
#pragma unroll
	for (i = 0; i < KLIN_MAX_PARAMS; i++)
		if (first && i < conf.nparams)
			args[i] = first->args[i];
	if (!klin_fetch_at(ctx, conf.call, args, 0, val, &object, &fault))
		return;
	if (conf.call_object && !wanted(object, fault))
		return;
	if (!first) {
		alone(ctx, c, s, sp, key, cpu, val, object, fault);
		return;
	}
	f = first;
	if (first->open == KLIN_OPEN) {
		__u64 call = first->ev.call, fsp = first->sp;
		__u32 cpu_call = first->ev.cpu_call;

		f = klin_push(ctx, s, c);
		if (!f)
			return;
		f->sp = fsp;
		f->func = conf.func;
		f->ev.probe = conf.probe;
		f->ev.tid = key;
		f->ev.call = call;
		f->ev.cpu_call = cpu_call;
#pragma unroll
		for (i = 0; i < KLIN_MAX_PARAMS; i++)
			if (i < conf.nparams)
				f->args[i] = args[i];
	} else if (!klin_take(c, s, f, at, KLIN_FILLING)) {
		return;
	}
	f->ev.object = object;
	f->ev.fault = fault;
	if (conf.call_object)
		f->ev.flags |= klin_note_life(object, fault);
	if (conf.stacks)
		f->ev.flags |= klin_stack(ctx);
#pragma unroll
	for (i = 0; i < KLIN_MAX_VALS; i++)
		if (conf.call_vals & 1U << i)
			f->ev.val[i] = val[i];
	f->ev.point = klin_time(bpf_get_smp_processor_id());
	barrier();
	f->open = KLIN_OPEN;
}

SEC("kprobe")
int klin_place(struct pt_regs *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 cpu = bpf_get_smp_processor_id(), key = klin_key(id, cpu);
	struct klin_cpu *c = klin_this_cpu(cpu, KLIN_AT_PLACE);
	struct klin_slot *s;

	if (!c)
		return 0;
	c->runs++;
	if (skipped(id >> 32))
		return 0;
	s = klin_slot(c, key, conf.slot_mask, true);
	if (!s) {
		klin_missed(c);
		return 0;
	}
	at_place(ctx, c, s, key, cpu);
	klin_leave(s);
	return 0;
}

/* Return: true if @f is the returning call's frame, or a hit in it whose call was not seen. */
static __always_inline bool returns(const struct klin_frame *f, __u64 sp)
{
	if (!is_open(f) || f->func != conf.func || f->ev.probe != conf.probe)
		return false;
	return f->sp == sp ||
	       (f->ev.flags & KLIN_F_NOCALL && f->sp <= sp && same_stack(f->sp, sp));
}

static __always_inline void at_return(void *ctx, struct klin_cpu *c, __u64 sp, __u32 cpu,
				      __u64 retval)
{
	__u64 id = bpf_get_current_pid_tgid(), now, object = 0;
	__u64 args[KLIN_MAX_PARAMS] = {}, val[KLIN_MAX_VALS] = {};
	__u32 key = klin_key(id, cpu), i, j, at, fault = 0;
	struct klin_frame *f;
	struct klin_slot *s;
	bool wants = false, fetched = false;

	if (skipped(id >> 32))
		return;
	/* Without a slot there was no hit, or it was counted as missed. */
	s = klin_slot(c, key, conf.slot_mask, false);
	if (!s)
		return;
	now = klin_time(bpf_get_smp_processor_id());
	at = s->top;
	for (i = 0; i < KLIN_DEPTH && klin_any_below(s, at); i++) {
		at--;
		f = &s->frames[at & (KLIN_DEPTH - 1)];
		if (!returns(f, sp))
			continue;
		if (f->open == KLIN_WAITING) {
			klin_take(c, s, f, at, KLIN_OVER);
			continue;
		}
		if (!klin_take(c, s, f, at, KLIN_BUSY))
			continue;
		if (!fetched && !(f->ev.flags & KLIN_F_NOCALL)) {
			fetched = true;
#pragma unroll
			for (j = 0; j < KLIN_MAX_PARAMS; j++)
				if (j < conf.nparams)
					args[j] = f->args[j];
			wants = klin_fetch(conf.ret, args, retval, val, &object, &fault);
			if (conf.ret_loads)
				now = klin_time(bpf_get_smp_processor_id());
		}
		f->ev.ret = now;
		f->ev.cpu_ret = cpu;
		if (!(f->ev.flags & KLIN_F_NOCALL)) {
#pragma unroll
			for (j = 0; j < KLIN_MAX_VALS; j++)
				if (!(conf.call_vals & 1U << j))
					f->ev.val[j] = val[j];
			if (!conf.call_object) {
				f->ev.object = object;
				f->ev.flags |= klin_note_life(object, fault);
			}
			f->ev.fault |= fault;
		}
		if (f->ev.flags & KLIN_F_NOCALL ||
		    (wants && (conf.call_object || wanted(f->ev.object, f->ev.fault))))
			klin_send(ctx, c, &f->ev, KLIN_EVENT_SIZE(conf.nvals));
		barrier();
		f->open = KLIN_OVER;
	}
	pop_over(s);
	klin_leave(s);
}

/* The address of the trampoline's frame, the same at the call and the return. */
static __always_inline __u64 stack_of(void *ctx, struct klin_cpu *c)
{
	return klin_number_of(ctx, c);
}

SEC("fentry")
int klin_fentry(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), i;
	struct klin_cpu *c = klin_this_cpu(cpu, KLIN_AT_CALL);
	__u64 args[KLIN_MAX_PARAMS] = {};

	if (!c)
		return 0;
#pragma unroll
	for (i = 0; i < KLIN_MAX_PARAMS; i++)
		if (i < conf.nparams)
			bpf_get_func_arg(ctx, i, &args[i]);
	at_call(ctx, c, stack_of(ctx, c), cpu, args);
	return 0;
}

SEC("fexit")
int klin_fexit(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct klin_cpu *c = klin_this_cpu(cpu, KLIN_AT_RETURN);
	__u64 retval = 0;

	if (!c)
		return 0;
	bpf_get_func_ret(ctx, &retval);
	at_return(ctx, c, stack_of(ctx, c), cpu, retval);
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

	if (!c)
		return 0;
	c->runs++;
	/* The return address is off the stack by now. */
	at_return(ctx, c, ctx->sp - 8, cpu, ctx->ax);
	return 0;
}

/* The innermost open operation of the clause takes effect now. */
SEC("kprobe")
int klin_point(struct pt_regs *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 cpu = bpf_get_smp_processor_id();
	struct klin_slot *s = klin_slot(NULL, klin_key(id, cpu), conf.slot_mask, false);
	struct klin_frame *f;
	__u32 at;

	if (!s)
		return 0;
	f = find_call(s, ctx->sp, &at);
	if (f && f->open == KLIN_OPEN)
		f->ev.point = klin_time(bpf_get_smp_processor_id());
	klin_leave(s);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
