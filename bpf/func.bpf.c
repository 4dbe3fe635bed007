// SPDX-License-Identifier: GPL-2.0
/*
 * Programs of one or two probe clauses (KLIN_CLAUSES) on a function: fentry and fexit, or kprobe
 * and kretprobe.  Userspace opens one object for every one or two clauses on a function.
 *
 * Each clause has frames of its own.  All clauses share the times of call and return, the task
 * and its slot, which are looked up once.
 */
#ifndef KLIN_STEPS
#define KLIN_STEPS KLIN_FEW_INSNS
#endif
#ifndef KLIN_CLAUSES
#define KLIN_CLAUSES 1	/* or 2 */
#endif

#include "vmlinux-min.h"
#include "klin_event.h"

const volatile struct klin_conf confs[KLIN_CLAUSES] = {};
/* The first clause, for fields that are the same for all clauses. */
#define conf (confs[0])

#include "ring.h"
#include "fetch.h"
#include "filter.h"
#include "lives.h"

/* A hit of the probe: a call or a return, with its task and time. */
struct hit {
	void *ctx;
	struct klin_cpu *c;
	struct klin_slot *s;
	__u64 sp, now;
	__u32 key, cpu, stack;
};

/* The values that a clause fetched at a call. */
struct fetched {
	__u64 val[KLIN_MAX_VALS];
	__u64 object;
	__u32 fault, life;	/* life: flags of the object */
};

/* The second clause, or the first where there is only one. */
#define other_conf (confs[KLIN_CLAUSES - 1])

static __always_inline bool skipped(const volatile struct klin_conf *cl, __u32 tgid)
{
	return cl->self && tgid == cl->self;
}

static __always_inline bool wanted(const volatile struct klin_conf *cl, __u64 object, __u32 fault)
{
	return cl->all ||
	       ((!cl->one_object || (fault & KLIN_FAULT_OBJECT) || object == cl->object) &&
		klin_sampled(&cl->filter, object, fault));
}

/* Return: true if @f belongs to the call at @sp, for a clause that another object serves. */
static __always_inline bool sibling(const struct klin_frame *f, __u64 sp)
{
	__u32 i;

	if (f->open != KLIN_OPEN || f->sp != sp || f->func != conf.func)
		return false;
#pragma unroll
	for (i = 0; i < KLIN_CLAUSES; i++)
		if (f->ev.probe == confs[i].probe)
			return false;
	return true;
}

/*
 * Return: true if @f is closed, or if its function has left the stack, so that its return was
 * missed.  A frame of another stack is not stale: interrupts have stacks of their own.
 */
static __always_inline bool stale(const struct klin_frame *f, __u64 sp)
{
	if (f->open == KLIN_OVER)
		return true;
	return f->open == KLIN_OPEN && f->sp && !((f->sp ^ sp) >> KLIN_STACK_BITS) && sp >= f->sp &&
	       !sibling(f, sp);
}

/* Fetch what @cl needs at a call.  Return: false if the call is not to be recorded. */
static __always_inline bool fetch_call(const volatile struct klin_conf *cl, struct hit *h,
				       __u32 tgid, const __u64 *args, struct fetched *v)
{
	/* Only values that are used are fetched. */
	v->object = 0;
	v->fault = v->life = 0;
	if (skipped(cl, tgid) ||
	    (!cl->all && !cl->filter.note && klin_left_out(&cl->filter, tgid, h->cpu)))
		return false;
	if (cl->call_loads && !h->now)
		h->now = klin_time(h->cpu);
	if (!klin_fetch(cl->call, args, 0, v->val, &v->object, &v->fault))
		return false;
	if (cl->call_object && !wanted(cl, v->object, v->fault))
		return false;
	if (!cl->all && klin_left_out(&cl->filter, tgid, h->cpu)) {
		if (!cl->call_object)
			v->fault |= KLIN_FAULT_OBJECT;
		klin_note_left(&cl->filter, v->object, v->fault);
		return false;
	}
	if (cl->call_object)
		v->life = klin_note_life(v->object, v->fault);
	return true;
}

