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
 *   them out of an order of the whole and it is an order of the rest.)
 *
 * Where an operation was under way for long, a task that was preempted say, its
 * violation stays large, as all that went on meanwhile matters.  Then others are
 * looked for: what comes after a violation, all before forgotten, is a history as
 * good as the whole.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "check/cex.h"
#include "check/check.h"

#define SHRINK_SECONDS	10
#define ATTEMPTS	30	/* violations that are tried when the first stays large */
#define SMALL		10	/* operations that a person sees through at once */
#define MANY		3000	/* operations of which each is held against all others */
#define WINDOW		20000	/* events in which the next violation is looked for first */

struct shrink {
	const struct kl_part *p;
	const struct kl_engine *engine;
	const struct kl_limits *lim;
	uint64_t until;			/* when to be content with what there is */
	uint32_t *ops;			/* the partition's operations */
	uint32_t nops;
	uint64_t end;			/* return time of the failing operation */
	uint32_t end_ev;
	uint32_t floor;			/* event: all that returned before it is forgotten */
	uint32_t *kept;			/* operations, ascending; of the last violation found */
	size_t nkept;
	bool forgot;			/* and its cut */
	uint64_t time;
	struct kl_history *h;
	struct kl_answer answer;
	struct kl_event fail;		/* what nothing explains in it */
	uint32_t *order;		/* operation of h -> of the whole history */
};

static bool late(const struct shrink *s)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec >= s->until || (s->lim->stop && *s->lim->stop);
}

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

/* Return: 1 and keep the trial if it is a violation, 0 if not, negative errno. */
static int trial(struct shrink *s, const struct kl_cut *cut, const uint32_t *kept, size_t n)
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

/* What is kept when all that returned before event @from is forgotten. */
static int trial_from(struct shrink *s, uint32_t from, uint32_t *buf)
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
		ret = trial_from(s, s->floor, buf);
		if (ret)
			return ret < 0 ? ret : 0;
		left = step - 1;
		step *= 2;
	}
	set_end(s, p->nevents);
	ret = trial_from(s, s->floor, buf);
	return ret < 0 ? ret : ret ? 0 : -EINVAL;
}

/*
 * Forget as much as possible: the later the cut the less is known, so a search
 * back from the end in growing steps, then a binary search.
 */
