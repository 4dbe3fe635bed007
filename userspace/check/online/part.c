// SPDX-License-Identifier: GPL-2.0
/*
 * Partitions as they are followed.  What cannot be is UNKNOWN, with the reason, and
 * is followed further from an unknown state; unless all its operations are still
 * kept, which are then checked offline as long as they are.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/online/uses.h"

#define FIRST_LOOK	64	/* operations after which those that are kept are checked */
#define NEXT_LOOK	384	/* and again, at most, while that tells what they are */

static const struct on_monitor *monitor(const struct kl_online *o)
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

static void drop_monitors(struct kl_online *o, struct on_part *p)
{
	if (p->mon)
		monitor(o)->free(o, p->mon);
	if (p->strict)
		monitor(o)->free(o, p->strict);
	p->mon = p->strict = NULL;
}

static int new_monitors(struct kl_online *o, struct on_part *p)
{
	const enum on_begin begin = p->forgot ? ON_LOST : o->opts.fresh ? ON_FRESH : ON_ANY;

	p->starts++;
	p->mon = monitor(o)->new(o, false, begin);
	/* To say yes; of what is forgotten nobody will. */
	if (o->ties && begin != ON_LOST)
		p->strict = monitor(o)->new(o, true, begin);
	return p->mon && (p->strict || !o->ties || begin == ON_LOST) ? 0 : -ENOMEM;
}

static void drop_front(struct kl_online *o, struct on_part *p)
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

static void drop(struct kl_online *o, struct on_part *p)
{
	drop_monitors(o, p);
	drop_front(o, p);
}

void on_part_free(struct kl_online *o, struct on_part *p)
{
	drop(o, p);
	free(p->open);
	free(p->ring);
}