/* Fill a frame for a call of the clause @cl. */
static __always_inline void open_frame(const volatile struct klin_conf *cl, const struct hit *h,
				       const __u64 *args, const struct fetched *v)
{
	struct klin_frame *f = klin_push(h->ctx, h->s, h->c);
	__u32 i, used;

	if (!f)
		return;
	f->sp = h->sp;
	f->func = cl->func;
	f->ev.probe = cl->probe;
	f->ev.object = v->object;
	f->ev.tid = h->key;
	f->ev.cpu_call = h->cpu;
	f->ev.fault = v->fault;
	used = cl->call_vals;
#pragma unroll
	for (i = 0; i < KLIN_MAX_VALS && used >> i; i++)
		if (used & 1U << i)
			f->ev.val[i] = v->val[i];
	if (cl->keep_args) {
#pragma unroll
		for (i = 0; i < KLIN_MAX_PARAMS; i++)
			if (cl->ret_args & 1U << i)
				f->args[i] = args[i];
	}
	if (conf.stacks)
		f->ev.flags = h->stack;
	f->ev.flags |= v->life;
	f->ev.call = h->now;
	barrier();
	f->open = KLIN_OPEN;
}

/*
 * Find the task's slot, the stack and the time, unless they are known.  Return: false if there is
 * no slot.
 */
static __always_inline bool find_caller(struct hit *h)
{
	struct klin_slot *s = h->s;
	struct klin_frame *f;
	__u32 i, top;

	if (s)
		return true;
	s = klin_slot(h->c, h->key, conf.slot_mask, true);
	if (!s)
		return false;
	for (i = 0; i < KLIN_DEPTH && klin_any_below(s, s->top); i++) {
		top = s->top - 1;
		f = &s->frames[top & (KLIN_DEPTH - 1)];
		if (!stale(f, h->sp))
			break;
		klin_send_stale(h->ctx, h->c, f);
		/*
		 * If an interrupt opened a frame above meanwhile, the frame stays there.
		 * klin_push() sends it when it needs its place.
		 */
		s->top = top;
	}
	h->s = s;
	if (conf.stacks)
		h->stack = klin_stack(h->ctx);
	if (!h->now)
		h->now = klin_time(h->cpu);
	return true;
}

static __always_inline void call_of(const volatile struct klin_conf *cl, struct hit *h,
				    __u32 tgid, const __u64 *args)
{
	struct fetched v;

	if (!fetch_call(cl, h, tgid, args, &v))
		return;
	if (find_caller(h))
		open_frame(cl, h, args, &v);
	else
		klin_missed(h->c);
}

static __always_inline void at_call(void *ctx, struct klin_cpu *c, __u64 sp, __u32 cpu,
				    __u64 *args)
{
	const __u64 id = bpf_get_current_pid_tgid();
	struct hit h = { .ctx = ctx, .c = c, .sp = sp, .cpu = cpu, .key = klin_key(id, cpu) };

	call_of(&conf, &h, id >> 32, args);
	/* This is not a loop, since compilers do not unroll one with such a long body. */
	if (&other_conf != &conf)
		call_of(&other_conf, &h, id >> 32, args);
	if (h.s)
		klin_leave(h.s);
}

/*
 * A return whose call was not seen.  Values to be fetched at the call are unknown, and so are
 * values that depend on arguments which only the call's side has.  Return: a frame, or NULL if
 * there is none; the operation is then counted as missed.
 */
static __always_inline struct klin_frame *without_call(const volatile struct klin_conf *cl,
						       const struct hit *h)
{
	struct klin_frame *f = klin_push(h->ctx, h->s, h->c);

	if (!f)
		return NULL;
	f->func = cl->func;
	f->ev.probe = cl->probe;
	f->ev.call = 0;
	f->ev.object = 0;
	f->ev.tid = h->key;
	f->ev.flags = KLIN_F_NOCALL;
	f->ev.cpu_call = h->cpu;
	f->ev.fault = cl->call_vals;
	if (cl->call_object)
		f->ev.fault |= KLIN_FAULT_OBJECT;
	if (cl->keep_args)
		f->ev.fault |= KLIN_FAULT_OBJECT | KLIN_FAULT_WHEN | ((1U << KLIN_MAX_VALS) - 1);
	return f;
}

static __always_inline bool left_alone(const volatile struct klin_conf *cl, __u32 tgid)
{
	return skipped(cl, tgid) || (!cl->all && klin_other_task(&cl->filter, tgid));
}

