// SPDX-License-Identifier: GPL-2.0
/*
 * Passes a recording on in pieces while it continues.
 *
 * An operation is recorded at its return, so an open operation has no event yet.  Its call waits in
 * a slot, and its event is written before the slot is left.  The slots are read before the buffers.
 * So an operation that is in no slot has its event in the buffers, or was lost and counted.  The
 * earliest call in the slots is the floor: all later operations are called at that time or later.
 * The floor is also at most the last time before which all misses are known.
 *
 * A program may be preempted between taking a call's time and filling the slot, so the floor stays
 * behind the clock for a while.  An operation that is called below the floor is reported as too
 * late (see kl_online_add()).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "record/recorder.h"

#define BEHIND_NS	20000000ULL	/* the floor's distance from the clock */
#define LONG_NS		10000000000ULL	/* an operation that is open for longer becomes a gap */
#define OPSIGS		65536
#define KEYS		65536	/* maximal number of objects and threads */

static int add_gap(struct kl_recorder *r, uint64_t from, uint64_t to, uint64_t lost,
		   enum kl_gap_reason reason)
{
	struct kl_gap gap = {
		.from = from > r->follow.floor ? from : r->follow.floor, .lost = lost,
		.object = KL_ALL_OBJECTS, .cpu = KL_NO_CPU, .reason = reason,
	};

	/* All unseen operations were called after the last floor. */
	gap.to = to > gap.from ? to : gap.from;
	return kl_history_add_gap(r->h, &gap);
}

/*
 * Add the open operations of a task that ended; they stay pending.  No program uses the task's slot
 * any longer, so free it.
 */
static int add_dead(struct kl_recorder *r, struct klin_slot *s)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < KLIN_DEPTH && !err; i++) {
		struct klin_event ev = s->frames[i].ev;

		if (s->frames[i].open != KLIN_OPEN)
			continue;
		ev.flags |= KLIN_F_NORET;
		ev.ret = ev.call;
		err = kl_reader_add(r, &ev);
		s->frames[i].open = KLIN_FILLING;
	}
	s->top = s->base;
	__atomic_store_n(&s->owner, 0, __ATOMIC_RELEASE);
	return err;
}

/*
 * Get the earliest call of the open operations, or @now if no operation is open.  An operation that
 * is open for longer than LONG_NS becomes a gap instead.
 */
static int earliest_call(struct kl_recorder *r, uint64_t now, uint64_t *call)
{
	unsigned int i;
	int err = 0;

	*call = now;
	for (i = 0; i < KLIN_ALL_SLOTS(r->opts.slots) && !err; i++) {
		const volatile struct klin_slot *s = &r->slots[i];
		const uint32_t owner = s->owner;
		uint32_t at, top;

		if (owner == KLIN_SLOT_DEAD)
			err = add_dead(r, &r->slots[i]);
		if (!owner || owner == KLIN_SLOT_DEAD)
			continue;
		for (kl_slot_span(s, &at, &top); !err && at != top; at++) {
			const struct klin_frame *f = (const void *)&s->frames[at % KLIN_DEPTH];

			if (!*(volatile const __u32 *)&f->open)
				continue;
			if (f->ev.call + LONG_NS < now)
				err = add_gap(r, f->ev.call, now, 1, KL_GAP_MISSED);
			else if (f->ev.call < *call)
				*call = f->ev.call;
		}
	}
	return err;
}

/* Make gaps of new losses, misses, and operations of which too little is known. */
static int find_gaps(struct kl_recorder *r, uint64_t now)
{
	uint64_t lost = 0, missed = 0, calls = 0;
	bool place_missed = false;
	unsigned int g, j;
	size_t i;
	int err = 0;

	for (g = 0; g < r->ngroups; g++) {
		const struct kl_group *group = &r->groups[g];

		for (j = 0; j < KLIN_SIDES * (unsigned int)r->ncpus; j++)
			lost += *(volatile __u64 *)&group->cpus[j].lost;
		for (j = 0; j < group->nprogs && !r->ignore_misses; j++)
			missed += kl_missed_by(group, j);
		missed += group->crowded;
		calls += group->crowded + (r->ignore_misses ? 0 : kl_missed_by(group, 0));
		r->follow.ended += group->ended;
		/* A missed execution of a place may last as long as its function. */
		place_missed |= group->place && group->progs[2].misses && !r->ignore_misses;
	}
	/* The clock's error may have grown, but the checker has a fixed one; make a gap. */
	if ((r->cpus_came || r->clock_changed || r->clocks_unknown) && !r->opts.clock_known)
		err = add_gap(r, 0, now, 0, KL_GAP_MISSED);
	if (!err && r->module_gone)
		err = add_gap(r, r->module_seen, now, 0, KL_GAP_MISSED);
	if (!err && lost > r->follow.lost)
		err = add_gap(r, 0, now, lost - r->follow.lost, KL_GAP_LOST);
	/*
	 * An operation whose call was missed may last until its return is seen.  Where a count
	 * cannot be read, each round may have misses.
	 */
	if (!err && (missed > r->follow.missed || calls > r->follow.ended || place_missed ||
		     (r->misses_unread && !r->ignore_misses)))
		err = add_gap(r, 0, now, missed - r->follow.missed, KL_GAP_MISSED);
	r->follow.lost = lost;
	r->follow.missed = missed;
	for (i = 0; i < r->nunknown && !err; i++)
		err = add_gap(r, kl_unknown_from(r, &r->unknown[i]),
			      kl_unknown_to(r, &r->unknown[i]), 1, KL_GAP_MISSED);
	r->nunknown = 0;
	return err;
}

