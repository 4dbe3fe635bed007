// SPDX-License-Identifier: GPL-2.0
/*
 * Making a violation small, by steps that cannot invent one:
 *
 * - The history ends at a return; what had not returned by then is pending, its
 *   results unknown.  (A prefix of a linearizable history is linearizable.)
 * - Everything that ended before a point in time is forgotten, and until then
 *   the history is a gap: the state is unknown, before and after every step.
 *   An order of the whole history is an order of that one, too.
 * - Of the copies of one word in a container their number is all that is kept, see
 *   kl_count_kept().
 * - Operations that leave no trace are left out, see kl_leaves_no_trace().  (Take
 *   them out of an order of the whole and it is an order of the rest.)  Which of them
 *   to keep of very many is guessed first, see shrink_guess.c.
 *
 * Where an operation was under way for long, a task that was preempted say, its
 * violation stays large, as all that went on meanwhile matters.  Then others are
 * looked for: what comes after a violation, all before forgotten, is a history as
 * good as the whole.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/explain/shrink_internal.h"

#define MOST_LOOKS	1000000000ull	/* for one counterexample, and no more than */
#define SOME_LOOKS	120000000	/* so many, */
#define MORE_LOOKS	2		/* and times those of the decision; */
#define TSO_LOOKS	16		/* with store buffers each trial has more to look at */
#define ATTEMPTS	30	/* violations that are tried when the first stays large */
#define SMALL		10	/* operations that a person sees through at once, */
#define TINY		4	/* and with nothing forgotten it may be so few */
#define WINDOW		20000	/* events in which the next violation is looked for first */

/* The item of operation @op of the whole history; items are in its order. */
static const struct kl_item *item_of(const struct shrink *s, uint32_t op)
{
	uint32_t low = 0, high = s->nops;

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (s->p->items[mid].op <= op)
			low = mid;
		else
			high = mid;
	}
	return &s->p->items[low];
}

/*
 * The next violation: forget all that returned before the end of the last one.
 *
 * Return: 1 and its event, 0 if there is none, negative errno.
 */
static int next_violation(struct shrink *s, uint32_t *buf, uint32_t *event)
{
	const struct kl_part *p = s->p;
	const struct kl_event *e;
	uint64_t window = WINDOW;
	int ret = 0;

	s->floor = s->end_ev + 1;
	for (; !ret && s->floor < p->nevents && !kl_shrink_late(s); window *= 4) {
		uint32_t ev = s->floor + window < p->nevents ? s->floor + window : p->nevents;

		while (ev < p->nevents && (p->events[ev].kind != KL_EV_RET ||
					   p->items[p->events[ev].item].kind != KL_ITEM_OP))
			ev++;
		kl_shrink_end(s, ev);
		ret = kl_shrink_trial_from(s, s->floor, buf);
		if (ev == p->nevents)
			break;
	}
	if (ret <= 0)
		return ret;
	/* From the event of the trial back to that of the whole partition. */
	e = &s->fail;
	*event = s->floor;
	if (e->item < s->nkept)
		*event = item_of(s, s->order[e->item])->ret_ev;
	return *event == KL_NO_EVENT ? 0 : 1;
}

/* What is found goes to @best if it is smaller.  @copies: of copies their number is kept. */
static void keep_best(struct shrink *s, bool copies, struct kl_counterexample *best)
{
	uint32_t i;

	if (best->h && best->h->nops <= s->nkept)
		return;
	kl_history_free(best->h);
	kl_answer_free(&best->answer);
	free(best->ops);
	best->h = s->h;
	best->ops = s->order;
	best->answer = s->answer;
	best->forgot = s->forgot;
	best->cut = s->time;
	best->end = s->end;
	best->copies = copies;
	best->dropped = 0;
	for (i = 0; i < s->nops; i++)
		best->dropped += s->p->items[i].call_ev <= s->end_ev &&
				 (!s->forgot || kl_item_op(s->p, &s->p->items[i])->ret > s->time);
	best->dropped -= s->nkept;
	s->h = NULL;
	s->order = NULL;
	memset(&s->answer, 0, sizeof(s->answer));
}

/* Leave out what leaves no trace in what was found. */
static int drop_rest(struct shrink *s, uint32_t *buf, bool copies, struct kl_counterexample *best)
{
	int ret = kl_shrink_drop(s, buf);

	if (!ret)
		keep_best(s, copies, best);
	return ret;
}

/* Of the violation that was found, with all that was before, only the number of copies. */
static int shrink_copies(struct shrink *s, uint32_t *buf, struct kl_counterexample *best)
{
	int ret;

	kl_shrink_keep_all(s);
	ret = kl_shrink_cut_count(s, buf);
	return ret > 0 ? drop_rest(s, buf, true, best) : ret;
}

/* Of all that was before, what a guess leaves. */
static int shrink_guess(struct shrink *s, uint32_t event, uint32_t *buf,
			struct kl_counterexample *best)
{
	int ret = kl_shrink_guess(s, event, buf);

	return ret > 0 ? drop_rest(s, buf, false, best) : ret;
}

