// SPDX-License-Identifier: GPL-2.0
/*
 * Pruning for states of one word: can open operations still get the words that they need?
 *
 * The results of a successful compare-and-set and of a fetch-and-add show the word before and
 * after.  Such an operation uses up the word that it replaces, so some operation must have made
 * the word for it alone.  For a word w and a return t let M be the number of operations that make w
 * and are called before t, and N the number of operations that need w and have returned by t.
 * A blind write over w wastes a w that was made.  At most the minimum of M - N over all later t may
 * be wasted.  And an operation that reads w needs an operation that makes w and is called before
 * the read returns.
 *
 * A configuration that breaks this cannot go on.  Without this rule that would show only at
 * a return, after it has led to many other configurations.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/general/frontier_internal.h"

/* The effect of a signature: numbers of the words before and after, or NO_WORD. */
struct effect {
	uint32_t need, make;	/* equal for an operation that only reads */
	bool known, wild;	/* wild: it may make any word */
};

#define NO_WORD UINT32_MAX

/*
 * Lists of each word's events: those of word w are ev[at[w]] to ev[at[w + 1] - 1], and the first
 * one that is not past is ev[next[w]].
 */
struct list {
	uint32_t *at, *ev, *next;
	/*
	 * For each event, a minimum over it and the word's later ones.  RETURNS: how often the word
	 * may have been wasted.  LOOKS: the return event.
	 */
	int32_t *low;
};

/*
 * MAKES, NEEDS, LOOKS: calls of operations that make a word, that need and replace it, and that
 * read it.  RETURNS: returns of operations that need and replace it.
 */
enum { MAKES, NEEDS, RETURNS, LOOKS, LISTS };

/* The open operations of a configuration that concern one word. */
struct demand {
	uint32_t need, have;	/* numbers of operations that replace it, and that make it */
	bool look;		/* an operation reads it */
};

struct kl_supply {
	struct kl_stepper *sim;
	struct kl_intern words;
	struct effect *effect;	/* one for each signature */
	struct list list[LISTS];
	struct demand *demand;	/* of each word */
	uint32_t *touched;	/* words whose demand is not 0 */
	uint32_t nwords, nwild;	/* numbers of words, and of operations that may make any word */
	uint32_t first;		/* the word of the first state, or NO_WORD */
	/* For each word, masks of the open operations that make it and that need it. */
	uint64_t *masks;
	size_t masklen;
	/* The number of each state's word + 1; 0: not known yet. */
	uint32_t *word_of;
	size_t nstates, cstates;
};

#define MOST_OPSIGS	4	/* maximal number of the history's signatures for each item */

struct seen {
	struct kl_supply *s;
	struct effect *e;
	unsigned int outcomes;
};

static int64_t number(struct kl_supply *s, struct kl_val v)
{
	return v.tag == KL_WORD ? kl_intern(&s->words, &v.v, 1) : NO_WORD;
}

/* Add an outcome in raw mode to the effect.  The word before is the unknown number 0. */
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
	/* With several outcomes the operation needs no particular word. */
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
	const struct kl_val any = kl_special(KL_ANY);
	struct effect *e = &s->effect[it->sig];
	struct seen seen = { s, e, 0 };
	int ret;

	*e = (struct effect){ .need = NO_WORD, .make = NO_WORD };
	kl_run_set_raw(s->sim->run, true);
	kl_stepper_bound(s->sim);
	ret = kl_run_apply(s->sim->run, &any, 1, it->method, kl_item_args(p, it),
			   kl_item_res(p, it), on_outcome, &seen);
	kl_run_set_raw(s->sim->run, false);
	s->sim->looks += kl_run_work(s->sim->run);
	/* If the interpreter gives up on the unknown state, nothing is known. */
	e->wild |= ret || !seen.outcomes;
	e->known = true;
	return ret == -ENOMEM ? ret : 0;
}

