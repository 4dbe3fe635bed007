// SPDX-License-Identifier: GPL-2.0
/* Asking engines in turn, or in parallel where there are several processors; see portfolio.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "check/portfolio.h"
#include "check/unwritten.h"

/*
 * Work of an engine in the first round, before the next engine has its turn: a constant, and more
 * for each operation that it has placed.
 */
#define FIRST_WORK	(1000 * KL_CONFIG_LOOKS)
#define FIRST_EACH	(16 * KL_CONFIG_LOOKS)
#define MORE_WORK	4	/* factor of the work from one round to the next */
/* from this work on engines run in parallel */
#define RACE_WORK	(16000 * KL_CONFIG_LOOKS)
#define UNWRITTEN_EACH (4 * KL_CONFIG_LOOKS) /* looks of kl_unwritten() for each operation */
#define NEAR_LEAST	1024	/* number of events from which on ask_near() is worth its cost */

int kl_work_init(struct kl_work *w, const struct kl_job *j, const struct kl_split *s)
{
	*w = (struct kl_work){ .j = j, .s = s, .run = kl_run_new(j->spec) };
	return w->run ? 0 : -ENOMEM;
}

void kl_work_free(struct kl_work *w)
{
	kl_part_free(&w->p);
	kl_part_free(&w->ptso);
	free(w->room.entries);
	kl_run_free(w->run);
}

int kl_work_lay_out(const struct kl_job *j, const struct kl_split *s, size_t k, bool tso,
		    struct kl_part *p)
{
	return kl_part_build(j->spec, j->h, j->map, s->ops ? s->ops + s->at[k] : NULL,
			     s->at[k + 1] - s->at[k], s->object[k], tso, p);
}

static struct kl_slice slice_of(const struct kl_work *w)
{
	const struct kl_history *h = w->j->h;
	const struct kl_split *s = w->s;
	struct kl_slice slice = {
		.spec = w->j->spec, .h = h, .methods = w->j->map,
		.ops = s->ops ? s->ops + s->at[w->k] : NULL,
		.nops = s->at[w->k + 1] - s->at[w->k], .object = s->object[w->k],
	};
	size_t i;

	for (i = 0; i < h->ngaps; i++)
		slice.ngaps += slice.object == KL_ALL_OBJECTS ||
			       h->gaps[i].object == KL_ALL_OBJECTS ||
			       h->gaps[i].object == slice.object;
	return slice;
}

static int lay_out(struct kl_work *w, bool tso, const struct kl_part **out)
{
	struct kl_part *p = tso ? &w->ptso : &w->p;
	bool *have = tso ? &w->have_ptso : &w->have_p;
	int ret = *have ? 0 : kl_work_lay_out(w->j, w->s, w->k, tso, p);

	if (ret)
		return ret;
	p->run = w->run;
	p->room = &w->room;
	*have = true;
	*out = p;
	return 0;
}

/* Note the operation whose return no order came past: around it there may be a violation. */
static void note_near(struct kl_work *w, const struct kl_part *p, const struct kl_answer *a)
{
	if (p && !a->ncore && a->fail_event && p->nevents >= NEAR_LEAST &&
	    p->items[p->events[a->fail_event].item].kind == KL_ITEM_OP)
		w->next_near = p->events[a->fail_event].item;
}

/*
 * Ask an engine about only the operations around the return of @near.  Most violations need few of
 * the operations before, while e->decide() would process all of them.
 *
 * Return: 1 with @a if it finds a violation, 0 if not, or a negative errno.
 */
static int ask_near(struct kl_work *w, const struct kl_engine *e, const struct kl_part *p,
		    uint32_t near, uint64_t cap, uint64_t *looks, struct kl_answer *a)
{
	struct kl_limits lim = w->j->lim;
	uint64_t some = 0;
	int ret;

	if (near == KL_NO_OP || near == w->looked[e->tso] || !e->near)
		return 0;
	w->looked[e->tso] = near;
	lim.cap = cap;
	ret = kl_violation_near(p, e, p->items[near].ret_ev, &lim, &some);
	*looks += some;
	if (ret <= 0)
		return ret;
	a->verdict = KL_VIOLATION;
	a->engine = e->name;
	a->fail_event = p->items[near].ret_ev;
	return 1;
}

/*
 * Without store buffers there is no order.  Ask the engine with store buffers about the operation
 * that shows this, which buffers may explain, and before about a value that nothing wrote, which
 * they cannot explain.  Return: as ask_near().
 */
