// SPDX-License-Identifier: GPL-2.0
/*
 * A state of one word: is there enough of what open operations need?
 *
 * A compare-and-set that succeeded and a fetch-and-add tell what the word was before
 * and after.  So each that leaves a word behind needs that the word came about once
 * for it: it is there now, or one makes it that has not taken effect, or that is called
 * before the last of those that need it returns.  A configuration where that is not so
 * has no future, which without this shows only at a return, when many have come of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/frontier_internal.h"

/* What a shape of operations does: the words before and after by number, or NO_WORD. */
struct effect {
	uint32_t need, make;	/* the same: it only looks */
	bool known, wild;	/* wild: it may make whatever */
};

#define NO_WORD UINT32_MAX

/* What a configuration has, and what is needed, of one word. */
struct demand {
	uint32_t leave, look;	/* open operations that need it */
	uint32_t make;		/* or make it */
	uint32_t last;		/* event by which those that need it have taken effect */
};

struct kl_supply {
	struct kl_sim *sim;
	struct kl_intern words;
	struct effect *effect;	/* of each shape */
	struct demand *demand;	/* of each word */
	uint32_t *touched;
	/* Of word w the calls of what makes it, call[at[w]] to call[at[w + 1]]; w == nwords: wild ones. */
	uint32_t *at, *call, nwords;
	uint32_t *use_at, *use;	/* and of word w the items that need it */
	uint32_t *next_call, *next_use;	/* of each word the first that is not called yet */
	/* Of each state the number of its word + 1, 0: not yet looked at. */
	uint32_t *word_of;
	size_t nstates, cstates;
};

#define MOST_SHAPES	4	/* of the history, for each item */
#define FAR	8	/* of those that will be called so many are looked at */

struct seen {
	struct kl_supply *s;
	struct effect *e;
	unsigned int outcomes;
};

static int64_t number(struct kl_supply *s, struct kl_val v)
{
	return v.tag == KL_WORD ? kl_intern(&s->words, &v.v, 1) : NO_WORD;
}

/* In raw mode the word before is unknown number 0. */
static int on_outcome(void *ctx, const struct kl_outcome *o)
{
	struct seen *seen = ctx;
	struct effect *e = seen->e;
	const bool same = o->state[0].tag == KL_ANY && !o->state[0].v;
	int64_t need, make;

	need = number(seen->s, o->nbound ? o->bound[0] : kl_special(KL_ANY));
	make = number(seen->s, o->state[0]);
	if (need < 0 || make < 0)
		return -ENOMEM;
	/* It may have been several: then it needs none for certain. */
	if (seen->outcomes++) {
		e->wild |= (make != NO_WORD && e->make != NO_WORD && make != e->make) ||
			   (e->make != NO_WORD && e->make == e->need);
		e->need = NO_WORD;
		e->make = make == NO_WORD || make == need ? e->make : make;
	} else {
		*e = (struct effect){ .need = need, .make = make };
	}
	e->wild |= make == NO_WORD && !same;
	return 0;
}

static int look_at(struct kl_supply *s, const struct kl_item *it)
{
	const struct kl_part *p = s->sim->p;
	const struct kl_op *op = kl_item_op(p, it);
	const struct kl_val any = kl_special(KL_ANY);
	struct effect *e = &s->effect[it->shape];
	struct seen seen = { s, e, 0 };
	int ret;

	*e = (struct effect){ .need = NO_WORD, .make = NO_WORD };
	kl_run_set_raw(s->sim->run, true);
	ret = kl_run_apply(s->sim->run, &any, 1, it->method, kl_op_args(p->h, op),
			   kl_op_res(p->h, op), on_outcome, &seen);
	kl_run_set_raw(s->sim->run, false);
	/* Of what the interpreter cannot do from the unknown state nothing is known. */
	e->wild |= ret || !seen.outcomes;
	e->known = true;
	return ret == -ENOMEM ? ret : 0;
}

/* The word whose calls it is listed with, or NO_WORD. */
static uint32_t list_of(const struct kl_supply *s, const struct kl_item *it)
{
	const struct effect *e = &s->effect[it->shape];

	return e->wild ? s->nwords : e->make == e->need ? NO_WORD : e->make;
}

/* Those that need each word, in order of calls. */
static int list_uses(struct kl_supply *s)
{
	const struct kl_part *p = s->sim->p;
	uint32_t i, w;

	s->use_at = calloc((size_t)s->nwords + 2, sizeof(*s->use_at));
	s->use = malloc(((size_t)p->nitems + 1) * sizeof(*s->use));
	if (!s->use_at || !s->use)
		return -ENOMEM;
	for (i = 0; i < p->nitems; i++) {
		w = s->effect[p->items[i].shape].need;
		if (w != NO_WORD)
			s->use_at[w + 2]++;
	}
	for (w = 2; w < s->nwords + 2; w++)
		s->use_at[w] += s->use_at[w - 1];
	for (i = 0; i < p->nitems; i++) {
		w = s->effect[p->items[i].shape].need;
		if (w != NO_WORD)
			s->use[s->use_at[w + 1]++] = i;
	}
	return 0;
}

