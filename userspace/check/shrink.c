// SPDX-License-Identifier: GPL-2.0
/*
 * Making a violation small, by steps that cannot invent one:
 *
 * - The history ends at a return; what had not returned by then is pending, its
 *   results unknown.  (A prefix of a linearizable history is linearizable.)
 * - Everything that ended before a point in time is forgotten, and until then
 *   the history is a gap: the state is unknown, before and after every step.
 *   An order of the whole history is an order of that one, too.
 * - Completed operations that write nothing are left out.  (Take them out of an
 *   order of the whole and it is an order of the rest.)
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "check/cex.h"
#include "check/check.h"

#define SHRINK_SECONDS	10

struct shrink {
	const struct kl_part *p;
	const struct kl_engine *engine;
	const struct kl_limits *lim;
	uint64_t until;			/* when to be content with what there is */
	uint32_t *ops;			/* the partition's operations */
	uint32_t nops;
	uint64_t end;			/* return time of the failing operation */
	uint32_t end_ev;
	uint32_t *kept;			/* operations, ascending; of the last violation found */
	size_t nkept;
	uint64_t time;			/* and its cut */
	struct kl_history *h;
	struct kl_answer answer;
	uint32_t *order;		/* operation of h -> of the whole history */
};

static bool late(const struct shrink *s)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec >= s->until || (s->lim->stop && *s->lim->stop);
}

static int decide_history(const struct kl_spec *spec, const struct kl_history *h,
			  const struct kl_engine *e, const struct kl_limits *lim,
			  struct kl_answer *a)
{
	uint32_t *ops = malloc((h->nops + 1) * sizeof(*ops));
	int *map = malloc((h->nmethods + 1) * sizeof(*map));
	struct kl_part p;
	size_t i;
	int ret = -ENOMEM;

	memset(a, 0, sizeof(*a));
	if (!ops || !map)
		goto out;
	for (i = 0; i < h->nops; i++)
		ops[i] = i;
	for (i = 0; i < h->nmethods; i++)
		map[i] = kl_spec_find_method(spec, h->methods[i]);
	ret = kl_part_build(spec, h, map, ops, h->nops, KL_ALL_OBJECTS, e->tso, &p);
	if (ret)
		goto out;
	ret = e->decide(&p, lim, a);
	kl_part_free(&p);
out:
	free(ops);
	free(map);
	return ret;
}

