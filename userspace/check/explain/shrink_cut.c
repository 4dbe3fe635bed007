// SPDX-License-Identifier: GPL-2.0
/* Trials, and the search for a violation's end and for the cut before it, see shrink.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/explain/shrink_internal.h"

#define BLOCK		4096	/* events of a block, see struct shrink */
#define FIRST_WINDOW	256	/* events around a violation that are tried first */
#define NEAR		(1 << 16)	/* largest window, in events, where no violation is known */
#define MORE_WINDOW	8	/* factor of the window from one try to the next */
#define FINE		128	/* the cut is found up to this fraction of the kept events */
#define TRIALS	8	/* number of hard trials that the looks suffice for */
#define HARD_STEP	8	/* factor of events, and of work, after a hard trial */
#define OP_LOOKS	200	/* looks of a trial for each operation, besides the engine's */
#define LIST_LOOKS	20	/* looks for listing an operation */
#define WINDOW_WORK	(1ull << 26)	/* looks for the trial of a window, */
#define WINDOW_EACH	(64 * KL_CONFIG_LOOKS)	/* and more for each of its operations */

void kl_shrink_look(struct shrink *s, uint64_t n)
{
	s->late |= kl_look(&s->looks, n) != 0;
}

bool kl_shrink_late(struct shrink *s)
{
	s->late |= kl_time_over(s->looks.lim, s->looks.reason, sizeof(s->looks.reason));
	return s->late;
}

/*
 * Return: the bounds of a trial.  A trial gets at most a share of all looks, so that a hard trial
 * leaves enough for others.
 */
static struct kl_limits trial_limits(const struct shrink *s)
{
	const uint64_t left = s->looks.n < s->looks.most ? s->looks.most - s->looks.n : 1;
	const uint64_t share = (s->looks.most / TRIALS + 1) * (s->patient ? HARD_STEP : 1);
	struct kl_limits lim = *s->lim;

	/* The first trial has no share, since without it there is no counterexample. */
	if (s->looks.most && s->lim != s->whole)
		lim.cap = left < share ? left : share;
	return lim;
}

int kl_shrink_trial(struct shrink *s, const struct kl_cut *cut, const uint32_t *kept, size_t n)
{
	const struct kl_limits lim = trial_limits(s);
	uint32_t *order = malloc((n + 1) * sizeof(*order));
	struct kl_history *h = NULL;
	struct kl_answer a = { 0 };
	struct kl_event fail = { 0 };
	int ret = -ENOMEM;

	if (order)
		ret = kl_cut_history(cut, kept, n, s->engine->tso, &h, order);
	if (!ret)
		ret = kl_decide_history(s->p->spec, h, s->engine, &lim, &a, &fail);
	kl_shrink_look(s, OP_LOOKS * n + a.work);
	s->hard = !ret && a.verdict == KL_UNKNOWN && kl_wants_work(&a);
	if (!ret && a.verdict == KL_VIOLATION) {
		kl_history_free(s->h);
		kl_answer_free(&s->answer);
		free(s->order);
		s->h = h;
		s->answer = a;
		s->fail = fail;
		s->order = order;
		s->forgot = cut->forgot;
		s->time = cut->time;
		memmove(s->kept, kept, n * sizeof(*kept));
		s->nkept = n;
		return 1;
	}
	kl_answer_free(&a);
	kl_history_free(h);
	free(order);
	return ret;
}

int kl_shrink_no_trace(struct shrink *s, struct kl_run *run, uint32_t op, const uint32_t *kept,
		       size_t n)
{
	const uint64_t before = kl_run_total(run);
	int ret = kl_may_omit(s->p->spec, run, s->p->h, op, kept, n, s->end, s->engine->tso);

	kl_shrink_look(s, n + kl_run_total(run) - before);
	return ret;
}

/* Is event @ev the return of an operation? */
static bool is_return(const struct kl_part *p, uint32_t ev)
{
	return p->events[ev].kind == KL_EV_RET &&
	       p->items[p->events[ev].item].kind == KL_ITEM_OP;
}