static int list_calls(struct kl_supply *s)
{
	const struct kl_part *p = s->sim->p;
	uint32_t i, w, n = 0;

	s->nwords = s->words.n;
	s->at = calloc((size_t)s->nwords + 3, sizeof(*s->at));
	s->call = malloc(((size_t)p->nitems + 1) * sizeof(*s->call));
	s->demand = calloc((size_t)s->nwords + 1, sizeof(*s->demand));
	s->touched = malloc((2 * (size_t)p->nslots + 1) * sizeof(*s->touched));
	if (!s->at || !s->call || !s->demand || !s->touched)
		return -ENOMEM;
	for (i = 0; i < p->nitems; i++) {
		w = list_of(s, &p->items[i]);
		if (w != NO_WORD)
			s->at[w + 2]++;
	}
	for (w = 2; w < s->nwords + 3; w++)
		s->at[w] += s->at[w - 1];
	/* Items are in order of their calls. */
	for (i = 0; i < p->nitems; i++) {
		w = list_of(s, &p->items[i]);
		if (w != NO_WORD)
			s->call[s->at[w + 1]++] = p->items[i].call_ev;
		n += w < s->nwords;
	}
	if (list_uses(s))
		return -ENOMEM;
	s->next_call = malloc(((size_t)s->nwords + 1) * sizeof(*s->next_call));
	s->next_use = malloc(((size_t)s->nwords + 1) * sizeof(*s->next_use));
	if (!s->next_call || !s->next_use)
		return -ENOMEM;
	memcpy(s->next_call, s->at, ((size_t)s->nwords + 1) * sizeof(*s->next_call));
	memcpy(s->next_use, s->use_at, ((size_t)s->nwords + 1) * sizeof(*s->next_use));
	return n != 0;
}

int kl_supply_new(struct kl_sim *sim, struct kl_supply **out)
{
	const struct kl_part *p = sim->p;
	struct kl_supply *s;
	uint32_t i;
	size_t len;
	int ret = 0;

	*out = NULL;
	/* Nor where there is little beside all that the history has. */
	if (!sim->fixed || p->ngaps || p->h->nshapes / MOST_SHAPES > p->nitems ||
	    !kl_run_init(sim->run, false, &len) || len != 1)
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->sim = sim;
	s->effect = calloc(p->h->nshapes + 1, sizeof(*s->effect));
	if (!s->effect)
		ret = -ENOMEM;
	for (i = 0; i < p->nitems && !ret; i++)
		if (!s->effect[p->items[i].shape].known)
			ret = look_at(s, &p->items[i]);
	if (!ret)
		ret = list_calls(s);
	if (ret > 0)
		*out = s;
	else
		kl_supply_free(s);
	return ret < 0 ? ret : 0;
}

void kl_supply_free(struct kl_supply *s)
{
	if (!s)
		return;
	kl_intern_free(&s->words);
	free(s->effect);
	free(s->demand);
	free(s->touched);
	free(s->at);
	free(s->call);
	free(s->use_at);
	free(s->use);
	free(s->next_call);
	free(s->next_use);
	free(s->word_of);
	free(s);
}

/* Are so many that make word @w called from now on and before @until? */
static bool called(const struct frontier *f, uint32_t w, uint32_t n, uint32_t until)
{
	struct kl_supply *s = f->sys->supply;
	const uint32_t end = s->at[w + 1];
	uint32_t *next = &s->next_call[w];

	while (*next < end && s->call[*next] <= f->now)
		(*next)++;
	return end - *next >= n && s->call[*next + n - 1] < until;
}

static struct demand *touch(struct kl_supply *s, uint32_t w, uint32_t *n)
{
	struct demand *d = &s->demand[w];

	if (!(d->leave | d->look | d->make))
		s->touched[(*n)++] = w;
	return d;
}

/* Add up what the open operations of @rec need and make; false: one may make whatever. */
static bool add_up(struct frontier *f, const uint64_t *rec, uint32_t *n)
{
	struct kl_supply *s = f->sys->supply;
	struct demand *d;
	uint32_t i;

	for (i = 0; i < f->nopen; i++) {
		const struct open *o = &f->open[i];
		const struct effect *e = &s->effect[o->shape];

		if (kl_rec_has(rec, o->slot))
			continue;
		if (e->wild)
			return false;
		if (e->need != NO_WORD && o->ret_ev != KL_NO_EVENT) {
			d = touch(s, e->need, n);
			/* 0 where none has been seen. */
			d->last = d->last > o->ret_ev ? d->last : o->ret_ev;
			*(e->make == e->need ? &d->look : &d->leave) += 1;
		}
		if (e->make != NO_WORD && e->make != e->need)
			touch(s, e->make, n)->make++;
	}
	return true;
}