/* Return: 1 and keep the trial if it is a violation, 0 if not, negative errno. */
static int trial(struct shrink *s, const struct kl_cut *cut, const uint32_t *kept, size_t n)
{
	uint32_t *order = malloc((n + 1) * sizeof(*order));
	struct kl_history *h = NULL;
	struct kl_answer a = { 0 };
	int ret = -ENOMEM;

	if (order)
		ret = kl_cut_history(cut, kept, n, s->engine->tso, &h, order);
	if (!ret)
		ret = decide_history(s->p->spec, h, s->engine, s->lim, &a);
	if (!ret && a.verdict == KL_VIOLATION) {
		kl_history_free(s->h);
		kl_answer_free(&s->answer);
		free(s->order);
		s->h = h;
		s->answer = a;
		s->order = order;
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

/* What is kept when all that returned before event @from is forgotten. */
static int trial_from(struct shrink *s, uint32_t from, uint32_t *buf)
{
	const struct kl_part *p = s->p;
	uint64_t time = 0;
	struct kl_cut cut;
	uint32_t i;
	size_t n = 0;
	int ret;

	for (i = 0; i < s->nops; i++) {
		const struct kl_item *it = &p->items[i];

		if (it->call_ev > s->end_ev)
			continue;
		if (it->ret_ev >= from)
			buf[n++] = it->op;
		else if (kl_item_op(p, it)->ret > time)
			time = kl_item_op(p, it)->ret;
	}
	ret = kl_cut_init(&cut, p->spec, p->h, s->ops, s->nops, time, s->end);
	if (!ret)
		ret = trial(s, &cut, buf, n);
	kl_cut_free(&cut);
	return ret;
}

/* End the history at event @ev, a return. */
static void set_end(struct shrink *s, uint32_t ev)
{
	s->end_ev = ev;
	s->end = ev < s->p->nevents ?
		 kl_item_op(s->p, &s->p->items[s->p->events[ev].item])->ret : KL_TIME_MAX;
}

/*
 * Find the return to end at.  Engines know results before their returns, so the
 * event where they gave up may be too early: look further in growing steps.
 */
static int find_end(struct shrink *s, uint32_t from, uint32_t *buf)
{
	const struct kl_part *p = s->p;
	uint32_t ev, left = 0, step = 1;
	int ret;

	for (ev = from; ev < p->nevents; ev++) {
		if (p->events[ev].kind != KL_EV_RET ||
		    p->items[p->events[ev].item].kind != KL_ITEM_OP)
			continue;
		if (left) {
			left--;
			continue;
		}
		set_end(s, ev);
		ret = trial_from(s, 0, buf);
		if (ret)
			return ret < 0 ? ret : 0;
		left = step - 1;
		step *= 2;
	}
	set_end(s, p->nevents);
	ret = trial_from(s, 0, buf);
	return ret < 0 ? ret : ret ? 0 : -EINVAL;
}

/*
 * Forget as much as possible: the later the cut the less is known, so a search
 * back from the end in growing steps, then a binary search.
 */
static int cut_prefix(struct shrink *s, uint32_t *buf)
{
	uint32_t good = 0, bad = s->end_ev, step = 8, at;
	int ret = 0;

	while (!ret && step < s->end_ev && !late(s)) {
		at = s->end_ev - step;
		ret = trial_from(s, at, buf);
		if (ret < 0)
			return ret;
		if (ret)
			good = at;
		else
			bad = at;
		step *= 2;
	}
	while (bad - good > 1 && !late(s)) {
		at = good + (bad - good) / 2;
		ret = trial_from(s, at, buf);
		if (ret < 0)
			return ret;
		if (ret)
			good = at;
		else
			bad = at;
	}
	return 0;
}

static bool droppable(const struct shrink *s, uint32_t op)
{
	const struct kl_op *o = &s->p->h->ops[op];
	int m = kl_spec_find_method(s->p->spec, s->p->h->methods[o->method]);

	return kl_spec_method(s->p->spec, m)->pure;
}

/* Leave out operations that write nothing, in chunks of half as many each time. */
static int drop_pure(struct shrink *s, uint32_t *buf)
{
	size_t chunk, at, i, n, dropped;
	struct kl_cut cut;
	int ret;

	ret = kl_cut_init(&cut, s->p->spec, s->p->h, s->ops, s->nops, s->time, s->end);
	for (chunk = s->nkept; chunk && ret >= 0; chunk /= 2) {
		for (at = 0; at < s->nkept && ret >= 0 && !late(s); ) {
			for (i = n = dropped = 0; i < s->nkept; i++) {
				if (i >= at && i < at + chunk && droppable(s, s->kept[i]))
					dropped++;
				else
					buf[n++] = s->kept[i];
			}
			ret = dropped && n ? trial(s, &cut, buf, n) : 0;
			at += ret > 0 ? chunk - dropped : chunk;
		}
	}
	kl_cut_free(&cut);
	return ret < 0 ? ret : 0;
}

int kl_shrink(const struct kl_part *p, const struct kl_engine *engine,
	      const struct kl_engine *oracle, uint32_t fail_event, const struct kl_limits *lim,
	      struct kl_counterexample **out)
{
	struct shrink s = { .p = p, .engine = engine, .lim = lim };
	struct kl_counterexample *c = calloc(1, sizeof(*c));
	uint32_t *buf = malloc(((size_t)p->nitems + 1) * sizeof(*buf)), i;
	struct kl_answer a = { 0 };
	struct timespec now;
	int ret = -ENOMEM;

	clock_gettime(CLOCK_MONOTONIC, &now);
	s.until = now.tv_sec + SHRINK_SECONDS;
	s.kept = malloc(((size_t)p->nitems + 1) * sizeof(*s.kept));
	s.ops = malloc(((size_t)p->nitems + 1) * sizeof(*s.ops));
	if (!c || !buf || !s.kept || !s.ops)
		goto err;
	for (i = 0; i < p->nitems; i++)
		if (p->items[i].kind == KL_ITEM_OP)
			s.ops[s.nops++] = p->items[i].op;
	ret = find_end(&s, fail_event, buf);
	if (!ret)
		ret = cut_prefix(&s, buf);
	if (!ret)
		ret = drop_pure(&s, buf);
	if (!ret)
		ret = decide_history(p->spec, s.h, oracle, lim, &a);
	if (ret)
		goto err;
	c->oracle = a.verdict;
	kl_answer_free(&a);
	c->h = s.h;
	c->ops = s.order;
	c->cut = s.time;
	c->end = s.end;
	c->answer = s.answer;
	c->tso = engine->tso;
	for (i = 0; i < s.nops; i++)
		c->dropped_pure += p->items[i].call_ev <= s.end_ev &&
				   kl_item_op(p, &p->items[i])->ret > s.time;
	c->dropped_pure -= s.nkept;
	free(s.kept);
	free(s.ops);
	free(buf);
	*out = c;
	return 0;
err:
	free(c);
	free(buf);
	free(s.kept);
	free(s.ops);
	free(s.order);
	kl_answer_free(&s.answer);
	kl_history_free(s.h);
	return ret;
}

void kl_counterexample_free(struct kl_counterexample *c)
{
	if (!c)
		return;
	kl_history_free(c->h);
	kl_answer_free(&c->answer);
	free(c->ops);
	free(c);
}