/* Tell new monitors of the operations that have been announced. */
static int retell(struct kl_online *o, struct on_part *p)
{
	const struct on_monitor *m = monitor(o);
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

/* All so far is forgotten: the state is unknown. */
static int restart(struct kl_online *o, struct on_part *p)
{
	/* Not before fewer are under way: each may take effect again. */
	const bool crowded = p->nopen > ON_SLOTS / 2;
	int ret = 0;

	p->mode = p->gaps || (crowded && !o->monitored) ? PART_GAP : PART_FOLLOWED;
	p->forgot = true;
	p->began = o->now;
	if (p->mode == PART_GAP) {
		drop(o, p);
		return 0;
	}
	drop(o, p);
	p->front = !o->monitored || (o->both && !crowded);
	p->alone = p->nops + o->opts.both;
	if (p->front)
		ret = (o->both ? on_shapes(o, p) : 0) ?: live_restart(o, p);
	if (!ret && o->monitored)
		ret = new_monitors(o, p) ?: retell(o, p);
	if (ret != -EDQUOT)
		return ret;
	/* What is under way is more than the monitor can begin with. */
	drop_monitors(o, p);
	p->mode = p->front ? PART_FOLLOWED : PART_GAP;
	return 0;
}

static bool complete(const struct on_part *p)
{
	return !p->lacks && !p->forgot && p->mode == PART_FOLLOWED;
}

/* It cannot be followed any further. */
static int quit(struct kl_online *o, struct on_part *p, const char *why)
{
	if (complete(p)) {
		p->mode = PART_KEPT;
		p->look_after = FIRST_LOOK;
		p->next_look = p->nops + FIRST_LOOK;
		p->why = why;
		drop(o, p);
		return 0;
	}
	if (!p->why)
		p->why = why;
	return restart(o, p);
}

/* Reasons live as long as the check: there are few. */
static const char *keep_reason(struct kl_online *o, const char *why)
{
	size_t i;

	for (i = 0; i < sizeof(o->reasons) / sizeof(*o->reasons); i++) {
		if (!o->reasons[i])
			o->reasons[i] = strdup(why);
		if (!o->reasons[i] || !strcmp(o->reasons[i], why))
			break;
	}
	return i < sizeof(o->reasons) / sizeof(*o->reasons) && o->reasons[i] ? o->reasons[i] :
	       "it cannot be followed in bounded memory";
}

static void tell(struct kl_online *o, struct on_part *p, uint64_t time, const char *reason,
		 const char *engine, const struct on_window *w, bool shrunk)
{
	const bool shown = w->report && w->report->verdict == KL_VIOLATION;
	const struct kl_report *r = shown && shrunk ? w->report : NULL;
	const struct kl_online_violation v = {
		.object = p->object, .key = p->key, .time = time, .events = o->events,
		.all_objects = kl_spec_partition(o->spec) == KL_PART_NONE,
		.has_key = kl_spec_partition(o->spec) == KL_PART_PARAM,
		.reason = reason, .engine = engine, .report = r,
		.history = shown && o->opts.histories ? w->h : NULL,
	};

	p->wrong = kl_time_add(time, 1);
	o->violations++;
	o->shown += !!r;
	if (o->opts.violation)
		o->opts.violation(o->opts.ctx, &v);
}

static bool shrinks(const struct kl_online *o)
{
	return o->shown < o->opts.max_shrink;
}

static const char delayed_writes[] =
	"no order on sequential consistency, and what is kept of the past does not tell whether "
	"store buffers explain it";

/* The values of @core by themselves are wrong, so says the monitor: ask a general engine. */
static int wrong_by_monitor(struct kl_online *o, struct on_part *p, uint64_t time)
{
	const char *guess = o->both ? delayed_writes :
			    "which removal belongs to which addition is not certain";
	struct on_window w = { 0 };
	const uint32_t *core;
	char why[160];
	size_t n;
	int ret;

	memcpy(why, o->reason, sizeof(why));
	ret = monitor(o)->core(o, p->mon, &core, &n);
	if (!ret && n)
		ret = on_window_check(o, p, time, core, n, shrinks(o), &w);
	/* What is missing there may be among the last operations, if these are all there were. */
	if (!ret && !p->lacks && !p->forgot && (!n || w.report->verdict != KL_VIOLATION)) {
		on_window_free(&w);
		ret = on_window_check(o, p, time, NULL, 0, shrinks(o), &w);
	}
	if (!ret && p->front && (!w.report || w.report->verdict != KL_VIOLATION)) {
		drop_monitors(o, p);
	} else if (!ret && w.report && w.report->verdict == KL_VIOLATION) {
		tell(o, p, time, why, kl_container_name(o->c.kind), &w, shrinks(o));
		ret = restart(o, p);
	} else if (!ret) {
		ret = complete(p) ? 0 : monitor(o)->doubt(o, p->mon);
		if (ret == 1 && !p->why)
			p->why = guess;
		ret = ret < 0 ? ret : ret ? 0 : quit(o, p, guess);
	}
	on_window_free(&w);
	return ret;
}

/*
 * No configuration is left.  Where writes are delayed that is one on sequential
 * consistency only: what is kept has to be wrong on a machine with store buffers.
 */
static int wrong_by_frontier(struct kl_online *o, struct on_part *p, uint64_t time)
{
	const bool delayed = !o->flushes && !o->opts.classical;
	const bool whole = complete(p), shrink = shrinks(o);
	struct on_window w = { 0 };
	enum kl_verdict v = KL_UNKNOWN;
	int ret = 0;

	if (shrink || delayed || o->opts.histories)
		ret = on_window_check(o, p, time, NULL, 0, shrink, &w);
	if (!ret && w.report)
		v = w.report->verdict;
	if (ret)
		;
	else if (v == KL_LINEARIZABLE && whole && !delayed)
		ret = quit(o, p, "a defect of klin: the online and the offline check disagree");
	else if (delayed && v != KL_VIOLATION)
		ret = quit(o, p, delayed_writes);
	else {
		tell(o, p, time, "no order of the operations explains the results", "frontier", &w,
		     shrink);
		ret = restart(o, p);
	}
	on_window_free(&w);
	return ret;
}

/* Do monitors say all there is to say? */
static bool monitors_tell(const struct kl_online *o, const struct on_part *p)
{
	return p->mon && (p->strict || !o->ties || p->forgot);
}

/* Can the frontier go on from where the monitor of a register is? */
static bool to_front(struct kl_online *o, struct on_part *p)
{
	p->front = o->both && p->mon && !o->ties && !on_register_front(o, p, p->mon);
	if (!p->front)
		live_drop(o, p);
	return p->front;
}

static __attribute__((noinline)) int trouble(struct kl_online *o, struct on_part *p, int ret,
					      uint64_t time, bool front)
{
	if (ret == -EDQUOT && front && monitors_tell(o, p))
		drop_front(o, p);
	else if (ret == -EDQUOT && !front && p->front)
		drop_monitors(o, p);
	else if (ret == -EDQUOT && !front && to_front(o, p))
		drop_monitors(o, p);
	else if (ret == -EDQUOT)
		return quit(o, p, keep_reason(o, o->reason));
	else if (ret == 1)
		return front ? wrong_by_frontier(o, p, time) : wrong_by_monitor(o, p, time);
	return ret < 0 && ret != -EDQUOT ? ret : 0;
}

/* What following it came to: @ret of a monitor or of the frontier. */
static inline int outcome(struct kl_online *o, struct on_part *p, int ret, uint64_t time,
			  bool front)
{
	return ret ? trouble(o, p, ret, time, front) : 0;
}

enum when { WHILE, OVER, END };

/* What returns now may have seen what is called now, or was lost from now on. */
static uint64_t before_now(const struct kl_online *o)
{
	return o->now ? o->now - 1 : 0;
}

/* Check what is kept; @when OVER: it will not be all there is any longer. */
static int look(struct kl_online *o, struct on_part *p, uint64_t time, enum when when)
{
	struct on_window w = { 0 };
	int ret = on_window_check(o, p, time, NULL, 0, shrinks(o), &w);

	p->look_after *= 2;
	if (!ret && w.report->verdict == KL_LINEARIZABLE && p->look_after > NEXT_LOOK)
		p->look_after = NEXT_LOOK;
	p->next_look = p->nops + p->look_after;
	if (ret)
		;
	else if (w.report->verdict == KL_VIOLATION) {
		p->why = NULL;
		tell(o, p, time, "no order of the operations explains the results",
		     "offline check of all operations so far", &w, shrinks(o));
		ret = restart(o, p);
	} else if (when == OVER) {
		ret = restart(o, p);
	} else if (when == END) {
		p->why = w.report->verdict == KL_LINEARIZABLE ? NULL :
			 keep_reason(o, w.report->reason);
	}
	on_window_free(&w);
	return ret;
}

/* An operation is known; its call follows when its time has come. */
int on_part_announce(struct kl_online *o, uint32_t op)
{
	struct on_part *p = &o->parts[on_op(o, op)->part];
	int ret = 0;

	if (p->mode == PART_KEPT && on_window_full(o, p))
		ret = look(o, p, before_now(o), OVER);
	else if (p->mode == PART_KEPT && p->nops >= p->next_look)
		ret = look(o, p, before_now(o), WHILE);
	if (!ret)
		ret = on_window_put(o, p, on_op(o, op));
	p->nops++;
	if (ret || !p->mon)
		return ret;
	if (p->front && !o->ties && p->nops > p->alone)
		drop_front(o, p);
	ret = monitor(o)->announce(o, p->mon, op);
	if (!ret && p->strict)
		ret = monitor(o)->announce(o, p->strict, op);
	return outcome(o, p, ret, o->now, false);
}

/* The monitor of strict order has found none: that says nothing but that it cannot tell. */
static int strict_outcome(struct kl_online *o, struct on_part *p, int ret)
{
	if (ret && ret != -ENOMEM && p->front) {
		monitor(o)->free(o, p->strict);
		p->strict = NULL;
		return 0;
	}
	if (ret == 1)
		return quit(o, p, "no order found that keeps the order of each thread inside the "
			    "clock's error");
	return outcome(o, p, ret, o->now, false);
}

/* In strict order, what returned before the call of @op, and its thread's, comes first. */
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
		ret = strict_outcome(o, p, monitor(o)->ret(o, p->strict, first));
	}
	return ret;
}

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

	/* None that is open returns before the first of all. */
	if (!o->ties && on_heap_first(&o->ends) <= op->call && p->mode == PART_FOLLOWED &&
	    tie(o, p, op))
		ret = quit(o, p, "times of one thread are equal");
	if (!ret && p->strict)
		ret = strict_returns(o, p, op);
	/* It no longer waits, and is not open yet. */
	if (!ret && p->mon && p->starts != starts)
		ret = monitor(o)->announce(o, p->mon, i);
	if (!ret && p->nopen == p->copen)
		ret = grow_open(p);
	if (ret)
		return ret;
	op->at = p->nopen;
	p->open[p->nopen++] = i;
	if (p->mode != PART_FOLLOWED)
		return 0;
	if (p->front && op->shape == ON_NONE)
		ret = on_shape(o, op);
	if (!ret && p->front)
		ret = outcome(o, p, live_call(o, p, i), op->call, true);
	if (!ret && p->mon && !op->old) {
		starts = p->starts;
		front = p->front;
		ret = outcome(o, p, monitor(o)->call(o, p->mon, i), op->call, false);
		/* The frontier goes on in its place. */
		if (!ret && !front && p->front && p->starts == starts)
			ret = outcome(o, p, live_call(o, p, i), op->call, true);
	}
	if (!ret && p->strict && !on_op(o, i)->old)
		ret = strict_outcome(o, p, monitor(o)->call(o, p->strict, i));
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
		if (front == -EDQUOT && monitors_tell(o, p)) {
			drop_front(o, p);
			front = 0;
		}
	}
	if (!front && p->mon)
		ret = monitor(o)->ret(o, p->mon, i);
	close_open(o, p, op);
	if (front)
		return outcome(o, p, front, time, true);
	if (!ret && p->strict && !op->ended) {
		op->ended = true;
		return strict_outcome(o, p, monitor(o)->ret(o, p->strict, i));
	}
	if (!ret && p->mode == PART_GAP && !p->gaps)
		return restart(o, p);
	return outcome(o, p, ret, time, !o->monitored);
}

int on_part_gap(struct kl_online *o, struct on_part *p, bool endless)
{
	int ret = 0;

	if (p->mode == PART_KEPT) {
		ret = look(o, p, before_now(o), OVER);
		p->why = NULL;
	}
	p->lost = true;
	if (endless)
		on_window_clear(o, p);
	if (p->gaps++)
		return ret;
	p->mode = PART_GAP;
	drop(o, p);
	return ret;
}

int on_part_gap_over(struct kl_online *o, struct on_part *p)
{
	return --p->gaps ? 0 : restart(o, p);
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
	const uint64_t time = o->floor == KL_TIME_MAX ? KL_TIME_MAX : before_now(o);

	return p->mode == PART_KEPT ? look(o, p, time, END) : 0;
}