static int ask_near_tso(struct kl_work *w, const struct kl_engine *e, const struct kl_part *p,
			uint64_t cap, uint64_t *looks, struct kl_answer *a)
{
	struct kl_looks some = { .lim = &w->j->lim, .most = UNWRITTEN_EACH * (uint64_t)p->nitems };
	int64_t item = p->nevents >= NEAR_LEAST ? kl_unwritten(p, w->run, &some) : KL_NO_OP;
	int ret = item < 0 ? item : 0;

	*looks += some.n;
	if (!ret)
		ret = ask_near(w, e, p, item, cap, looks, a);
	return ret ?: ask_near(w, e, p, w->next_near, cap, looks, a);
}

/* Ask one engine once, with the work of this round. */
static int ask_one(struct kl_work *w, const struct kl_engine *e, const struct kl_limits *lim,
		   const struct kl_part **used, struct kl_answer *a)
{
	struct kl_limits own = *lim;
	uint64_t looks = 0;
	int ret;

	/* Engines with decide_ops bound their work themselves. */
	if (e->decide_ops) {
		const struct kl_slice s = slice_of(w);

		own.cap = 0;
		return e->decide_ops(&s, &own, a);
	}
	if (e->tso) {
		own = w->j->lim;
		/* The other engines have decided, and only this one is left. */
		own.cap = w->most ? w->left / 2 + 1 : 0;
	}
	ret = lay_out(w, e->tso, used);
	if (ret == -EOVERFLOW) {
		snprintf(a->reason, sizeof(a->reason),
			 "the partition has too many operations, gaps or overlaps within a thread");
		a->bound = KL_BOUND_SIZE;
		return 0;
	}
	if (!ret)
		ret = e->tso ? ask_near_tso(w, e, *used, own.cap, &looks, a) :
			       ask_near(w, e, *used, w->near, own.cap, &looks, a);
	if (!ret)
		ret = e->decide(*used, &own, a);
	a->work += looks;
	return ret < 0 ? ret : 0;
}

/* An engine in a race: its own state, and its answer. */
struct entrant {
	const struct kl_engine *e;
	struct kl_work w;	/* the partition itself is shared */
	struct kl_limits lim;
	struct kl_answer a;
	int beaten;		/* an earlier engine has an answer */
	bool asked;
	int ret;
};

/* A race: the engines of a round that run in parallel, in their order. */
struct race {
	struct entrant *entrants;
	size_t n;
	bool over;		/* the race was run, or was not worth it */
};

static void run_entrant(void *arg, size_t i)
{
	struct race *c = arg;
	struct entrant *me = &c->entrants[i];
	const struct kl_part *used;

	if (__atomic_load_n(&me->beaten, __ATOMIC_RELAXED))
		return;
	me->w.run = kl_run_new(me->w.j->spec);
	me->ret = me->w.run ? ask_one(&me->w, me->e, &me->lim, &used, &me->a) : -ENOMEM;
	me->asked = true;
	/* The answers of later engines do not count any more. */
	while (++i < c->n && !me->ret && me->a.verdict != KL_UNKNOWN)
		__atomic_store_n(&c->entrants[i].beaten, 1, __ATOMIC_RELAXED);
}

/* Does the engine take part in the race?  Engines with decide_ops are fast or bound themselves. */
static bool enters(const struct kl_work *w, size_t i, uint32_t declined)
{
	const struct kl_engine *e = w->j->engines[i];

	return !e->decide_ops && !e->tso && !(declined >> i & 1);
}

/*
 * Run all engines of a round in parallel when the first one has its turn.  Each gets a share of the
 * memory; an engine that needs more is asked again in its turn.
 */
static int run_race(struct kl_work *w, const struct kl_limits *lim, uint32_t declined,
		    struct race *c)
{
	const struct kl_part *p;
	size_t n = 0, i;
	int threads, ret;