/*
 * Return: the latest return time among return events before @until; *any is false if there are
 * none.  It need not be the time of the last event: a large clock error leaves returns out of
 * order.
 */
static uint64_t last_return(const struct shrink *s, uint32_t until, bool *any)
{
	const struct kl_part *p = s->p;
	uint32_t from = until / BLOCK * BLOCK;
	uint64_t time = 0, t;

	*any = false;
	if (from == until && from)
		from -= BLOCK;
	if (from) {
		*any = s->block[from / BLOCK].returned;
		time = s->block[from / BLOCK].time;
	}
	for (; from < until; from++) {
		if (!is_return(p, from))
			continue;
		t = kl_item_op(p, &p->items[p->events[from].item])->ret;
		time = t > time ? t : time;
		*any = true;
	}
	return time;
}

int kl_shrink_index(struct shrink *s)
{
	const struct kl_part *p = s->p;
	const uint32_t n = p->nevents / BLOCK + 1;
	uint32_t i, b;

	s->block = calloc(n, sizeof(*s->block));
	if (!s->block)
		return -ENOMEM;
	for (b = 0; b < n; b++)
		s->block[b].low = s->nops;
	for (i = s->nops; i-- > 0; ) {
		const uint32_t ev = p->items[i].ret_ev;

		s->block[ev == KL_NO_EVENT ? n - 1 : ev / BLOCK].low = i;
	}
	for (b = n - 1; b-- > 0; )
		if (s->block[b].low > s->block[b + 1].low)
			s->block[b].low = s->block[b + 1].low;
	for (b = 1; b < n; b++)
		s->block[b].time = last_return(s, b * BLOCK, &s->block[b].returned);
	return 0;
}

int kl_shrink_trial_from(struct shrink *s, uint32_t from, uint32_t *buf)
{
	const struct kl_part *p = s->p;
	const uint32_t until = from < p->nevents ? from : p->nevents;
	struct kl_cut cut;
	uint64_t time;
	size_t n = 0;
	bool forgot;
	uint32_t i;
	int ret;

	time = last_return(s, until, &forgot);
	for (i = s->block[until / BLOCK].low; i < s->nops && p->items[i].call_ev <= s->end_ev; i++)
		/* An operation that is open at the end and changes nothing does not matter. */
		if (p->items[i].ret_ev >= from &&
		    !(p->items[i].pure && p->items[i].ret_ev > s->end_ev))
			buf[n++] = p->items[i].op;
	ret = kl_cut_init(&cut, p->spec, p->h, s->ops, s->engine->tso ? s->nops : 0, forgot,
			  time, s->end);
	if (!ret)
		ret = kl_shrink_trial(s, &cut, buf, n);
	kl_cut_free(&cut);
	return ret;
}

void kl_shrink_end(struct shrink *s, uint32_t ev)
{
	s->end_ev = ev;
	s->end = ev < s->p->nevents ?
		 kl_item_op(s->p, &s->p->items[s->p->events[ev].item])->ret : KL_TIME_MAX;
}

/*
 * Find an early end, from event @from on, that leaves a violation.  An engine uses an operation's
 * results before the operation returns, so the event at which it found the violation may be too
 * early.  The end moves on in growing steps.
 */
static int shorten(struct shrink *s, uint32_t from, uint32_t *buf)
{
	const uint32_t last = s->end_ev;
	uint32_t ev, left = 0, step = 1;
	int ret;

	for (ev = from; ev < last && !kl_shrink_late(s); ev++) {
		if (!is_return(s->p, ev))
			continue;
		if (left) {
			left--;
			continue;
		}
		kl_shrink_end(s, ev);
		ret = kl_shrink_trial_from(s, s->floor, buf);
		if (ret)
			return ret < 0 ? ret : 0;
		left = step - 1;
		step *= 2;
	}
	kl_shrink_end(s, last);
	return 0;
}

