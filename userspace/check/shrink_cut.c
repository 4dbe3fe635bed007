// SPDX-License-Identifier: GPL-2.0
/* Trials; where a violation ends, and what before is forgotten: see shrink.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check/shrink_internal.h"

bool kl_shrink_late(const struct shrink *s)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec >= s->until || (s->lim->stop && *s->lim->stop);
}

int kl_shrink_trial(struct shrink *s, const struct kl_cut *cut, const uint32_t *kept, size_t n)
{
	uint32_t *order = malloc((n + 1) * sizeof(*order));
	struct kl_history *h = NULL;
	struct kl_answer a = { 0 };
	struct kl_event fail = { 0 };
	int ret = -ENOMEM;

	if (order)
		ret = kl_cut_history(cut, kept, n, s->engine->tso, &h, order);
	if (!ret)
		ret = kl_decide_history(s->p->spec, h, s->engine, s->lim, &a, &fail);
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

int kl_shrink_trial_from(struct shrink *s, uint32_t from, uint32_t *buf)
{
	const struct kl_part *p = s->p;
	bool forgot = false;
	uint64_t time = 0;
	struct kl_cut cut;
	uint32_t i;
	size_t n = 0;
	int ret;

	for (i = 0; i < s->nops; i++) {
		const struct kl_item *it = &p->items[i];

		if (it->call_ev > s->end_ev)
			continue;
		if (it->ret_ev >= from) {
			buf[n++] = it->op;
			continue;
		}
		forgot = true;
		if (kl_item_op(p, it)->ret > time)
			time = kl_item_op(p, it)->ret;
	}
	ret = kl_cut_init(&cut, p->spec, p->h, s->ops, s->nops, forgot, time, s->end);
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
 * Find the return to end at.  Engines know results before their returns, so the
 * event where they gave up may be too early: look further in growing steps.
 */
int kl_shrink_find_end(struct shrink *s, uint32_t from, uint32_t *buf)
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
		kl_shrink_end(s, ev);
		ret = kl_shrink_trial_from(s, s->floor, buf);
		if (ret)
			return ret < 0 ? ret : 0;
		left = step - 1;
		step *= 2;
	}
	kl_shrink_end(s, p->nevents);
	ret = kl_shrink_trial_from(s, s->floor, buf);
	return ret < 0 ? ret : ret ? 0 : -EINVAL;
}

/*
 * Forget as much as possible: the later the cut the less is known, so a search
 * back from the end in growing steps, then a binary search.
 */
int kl_shrink_cut_prefix(struct shrink *s, uint32_t *buf)
{
	uint32_t good = s->floor, bad = s->end_ev, step = 8, at;
	int ret = 0;

	while (!ret && step < s->end_ev - s->floor && !kl_shrink_late(s)) {
		at = s->end_ev - step;
		ret = kl_shrink_trial_from(s, at, buf);
		if (ret < 0)
			return ret;
		if (ret)
			good = at;
		else
			bad = at;
		step *= 2;
	}
	while (bad - good > 1 && !kl_shrink_late(s)) {
		at = good + (bad - good) / 2;
		ret = kl_shrink_trial_from(s, at, buf);
		if (ret < 0)
			return ret;
		if (ret)
			good = at;
		else
			bad = at;
	}
	return 0;
}

/* As kl_shrink_cut_prefix(). */
int kl_shrink_cut_count(struct shrink *s, uint32_t *buf)
{
	const struct kl_part *p = s->p;
	struct kl_cut cut = { 0 };
	size_t good = s->nops, bad = 0, back = 1, before = s->nkept, n;
	int ret = 0;

	if (s->forgot || s->engine->tso)
		return 0;
	ret = kl_cut_init(&cut, p->spec, p->h, s->ops, s->nops, false, 0, s->end);
	while (!ret && good - bad > 1 && !kl_shrink_late(s)) {
		ret = kl_count_cut(p->spec, p->h, s->ops, s->nops, s->kept, s->nkept, s->end,
				   back - 1, buf, &n);
		/* So far back nothing is left out. */
		if (!ret)
			good = back;
		else if (ret > 0)
			ret = n ? kl_shrink_trial(s, &cut, buf, n) : 0;
		if (ret > 0)
			good = back;
		else if (good != back)
			bad = back;
		ret = ret < 0 ? ret : 0;
		back = good < s->nops ? bad + (good - bad) / 2 : 2 * back;
	}
	kl_cut_free(&cut);
	return ret ? ret : s->nkept < before;
}
