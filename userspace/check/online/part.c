// SPDX-License-Identifier: GPL-2.0
/*
 * Following partitions.  A partition that cannot be followed is UNKNOWN, with the reason, and is
 * followed further from an unknown state.  If all its operations are still kept, they are checked
 * offline instead, until some have to be dropped.
 */
#include <errno.h>
#include <stdlib.h>

#include "check/online/part.h"

const struct on_monitor *part_monitor(const struct kl_online *o)
{
	switch (o->c.kind) {
	case KL_CONTAINER_PQUEUE:
		return &on_pqueue;
	case KL_CONTAINER_STACK:
		return &on_stack;
	case KL_CONTAINER_REGISTER:
		return &on_register;
	default:
		return &on_queue;
	}
}

void part_drop_monitors(struct kl_online *o, struct on_part *p)
{
	if (p->mon)
		part_monitor(o)->free(o, p->mon);
	if (p->strict)
		part_monitor(o)->free(o, p->strict);
	p->mon = p->strict = NULL;
}

static int new_monitors(struct kl_online *o, struct on_part *p)
{
	const enum on_begin begin = p->forgot ? ON_LOST : o->opts.fresh ? ON_FRESH : ON_ANY;

	p->starts++;
	p->mon = part_monitor(o)->new(o, false, begin);
	/*
	 * The monitor of strict order can only confirm an order; after a gap there is none to
	 * confirm.
	 */
	if (o->ties && begin != ON_LOST)
		p->strict = part_monitor(o)->new(o, true, begin);
	return p->mon && (p->strict || !o->ties || begin == ON_LOST) ? 0 : -ENOMEM;
}

void part_drop_front(struct kl_online *o, struct on_part *p)
{
	live_drop(o, p);
	p->front = false;
}

int on_part_begin(struct kl_online *o, struct on_part *p, bool known)
{
	p->mode = p->gaps ? PART_GAP : PART_FOLLOWED;
	p->forgot = p->lost = !known;
	p->began = known ? 0 : o->now;
	known &= o->opts.fresh;
	p->front = !p->gaps && (!o->monitored || o->both);
	p->alone = o->opts.both;
	p->state = known ? o->sim.first : o->sim.any;
	on_window_share(o);
	return o->monitored && !p->gaps ? new_monitors(o, p) : 0;
}

void part_drop(struct kl_online *o, struct on_part *p)
{
	part_drop_monitors(o, p);
	part_drop_front(o, p);
}

void on_part_free(struct kl_online *o, struct on_part *p)
{
	part_drop(o, p);
	free(p->open);
	free(p->ring);
}

/* Announce to a new monitor the open operations, and announced ones that are not yet called. */
static int retell(struct kl_online *o, struct on_part *p)
{
	const struct on_monitor *m = part_monitor(o);
	const uint32_t part = p - o->parts;
	size_t i;
	int ret = 0;

	for (i = 0; i < p->nopen && !ret; i++) {
		on_op(o, p->open[i])->old = true;
		ret = m->announce(o, p->mon, p->open[i]);
	}
	for (i = o->head; i < o->announced && !ret; i++) {
		if (on_op(o, o->wait[i])->part != part)
			continue;
		ret = m->announce(o, p->mon, o->wait[i]);
	}
	return ret;
}

/* Forget everything so far: the state is unknown. */
int part_restart(struct kl_online *o, struct on_part *p)
{
	/* Each open operation may take effect again.  With many, the frontier waits for fewer. */
	const bool crowded = p->nopen > ON_SLOTS / 2;
	int ret = 0;

	p->mode = p->gaps || (crowded && !o->monitored) ? PART_GAP : PART_FOLLOWED;
	p->forgot = true;
	p->began = o->now;
	if (p->mode == PART_GAP) {
		part_drop(o, p);
		return 0;
	}
	part_drop(o, p);
	p->front = !o->monitored || (o->both && !crowded);
	p->alone = p->nops + o->opts.both;
	if (p->front)
		ret = (o->both ? on_sigs(o, p) : 0) ?: live_restart(o, p);
	if (!ret && o->monitored)
		ret = new_monitors(o, p) ?: retell(o, p);
	if (ret != -EDQUOT)
		return ret;
	/* The monitor cannot begin with this many open operations. */
	part_drop_monitors(o, p);
	p->mode = p->front ? PART_FOLLOWED : PART_GAP;
	return 0;
}