/* The return of an operation of the clause @cl. */
static __always_inline void close_frame(const volatile struct klin_conf *cl, const struct hit *h,
					__u64 *args, __u64 retval)
{
	/* A frame with a later call belongs to an interrupt that hit this program. */
	const __u64 last = klin_last(h->now);
	const __u32 probe = cl->probe;
	struct klin_slot *s = h->s;
	struct klin_frame *f = NULL, *above;
	__u32 i, top = s->top, at = top;
	bool wants;

	for (i = 0; i < KLIN_DEPTH; i++) {
		if (!klin_any_below(s, at))
			break;
		at--;
		above = &s->frames[at & (KLIN_DEPTH - 1)];
		if (above->open == KLIN_OPEN && above->sp == h->sp && above->ev.probe == probe &&
		    above->ev.call <= last) {
			f = above;
			break;
		}
	}
	if (!f) {
		if (cl->call_filter)
			return;
		f = without_call(cl, h);
		if (!f)
			return;
		at = top;
	} else {
		if (!klin_take(h->c, s, f, at, KLIN_BUSY))
			return;
		/* Frames above were called later and have left the stack, except siblings. */
		for (i = 0; i < KLIN_DEPTH && s->top != at + 1; i++) {
			top = s->top - 1;
			above = &s->frames[top & (KLIN_DEPTH - 1)];
			if (sibling(above, h->sp))
				break;
			klin_send_stale(h->ctx, h->c, above);
			s->top = top;
		}
	}

	if (cl->keep_args) {
#pragma unroll
		for (i = 0; i < KLIN_MAX_PARAMS; i++)
			if (cl->ret_args & 1U << i)
				args[i] = f->args[i];
	}
	f->ev.ret = h->now;
	f->ev.cpu_ret = h->cpu;
	wants = (cl->keep_args && f->ev.flags & KLIN_F_NOCALL) ||
		klin_fetch(cl->ret, args, retval, f->ev.val, &f->ev.object, &f->ev.fault);
	if (cl->ret_loads)
		f->ev.ret = klin_time(h->cpu);
	if (wants && (cl->call_object || wanted(cl, f->ev.object, f->ev.fault))) {
		if (!cl->call_object)
			f->ev.flags |= klin_note_life(f->ev.object, f->ev.fault);
		klin_record(h->ctx, h->c, h->cpu, &f->ev, KLIN_EVENT_SIZE(conf.nvals));
	}
	barrier();
	if (s->top != at + 1) {
		f->open = KLIN_OVER;
		return;
	}
	f->open = KLIN_FILLING;
	s->top = at;
	/* Remove siblings that returned before this frame. */
	for (i = 0; i < KLIN_DEPTH && klin_any_below(s, s->top); i++) {
		top = s->top - 1;
		if (s->frames[top & (KLIN_DEPTH - 1)].open != KLIN_OVER)
			break;
		s->top = top;
	}
}

static __always_inline void at_return(void *ctx, struct klin_cpu *c, __u64 sp, __u32 cpu,
				      __u64 *args, __u64 retval)
{
	const __u64 id = bpf_get_current_pid_tgid(), tgid = id >> 32;
	struct hit h = { .ctx = ctx, .c = c, .sp = sp, .cpu = cpu, .key = klin_key(id, cpu) };
	bool any = false, claim = false;
	__u32 i;

#pragma unroll
	for (i = 0; i < KLIN_CLAUSES; i++) {
		any |= !left_alone(&confs[i], tgid);
		claim |= !confs[i].call_filter;
	}
	if (!any)
		return;
	h.s = klin_slot(c, h.key, conf.slot_mask, claim);
	if (!h.s) {
#pragma unroll
		for (i = 0; i < KLIN_CLAUSES; i++)
			if (!confs[i].call_filter && !left_alone(&confs[i], tgid))
				klin_missed(c);
		return;
	}
	h.now = klin_time(cpu);
	/* The second clause's frame is on top, so it is closed first. */
	if (&other_conf != &conf && !left_alone(&other_conf, tgid))
		close_frame(&other_conf, &h, args, retval);
	if (!left_alone(&conf, tgid))
		close_frame(&conf, &h, args, retval);
	klin_leave(h.s);
}

/* The address of the trampoline's frame, the same at the call and the return. */
static __always_inline __u64 stack_of(void *ctx, struct klin_cpu *c)
{
	return klin_number_of(ctx, c);
}

/* Read the arguments that are used; nothing reads the others. */
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

static __always_inline __u32 used_args(bool at_return)
{
	__u32 i, used = 0;

#pragma unroll
	for (i = 0; i < KLIN_CLAUSES; i++)
		used |= at_return ? confs[i].ret_args : confs[i].call_args;
	return used;
}

SEC("fentry")
int klin_fentry(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct klin_cpu *c = klin_this_cpu(cpu, KLIN_AT_CALL);
	__u64 args[KLIN_MAX_PARAMS];

	if (!c)
		return 0;
	func_args(ctx, args, used_args(false));
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
	func_args(ctx, args, used_args(true));
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
