// SPDX-License-Identifier: GPL-2.0
/*
 * Programs on klin.ko's tracepoints.  One set serves all methods; a table says which ids are
 * wanted.  The call and the return of a method may differ in stack depth, so they are matched by
 * method and object, innermost first.  A call and its return are on the same stack; interrupts
 * have stacks of their own.
 */
#include "vmlinux-min.h"
#include "klin_event.h"

const volatile struct klin_tp_conf conf = {};

#include "ring.h"
#include "filter.h"
#include "lives.h"

static __always_inline bool wanted(__u64 object, __u32 id)
{
	if (conf.one_object && object != conf.object)
		return false;
	return id < KLIN_TP_METHODS && conf.method[id & (KLIN_TP_METHODS - 1)].used &&
	       klin_sampled(&conf.filter, object, 0);
}

/* Return: 1 on the task's stack, 0 on an interrupt's; all stacks of interrupts count as one. */
static __always_inline __u32 this_stack(void *ctx, struct klin_cpu *c)
{
	const struct task_struct *task = bpf_get_current_task_btf();

	return klin_number_of(ctx, c) - (__u64)task->stack < conf.stack_size;
}

/*
 * Find the frame of the innermost open call of a method on an object; *at becomes its index.
 * A frame with a call after @now belongs to an interrupt that hit this program.
 */
static __always_inline struct klin_frame *find(struct klin_slot *s, __u64 object, __u32 probe,
					       __u32 stack, __u64 now, __u32 *at)
{
	const __u64 last = klin_last(now);
	struct klin_frame *f;
	__u32 i, n = s->top;

	for (i = 0; i < KLIN_DEPTH; i++) {
		if (!klin_any_below(s, n))
			return NULL;
		n--;
		f = &s->frames[n & (KLIN_DEPTH - 1)];
		if (f->open == KLIN_OPEN && !f->sp && f->func == stack && f->ev.probe == probe &&
		    f->ev.object == object && f->ev.call <= last) {
			*at = n;
			return f;
		}
	}
	return NULL;
}

static __always_inline void called(struct bpf_raw_tracepoint_args *ctx, struct klin_cpu *c,
				   struct klin_slot *s, __u32 key, __u32 cpu, __u32 id)
{
	struct klin_frame *f = klin_push(ctx, s, c);

	if (!f)
		return;
	f->sp = 0;
	f->func = this_stack(ctx, c);
	f->ev.probe = conf.method[id & (KLIN_TP_METHODS - 1)].probe;
	f->ev.object = ctx->args[0];
	f->ev.tid = key;
	f->ev.cpu_call = cpu;
	f->ev.val[0] = ctx->args[2];
	f->ev.val[1] = ctx->args[3];
	f->ev.val[2] = ctx->args[4];
	f->ev.flags = klin_note_life(f->ev.object, 0);
	if (conf.stacks)
		f->ev.flags |= klin_stack(ctx);
	f->ev.call = klin_time(cpu);
	barrier();
	f->open = KLIN_OPEN;
}

SEC("raw_tp/klin_call")
int klin_tp_call(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), id = (__u32)ctx->args[1] - conf.first_id, key;
	struct klin_cpu *c = klin_this_cpu(cpu, KLIN_AT_CALL);
	__u64 object = ctx->args[0], task;
	struct klin_slot *s;

	if (!c || !wanted(object, id))
		return 0;
	task = bpf_get_current_pid_tgid();
	if (klin_left_out(&conf.filter, task >> 32, cpu)) {
		klin_note_left(&conf.filter, object, 0);
		return 0;
	}
	key = klin_key(task, cpu);
	s = klin_slot(c, key, conf.slot_mask, true);
	if (!s) {
		klin_missed(c);
		return 0;
	}
	called(ctx, c, s, key, cpu, id);
	klin_leave(s);
	return 0;
}

static __always_inline void returned(struct bpf_raw_tracepoint_args *ctx, struct klin_cpu *c,
				     struct klin_slot *s, __u32 key, __u32 cpu, __u32 id, __u64 now)
{
	const __u32 stack = this_stack(ctx, c);
	__u32 at = 0, i, nargs, nres, probe, top;
	__u64 object = ctx->args[0];
	struct klin_frame *f;