	c->over = true;
	for (i = 0; w->j->engines[i]; i++)
		n += enters(w, i, declined);
	if (lim->threads < 2 || lim->work < RACE_WORK || n < 2)
		return 0;
	ret = lay_out(w, false, &p);
	if (ret)
		return ret == -EOVERFLOW ? 0 : ret;
	c->entrants = calloc(n, sizeof(*c->entrants));
	if (!c->entrants)
		return -ENOMEM;
	threads = lim->threads < n ? lim->threads : n;
	for (i = 0; w->j->engines[i]; i++) {
		struct entrant *o = &c->entrants[c->n];

		if (!enters(w, i, declined))
			continue;
		*o = (struct entrant){ .e = w->j->engines[i], .w = *w, .lim = *lim };
		o->w.run = NULL;
		o->w.room = (struct kl_memo_room){ 0 };
		o->lim.bytes /= threads;
		o->lim.beaten = &o->beaten;
		/* Only one engine reports progress. */
		o->lim.progress = c->n++ ? NULL : lim->progress;
		o->a.verdict = KL_UNKNOWN;
	}
	kl_threads_each(threads, c->n, run_entrant, c);
	return 0;
}

static void end_race(struct race *c)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		struct entrant *o = &c->entrants[i];

		kl_answer_free(&o->a);
		kl_run_free(o->w.run);
		free(o->w.room.entries);
	}
	free(c->entrants);
}

/*
 * Ask an engine as in a race, with a new interpreter.  The work that an interpreter counts depends
 * on its earlier calls, so with w->run the result would depend on the number of threads.
 */
static int ask_anew(struct kl_work *w, const struct kl_engine *e, const struct kl_limits *lim,
		    const struct kl_part **used, struct kl_answer *a)
{
	struct kl_run *run = w->run;
	int ret;

	w->run = kl_run_new(w->j->spec);
	ret = w->run ? ask_one(w, e, lim, used, a) : -ENOMEM;
	kl_run_free(w->run);
	w->run = w->p.run = w->ptso.run = run;
	return ret;
}

/* Give @e its turn; it may have its answer from the race. */
static int take_turn(struct kl_work *w, struct race *c, const struct kl_engine *e,
		     const struct kl_limits *lim, const struct kl_part **used,
		     struct kl_answer *a)
{
	struct entrant *o = NULL;
	size_t i;

	for (i = 0; i < c->n; i++)
		if (c->entrants[i].e == e && c->entrants[i].asked)
			o = &c->entrants[i];
	if (!o || (!o->ret && o->a.verdict == KL_UNKNOWN && !kl_wants_work(&o->a) && !o->a.lost))
		return lim->work <= FIRST_WORK ? ask_one(w, e, lim, used, a) :
						 ask_anew(w, e, lim, used, a);
	if (o->ret)
		return o->ret;
	*a = o->a;
	o->a = (struct kl_answer){ 0 };
	*used = &w->p;
	if (e->near)
		w->looked[e->tso] = o->w.looked[e->tso];
	return 0;
}

/*
 * Remember the reason why an engine did not decide a partition, in place of its earlier reason,
 * which may have been a lack of work.
 */
static int note_declined(struct kl_part_result *r, const struct kl_engine *e,
			 const struct kl_answer *a)
{
	struct kl_declined **at = &r->declined, *d;

	while (*at && (*at)->engine->rank < e->rank)
		at = &(*at)->next;
	if (*at && (*at)->engine == e) {
		d = *at;
		*at = d->next;
		free(d);
	}
	if (a->verdict != KL_UNKNOWN || !*a->reason)
		return 0;
	d = malloc(sizeof(*d) + strlen(a->reason) + 1);
	if (!d)
		return -ENOMEM;
	d->next = *at;
	d->engine = e;
	strcpy(d->reason, a->reason);
	*at = d;
	return 0;
}

/*
 * Ask the engines, one round.  If the spec delays its writes, a violation on sequential consistency
 * is not final: the partition passes on to the engine with store buffers.
 */