/* Return: the word under which an item is listed in @list, or NO_WORD. */
static uint32_t list_of(const struct kl_supply *s, int list, const struct kl_item *it)
{
	const struct effect *e = &s->effect[it->sig];

	switch (list) {
	case MAKES:
		return e->wild || e->make == e->need ? NO_WORD : e->make;
	case LOOKS:
		return it->ret_ev == KL_NO_EVENT || e->make != e->need ? NO_WORD : e->need;
	default:
		return e->make == e->need ? NO_WORD : e->need;
	}
}

static bool is_listed(int list, const struct kl_event *e)
{
	return e->kind == (list == RETURNS ? KL_EV_RET : KL_EV_CALL);
}

static int make_list(struct kl_supply *s, int list)
{
	const struct kl_part *p = s->sim->p;
	struct list *l = &s->list[list];
	uint32_t i, w;

	l->at = calloc((size_t)s->nwords + 3, sizeof(*l->at));
	l->next = malloc(((size_t)s->nwords + 1) * sizeof(*l->next));
	l->ev = malloc(((size_t)p->nitems + 1) * sizeof(*l->ev));
	l->low = malloc(((size_t)p->nitems + 1) * sizeof(*l->low));
	if (!l->at || !l->next || !l->ev || !l->low)
		return -ENOMEM;
	for (i = 0; i < p->nevents; i++) {
		w = is_listed(list, &p->events[i]) ?
		    list_of(s, list, &p->items[p->events[i].item]) : NO_WORD;
		if (w != NO_WORD)
			l->at[w + 2]++;
	}
	for (w = 2; w < s->nwords + 3; w++)
		l->at[w] += l->at[w - 1];
	for (i = 0; i < p->nevents; i++) {
		w = is_listed(list, &p->events[i]) ?
		    list_of(s, list, &p->items[p->events[i].item]) : NO_WORD;
		if (w == NO_WORD)
			continue;
		l->low[l->at[w + 1]] = p->items[p->events[i].item].ret_ev;
		l->ev[l->at[w + 1]++] = i;
	}
	memcpy(l->next, l->at, ((size_t)s->nwords + 1) * sizeof(*l->next));
	return 0;
}

/* Fill list.low of RETURNS and LOOKS. */
static void find_least(struct kl_supply *s)
{
	const struct list *m = &s->list[MAKES], *r = &s->list[RETURNS], *k = &s->list[LOOKS];
	uint32_t w, i, made;

	for (w = 0; w < s->nwords; w++) {
		for (i = r->at[w], made = m->at[w]; i < r->at[w + 1]; i++) {
			while (made < m->at[w + 1] && m->ev[made] < r->ev[i])
				made++;
			r->low[i] = (int32_t)(made - m->at[w]) - (int32_t)(i + 1 - r->at[w]) +
				    (s->first == w || s->first == NO_WORD) + (int32_t)s->nwild;
		}
		for (i = r->at[w + 1]; i-- > r->at[w]; )
			if (i + 1 < r->at[w + 1] && r->low[i + 1] < r->low[i])
				r->low[i] = r->low[i + 1];
		for (i = k->at[w + 1]; i-- > k->at[w]; )
			if (i + 1 < k->at[w + 1] && k->low[i + 1] < k->low[i])
				k->low[i] = k->low[i + 1];
	}
}

static int make_lists(struct kl_supply *s)
{
	const struct kl_part *p = s->sim->p;
	uint64_t word;
	int64_t first = NO_WORD;
	uint32_t i;
	int list;

	if (kl_stepper_word(s->sim, s->sim->first, &word))
		first = kl_intern(&s->words, &word, 1);
	if (first < 0)
		return first;
	s->first = first;
	s->nwords = s->words.n;
	s->masklen = p->nslots / 64 + 1;
	s->masks = calloc(2 * s->masklen * s->nwords + 1, sizeof(*s->masks));
	s->demand = calloc((size_t)s->nwords + 1, sizeof(*s->demand));
	s->touched = malloc((2 * (size_t)p->nslots + 1) * sizeof(*s->touched));
	if (!s->masks || !s->demand || !s->touched)
		return -ENOMEM;
	for (list = 0; list < LISTS; list++)
		if (make_list(s, list))
			return -ENOMEM;
	for (i = 0; i < p->nitems; i++)
		s->nwild += s->effect[p->items[i].sig].wild;
	find_least(s);
	return s->list[MAKES].at[s->nwords] != 0;
}

