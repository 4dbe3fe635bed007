// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a recording: open operations become pending, operations after the end are dropped,
 * unknown periods become gaps, and each operation gets its drain.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "record/recorder.h"

/* Add the operations that are still in their slots. */
static int add_open(struct kl_recorder *r)
{
	uint64_t last = kl_time_add(r->end, r->h->error);
	unsigned int i, at;
	int err = 0;

	for (i = 0; i < KLIN_ALL_SLOTS(r->opts.slots); i++) {
		struct klin_slot *s = &r->slots[i];

		/*
		 * All frames of all slots count.  Frames above the top are operations whose returns
		 * were missed.  Frames in a slot without an owner are operations of an interrupt
		 * that hit the task while it ended.
		 */
		for (at = 0; !err && at < KLIN_DEPTH; at++) {
			struct klin_event ev = s->frames[at].ev;

			if (s->frames[at].open != KLIN_OPEN && s->frames[at].open != KLIN_BUSY)
				continue;
			ev.flags |= KLIN_F_NORET;
			ev.ret = last;
			if (ev.call <= last)
				err = kl_reader_add(r, &ev);
		}
	}
	return err;
}

/*
 * Drop operations that were called after the end.  Probes are detached one after the other, so the
 * recording ends before the first detachment.  Only operations that returned after the end can have
 * seen the effect of a dropped operation, and they become pending.
 */
static int cut(struct kl_recorder *r)
{
	struct kl_history *h = r->h;
	size_t i, n = 0;
	int ret = 0;

	for (i = 0; i < h->nops && !ret; i++) {
		struct kl_op op = h->ops[i];

		if (op.flags & KL_OP_NOCALL)
			op.call = kl_op_from(r, &op);
		/*
		 * If the operation was called after the end by less than the clock's error, it may
		 * be before an operation that is kept, so it is kept, too.
		 */
		if (op.call > kl_time_add(r->end, h->error))
			continue;
		if (op.ret > r->end)
			ret = kl_op_make_pending(h, &op);
		h->ops[i] = op;
		kl_history_move(h, n++, i);
	}
	h->nops = n;
	return ret;
}

static int add_unknown(struct kl_recorder *r)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < r->nunknown; i++) {
		const struct kl_unknown *u = &r->unknown[i];
		struct kl_gap gap = {
			.from = kl_unknown_from(r, u), .to = kl_unknown_to(r, u), .lost = 1,
			.object = u->object,
			.cpu = u->cpu, .reason = KL_GAP_MISSED,
		};

		if (gap.from <= kl_time_add(r->end, r->h->error) &&
		    kl_time_add(gap.to, r->h->error) >= r->start)
			err = kl_history_add_gap(r->h, &gap);
	}
	return err;
}

static int by_cpu(const void *a, const void *b)
{
	const struct kl_drained *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->ret < y->ret ? -1 : x->ret > y->ret;
}

/*
 * Add drains by task switches.  If a thread returned on one CPU and later on another CPU, the first
 * CPU has switched tasks in between, which drains its store buffer.
 */
static int add_switches(struct kl_recorder *r)
{
	const struct kl_history *h = r->h;
	uint32_t *last = malloc((h->nthreads + 1) * sizeof(*last));
	size_t i;
	int err = 0;

	if (!last)
		return -ENOMEM;
	memset(last, 0xff, h->nthreads * sizeof(*last));
	for (i = 0; !err && i < h->nops; i++) {
		const struct kl_op *op = &h->ops[i], *prev;

		if (op->flags & KL_OP_PENDING)
			continue;
		if (last[op->thread] != KL_NO_OP) {
			prev = &h->ops[last[op->thread]];
			/* Nested operations return in another order and are skipped. */
			if (prev->cpu != op->cpu && prev->ret <= op->call) {
				err = kl_grow(r->drained, r->cdrained, r->ndrained + 1);
				if (!err)
					r->drained[r->ndrained++] = (struct kl_drained){
						prev->ret, kl_time_add(op->ret, h->error),
						prev->cpu };
			}
		}
		last[op->thread] = i;
	}
	free(last);
	return err;
}

