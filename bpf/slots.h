/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The maps, and each task's stack of open operations.  Include this file after `conf'.
 */
#ifndef KLIN_SLOTS_H
#define KLIN_SLOTS_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/errno.h>
#include <bpf/bpf_helpers.h>

#include "klin_event.h"
#include "clock.h"

/* Userspace sets the sizes; all programs share events and slots. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct klin_slot);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct klin_home);
} homes SEC(".maps");

/* Kernel stacks of calls.  Without --stacks the map does not exist. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, KLIN_FRAMES * sizeof(__u64));
} call_stacks SEC(".maps");

/* Counts of this object's programs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, KLIN_SIDES);
	__type(key, __u32);
	__type(value, struct klin_cpu);
} cpus SEC(".maps");

static __always_inline struct klin_cpu *klin_this_cpu(__u32 cpu, enum klin_side side)
{
	__u32 i = KLIN_SIDES * cpu + side;

	return bpf_map_lookup_elem(&cpus, &i);
}

/* Idle tasks share tid 0 and are told apart by their CPU. */
static __always_inline __u32 klin_key(__u32 tid, __u32 cpu)
{
	return tid ? tid : KLIN_TID_IDLE + cpu;
}

/* Added to a lent slot's word when a program begins to use the slot. */
#define KLIN_ONE_HOLD	(1ULL << 32)
#define KLIN_NEW_HOLD	(KLIN_ONE_HOLD + (1ULL << 40))
#define KLIN_HOLDS(word)	((__u32)((word) >> 32) & 0xff)

/* How often a program tries to change a slot that an interrupt changes at the same time. */
#define KLIN_AGAIN	4

static __always_inline struct klin_slot *klin_slot_at(__u32 at)
{
	return bpf_map_lookup_elem(&slots, &at);
}

/*
 * The functions below without `static' are verified once for an object.  The verifier walks a
 * static one again on each path that calls it, which took most of the time to load a program.
 */

/*
 * Claim a free slot for the task, a kept slot if there is one.  klin_find_slot() searches again
 * afterwards: an interrupt may have claimed another slot in the task's name, or given the claimed
 * slot back.
 *
 * Return: 1 if the task has a slot now, 2 if one was lent to it, 0 if there is none.
 */
__noinline int klin_claim(__u32 key, __u32 mask)
{
	struct klin_slot *s;
	__u32 i, owner;
	__u64 word;

	for (i = 0; i < KLIN_TRIES; i++) {
		s = klin_slot_at(KLIN_KEPT_AT(key, mask, i));
		if (!s)
			return 0;
		owner = s->owner ?: __sync_val_compare_and_swap(&s->owner, 0, key);
		if (!owner || owner == key)
			return 1;
	}
	/* This comes before the claim: an interrupt after the claim must find the lent slot. */
	s = klin_slot_at(KLIN_KEPT_AT(key, mask, 0));
	if (!s)
		return 0;
	s->crowded = 1;
	barrier();
	for (i = 0; i < KLIN_LENT_TRIES; i++) {
		s = klin_slot_at(KLIN_LENT_AT(key, mask, i));
		if (!s)
			return 0;
		word = s->word ?: __sync_val_compare_and_swap(&s->word, 0, key);
		if (!word)
			return 2;
		if ((__u32)word == key)
			return 1;
	}
	return 0;
}

/*
 * Look for the task's slot, and take a hold on it if it is a lent one.
 *
 * Return: the slot's index, -ENOENT if the task has none, -EAGAIN if an interrupt changed a slot
 * meanwhile.
 */
__noinline int klin_look(__u32 key, __u32 mask)
{
	struct klin_slot *s;
	int err = -ENOENT;
	__u64 word;
	__u32 i;

	for (i = 0; i < KLIN_TRIES; i++) {
		s = klin_slot_at(KLIN_KEPT_AT(key, mask, i));
		if (!s)
			return -ENOENT;
		if (*(volatile __u32 *)&s->owner == key)
			return KLIN_KEPT_AT(key, mask, i);
	}
	for (i = 0; i < KLIN_LENT_TRIES; i++) {
		s = klin_slot_at(KLIN_LENT_AT(key, mask, i));
		if (!s)
			return -ENOENT;
		word = *(volatile __u64 *)&s->word;
		if ((__u32)word != key)
			continue;
		if (__sync_val_compare_and_swap(&s->word, word, word + KLIN_NEW_HOLD) == word)
			return KLIN_LENT_AT(key, mask, i);
		err = -EAGAIN;
	}
	return err;
}