/* Are fewer there, or to come by @until, than the @need that there is for @w? */
static bool too_few(const struct frontier *f, uint32_t w, uint32_t need, uint32_t have,
		    uint32_t until)
{
	const struct kl_supply *s = f->sys->supply;

	return need > have && !called(f, w, need - have, until) &&
	       !called(f, s->nwords, 1, until);
}

static uint32_t need_of(const struct demand *d)
{
	return d->leave ? d->leave : d->look ? 1 : 0;
}

/* The first that needs @w and is not called yet. */
static uint32_t next_use(const struct frontier *f, uint32_t w)
{
	struct kl_supply *s = f->sys->supply;
	uint32_t *next = &s->next_use[w];

	while (*next < s->use_at[w + 1] && f->p->items[s->use[*next]].call_ev <= f->now)
		(*next)++;
	return *next;
}

/* Of a word that was left just now: too few also for those that will be called? */
static bool too_few_later(const struct frontier *f, uint32_t w)
{
	const struct kl_supply *s = f->sys->supply;
	const struct demand *d = &s->demand[w];
	const uint32_t from = next_use(f, w), left = s->use_at[w + 1] - from;
	const uint32_t *use = s->use + from, n = left < FAR ? left : FAR;
	uint32_t i, k;

	for (i = 0; i < n; i++) {
		const uint32_t until = f->p->items[use[i]].ret_ev;
		uint32_t need = d->last <= until ? d->leave : 0;

		if (until == KL_NO_EVENT)
			continue;
		for (k = 0; k < n; k++) {
			const struct kl_item *it = &f->p->items[use[k]];
			const struct effect *e = &s->effect[it->shape];

			need += it->ret_ev <= until && e->make != e->need;
		}
		if (too_few(f, w, need ? need : 1, d->make, until))
			return true;
	}
	return false;
}

/* The number of a state's word, or NO_WORD; -ENOMEM. */
static int64_t word_of(struct kl_supply *s, uint32_t state)
{
	uint64_t word;
	int64_t n;

	if (state < s->nstates && s->word_of[state])
		return s->word_of[state] - 1;
	if (!kl_sim_word(s->sim, state, &word))
		return NO_WORD;
	n = kl_intern(&s->words, &word, 1);
	if (n < 0 || kl_grow(s->word_of, s->cstates, (size_t)state + 1))
		return -ENOMEM;
	if (s->nstates < s->cstates)
		memset(s->word_of + s->nstates, 0, (s->cstates - s->nstates) * sizeof(*s->word_of));
	s->nstates = s->cstates;
	s->word_of[state] = n + 1;
	return n;
}

void kl_supply_forget(struct kl_supply *s)
{
	if (s && s->nstates)
		memset(s->word_of, 0, s->nstates * sizeof(*s->word_of));
}

int kl_frontier_doomed(struct frontier *f, const uint64_t *rec, uint32_t before)
{
	struct kl_supply *s = f->sys->supply;
	const int64_t at = word_of(s, kl_rec_state(&f->c, rec)), left = word_of(s, before);
	uint32_t n = 0, i;
	bool doomed = false, sure;

	if (at < 0 || left < 0)
		return -ENOMEM;
	if (at == NO_WORD)
		return 0;
	sure = add_up(f, rec, &n);
	if (sure && left < s->nwords && left != at)
		doomed = too_few_later(f, left);
	for (i = 0; i < n; i++) {
		struct demand *d = &s->demand[s->touched[i]];

		if (sure && !doomed)
			doomed = too_few(f, s->touched[i], need_of(d),
					 d->make + (s->touched[i] == at), d->last);
		*d = (struct demand){ 0 };
	}
	return doomed;
}

uint64_t kl_frontier_debt(struct frontier *f, const uint64_t *rec)
{
	struct kl_supply *s = f->sys->supply;
	const int64_t at = word_of(s, kl_rec_state(&f->c, rec));
	uint32_t n = 0, i;
	uint64_t debt = 0;

	add_up(f, rec, &n);
	for (i = 0; i < n; i++) {
		struct demand *d = &s->demand[s->touched[i]];
		const uint32_t need = need_of(d), have = d->make + (s->touched[i] == at);

		debt += need > have ? need - have : 0;
		*d = (struct demand){ 0 };
	}
	return debt;
}