static int ask(struct kl_work *w, struct kl_part_result *r, const struct kl_part **used,
	       const struct kl_limits *lim, uint32_t *declined, bool *more_work, uint64_t *work)
{
	const struct kl_job *j = w->j;
	const bool delayed = !kl_spec_flushes(j->spec) && !j->opt->classical;
	struct race c = { 0 };
	size_t i;
	int ret = 0;

	*more_work = false;
	*work = 0;
	for (i = 0; j->engines[i]; i++) {
		const struct kl_engine *e = j->engines[i];
		struct kl_answer a = { .verdict = KL_UNKNOWN };

		/* The first engine is asked in any case, since it may be the only one. */
		if ((i && e->tso != r->sc_violation) || (*declined >> i & 1))
			continue;
		ret = !c.over && enters(w, i, *declined) ? run_race(w, lim, *declined, &c) : 0;
		if (!ret)
			ret = take_turn(w, &c, e, lim, used, &a);
		if (ret)
			break;
		*work += a.work;
		if (a.verdict == KL_VIOLATION || kl_wants_work(&a))
			note_near(w, *used, &a);
		*more_work |= kl_wants_work(&a);
		if (a.verdict == KL_UNKNOWN && !kl_wants_work(&a))
			*declined |= 1u << i;
		ret = e->explains ? note_declined(r, e, &a) : 0;
		if (ret) {
			kl_answer_free(&a);
			break;
		}
		/* Other engines would find the same, or search very long. */
		if (a.lost) {
			*more_work = false;
			a.progress = 0;
		} else if (a.progress < r->answer.progress) {
			a.progress = r->answer.progress;
		}
		kl_answer_free(&r->answer);
		r->answer = a;
		r->engine = e;
		if (a.lost)
			break;
		if (a.verdict == KL_UNKNOWN)
			continue;
		if (a.verdict == KL_LINEARIZABLE || e->tso || !delayed)
			break;
		r->sc_violation = true;
		r->answer.verdict = KL_UNKNOWN;
		snprintf(r->answer.reason, sizeof(r->answer.reason),
			 "no order under sequential consistency; store buffers not checked");
	}
	end_race(&c);
	return ret;
}

/* Return: the number of engines that share the rest of the bound of work. */
static unsigned int sharers(const struct kl_work *w, uint32_t declined)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; w->j->engines[i]; i++)
		n += enters(w, i, declined);
	return n ? n : 1;
}

static void explain(const struct kl_work *w, struct kl_part_result *r)
{
	const size_t size = sizeof(r->answer.reason);
	size_t len;

	if (r->stopped && w->j->opt->own_work)
		snprintf(r->answer.reason, size, "limit of %llu looks reached",
			 (unsigned long long)w->most);
	else if (r->stopped)
		snprintf(r->answer.reason, size, "limit of %llu looks reached (--work=%llu)",
			 (unsigned long long)w->most, (unsigned long long)w->j->opt->work);
	len = strlen(r->answer.reason);
	if (r->answer.progress)
		snprintf(r->answer.reason + len, size - len, " after about %llu of %u operations",
			 (unsigned long long)r->answer.progress, r->nops);
}

/*
 * In each round every engine has a turn with bounded work, and the next round has several times as
 * much.  An engine gets more work for each operation that it places, so engines for which
 * a history is hard lose their turns early.
 *
 * Before a round, the engines share what is left of the whole bound, so that engines in parallel
 * get the same as in turn.  The first round is small and does not count, since its work depends
 * on what the interpreter did before.
 */
int kl_work_decide(struct kl_work *w, size_t k, struct kl_part_result *r,
		   const struct kl_part **used)
{
	const struct kl_job *j = w->j;
	struct kl_limits lim = j->lim;
	uint32_t declined = 0;	/* bit set of engines that gave up for a reason other than work */
	bool more_work, first = true;
	uint64_t had, work;
	int ret;

	w->k = k;
	w->left = w->most;
	w->near = w->next_near = w->looked[0] = w->looked[1] = KL_NO_OP;
	w->have_p = w->have_ptso = false;
	*used = NULL;
	r->answer.verdict = KL_UNKNOWN;
	snprintf(r->answer.reason, sizeof(r->answer.reason), "no engine for this spec");
	if (j->engines[0] && j->engines[1]) {
		lim.work = FIRST_WORK;
		lim.each = FIRST_EACH;
	}
	do {
		if (w->most)
			lim.cap = w->left / sharers(w, declined) + 1;
		ret = ask(w, r, used, &lim, &declined, &more_work, &work);
		w->near = w->next_near;
		if (!first)
			w->left -= work < w->left ? work : w->left;
		r->work += work;
		first = false;
		had = lim.work;
		lim.work *= MORE_WORK;
		lim.each *= MORE_WORK;
		r->stopped = w->most && more_work &&
			     (had ? w->left / sharers(w, declined) <= had : work >= lim.cap);
	} while (!ret && r->answer.verdict == KL_UNKNOWN && more_work && !r->sc_violation &&
		 had && !r->stopped);
	r->stopped &= r->answer.verdict == KL_UNKNOWN;
	r->stopped |= w->most && r->sc_violation && r->answer.verdict == KL_UNKNOWN && more_work;
	if (!ret && r->answer.verdict == KL_UNKNOWN)
		explain(w, r);
	return ret;
}