/* Return: the first return event from @ev on, or the number of events. */
static uint32_t return_from(const struct kl_part *p, uint64_t ev)
{
	if (ev > p->nevents)
		ev = p->nevents;
	while (ev < p->nevents && !is_return(p, ev))
		ev++;
	return ev;
}

uint32_t kl_shrink_known_at(const struct shrink *s, uint32_t ev)
{
	const struct kl_part *p = s->p;
	uint32_t last = ev, i;

	for (i = s->block[ev / BLOCK].low; i < s->nops && p->items[i].call_ev <= ev; i++)
		if (p->items[i].ret_ev != KL_NO_EVENT && p->items[i].ret_ev > last)
			last = p->items[i].ret_ev;
	return return_from(p, last);
}

/*
 * With store buffers, guess that the failing operation and few others are a violation.  A value
 * that nothing wrote is wrong in any order, but each order of the others has to be tried if they
 * are kept; and a window forgets that nothing wrote it.
 */
static int guess_few(struct shrink *s, uint32_t event, uint32_t *buf)
{
	const struct kl_limits *lim = s->lim;
	struct kl_limits some = *lim;
	int ret;

	if (!s->engine->tso)
		return 0;
	some.work = WINDOW_WORK;
	some.each = WINDOW_EACH;
	s->lim = &some;
	ret = kl_shrink_guess(s, event, 0, buf);
	s->lim = lim;
	return ret;
}

/*
 * Look for the violation at @event in windows of up to @most events on either side, which end at
 * event @last at the latest.  Everything before a window is forgotten.  A larger window never loses
 * a violation.
 */
static int find_window(struct shrink *s, uint32_t event, uint32_t last, uint64_t most,
		       uint32_t *buf)
{
	const uint32_t floor = s->floor;
	const struct kl_limits *lim = s->lim;
	struct kl_limits some = *lim;
	uint64_t window;
	int ret = 0;

	some.work = WINDOW_WORK;
	some.each = WINDOW_EACH;
	s->lim = &some;
	for (window = FIRST_WINDOW; !ret && window <= most &&
	     (event - floor > window || last - event > window); window *= MORE_WINDOW) {
		s->floor = event - floor > window ? event - window : floor;
		kl_shrink_end(s, last - event > window ? return_from(s->p, event + window) : last);
		ret = kl_shrink_trial_from(s, s->floor, buf);
	}
	s->lim = lim;
	if (ret <= 0)
		s->floor = floor;
	return ret;
}

void kl_shrink_keep_all(struct shrink *s)
{
	const struct kl_part *p = s->p;

	s->forgot = false;
	s->time = 0;
	s->nkept = 0;
	while (s->nkept < s->nops && p->items[s->nkept].call_ev <= s->end_ev) {
		s->kept[s->nkept] = p->items[s->nkept].op;
		s->nkept++;
	}
}

/* End the history at event @end, and replace copies by a count. */
static int count_until(struct shrink *s, uint32_t end, uint32_t *buf)
{
	int ret;

	kl_shrink_end(s, end);
	kl_shrink_keep_all(s);
	ret = kl_shrink_cut_count(s, buf);
	s->found |= ret > 0;
	return ret;
}

int kl_shrink_find(struct shrink *s, uint32_t event, uint32_t *buf)
{
	const uint32_t last = kl_shrink_known_at(s, event);
	const struct kl_limits *lim = s->lim;
	int ret = guess_few(s, event, buf);
	struct kl_container type;

	s->guess = ret > 0 ? 1 : -1;
	s->found |= ret > 0;
	if (ret)
		return ret < 0 ? ret : 0;
	/* Most violations are found again in a window, which is cheap compared with everything. */
	ret = find_window(s, event, last, UINT32_MAX, buf);
	/* In a multiset, a count may replace everything before. */
	kl_spec_container(s->p->spec, &type);
	if (!ret && type.kind == KL_CONTAINER_MULTISET) {
		ret = count_until(s, return_from(s->p, event), buf) ?: count_until(s, last, buf);
		if (ret)
			return ret;
	}
	if (!ret) {
		ret = kl_shrink_guess(s, event, KL_MOST_LAST, buf);
		if (ret < 0)
			return ret;
		s->guess = ret;
		s->found |= ret;
		if (ret)
			return 0;
	}
	/* Keep everything; if nothing was found yet, take as long as necessary. */
	if (!s->found)
		s->lim = s->whole;
	if (!ret) {
		kl_shrink_end(s, last);
		ret = kl_shrink_trial_from(s, s->floor, buf);
	}
	if (!ret && last < s->p->nevents) {
		kl_shrink_end(s, s->p->nevents);
		ret = kl_shrink_trial_from(s, s->floor, buf);
	}
	s->lim = lim;
	if (ret <= 0)
		return ret ? ret : -EINVAL;
	s->found = true;
	return shorten(s, event, buf);
}