int kl_supply_new(struct kl_stepper *sim, struct kl_supply **out)
{
	const struct kl_part *p = sim->p;
	struct kl_supply *s;
	uint32_t i;
	size_t len;
	int ret = 0;

	*out = NULL;
	/* For a small partition of a history with many signatures, the rule costs too much. */
	if (!sim->fixed || p->ngaps || p->h->nopsigs / MOST_OPSIGS > p->nitems ||
	    !kl_run_init(sim->run, false, &len) || len != 1)
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->sim = sim;
	s->effect = calloc(p->h->nopsigs + 1, sizeof(*s->effect));
	if (!s->effect)
		ret = -ENOMEM;
	for (i = 0; i < p->nitems && !ret; i++)
		if (!s->effect[p->items[i].sig].known)
			ret = look_at(s, &p->items[i]);
	if (!ret)
		ret = make_lists(s);
	if (ret > 0)
		*out = s;
	else
		kl_supply_free(s);
	return ret < 0 ? ret : 0;
}

void kl_supply_free(struct kl_supply *s)
{
	int list;

	if (!s)
		return;
	for (list = 0; list < LISTS; list++) {
		free(s->list[list].at);
		free(s->list[list].ev);
		free(s->list[list].next);
		free(s->list[list].low);
	}
	kl_intern_free(&s->words);
	free(s->effect);
	free(s->masks);
	free(s->demand);
	free(s->touched);
	free(s->word_of);
	free(s);
}

/* Return: the index in l->ev of the first event of word @w from the event @after on. */
static uint32_t next_of(struct list *l, uint32_t w, uint64_t after)
{
	uint32_t *next = &l->next[w];

	while (*next < l->at[w + 1] && l->ev[*next] < after)
		(*next)++;
	return *next;
}

static uint64_t *makers(struct kl_supply *s, uint32_t w)
{
	return s->masks + 2 * s->masklen * w;
}

static uint64_t *needers(struct kl_supply *s, uint32_t w)
{
	return makers(s, w) + s->masklen;
}

void kl_supply_open(struct kl_supply *s, uint32_t sig, uint32_t slot, bool open)
{
	const struct effect *e = &s->effect[sig];
	const uint64_t bit = 1ull << slot % 64;

	if (e->make == e->need)
		return;
	if (e->make != NO_WORD)
		makers(s, e->make)[slot / 64] = (makers(s, e->make)[slot / 64] & ~bit) |
						(open ? bit : 0);
	if (e->need != NO_WORD)
		needers(s, e->need)[slot / 64] = (needers(s, e->need)[slot / 64] & ~bit) |
						(open ? bit : 0);
}

void kl_supply_back(struct frontier *f)
{
	struct kl_supply *s = f->sys->supply;
	uint32_t i;
	int list;

	if (!s)
		return;
	for (list = 0; list < LISTS; list++)
		memcpy(s->list[list].next, s->list[list].at, (size_t)s->nwords * sizeof(uint32_t));
	memset(s->masks, 0, 2 * s->masklen * s->nwords * sizeof(*s->masks));
	for (i = 0; i < f->nopen; i++)
		kl_supply_open(s, f->open[i].sig, f->open[i].slot, true);
}