/*
 * Find or claim the slot of a task that has no kept slot, or none yet.
 *
 * Programs that use a task's slots run on one CPU at a time: the task's, those of an interrupt,
 * and those of a nested interrupt.  An interrupt ends before the interrupted program goes on, and
 * it may give back a lent slot that the program has just found.  So a program first takes a hold
 * on the slot, which fails if the slot has another owner by then.  A slot with a hold is not
 * given back.  Other tasks leave a slot with an owner alone.
 *
 * A task may get two slots if an interrupt claims one at the same time.  All programs search in
 * the same order, and a task claims a slot only if it has none.  So the first of the two is used
 * until no operation is open in it, and is then given back.
 */
static __noinline struct klin_slot *klin_find_slot(struct klin_cpu *c, __u32 key, __u32 mask,
						   bool claim)
{
	int at, claimed;
	__u32 again;

	for (again = 0; again < KLIN_AGAIN; again++) {
		at = klin_look(key, mask);
		if (at >= 0)
			return klin_slot_at(at);
		if (at == -EAGAIN)
			continue;
		claimed = claim ? klin_claim(key, mask) : 0;
		if (!claimed)
			return NULL;
		if (claimed == 2)
			c->lent++;
	}
	return NULL;
}

/*
 * Find the slot of a task; with @claim, get one.  Return: NULL if there is none.  The caller of
 * klin_slot() calls klin_leave() afterwards.
 */
static __always_inline struct klin_slot *klin_slot(struct klin_cpu *c, __u32 key, __u32 mask,
						   bool claim)
{
	bool crowded = false;
	struct klin_slot *s;
	__u32 i;

#pragma unroll
	for (i = 0; i < KLIN_TRIES; i++) {
		s = klin_slot_at(KLIN_KEPT_AT(key, mask, i));
		if (!s)
			return NULL;
		if (s->owner == key)
			return s;
		if (!i)
			crowded = s->crowded;
	}
	return claim || crowded ? klin_find_slot(c, key, mask, claim) : NULL;
}

/*
 * Stack addresses that differ only in these low bits are on one stack, or on two stacks of which
 * one has ended.  Addresses of one stack may differ in more bits: KASAN doubles a task's stack,
 * and an interrupt's stack is aligned to pages only.  A missed return on such a stack is noticed
 * later.
 */
#define KLIN_STACK_BITS	14

/* Turn a pointer into a number by way of memory, which the verifier allows. */
static __always_inline __u64 klin_number_of(void *ctx, struct klin_cpu *c)
{
	*(void *volatile *)&c->scratch = ctx;
	return *(volatile __u64 *)&c->scratch;
}

static __always_inline void klin_lost(struct klin_cpu *c, __u64 from, __u64 to)
{
	__u32 n = c->nlosses;
	struct klin_loss *l;

	c->lost++;
	if ((!c->losing && n < KLIN_LOSSES) || !n) {
		l = &c->losses[n & (KLIN_LOSSES - 1)];
		l->from = from;
		l->to = to;
		l->count = 1;
		c->nlosses = n + 1;
	} else {
		l = &c->losses[(n - 1) & (KLIN_LOSSES - 1)];
		if (from < l->from)
			l->from = from;
		if (to > l->to)
			l->to = to;
		l->count++;
	}
	c->losing = 1;
}

static __always_inline void klin_missed(struct klin_cpu *c)
{
	c->missed++;
}

/*
 * Return: the bits of an event's flags that tell the present stack.  The kernel looks a known stack
 * up without a locked instruction; a new stack takes a lock and drains the store buffer.  If the
 * map is full, or two stacks have the same hash, there is none.
 */
static __always_inline __u32 klin_stack(void *ctx)
{
	const long id = bpf_get_stackid(ctx, &call_stacks, 0);

	return id < 0 ? 0 : (__u32)(id + 1) << KLIN_STACK_SHIFT;
}

/* Output an event of @size bytes; if it does not fit, note its period as a loss. */
static __always_inline void klin_output(void *ctx, struct klin_cpu *c, struct klin_event *ev,
					__u32 size)
{
	long err;

	err = bpf_perf_event_output(ctx, &events, BPF_F_CURRENT_CPU, ev, size);
	if (err) {
		klin_lost(c, ev->flags & KLIN_F_NOCALL ? 0 : ev->call, ev->ret);
		if (ev->flags & KLIN_F_NOCALL)
			c->lost_nocall++;
		/* This CPU has no buffer: it came online later, or has been offline since. */
		if (err != -ENOSPC)
			c->unread++;
	} else if (c->losing) {
		c->losing = 0;
	}
}

/* Send an event by the perf buffer, which any program may use at any time. */
static __always_inline void klin_send(void *ctx, struct klin_cpu *c, struct klin_event *ev,
				      __u32 size)
{
	c->events++;
	klin_output(ctx, c, ev, size);
}