/* Make the violation at @event small; the best so far goes to @best if it is smaller. */
static int shrink_one(struct shrink *s, uint32_t event, uint32_t *buf,
		      struct kl_counterexample *best)
{
	int ret = kl_shrink_find(s, event, buf);
	bool copies;

	if (!ret)
		ret = kl_shrink_cut_count(s, buf);
	copies = ret > 0;
	if (!ret && s->guess <= 0)
		ret = kl_shrink_cut_prefix(s, buf);
	if (ret >= 0)
		ret = drop_rest(s, buf, copies, best);
	if (ret)
		return ret;
	if (best->forgot && best->h->nops > SMALL)
		ret = shrink_copies(s, buf, best);
	if (!ret && s->guess < 0 && best->forgot && best->h->nops > TINY)
		ret = shrink_guess(s, event, buf, best);
	return ret;
}

static void shrink_free(struct shrink *s)
{
	free(s->kept);
	free(s->ops);
	free(s->block);
	free(s->order);
	kl_answer_free(&s->answer);
	kl_history_free(s->h);
}

/* @s is 0 but for the partition and the engine.  0 or -ENOMEM. */
static int shrink_init(struct shrink *s)
{
	const struct kl_part *p = s->p;
	uint32_t i;

	s->kept = malloc(((size_t)p->nitems + 1) * sizeof(*s->kept));
	s->ops = malloc(((size_t)p->nitems + 1) * sizeof(*s->ops));
	if (!s->kept || !s->ops)
		return -ENOMEM;
	for (i = 0; i < p->nitems; i++)
		if (p->items[i].kind == KL_ITEM_OP)
			s->ops[s->nops++] = p->items[i].op;
	return kl_shrink_index(s);
}

int kl_violation_near(const struct kl_part *p, const struct kl_engine *engine, uint32_t event,
		      const struct kl_limits *lim, uint64_t *looks)
{
	struct kl_limits own = *lim;
	struct shrink s = {
		.p = p, .engine = engine, .lim = &own, .whole = &own,
		.looks = { .lim = lim, .most = lim->cap },
	};
	uint32_t *buf = malloc(((size_t)p->nitems + 1) * sizeof(*buf));
	int ret = buf ? shrink_init(&s) : -ENOMEM;

	own.no_witness = true;
	if (!ret)
		ret = kl_shrink_near(&s, event, buf);
	if (looks)
		*looks = s.looks.n;
	free(buf);
	shrink_free(&s);
	return ret;
}

/* Looks for one counterexample, after a decision that took @decision. */
static uint64_t most_looks(const struct kl_limits *lim, uint64_t decision, bool tso)
{
	const uint64_t more = tso ? TSO_LOOKS : MORE_LOOKS;
	uint64_t most = MOST_LOOKS;

	if (decision < (MOST_LOOKS - SOME_LOOKS) / more)
		most = SOME_LOOKS + more * decision;
	/* Who has less for the decision has no more for this. */
	return lim->cap && lim->cap < most ? lim->cap : most;
}

int kl_shrink(const struct kl_part *p, const struct kl_engine *engine,
	      const struct kl_engine *oracle, uint32_t fail_event, uint32_t from_event,
	      const struct kl_limits *lim, uint64_t decision, struct kl_counterexample **out)
{
	struct kl_limits until = *lim, whole = *lim;
	struct shrink s = {
		.p = p, .engine = engine, .lim = &until, .whole = &whole, .floor = from_event,
		.looks = { .lim = lim, .most = most_looks(lim, decision, engine->tso) },
	};
	struct kl_counterexample *c = calloc(1, sizeof(*c));
	uint32_t *buf = malloc(((size_t)p->nitems + 1) * sizeof(*buf)), i;
	struct kl_answer a = { 0 };
	int ret = c && buf ? shrink_init(&s) : -ENOMEM;

	whole.no_witness = until.no_witness = false;
	if (!ret)
		ret = shrink_one(&s, fail_event, buf, c);
	for (i = 1; !ret && c->h->nops > SMALL && i < ATTEMPTS && !kl_shrink_late(&s); i++) {
		ret = next_violation(&s, buf, &fail_event);
		if (ret <= 0)
			break;
		ret = shrink_one(&s, fail_event, buf, c);
		if (ret == -EINVAL)
			ret = 0;
	}
	if (!ret)
		ret = kl_decide_history(p->spec, c->h, oracle, lim, &a, NULL);
	if (!ret && a.verdict == KL_LINEARIZABLE)
		ret = -EBADMSG;
	if (ret) {
		kl_counterexample_free(c);
		c = NULL;
	} else {
		c->oracle = a.verdict;
		c->tso = engine->tso;
		c->work = s.looks.n;
		/* Of one operation there is nothing to leave out. */
		c->ended = !s.late || c->h->nops <= 1 ? KL_SHRINK_DONE :
			   s.looks.n > s.looks.most ? KL_SHRINK_WORK : KL_SHRINK_TIME;
	}
	kl_answer_free(&a);
	free(buf);
	shrink_free(&s);
	*out = c;
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