int kl_shrink_near(struct shrink *s, uint32_t event, uint32_t *buf)
{
	int ret = guess_few(s, event, buf);

	return ret ? ret : find_window(s, event, kl_shrink_known_at(s, event), NEAR, buf);
}

/*
 * Try to forget operations that returned before event @at.  @at moves to the next return, since
 * nothing differs until then, and no cut is tried twice.  *good and *bad enclose the latest cut
 * that leaves a violation.
 */
static int try_cut(struct shrink *s, uint32_t at, uint32_t *good, uint32_t *bad, uint32_t *buf)
{
	const uint32_t ret_ev = return_from(s->p, at);
	int ret;

	s->hard = false;
	ret = ret_ev < *bad ? kl_shrink_trial_from(s, ret_ev, buf) : 0;
	if (ret > 0)
		*good = ret_ev;
	else if (!ret)
		*bad = at;
	return ret;
}

/*
 * Forget as much as possible.  An earlier cut never loses a violation, so the search goes back
 * from the end in growing steps, and then by bisection.  Where a trial is hard, a slightly
 * earlier cut is as hard.  Then the next step is much larger, and its trial may take more work.
 */
int kl_shrink_cut_prefix(struct shrink *s, uint32_t *buf)
{
	uint32_t good = s->floor, bad = s->end_ev, step = 8;
	int ret = 0;

	while (!ret && step < s->end_ev - s->floor && !kl_shrink_late(s)) {
		ret = try_cut(s, s->end_ev - step, &good, &bad, buf);
		if (ret < 0)
			return ret;
		step *= s->hard ? HARD_STEP : 2;
		s->patient |= s->hard;
	}
	s->patient = false;
	while (bad - good > 1 + (s->end_ev - bad) / FINE && !kl_shrink_late(s)) {
		ret = try_cut(s, good + (bad - good) / 2, &good, &bad, buf);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* As kl_shrink_cut_prefix(), but operations before the cut become a count. */
int kl_shrink_cut_count(struct shrink *s, uint32_t *buf)
{
	const struct kl_part *p = s->p;
	struct kl_cut cut = { 0 };
	size_t good = SIZE_MAX, bad = 0, back = 1, before = s->nkept, n;
	int ret = 0;

	if (s->forgot || s->engine->tso)
		return 0;
	ret = kl_cut_init(&cut, p->spec, p->h, s->ops, s->nops, false, 0, s->end);
	while (!ret && good - bad > 1 && !kl_shrink_late(s)) {
		ret = kl_count_cut(p->spec, p->h, s->ops, s->nops, s->kept, s->nkept, s->end,
				   back - 1, buf, &n);
		kl_shrink_look(s, LIST_LOOKS * (uint64_t)s->nops);
		/* With a cut this early nothing is omitted. */
		if (!ret)
			good = back;
		else if (ret > 0)
			ret = n ? kl_shrink_trial(s, &cut, buf, n) : 0;
		if (ret > 0)
			good = back;
		else if (good != back)
			bad = back;
		ret = ret < 0 ? ret : 0;
		back = good < SIZE_MAX ? bad + (good - bad) / 2 : 2 * back;
	}
	kl_cut_free(&cut);
	return ret ? ret : s->nkept < before;
}