int kl_set_drains(struct kl_recorder *r)
{
	struct kl_drained *d = r->drained;
	size_t i, lo, hi, mid;
	int err = 0;

	/* With this clock each operation drains the store buffer, see clocks.c. */
	if (r->h->clock == KL_CLOCK_SEQ)
		return 0;
	if (r->ndrained)
		qsort(d, r->ndrained, sizeof(*d), by_cpu);
	for (i = r->ndrained; i-- > 1;)
		if (d[i - 1].cpu == d[i].cpu && d[i].by < d[i - 1].by)
			d[i - 1].by = d[i].by;
	for (i = 0; i < r->h->nops && !err; i++) {
		const struct kl_op *op = &r->h->ops[i];
		struct kl_drained key = { .ret = op->ret, .cpu = op->cpu };

		if (op->flags & KL_OP_PENDING)
			continue;
		for (lo = 0, hi = r->ndrained; lo < hi;) {
			mid = lo + (hi - lo) / 2;
			if (by_cpu(&d[mid], &key) < 0)
				lo = mid + 1;
			else
				hi = mid;
		}
		if (lo < r->ndrained && d[lo].cpu == op->cpu)
			err = kl_history_set_points(r->h, i, kl_op_point(r->h, op), d[lo].by);
	}
	return err;
}

/* An operation of which neither call nor return was seen, and the time at its place. */
struct alone {
	struct kl_op op;
	uint64_t point;
};

static int by_point(const void *a, const void *b)
{
	const struct alone *x = a, *y = b;

	return x->point < y->point ? -1 : x->point > y->point;
}

/*
 * Sort the operations of which neither call nor return was seen by the times at their places.  They
 * may take effect at any time, but engines find a witness sooner in this order.
 */
static int sort_alone(struct kl_history *h)
{
	struct alone *a = NULL;
	size_t n = 0, cap = 0, i, k;
	int err = 0;

	for (i = 0; i < h->nops && !err; i++) {
		if ((h->ops[i].flags & KL_OP_UNSEEN) != KL_OP_UNSEEN ||
		    kl_op_point(h, &h->ops[i]) == KL_TIME_MAX)
			continue;
		err = kl_grow(a, cap, n + 1);
		if (!err)
			a[n++] = (struct alone){ h->ops[i], kl_op_point(h, &h->ops[i]) };
	}
	if (!err && n)
		qsort(a, n, sizeof(*a), by_point);
	for (i = k = 0; i < h->nops && !err && k < n; i++) {
		if ((h->ops[i].flags & KL_OP_UNSEEN) != KL_OP_UNSEEN ||
		    kl_op_point(h, &h->ops[i]) == KL_TIME_MAX)
			continue;
		h->ops[i] = a[k].op;
		h->points[i] = a[k++].point;
	}
	free(a);
	return err;
}

int kl_finish_open(struct kl_recorder *r)
{
	int err = add_open(r);

	if (err)
		return err;
	kl_count_ended(r);
	return cut(r);
}

/**
 * kl_finish() - complete the history
 * @r: the recorder, detached, with all events read and its end set
 * @stats: gets the statistics
 */
int kl_finish(struct kl_recorder *r, struct kl_record_stats *stats)
{
	size_t i;
	int err;

	memset(stats, 0, sizeof(*stats));
	err = kl_finish_open(r);
	if (!err)
		err = kl_begin(r);
	if (!err)
		err = kl_losses_finish(r, stats);
	if (!err)
		err = add_unknown(r);
	if (!err)
		err = kl_filter_finish(r, stats);
	if (!err)
		err = kl_lives_assign(r, r->h->nops, KL_TIME_MIN, r->end, KL_TIME_MAX);
	if (!err)
		err = sort_alone(r->h) ?: kl_history_finish(r->h);
	if (!err)
		err = add_switches(r) ?: kl_set_drains(r);
	for (i = 0; i < r->h->nops; i++) {
		stats->pending += !!(r->h->ops[i].flags & KL_OP_PENDING);
		stats->nocall += !!(r->h->ops[i].flags & KL_OP_NOCALL);
	}
	stats->ops = r->h->nops;
	stats->received = r->received;
	stats->bytes = r->bytes;
	stats->freed = r->lives.count;
	stats->begin = r->began;
	stats->end = r->ended;
	return err;
}