/* Handle the result @ret of a monitor or of the frontier. */
static inline int outcome(struct kl_online *o, struct on_part *p, int ret, uint64_t time,
			  bool front)
{
	return ret ? part_trouble(o, p, ret, time, front) : 0;
}

/* Announce an operation; its call follows when its time has come. */
int on_part_announce(struct kl_online *o, uint32_t op)
{
	struct on_part *p = &o->parts[on_op(o, op)->part];
	int ret = 0;

	if (p->mode == PART_KEPT && on_window_full(o, p))
		ret = part_look(o, p, part_before_now(o), PART_OVER);
	else if (p->mode == PART_KEPT && p->nops >= p->next_look)
		ret = part_look(o, p, part_before_now(o), PART_WHILE);
	if (!ret)
		ret = on_window_put(o, p, on_op(o, op));
	p->nops++;
	if (ret || !p->mon)
		return ret;
	if (p->front && !o->ties && p->nops > p->alone)
		part_drop_front(o, p);
	ret = part_monitor(o)->announce(o, p->mon, op);
	if (!ret && p->strict)
		ret = part_monitor(o)->announce(o, p->strict, op);
	return outcome(o, p, ret, o->now, false);
}

/* Handle the result @ret of p->strict: once it found no order, it cannot confirm one any more. */
static int strict_outcome(struct kl_online *o, struct on_part *p, int ret)
{
	if (ret && ret != -ENOMEM && p->front) {
		part_monitor(o)->free(o, p->strict);
		p->strict = NULL;
		return 0;
	}
	if (ret == 1)
		return part_quit(o, p, "found no order that keeps the program order of each thread "
				       "within the clock's error");
	return outcome(o, p, ret, o->now, false);
}

/* Let p->strict process the operations that returned, by their exact times, before @op's call. */
static int strict_returns(struct kl_online *o, struct on_part *p, const struct on_op *op)
{
	uint32_t i, first;
	int ret = 0;

	while (!ret && p->strict) {
		for (i = 0, first = ON_NONE; i < p->nopen; i++) {
			const struct on_op *a = on_op(o, p->open[i]);

			if (a->ended || !(a->ret < op->call || on_before(a, op)))
				continue;
			if (first == ON_NONE || a->ret < on_op(o, first)->ret)
				first = p->open[i];
		}
		if (first == ON_NONE)
			break;
		on_op(o, first)->ended = true;
		ret = strict_outcome(o, p, part_monitor(o)->ret(o, p->strict, first));
	}
	return ret;
}

/* Return: true if an open operation of the partition precedes @op in its thread. */
static bool tie(struct kl_online *o, const struct on_part *p, const struct on_op *op)
{
	uint32_t i;

	for (i = 0; i < p->nopen; i++)
		if (on_before(on_op(o, p->open[i]), op))
			return true;
	return false;
}

static int grow_open(struct on_part *p)
{
	const uint32_t cap = p->copen ? 2 * p->copen : 4;
	uint32_t *open = realloc(p->open, cap * sizeof(*open));

	if (!open)
		return -ENOMEM;
	p->open = open;
	p->copen = cap;
	return 0;
}