/* Send the frame @f, whose return was not seen and will not be. */
static __always_inline void klin_send_stale(void *ctx, struct klin_cpu *c, struct klin_frame *f)
{
	/*
	 * Claim the frame first, or an interrupt would send it again.  The locked instruction
	 * drains the store buffer, but this is rare.
	 */
	if (f->open != KLIN_OPEN ||
	    __sync_val_compare_and_swap(&f->open, KLIN_OPEN, KLIN_FILLING) != KLIN_OPEN)
		return;
	f->ev.flags |= KLIN_F_NORET;
	f->ev.ret = klin_time(bpf_get_smp_processor_id());
	klin_send(ctx, c, &f->ev, sizeof(f->ev));
}

/*
 * Return: true if the slot has a frame below the index @at.  The base is read each time: an
 * interrupt that found all frames in use moves the base, and may leave it above an index that the
 * interrupted program then writes back.
 */
static __always_inline bool klin_any_below(const struct klin_slot *s, __u32 at)
{
	return (__s32)(at - *(const volatile __u32 *)&s->base) > 0;
}

/*
 * Take an open frame for this program; @as is its state meanwhile.  Return: false if an interrupt
 * that found all frames in use was faster.  It has sent the frame as one without a return, and
 * used the frame for itself, so this return counts as missed.
 */
static __always_inline bool klin_take(struct klin_cpu *c, struct klin_slot *s,
				      struct klin_frame *f, __u32 at, enum klin_open as)
{
	f->open = as;
	barrier();
	if (klin_any_below(s, at + 1))
		return true;
	f->open = KLIN_OVER;
	klin_missed(c);
	return false;
}

/*
 * Push a new frame.  Return: NULL, and a miss is counted, if there is none.
 *
 * The index moves before the frame is sent or filled.  So a probe in an interrupt uses the frames
 * above, and leaves the index as it found it.  If the interrupt's return is missed, its frame
 * stays open above.  When frames of missed returns fill the slot, the oldest one goes, unless an
 * interrupted program is using it.  A base that an interrupt has left above the index is put back;
 * otherwise no frame would ever be found again.
 */
static __always_inline struct klin_frame *klin_push(void *ctx, struct klin_slot *s,
						    struct klin_cpu *c)
{
	__u32 top = s->top;
	struct klin_frame *f = &s->frames[top & (KLIN_DEPTH - 1)];

	if (!klin_any_below(s, top + 1)) {
		s->base = top;
	} else if (top - s->base >= KLIN_DEPTH) {
		if (f->open == KLIN_BUSY || f->open == KLIN_FILLING) {
			klin_missed(c);
			return NULL;
		}
		s->base++;
		c->displaced++;
	}
	s->top = top + 1;
	barrier();
	/* The frame is the oldest one, or an interrupt's that was left above the index. */
	klin_send_stale(ctx, c, f);
	f->open = KLIN_FILLING;
	barrier();
	/* An interrupt may have sent the frame, and left the index below or the base above. */
	s->top = top + 1;
	if (!klin_any_below(s, top + 1))
		s->base = top;
	barrier();
	f->ev.type = KLIN_EV_OP;
	f->ev.point = 0;
	f->ev.flags = 0;
	f->ev.fault = 0;
	return f;
}

/* Return: true if the slot holds an operation to be sent; interrupts leave some above the top. */
static __always_inline bool klin_in_use(const struct klin_slot *s)
{
	__u32 i, open;

	if (klin_any_below(s, *(const volatile __u32 *)&s->top))
		return true;
	for (i = 0; i < KLIN_DEPTH; i++) {
		open = *(const volatile __u32 *)&s->frames[i].open;
		if (open == KLIN_OPEN || open == KLIN_BUSY)
			return true;
	}
	return false;
}

/*
 * End a hold on a lent slot.  The last hold gives the slot back if no operation is open in it.
 * An interrupt may leave an open frame after the frames were looked at.  The interrupt has then
 * had a hold of its own, so the word's count of holds taken has changed, and the exchange fails.
 */
__noinline int klin_end_hold(struct klin_slot *s)
{
	__u64 word, next;
	__u32 i;

	/* The verifier does not know that callers never pass NULL. */
	if (!s)
		return 0;
	for (i = 0; i < KLIN_AGAIN; i++) {
		word = *(volatile __u64 *)&s->word;
		barrier();
		next = KLIN_HOLDS(word) > 1 || klin_in_use(s) ? word - KLIN_ONE_HOLD : 0;
		if (__sync_val_compare_and_swap(&s->word, word, next) == word)
			return 0;
	}
	/* Interrupts came each time; the task's next operation, or its end, gives the slot back. */
	__sync_fetch_and_add(&s->word, -KLIN_ONE_HOLD);
	return 0;
}

/* Call this when a program is done with its slot.  A kept slot needs nothing. */
static __always_inline void klin_leave(struct klin_slot *s)
{
	if (s->holds)
		klin_end_hold(s);
}

#endif
