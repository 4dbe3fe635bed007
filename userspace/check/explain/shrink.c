// SPDX-License-Identifier: GPL-2.0
/*
 * Making a violation small, by steps that cannot invent one:
 *
 * - The history ends at a return.  Operations that had not returned by then are pending, and their
 *   results unknown.  (A prefix of a linearizable history is linearizable.)
 * - Everything that ended before a point in time is forgotten.  Until then the history is a gap:
 *   the state is unknown, before and after every step.  An order of the whole history is also an
 *   order of the history with the gap.
 * - Of the copies of one word in a container, only their count is kept, see kl_count_kept().
 * - Operations are omitted, see kl_may_omit().  (Removing them from an order of the whole leaves an
 *   order of the rest.)  If there are very many, a guess first says which to keep, see
 *   shrink_guess.c.
 *
 * If an operation was open for long, for example in a preempted task, its violation stays large,
 * since everything in that time matters.  Then later violations are looked for, in the history
 * after the first violation, with everything before forgotten.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/explain/shrink_internal.h"

/* bound of looks for one counterexample, whatever else holds */
#define MOST_LOOKS	1000000000ull
#define SOME_LOOKS	120000000	/* looks that are allowed in any case */
#define MORE_LOOKS	2	/* factor of the decision's looks, */
#define TSO_LOOKS	16	/* and with store buffers, where each trial takes more */
#define ATTEMPTS	30	/* other violations that are tried if the first stays large */
#define SMALL		10	/* operations that a person understands at once */
#define TINY		4	/* operations at which shrinking stops if nothing is forgotten */
#define WINDOW		20000	/* events in which the next violation is looked for first */

/* Return: the item of the history's operation @op.  Items are in the order of operations. */
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
 * Find a violation after the end of the last one, with everything forgotten that returned before.
 *
 * Return: 1 with its @event, 0 if there is none, or a negative errno.
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
	/* Translate the event of the trial to that of the whole partition. */
	e = &s->fail;
	*event = s->floor;
	if (e->item < s->nkept)
		*event = item_of(s, s->order[e->item])->ret_ev;
	return *event == KL_NO_EVENT ? 0 : 1;
}

/* Keep the found violation in @best if it is smaller; @copies: copies are replaced by a count. */
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

/* Omit operations from the found violation. */
static int drop_rest(struct shrink *s, uint32_t *buf, bool copies, struct kl_counterexample *best)
{
	int ret = kl_shrink_drop(s, buf);

	if (!ret)
		keep_best(s, copies, best);
	return ret;
}

/* Keep all operations up to the end of the found violation, and replace copies by a count. */
static int shrink_copies(struct shrink *s, uint32_t *buf, struct kl_counterexample *best)
{
	int ret;

	kl_shrink_keep_all(s);
	ret = kl_shrink_cut_count(s, buf);
	return ret > 0 ? drop_rest(s, buf, true, best) : ret;
}

/* Guess the operations that matter for the violation at @event; if they do, omit others. */
static int shrink_guess(struct shrink *s, uint32_t event, uint32_t *buf,
			struct kl_counterexample *best)
{
	int ret = kl_shrink_guess(s, event, KL_MOST_LAST, buf);

	return ret > 0 ? drop_rest(s, buf, false, best) : ret;
}

/* Make the violation at @event small, and keep it in @best if it is the smallest. */
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

/* Initialise @s, which has the partition and the engine.  Return: 0, or -ENOMEM. */
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

/* The bound of looks for one counterexample, after a decision that took @decision looks. */
static uint64_t most_looks(const struct kl_limits *lim, uint64_t decision, bool tso)
{
	const uint64_t more = tso ? TSO_LOOKS : MORE_LOOKS;
	uint64_t most = MOST_LOOKS;

	if (decision < (MOST_LOOKS - SOME_LOOKS) / more)
		most = SOME_LOOKS + more * decision;
	/* Shrinking gets no more work than the decision may have. */
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
		/* A single operation is the smallest counterexample. */
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