/*
 * Handle operations without a call.  If the call was missed, the gap of the misses covers the
 * operation; drop it.  If not, the operation may have been open from the start; keep it.
 */
static void drop_missed(struct kl_recorder *r)
{
	struct kl_history *h = r->h;
	size_t i, n = 0;

	for (i = 0; i < h->nops; i++) {
		if (h->ops[i].flags & KL_OP_NOCALL) {
			h->ops[i].call = kl_op_from(r, &h->ops[i]);
			if (h->ops[i].call != KL_TIME_MIN)
				continue;
		}
		kl_history_move(h, n++, i);
	}
	h->nops = n;
}

/* Drop the gaps before the begin, where the state is not known anyway. */
static void drop_early_gaps(struct kl_recorder *r)
{
	struct kl_history *h = r->h;
	size_t i, n = 0;

	for (i = 0; i < h->ngaps; i++)
		if (kl_time_add(h->gaps[i].to, h->error) >= r->start)
			h->gaps[n++] = h->gaps[i];
	h->ngaps = n;
}

/* Begin the history, if @floor is late enough, and drop the operations that ended before. */
static int begin(struct kl_recorder *r, uint64_t floor)
{
	uint64_t until = r->settled;
	unsigned int i;
	int err;

	for (i = 0; i < r->ncuts; i++)
		if (r->cuts[i].to > until)
			until = r->cuts[i].to;
	if (!r->opts.fresh && (r->nblocked || floor <= kl_time_add(until, r->h->error))) {
		/* A task may sleep inside the function for long; do not collect operations. */
		if (r->nblocked)
			r->h->nops = r->h->ngaps = r->ndrained = 0;
		return 0;
	}
	err = kl_begin(r);
	drop_early_gaps(r);
	r->follow.begun = true;
	return err;
}

/*
 * Move the operations that returned by @time, and pending ones, to the front: they are passed on.
 * The others wait for a later round, so @floor is at most the earliest of their calls.
 */
static void hold_back(struct kl_recorder *r, uint64_t time, uint64_t *floor)
{
	struct kl_history *h = r->h;
	size_t i, n = 0;

	for (i = 0; i < h->nops; i++) {
		const struct kl_op *op = &h->ops[i];

		if (op->ret <= time || op->ret == KL_TIME_MAX) {
			kl_history_swap(h, i, n++);
		} else if (op->call < *floor) {
			*floor = op->call;
		}
	}
	r->follow.ready = n;
}

/* Forget the operations that were passed on. */
static int forget(struct kl_recorder *r)
{
	struct kl_history *h = r->h;

	/* Before the begin nothing was passed on. */
	if (!r->follow.begun)
		return 0;
	kl_history_drop(h, r->follow.ready);
	h->ngaps = 0;
	r->follow.ready = 0;
	/* Only the remaining operations use the numbers of objects and threads now. */
	if (h->nobjects + h->nthreads > KEYS)
		return kl_history_shorten(&r->h);
	return h->nopsigs < OPSIGS ? 0 : kl_history_renew(&r->h);
}

/* Forget drains that no later operation can use. */
static void forget_drained(struct kl_recorder *r, uint64_t time)
{
	size_t i, n = 0;

	for (i = 0; i < r->ndrained; i++)
		if (r->drained[i].ret >= time)
			r->drained[n++] = r->drained[i];
	r->ndrained = n;
}