/* Return: the number of a state's word, NO_WORD, or -ENOMEM. */
static int64_t word_of(struct kl_supply *s, uint32_t state)
{
	uint64_t word;
	int64_t n;

	if (state < s->nstates && s->word_of[state])
		return s->word_of[state] - 1;
	if (!kl_stepper_word(s->sim, state, &word))
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

/* Return: the number of operations in @mask that have not taken effect in @rec. */
static int32_t untaken(const struct kl_supply *s, const uint64_t *mask, const uint64_t *rec)
{
	int32_t n = 0;
	size_t i;

	for (i = 0; i < s->masklen; i++)
		n += __builtin_popcountll(mask[i] & ~rec[i]);
	return n;
}

/* Return: true if @w was wasted too often.  @there: it is the word of the state. */
static bool too_few(const struct frontier *f, const uint64_t *rec, uint32_t w, bool there)
{
	struct kl_supply *s = f->sys->supply;
	struct list *m = &s->list[MAKES], *n = &s->list[NEEDS], *r = &s->list[RETURNS];
	const uint32_t ret = next_of(r, w, f->now);
	int32_t made, used;

	if (ret == r->at[w + 1])
		return false;
	made = next_of(m, w, (uint64_t)f->now + 1) - m->at[w] - untaken(s, makers(s, w), rec);
	used = next_of(n, w, (uint64_t)f->now + 1) - n->at[w] - untaken(s, needers(s, w), rec);
	return made + (s->first == w) - used - there > r->low[ret];
}

/*
 * Return: true if a read of @w, which is not the word of the state, returns before @w can be made.
 */
static bool too_late(const struct frontier *f, const uint64_t *rec, uint32_t w)
{
	struct kl_supply *s = f->sys->supply;
	struct list *m = &s->list[MAKES], *k = &s->list[LOOKS];
	const uint32_t look = next_of(k, w, (uint64_t)f->now + 1);
	uint32_t made;

	if (look == k->at[w + 1] || s->nwild || untaken(s, makers(s, w), rec))
		return false;
	made = next_of(m, w, (uint64_t)f->now + 1);
	return made == m->at[w + 1] || m->ev[made] > (uint32_t)k->low[look];
}

int kl_frontier_doomed(struct frontier *f, const uint64_t *rec, uint32_t before, uint32_t sig)
{
	struct kl_supply *s = f->sys->supply;
	const int64_t at = word_of(s, kl_rec_state(&f->c, rec)), left = word_of(s, before);
	const struct effect *e = &s->effect[sig];

	if (at < 0 || left < 0)
		return -ENOMEM;
	if (left >= s->nwords || e->make == e->need)
		return 0;
	if (e->need == NO_WORD && too_few(f, rec, left, at == left))
		return 1;
	return at != left && too_late(f, rec, left);
}

static struct demand *touch(struct kl_supply *s, uint32_t w, uint32_t *n)
{
	struct demand *d = &s->demand[w];

	if (!d->need && !d->have && !d->look)
		s->touched[(*n)++] = w;
	return d;
}

uint64_t kl_frontier_debt(struct frontier *f, const uint64_t *rec)
{
	struct kl_supply *s = f->sys->supply;
	const int64_t at = word_of(s, kl_rec_state(&f->c, rec));
	uint32_t n = 0, i, need;
	uint64_t debt = 0;

	for (i = 0; i < f->nopen; i++) {
		const struct frontier_open *o = &f->open[i];
		const struct effect *e = &s->effect[o->sig];

		if (kl_rec_has(rec, o->slot))
			continue;
		if (e->need != NO_WORD && o->ret_ev != KL_NO_EVENT) {
			if (e->make == e->need)
				touch(s, e->need, &n)->look = true;
			else
				touch(s, e->need, &n)->need++;
		}
		if (e->make != NO_WORD && e->make != e->need)
			touch(s, e->make, &n)->have++;
	}
	for (i = 0; i < n; i++) {
		struct demand *d = &s->demand[s->touched[i]];

		need = d->need ? d->need : d->look;
		d->have += s->touched[i] == at;
		debt += need > d->have ? need - d->have : 0;
		*d = (struct demand){ 0 };
	}
	return debt;
}
