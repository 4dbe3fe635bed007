// SPDX-License-Identifier: GPL-2.0
/*
 * Partitions that cannot be followed, and violations.  A partition whose operations are all kept is
 * checked offline.  A violation that a monitor or the frontier finds is confirmed, reported, and
 * then forgotten.
 */
#include <errno.h>
#include <string.h>

#include "check/coverage.h"
#include "check/online/part.h"

#define FIRST_LOOK	64	/* number of operations after which kept ones are checked first */
#define NEXT_LOOK	384	/* maximal distance of later checks */

/* Return: true if an offline check can go on, because all operations so far are kept. */
static bool complete(const struct on_part *p)
{
	return !p->lacks && !p->forgot && p->mode == PART_FOLLOWED;
}

int part_quit(struct kl_online *o, struct on_part *p, const char *why)
{
	if (complete(p)) {
		p->mode = PART_KEPT;
		p->look_after = FIRST_LOOK;
		p->next_look = p->nops + FIRST_LOOK;
		p->why = why;
		part_drop(o, p);
		return 0;
	}
	if (!p->why)
		p->why = why;
	return part_restart(o, p);
}

/* Return: a copy of the reason @why that lives as long as the check; few reasons differ. */
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
	       "the partition cannot be followed in bounded memory";
}

/* Report a violation to the caller; @shrunk: with a counterexample. */
static void tell(struct kl_online *o, struct on_part *p, uint64_t time, const char *reason,
		 const char *engine, const struct on_window *w, bool shrunk)
{
	const bool shown = w->report && w->report->verdict == KL_VIOLATION;
	struct kl_report *r = shown && shrunk ? w->report : NULL;
	const struct kl_online_violation v = {
		.object = p->object, .key = p->key, .time = time, .events = o->events,
		.all_objects = kl_spec_partition(o->spec) == KL_PART_NONE,
		.has_key = kl_spec_partition(o->spec) == KL_PART_PARAM,
		.reason = reason, .engine = engine, .report = r,
		.suspect = o->opts.suspect ? o->suspect : NULL,
		.history = shown && o->opts.histories ? w->h : NULL,
	};

	if (r && o->opts.suspect)
		kl_report_suspect(r, o->opts.suspect);
	p->wrong = kl_time_add(time, 1);
	o->violations++;
	o->shown += !!r;
	if (o->opts.violation)
		o->opts.violation(o->opts.ctx, &v);
}

/* Return: true if the next violation gets a counterexample. */
static bool shrinks(const struct kl_online *o)
{
	return o->shown < o->opts.max_shrink;
}

static const char delayed_writes[] =
	"no order under sequential consistency; the operations that are kept do not show whether "
	"store buffers explain it";

/*
 * A core leaves out operations that have no say in the proof, so no story of the partition can be
 * told of it: what it never adds may have been added.  Show the whole window, if it lacks nothing.
 */
static int widen(struct kl_online *o, const struct on_part *p, uint64_t time, struct on_window *w)
{
	struct on_window whole;
	int ret;

	if (p->lacks || p->forgot || !shrinks(o))
		return 0;
	ret = on_window_check(o, p, time, NULL, 0, true, &whole);
	if (!ret && whole.report->verdict == KL_VIOLATION) {
		on_window_free(w);
		*w = whole;
	} else {
		on_window_free(&whole);
	}
	return ret;
}

/* A monitor found a core: let a general engine confirm it. */
static int wrong_by_monitor(struct kl_online *o, struct on_part *p, uint64_t time)
{
	const char *guess = o->both ? delayed_writes :
			    "values repeat: cannot match removals to additions";
	struct on_window w = { 0 };
	const uint32_t *core;
	char why[160];
	size_t n;
	int ret;

	memcpy(why, o->reason, sizeof(why));
	ret = part_monitor(o)->core(o, p->mon, &core, &n);
	if (!ret && n)
		ret = on_window_check(o, p, time, core, n, shrinks(o), &w);
	if (!ret && w.report && w.report->verdict == KL_VIOLATION)
		ret = widen(o, p, time, &w);
	/* If no operation is missing in the window, check the whole window, too. */
	if (!ret && !p->lacks && !p->forgot && (!n || w.report->verdict != KL_VIOLATION)) {
		on_window_free(&w);
		ret = on_window_check(o, p, time, NULL, 0, shrinks(o), &w);
	}
	if (!ret && p->front && (!w.report || w.report->verdict != KL_VIOLATION)) {
		part_drop_monitors(o, p);
	} else if (!ret && w.report && w.report->verdict == KL_VIOLATION) {
		tell(o, p, time, why, kl_container_name(o->c.kind), &w, shrinks(o));
		ret = part_restart(o, p);
	} else if (!ret) {
		ret = complete(p) ? 0 : part_monitor(o)->doubt(o, p->mon);
		if (ret == 1 && !p->why)
			p->why = guess;
		ret = ret < 0 ? ret : ret ? 0 : part_quit(o, p, guess);
	}
	on_window_free(&w);
	return ret;
}

/*
 * The frontier has no configuration left.  If stores may be delayed, that is only a violation of
 * sequential consistency: the kept operations must have no order with store buffers, either.
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
		ret = part_quit(o, p, "a defect of klin: the online and the offline check "
				"disagree");
	else if (delayed && v != KL_VIOLATION)
		ret = part_quit(o, p, delayed_writes);
	else {
		tell(o, p, time, "no order of the operations explains the results", "frontier", &w,
		     shrink);
		ret = part_restart(o, p);
	}
	on_window_free(&w);
	return ret;
}

bool part_monitors_tell(const struct kl_online *o, const struct on_part *p)
{
	return p->mon && (p->strict || !o->ties || p->forgot);
}

/* Let the frontier go on from the state of a register's monitor, if it can. */
static bool to_front(struct kl_online *o, struct on_part *p)
{
	p->front = o->both && p->mon && !o->ties && !on_register_front(o, p, p->mon);
	if (!p->front)
		live_drop(o, p);
	return p->front;
}

int part_trouble(struct kl_online *o, struct on_part *p, int ret, uint64_t time, bool front)
{
	if (ret == -EDQUOT && front && part_monitors_tell(o, p))
		part_drop_front(o, p);
	else if (ret == -EDQUOT && !front && p->front)
		part_drop_monitors(o, p);
	else if (ret == -EDQUOT && !front && to_front(o, p))
		part_drop_monitors(o, p);
	else if (ret == -EDQUOT)
		return part_quit(o, p, keep_reason(o, o->reason));
	else if (ret == 1)
		return front ? wrong_by_frontier(o, p, time) : wrong_by_monitor(o, p, time);
	return ret < 0 && ret != -EDQUOT ? ret : 0;
}

int part_look(struct kl_online *o, struct on_part *p, uint64_t time, enum part_when when)
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
		ret = part_restart(o, p);
	} else if (when == PART_OVER) {
		ret = part_restart(o, p);
	} else if (when == PART_END) {
		p->why = w.report->verdict == KL_LINEARIZABLE ? NULL :
			 keep_reason(o, w.report->reason);
	}
	on_window_free(&w);
	return ret;
}
