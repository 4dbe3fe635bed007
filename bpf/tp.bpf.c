// SPDX-License-Identifier: GPL-2.0
/*
 * Programs on klin.ko's tracepoints.  One set serves all methods: a table tells
 * which ids are wanted.  Calls and returns of one method need not have the same
 * depth of stack, so they are matched by method and object, innermost first.
 */
#include "vmlinux-min.h"
#include "slots.h"

const volatile struct klin_tp_conf conf = {};

static __always_inline bool wanted(__u64 object, __u32 id)
{
	if (conf.one_object && object != conf.object)
		return false;
	return id < KLIN_TP_METHODS && conf.method[id & (KLIN_TP_METHODS - 1)].used;
}

/* The frame of the innermost open call of a method on an object, its index in *at. */
static __always_inline struct klin_frame *find(struct klin_slot *s, __u64 object, __u32 probe,
					       __u32 *at)
{
	struct klin_frame *f;
	__u32 i, n = s->top;

	for (i = 0; i < KLIN_DEPTH; i++) {
		if (n == s->base)
			return NULL;
		n--;
		f = &s->frames[n & (KLIN_DEPTH - 1)];
		if (f->open == KLIN_OPEN && !f->sp && f->ev.probe == probe && f->ev.object == object) {
			*at = n;
			return f;
		}
	}
	return NULL;
}

SEC("raw_tp/klin_call")
int klin_tp_call(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), id = (__u32)ctx->args[1] - conf.first_id, key;
	struct klin_cpu *c = klin_this_cpu(cpu, KLIN_AT_CALL);
	__u64 object = ctx->args[0];
	struct klin_frame *f;
	struct klin_slot *s;

	if (!c || !wanted(object, id))
		return 0;
	key = klin_key(bpf_get_current_pid_tgid(), cpu);
	s = klin_slot(key, conf.slot_mask, true);
	if (!s) {
		klin_missed(c);
		return 0;
	}
	f = klin_push(ctx, s, c);
	f->sp = 0;
	f->ev.probe = conf.method[id & (KLIN_TP_METHODS - 1)].probe;
	f->ev.object = object;
	f->ev.tid = key;
	f->ev.cpu_call = cpu;
	f->ev.val[0] = ctx->args[2];
	f->ev.val[1] = ctx->args[3];
	f->ev.val[2] = ctx->args[4];
	f->ev.call = bpf_ktime_get_ns();
	barrier();
	f->open = KLIN_OPEN;
	return 0;
}

SEC("raw_tp/klin_return")
int klin_tp_return(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), id = (__u32)ctx->args[1] - conf.first_id;
	__u32 key, at = 0, i, nargs, nres, probe;
	struct klin_cpu *c = klin_this_cpu(cpu, KLIN_AT_RETURN);
	__u64 object = ctx->args[0], now;
	struct klin_frame *f;
	struct klin_slot *s;

	if (!c || !wanted(object, id))
		return 0;
	key = klin_key(bpf_get_current_pid_tgid(), cpu);
	s = klin_slot(key, conf.slot_mask, true);
	if (!s) {
		klin_missed(c);
		return 0;
	}
	now = bpf_ktime_get_ns();
	probe = conf.method[id & (KLIN_TP_METHODS - 1)].probe;
	nargs = conf.method[id & (KLIN_TP_METHODS - 1)].nargs & 3;
	nres = conf.method[id & (KLIN_TP_METHODS - 1)].nres & 3;
	f = find(s, object, probe, &at);
	if (f) {
		/* Calls nest, so those above have returned and were missed. */
		for (i = 0; i < KLIN_DEPTH && s->top != at + 1; i++) {
			klin_send_stale(ctx, c, &s->frames[(s->top - 1) & (KLIN_DEPTH - 1)]);
			s->top--;
		}
	} else {
		at = s->top;
		f = klin_push(ctx, s, c);
		f->sp = 0;
		f->ev.probe = probe;
		f->ev.call = 0;
		f->ev.object = object;
		f->ev.tid = key;
		f->ev.flags = KLIN_F_NOCALL;
		f->ev.cpu_call = cpu;
		f->ev.fault = (1U << nargs) - 1;
	}
	f->ev.ret = now;
	f->ev.cpu_ret = cpu;
	/* Results that are not used are overwritten or cut off. */
	f->ev.val[nargs] = ctx->args[2];
	f->ev.val[nargs + 1] = ctx->args[3];
	f->ev.val[nargs + 2] = ctx->args[4];
	klin_send(ctx, c, &f->ev, KLIN_EVENT_SIZE(nargs + nres));
	barrier();
	f->open = KLIN_FILLING;
	s->top = at;
	return 0;
}

SEC("raw_tp/klin_point")
int klin_tp_point(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), id = (__u32)ctx->args[1] - conf.first_id, at;
	struct klin_frame *f;
	struct klin_slot *s;

	if (!wanted(ctx->args[0], id))
		return 0;
	s = klin_slot(klin_key(bpf_get_current_pid_tgid(), cpu), conf.slot_mask, false);
	if (!s)
		return 0;
	f = find(s, ctx->args[0], conf.method[id & (KLIN_TP_METHODS - 1)].probe, &at);
	if (f)
		f->ev.point = bpf_ktime_get_ns();
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
	ev.call = ev.ret = bpf_ktime_get_ns();
	/* One that does not fit is no loss: less is known, that is all. */
	if (!bpf_perf_event_output(ctx, &events, BPF_F_CURRENT_CPU, &ev, KLIN_EVENT_SIZE(0)))
		c->events++;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