	probe = conf.method[id & (KLIN_TP_METHODS - 1)].probe;
	nargs = conf.method[id & (KLIN_TP_METHODS - 1)].nargs & 3;
	nres = conf.method[id & (KLIN_TP_METHODS - 1)].nres & 3;
	f = find(s, object, probe, stack, now, &at);
	if (f) {
		if (!klin_take(c, s, f, at, KLIN_BUSY))
			return;
		/* Calls nest, so the calls above have returned, and their returns were missed. */
		for (i = 0; i < KLIN_DEPTH && s->top != at + 1; i++) {
			top = s->top - 1;
			klin_send_stale(ctx, c, &s->frames[top & (KLIN_DEPTH - 1)]);
			s->top = top;
		}
	} else {
		/* The call was on a CPU whose operations are left out, and was noted there. */
		if (conf.filter.by_cpu)
			return;
		at = s->top;
		f = klin_push(ctx, s, c);
		if (!f)
			return;
		f->sp = 0;
		f->ev.probe = probe;
		f->ev.call = 0;
		f->ev.object = object;
		f->ev.tid = key;
		f->ev.flags = KLIN_F_NOCALL | klin_note_life(object, 0);
		f->ev.cpu_call = cpu;
		f->ev.fault = (1U << nargs) - 1;
	}
	f->ev.ret = now;
	f->ev.cpu_ret = cpu;
	/* Unused results are overwritten or truncated. */
	f->ev.val[nargs] = ctx->args[2];
	f->ev.val[nargs + 1] = ctx->args[3];
	f->ev.val[nargs + 2] = ctx->args[4];
	klin_record(ctx, c, cpu, &f->ev, KLIN_EVENT_SIZE(nargs + nres));
	barrier();
	f->open = KLIN_FILLING;
	s->top = at;
}

SEC("raw_tp/klin_return")
int klin_tp_return(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), id = (__u32)ctx->args[1] - conf.first_id, key;
	struct klin_cpu *c = klin_this_cpu(cpu, KLIN_AT_RETURN);
	struct klin_slot *s;
	__u64 now, task;

	if (!c || !wanted(ctx->args[0], id))
		return 0;
	task = bpf_get_current_pid_tgid();
	if (klin_other_task(&conf.filter, task >> 32))
		return 0;
	now = klin_time(cpu);
	key = klin_key(task, cpu);
	s = klin_slot(c, key, conf.slot_mask, !conf.filter.by_cpu);
	if (s) {
		returned(ctx, c, s, key, cpu, id, now);
		klin_leave(s);
	} else if (!conf.filter.by_cpu) {
		klin_missed(c);
	}
	return 0;
}

SEC("raw_tp/klin_point")
int klin_tp_point(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), id = (__u32)ctx->args[1] - conf.first_id, at;
	/* Drain programs do not use klin_number_of(), so this program may use their counts. */
	struct klin_cpu *c = klin_this_cpu(cpu, KLIN_AT_DRAIN);
	struct klin_frame *f;
	struct klin_slot *s;
	__u64 now;

	if (!c || !wanted(ctx->args[0], id))
		return 0;
	now = klin_time(cpu);
	s = klin_slot(c, klin_key(bpf_get_current_pid_tgid(), cpu), conf.slot_mask, false);
	if (!s)
		return 0;
	f = find(s, ctx->args[0], conf.method[id & (KLIN_TP_METHODS - 1)].probe,
		 this_stack(ctx, c), now, &at);
	if (f)
		f->ev.point = now;
	klin_leave(s);
	return 0;
}

SEC("raw_tp/klin_drain")
int klin_tp_drain(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct klin_cpu *c = klin_this_cpu(cpu, KLIN_AT_DRAIN);
	struct klin_event ev = { .type = KLIN_EV_DRAIN, .cpu_call = cpu, .cpu_ret = cpu };

	if (!c)
		return 0;
	ev.call = ev.ret = klin_time(cpu);
	/* A drain event that does not fit is not a loss: klin only knows less. */
	if (!bpf_perf_event_output(ctx, &events, BPF_F_CURRENT_CPU, &ev, KLIN_EVENT_SIZE(0)))
		c->events++;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
