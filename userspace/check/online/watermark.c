// SPDX-License-Identifier: GPL-2.0
/*
 * Time: operations come in any order, and become calls and returns in order.
 *
 * All calls before the floor are known.  A call is followed when the floor has passed its
 * operation's return.  Before that, all operations that were called by that return are announced:
 * they may have to come right after it, or may have seen its effect.  At equal times calls come
 * first, then gaps, then returns, which the clock's error delays.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"
#include "check/online/internal.h"

#define AHEAD	8	/* operations ahead that are prefetched, see ask_ahead() */

int on_order_add(struct kl_online *o, uint32_t op)
{
	int ret;

	if (o->tail == o->cwait && o->head > o->cwait / 2) {
		memmove(o->wait, o->wait + o->head, (o->tail - o->head) * sizeof(*o->wait));
		o->tail -= o->head;
		o->announced -= o->head;
		o->head = 0;
	}
	ret = kl_grow(o->wait, o->cwait, o->tail + 1);
	if (ret)
		return ret;
	if (o->tail > o->announced &&
	    on_op(o, o->wait[o->tail - 1])->call > on_op(o, op)->call)
		o->unsorted = true;
	o->wait[o->tail++] = op;
	return 0;
}

static int sort_waiting(struct kl_online *o)
{
	const size_t n = o->tail - o->announced;
	size_t i;
	int ret = kl_grow(o->keys, o->ckeys, 2 * n);

	if (ret)
		return ret;
	for (i = 0; i < n; i++)
		o->keys[i] = (struct kl_key){
			.key = on_op(o, o->wait[o->announced + i])->call,
			.val = o->wait[o->announced + i],
		};
	kl_sort_keys(o->keys, n, o->keys + n);
	for (i = 0; i < n; i++)
		o->wait[o->announced + i] = o->keys[i].val;
	o->unsorted = false;
	return 0;
}

static int grow_threads(struct kl_online *o)
{
	const size_t size = o->cthreads ? 2 * o->cthreads : 64;
	struct on_thread *t = calloc(size, sizeof(*t));
	size_t i, at;

	if (!t)
		return -ENOMEM;
	for (i = 0; i < o->cthreads; i++) {
		if (!o->threads[i].n)
			continue;
		at = kl_mix(o->threads[i].id, 1) & (size - 1);
		while (t[at].n)
			at = (at + 1) & (size - 1);
		t[at] = o->threads[i];
	}
	free(o->threads);
	o->threads = t;
	o->cthreads = size;
	return 0;
}

/* Mark the open operations that precede @op in its thread, see on_op.is_pred. */
static int meet_thread(struct kl_online *o, uint32_t op)
{
	struct on_op *b = on_op(o, op);
	struct on_thread *t;
	size_t at;
	unsigned int i;

	if (2 * (o->nthreads + 1) > o->cthreads && grow_threads(o))
		return -ENOMEM;
	at = kl_mix(b->thread, 1) & (o->cthreads - 1);
	while (o->threads[at].n && o->threads[at].id != b->thread)
		at = (at + 1) & (o->cthreads - 1);
	t = &o->threads[at];
	o->nthreads += !t->n;
	t->id = b->thread;
	for (i = 0; i < 4 && i < t->n; i++) {
		struct on_op *a = on_op(o, t->op[i]);

		if (a->gen != t->gen[i] || on_end_key(o, a) < b->call)
			continue;
		/* An entry that is overwritten here counts as a predecessor, to be safe. */
		if (on_before(a, b) || t->n % 4 == i)
			a->is_pred = true;
	}
	i = t->n++ % 4;
	if (t->n == 8)
		t->n = 4;
	t->op[i] = op;
	t->gen[i] = b->gen;
	return 0;
}