int on_part_call(struct kl_online *o, uint32_t i)
{
	struct on_op *op = on_op(o, i);
	struct on_part *p = &o->parts[op->part];
	uint32_t starts = p->starts;
	bool front;
	int ret = 0;

	/* If the earliest return is later, no operation can precede: that is a cheap test. */
	if (!o->ties && on_heap_first(&o->ends) <= op->call && p->mode == PART_FOLLOWED &&
	    tie(o, p, op))
		ret = part_quit(o, p, "operations of one thread have equal times");
	if (!ret && p->strict)
		ret = strict_returns(o, p, op);
	/* A new monitor does not know the operation, which neither waits any more nor is open. */
	if (!ret && p->mon && p->starts != starts)
		ret = part_monitor(o)->announce(o, p->mon, i);
	if (!ret && p->nopen == p->copen)
		ret = grow_open(p);
	if (ret)
		return ret;
	op->at = p->nopen;
	p->open[p->nopen++] = i;
	if (p->mode != PART_FOLLOWED)
		return 0;
	if (p->front && op->sig == ON_NONE)
		ret = on_sig(o, op);
	if (!ret && p->front)
		ret = outcome(o, p, live_call(o, p, i), op->call, true);
	if (!ret && p->mon && !op->old) {
		starts = p->starts;
		front = p->front;
		ret = outcome(o, p, part_monitor(o)->call(o, p->mon, i), op->call, false);
		/* The frontier goes on in place of the monitor. */
		if (!ret && !front && p->front && p->starts == starts)
			ret = outcome(o, p, live_call(o, p, i), op->call, true);
	}
	if (!ret && p->strict && !on_op(o, i)->old)
		ret = strict_outcome(o, p, part_monitor(o)->call(o, p->strict, i));
	return ret;
}

static void close_open(struct kl_online *o, struct on_part *p, struct on_op *op)
{
	p->open[op->at] = p->open[--p->nopen];
	on_op(o, p->open[op->at])->at = op->at;
}

int on_part_return(struct kl_online *o, uint32_t i)
{
	struct on_op *op = on_op(o, i);
	struct on_part *p = &o->parts[op->part];
	const uint64_t time = on_end_key(o, op);
	int ret = 0, front = 0;

	if (p->mode == PART_GAP && !o->monitored) {
		ret = live_possible(o, i);
		if (ret >= 0)
			ret = !ret;
	}
	if (p->front) {
		front = live_return(o, p, i);
		if (front == -EDQUOT && part_monitors_tell(o, p)) {
			part_drop_front(o, p);
			front = 0;
		}
	}
	if (!front && p->mon)
		ret = part_monitor(o)->ret(o, p->mon, i);
	close_open(o, p, op);
	if (front)
		return outcome(o, p, front, time, true);
	if (!ret && p->strict && !op->ended) {
		op->ended = true;
		return strict_outcome(o, p, part_monitor(o)->ret(o, p->strict, i));
	}
	if (!ret && p->mode == PART_GAP && !p->gaps)
		return part_restart(o, p);
	return outcome(o, p, ret, time, !o->monitored);
}

int on_part_gap(struct kl_online *o, struct on_part *p, bool endless)
{
	int ret = 0;

	if (p->mode == PART_KEPT) {
		ret = part_look(o, p, part_before_now(o), PART_OVER);
		p->why = NULL;
	}
	p->lost = true;
	if (endless)
		on_window_clear(o, p);
	if (p->gaps++)
		return ret;
	p->mode = PART_GAP;
	part_drop(o, p);
	return ret;
}

int on_part_gap_over(struct kl_online *o, struct on_part *p)
{
	return --p->gaps ? 0 : part_restart(o, p);
}

void on_part_doubt(struct kl_online *o, struct on_part *p, uint64_t from, const char *why)
{
	if (from > o->now)
		return;
	if (p->wrong > from) {
		p->wrong = 0;
		o->doubted++;
	}
	p->why = why;
}

int on_part_end(struct kl_online *o, struct on_part *p)
{
	const bool last = p->over || o->floor == KL_TIME_MAX;
	const uint64_t time = last ? KL_TIME_MAX : part_before_now(o);

	return p->mode == PART_KEPT ? part_look(o, p, time, PART_END) : 0;
}