static uint64_t count_open(const struct kl_recorder *r)
{
	uint64_t n = 0;
	unsigned int i;

	for (i = 0; i < KLIN_ALL_SLOTS(r->opts.slots); i++) {
		uint32_t at, top;

		if (!*(volatile const __u32 *)&r->slots[i].owner)
			continue;
		kl_slot_span(&r->slots[i], &at, &top);
		n += top - at;
	}
	return n;
}

/* Make a gap of events that were counted in @written, but have not been read since. */
static int find_missing(struct kl_recorder *r, uint64_t written, uint64_t floor)
{
	struct kl_account_look look = { .before = written, .floor = floor };
	struct kl_gap gap = {
		.to = kl_now_ns(), .object = KL_ALL_OBJECTS, .cpu = KL_NO_CPU,
		.reason = KL_GAP_LOST,
	};
	uint64_t lost;

	kl_losses_counts(r, &look.after, &lost);
	look.got = r->received + lost;
	look.open = count_open(r);
	gap.lost = kl_account(&r->follow.account, &look);
	if (!gap.lost)
		return 0;
	kl_warn("%llu events were written, but neither read nor counted as lost: the history has "
		"a gap there", (unsigned long long)gap.lost);
	gap.from = r->follow.account.floor < gap.to ? r->follow.account.floor : gap.to;
	return kl_history_add_gap(r->h, &gap);
}

int kl_recorder_follow(struct kl_recorder *r, uint64_t *floor)
{
	const uint64_t now = kl_now_ns(), late = now - BEHIND_NS;
	int err = forget(r);
	uint64_t written, lost, told;

	*floor = now;
	r->end = KL_TIME_MAX;
	r->follow.counted = r->h->nops;
	if (!err)
		err = earliest_call(r, now, floor);
	kl_losses_counts(r, &written, &lost);
	if (!err)
		err = kl_recorder_poll(r) ?: find_missing(r, written, *floor);
	if (err)
		return err;
	kl_count_ended(r);
	err = find_gaps(r, kl_now_ns());
	if (err)
		return err;
	drop_missed(r);
	if (*floor > late)
		*floor = late;
	told = kl_losses_told(r);
	if (*floor > told)
		*floor = told;
	if (!r->follow.begun)
		err = begin(r, *floor);
	if (err || !r->follow.begun) {
		*floor = 0;
		r->lives.nover = 0;
		return err;
	}
	hold_back(r, late, floor);
	err = kl_lives_assign(r, r->follow.ready, r->follow.floor, now, *floor);
	if (!err)
		err = kl_lives_forget(r, *floor) ?: kl_set_drains(r);
	forget_drained(r, late);
	if (*floor < r->follow.floor)
		*floor = r->follow.floor;
	r->follow.floor = *floor;
	return err;
}

int kl_recorder_follow_end(struct kl_recorder *r)
{
	int err = forget(r);

	r->follow.counted = r->h->nops;
	r->lives.nover = 0;
	/* End the recording as kl_recorder_stop() does. */
	r->end = kl_now_ns();
	usleep(1000);
	kl_losses_poll(r, true);
	kl_detach(r);
	if (!err)
		err = kl_reader_consume(r);
	kl_losses_poll(r, true);
	if (!err)
		err = kl_finish_open(r);
	if (!err) {
		kl_count_ended(r);
		err = find_gaps(r, kl_now_ns());
		drop_missed(r);
	}
	if (!err && kl_losses_unaccounted(r) > r->follow.account.missing)
		err = add_gap(r, 0, kl_now_ns(), 0, KL_GAP_LOST);
	if (!err && !r->follow.begun) {
		err = kl_begin(r);
		drop_early_gaps(r);
	}
	if (!err)
		err = kl_lives_assign(r, r->h->nops, r->follow.floor, r->end, KL_TIME_MAX);
	if (!err)
		err = kl_set_drains(r);
	r->follow.ready = r->h->nops;
	return err;
}

const struct kl_history *kl_recorder_history(struct kl_recorder *r)
{
	r->follow.view = *r->h;
	r->follow.view.nops = r->follow.ready;
	return &r->follow.view;
}

const uint64_t *kl_recorder_over(const struct kl_recorder *r, size_t *n)
{
	*n = r->lives.nover;
	return r->lives.over;
}

void kl_recorder_counts(const struct kl_recorder *r, struct kl_record_stats *stats)
{
	*stats = (struct kl_record_stats){
		.ops = r->ops, .received = r->received, .bytes = r->bytes,
		.lost = r->follow.lost, .missed = r->follow.missed,
	};
}