/* Prefetch what the next operations to be announced need. */
static inline __attribute__((always_inline)) void ask_ahead(const struct kl_online *o)
{
	const size_t at = o->announced + AHEAD;
	const struct on_part *p;

	if (at + AHEAD >= o->tail)
		return;
	p = &o->parts[o->ops[o->wait[at + AHEAD]].part];
	__builtin_prefetch(p);
	__builtin_prefetch((const char *)p + 64);
	p = &o->parts[o->ops[o->wait[at]].part];
	if (p->ring)
		__builtin_prefetch(&p->ring[p->at_ring], 1);
	if (!o->monitored)
		__builtin_prefetch(&o->steps[o->ops[o->wait[at]].sig]);
}

/* Announce operations that were called by @time. */
static int announce(struct kl_online *o, uint64_t time)
{
	int ret = 0;

	while (!ret && o->announced < o->tail) {
		const uint32_t op = o->wait[o->announced];

		if (on_op(o, op)->call >= o->floor || on_op(o, op)->call > time)
			break;
		ask_ahead(o);
		ret = o->ties ? meet_thread(o, op) : 0;
		if (!ret)
			ret = on_part_announce(o, op);
		o->announced++;
	}
	return ret;
}

/* Return: true if all operations called by the return of @op are known, or too many wait for it. */
static bool ready(struct kl_online *o, struct on_op *op)
{
	if (op->ret == KL_TIME_MAX || o->floor == KL_TIME_MAX || on_end_key(o, op) < o->floor)
		return true;
	if (o->tail - o->head <= o->opts.backlog)
		return false;
	op->is_pred = true;
	return true;
}

static int follow_call(struct kl_online *o, uint32_t op)
{
	const uint64_t end = on_op(o, op)->ret == KL_TIME_MAX ? on_op(o, op)->call :
			     on_end_key(o, on_op(o, op));
	int ret = announce(o, end);

	if (ret)
		return ret;
	o->head++;
	o->events++;
	o->parts[on_op(o, op)->part].waiting--;
	if (on_op(o, op)->call > o->now)
		o->now = on_op(o, op)->call;
	if (on_op(o, op)->ret != KL_TIME_MAX) {
		ret = on_heap_push(&o->ends, on_end_key(o, on_op(o, op)), op);
		if (ret)
			return ret;
	}
	return on_part_call(o, op);
}

static int follow_return(struct kl_online *o)
{
	const uint64_t key = on_heap_first(&o->ends);
	const uint32_t op = on_heap_pop(&o->ends);
	const struct on_part *part;
	int ret;

	o->events++;
	if (key > o->now)
		o->now = key;
	ret = on_part_return(o, op);
	part = &o->parts[on_op(o, op)->part];
	on_op_put(o, op);
	return ret || !part->over ? ret : on_object_retire(o, part->object);
}

int on_order_run(struct kl_online *o)
{
	const bool last = o->floor == KL_TIME_MAX;
	int ret = o->unsorted ? sort_waiting(o) : 0;

	while (!ret && !(o->opts.stop && *o->opts.stop)) {
		const uint64_t first = o->head < o->tail ? on_op(o, o->wait[o->head])->call :
				       KL_TIME_MAX;
		const bool called = first < o->floor;
		const uint64_t call = called ? first : KL_TIME_MAX;
		const uint64_t end = on_heap_first(&o->ends);
		const uint64_t gap = on_heap_first(&o->gap_times);

		if (called && call <= gap && call <= end) {
			if (!ready(o, on_op(o, o->wait[o->head])))
				break;
			ret = follow_call(o, o->wait[o->head]);
		} else if (gap <= end && gap != KL_TIME_MAX) {
			if (gap >= o->floor)
				break;
			ret = on_gap_follow(o);
		} else if (o->ends.n && (end < o->floor || last)) {
			ret = follow_return(o);
		} else {
			break;
		}
	}
	if (o->head == o->tail)
		o->head = o->announced = o->tail = 0;
	return ret;
}

void on_order_free(struct kl_online *o)
{
	free(o->wait);
	free(o->keys);
	free(o->ends.e);
	free(o->threads);
}