static int cut_prefix(struct shrink *s, uint32_t *buf)
{
	uint32_t good = s->floor, bad = s->end_ev, step = 8, at;
	int ret = 0;

	while (!ret && step < s->end_ev - s->floor && !late(s)) {
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

/* Leave out copies of a word as late as they can be, as cut_prefix().  1, 0 if there are none. */
static int cut_count(struct shrink *s, uint32_t *buf)
{
	const struct kl_part *p = s->p;
	struct kl_cut cut = { 0 };
	size_t good = s->nops, bad = 0, back = 1, before = s->nkept, n;
	int ret = 0;

	if (s->forgot || s->engine->tso)
		return 0;
	ret = kl_cut_init(&cut, p->spec, p->h, s->ops, s->nops, false, 0, s->end);
	while (!ret && good - bad > 1 && !late(s)) {
		ret = kl_count_cut(p->spec, p->h, s->ops, s->nops, s->kept, s->nkept, s->end,
				   back - 1, buf, &n);
		/* So far back nothing is left out. */
		if (!ret)
			good = back;
		else if (ret > 0)
			ret = n ? trial(s, &cut, buf, n) : 0;
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

/* Which of the kept operations may be left out? */
static int find_droppable(struct shrink *s, struct kl_run *run, uint8_t *may)
{
	size_t i;
	int ret;

	for (i = 0; i < s->nkept; i++) {
		const struct kl_op *o = &s->p->h->ops[s->kept[i]];
		int m = kl_spec_find_method(s->p->spec, s->p->h->methods[kl_op_method(s->p->h, o)]);

		ret = kl_spec_method(s->p->spec, m)->pure;
		if (!ret && s->nkept <= MANY && !late(s))
			ret = kl_leaves_no_trace(s->p->spec, run, s->p->h, s->kept[i], s->kept,
						 s->nkept, s->engine->tso);
		if (ret < 0)
			return ret;
		may[s->kept[i] - s->ops[0]] = ret;
	}
	return 0;
}

/* Leave out what may be, in chunks of half as many each time. */
static int drop_chunks(struct shrink *s, const struct kl_cut *cut, const uint8_t *may,
		       uint32_t *buf)
{
	size_t chunk, at, i, n, dropped;
	int ret = 0;

	for (chunk = s->nkept; chunk && ret >= 0; chunk /= 2) {
		for (at = 0; at < s->nkept && ret >= 0 && !late(s); ) {
			for (i = n = dropped = 0; i < s->nkept; i++) {
				if (i >= at && i < at + chunk && may[s->kept[i] - s->ops[0]])
					dropped++;
				else
					buf[n++] = s->kept[i];
			}
			ret = dropped && n ? trial(s, cut, buf, n) : 0;
			at += ret > 0 ? chunk - dropped : chunk;
		}
	}
	return ret < 0 ? ret : 0;
}

static int by_word(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The words of what is kept, each once, ascending; none if it is no container of words. */
static size_t list_words(const struct shrink *s, uint64_t *words)
{
	struct kl_container type;
	enum kl_role role;
	struct kl_val v;
	size_t i, n = 0, m = 0;

	kl_spec_container(s->p->spec, &type);
	if (s->engine->tso || (type.kind != KL_CONTAINER_QUEUE && type.kind != KL_CONTAINER_STACK &&
			       type.kind != KL_CONTAINER_PQUEUE))
		return 0;
	for (i = 0; i < s->nkept; i++)
		if (kl_op_word(s->p->spec, s->p->h, &s->p->h->ops[s->kept[i]], &role, &v) &&
		    v.tag == KL_WORD)
			words[n++] = v.v;
	qsort(words, n, sizeof(*words), by_word);
	for (i = 0; i < n; i++)
		if (!m || words[m - 1] != words[i])
			words[m++] = words[i];
	return m;
}

/* What is kept without all of words @from .. @to; @one: of these, no peek if it can be. */
static size_t without_words(const struct shrink *s, uint64_t from, uint64_t to, uint32_t *buf,
			    uint32_t *one)
{
	enum kl_role role;
	struct kl_val v;
	size_t i, n = 0;

	*one = KL_NO_OP;
	for (i = 0; i < s->nkept; i++) {
		if (!kl_op_word(s->p->spec, s->p->h, &s->p->h->ops[s->kept[i]], &role, &v) ||
		    v.tag != KL_WORD || v.v < from || v.v > to)
			buf[n++] = s->kept[i];
		else if (role != KL_ROLE_PEEK || *one == KL_NO_OP)
			*one = s->kept[i];
	}
	return n;
}

/* Leave out all operations of a word, of many words first, see kl_leaves_no_trace(). */
static int drop_words(struct shrink *s, const struct kl_cut *cut, struct kl_run *run, uint32_t *buf)
{
	uint64_t *words = malloc((s->nkept + 1) * sizeof(*words));
	size_t nwords, chunk, at, n;
	uint32_t one;
	int ret = words ? 0 : -ENOMEM;

	nwords = words ? list_words(s, words) : 0;
	for (chunk = nwords; chunk && ret >= 0; chunk /= 2) {
		for (at = 0; at < nwords && ret >= 0 && !late(s); ) {
			const size_t some = chunk < nwords - at ? chunk : nwords - at;

			n = without_words(s, words[at], words[at + some - 1], buf, &one);
			ret = !n ? 0 : kl_leaves_no_trace(s->p->spec, run, s->p->h, one, buf, n, false);
			if (ret > 0)
				ret = trial(s, cut, buf, n);
			if (ret <= 0) {
				at += some;
				continue;
			}
			nwords -= some;
			memmove(words + at, words + at + some, (nwords - at) * sizeof(*words));
		}
	}
	free(words);
	return ret < 0 ? ret : 0;
}

/*
 * Leave out what leaves no trace, as long as that makes the history smaller:
 * without its reads a write may come to leave none.
 */
static int drop(struct shrink *s, uint32_t *buf)
{
	struct kl_run *run = kl_run_new(s->p->spec);
	uint8_t *may = calloc(s->ops[s->nops - 1] - s->ops[0] + 1, 1);
	struct kl_cut cut = { 0 };
	size_t before;
	int ret = -ENOMEM;

	if (run && may)
		ret = kl_cut_init(&cut, s->p->spec, s->p->h, s->ops, s->nops, s->forgot,
				  s->time, s->end);
	do {
		before = s->nkept;
		if (!ret)
			ret = drop_words(s, &cut, run, buf);
		if (!ret)
			ret = find_droppable(s, run, may);
		if (!ret)
			ret = drop_chunks(s, &cut, may, buf);
	} while (!ret && s->nkept < before && !late(s));
	kl_cut_free(&cut);
	kl_run_free(run);
	free(may);
	return ret;
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
	for (; !ret && s->floor < p->nevents && !late(s); window *= 4) {
		uint32_t ev = s->floor + window < p->nevents ? s->floor + window : p->nevents;

		while (ev < p->nevents && (p->events[ev].kind != KL_EV_RET ||
					   p->items[p->events[ev].item].kind != KL_ITEM_OP))
			ev++;
		set_end(s, ev);
		ret = trial_from(s, s->floor, buf);
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

/* Make the violation at @event small; the best so far goes to @best if it is smaller. */
static int shrink_one(struct shrink *s, uint32_t event, uint32_t *buf,
		      struct kl_counterexample *best)
{
	int ret = find_end(s, event, buf);
	bool copies = false;
	uint32_t i;

	if (!ret)
		ret = cut_count(s, buf);
	copies = ret > 0;
	if (!ret)
		ret = cut_prefix(s, buf);
	if (ret >= 0)
		ret = drop(s, buf);
	if (ret || (best->h && best->h->nops <= s->nkept))
		return ret;
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
	return 0;
}

int kl_shrink(const struct kl_part *p, const struct kl_engine *engine,
	      const struct kl_engine *oracle, uint32_t fail_event, const struct kl_limits *lim,
	      struct kl_counterexample **out)
{
	struct kl_limits until = *lim;
	struct shrink s = { .p = p, .engine = engine, .lim = &until };
	struct kl_counterexample *c = calloc(1, sizeof(*c));
	uint32_t *buf = malloc(((size_t)p->nitems + 1) * sizeof(*buf)), i;
	struct kl_answer a = { 0 };
	struct timespec now;
	int ret = -ENOMEM;

	clock_gettime(CLOCK_MONOTONIC, &now);
	s.until = now.tv_sec + SHRINK_SECONDS;
	until.no_witness = false;
	/* No trial may go on for longer than all of them together. */
	if (!lim->deadline_ns || lim->deadline_ns > s.until * 1000000000ull)
		until.deadline_ns = s.until * 1000000000ull;
	s.kept = malloc(((size_t)p->nitems + 1) * sizeof(*s.kept));
	s.ops = malloc(((size_t)p->nitems + 1) * sizeof(*s.ops));
	if (!c || !buf || !s.kept || !s.ops)
		goto out;
	for (i = 0; i < p->nitems; i++)
		if (p->items[i].kind == KL_ITEM_OP)
			s.ops[s.nops++] = p->items[i].op;
	ret = shrink_one(&s, fail_event, buf, c);
	for (i = 1; !ret && c->h->nops > SMALL && i < ATTEMPTS && !late(&s); i++) {
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
	c->oracle = a.verdict;
	c->tso = engine->tso;
	kl_answer_free(&a);
out:
	if (ret) {
		kl_counterexample_free(c);
		c = NULL;
	}
	free(buf);
	free(s.kept);
	free(s.ops);
	free(s.order);
	kl_answer_free(&s.answer);
	kl_history_free(s.h);
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
