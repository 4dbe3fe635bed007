// SPDX-License-Identifier: GPL-2.0
/*
 * Sets, whole: each key by itself, but no partition is made for it.
 *
 * Of a key there is one bit, in or out.  What changes it goes up (added) or down
 * (removed); all else sees it in or out.  When nothing of the key is open the bit is
 * known, so its operations fall into groups that do not overlap; nearly all have one
 * operation, and cost one look at a table.
 *
 * In a group the bit is changed as late as possible: when one returns that is not
 * done the fewest changes are made after which it is, one or two, and of those that
 * could make a change the one that returns first does.  If there is an order this
 * finds one: let L be what it has done at some time and M what that order has.  M has
 * all of L's changes, as many or more, and what it has more is open, for what returned
 * is done in both; so from L the rest can be done at once, in M's sequence, and all
 * that saw a bit on the way sees it still.  Of two that make the same change and are
 * open at once it does no harm to let the one go first that returns first.  What never
 * returned may make a change if nothing else can, and is never made to.
 *
 * The clock is taken to have no error, and where times are equal a thread's return comes
 * before its next call, see timeline.c for `strict': a yes is a yes; a no is only one if
 * a general engine says so of the key, too.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "check/mono/mono.h"
#include "check/mono/words.h"

#define BLOCK		128	/* operations whose keys are looked up together */
#define WORK		64	/* looks for each operation, */
#define FIRST_WORK	1000000	/* and some in any case */

enum what { SEES_OUT, SEES_IN, DOWN, UP, FREE };

#define OUT	1u		/* sets of bits; 0: there is no way */
#define IN	2u
#define FROM_IN	2		/* shift: the bit now if it was in at first, beside that if it was out */

struct key {
	uint64_t end;		/* last return of the group */
	uint32_t last;		/* its last item; the first one is next[last], if it has several */
	uint8_t what, bits;	/* of its only item; before the group */
	bool used, several;
};

struct sim_op {
	uint64_t call, ret;
	uint32_t item, thread;
	uint8_t what;
	bool done;
};

struct event {
	uint64_t time;
	uint32_t op;
	uint8_t turn;		/* at equal times */
};

/* When each took effect, for a witness. */
struct placed {
	uint64_t time;
	uint32_t item;
	uint8_t turn;
};

struct set {
	const struct kl_slice *s;
	const struct kl_limits *lim;
	struct mono_words words;
	uint8_t *roles;
	struct key *keys;
	uint32_t *next;		/* of an item: what it does << 28, the next one of its group */
	/* The group at hand. */
	struct sim_op *op;
	struct event *ev;
	uint32_t *open;
	uint32_t *pending[2];	/* that go down, that go up and were called */
	size_t cop, cev, copen, nop, nev, nopen, cpending[2], npending[2];
	bool bit;
	struct placed *placed;	/* NULL: no witness is wanted */
	size_t nplaced;
	uint32_t bad;		/* number of the key that is wrong */
	uint32_t bad_item;	/* the operation that does not fit, */
	const char *bad_why;	/* and why not */
	uint8_t *first, one;	/* the first bits of each key; of all if @many is 0 */
	uint32_t many;
	uint64_t work, most_work;	/* looks at operations of groups */
};

static inline uint32_t index_of(const struct set *t, uint32_t item)
{
	return t->s->ops ? t->s->ops[item] : item;
}

/* What an operation does; -1 if that is not known. */
static inline int what_of(enum kl_role role, struct kl_val res, bool pending)
{
	static const uint8_t does[][2] = {
		[KL_ROLE_ADD] = { SEES_IN, UP }, [KL_ROLE_REMOVE] = { SEES_OUT, DOWN },
		[KL_ROLE_PEEK] = { SEES_OUT, SEES_IN },
	};

	if (pending)
		return role == KL_ROLE_PEEK ? FREE : does[role][1];
	if (res.tag == KL_WORD)
		return does[role][!!res.v];
	return role == KL_ROLE_PEEK && res.tag == KL_ANY ? FREE : -1;
}

/* The bit after a group of one. */
static inline unsigned int after(unsigned int bits, unsigned int what)
{
	static const uint8_t next[3][5] = {
		[OUT] = { OUT, 0, 0, IN, OUT }, [IN] = { 0, IN, OUT, 0, IN },
	};

	return next[bits & (OUT | IN)][what] | next[bits >> FROM_IN][what] << FROM_IN;
}

static inline void place(struct set *t, uint32_t item, uint64_t time, unsigned int turn)
{
	if (t->placed)
		t->placed[t->nplaced++] = (struct placed){ time, item, turn };
}

/* Events come nearly in order.  False: not so nearly. */
static bool sort_events(struct set *t)
{
	struct event *ev = t->ev;
	size_t i, at;

	for (i = 1; i < t->nev && t->work < t->most_work; i++) {
		const struct event e = ev[i];

		for (at = i; at && (ev[at - 1].time > e.time ||
				    (ev[at - 1].time == e.time && ev[at - 1].turn > e.turn)); at--)
			ev[at] = ev[at - 1];
		ev[at] = e;
		t->work += i - at;
	}
	return t->work < t->most_work;
}

enum { FIRST_RET, CALL, RET };	/* turns; the first of a thread that is called then, too */

static bool called_then(struct set *t, const struct sim_op *o)
{
	uint32_t i;

	if (o->ret == KL_TIME_MAX)
		return false;
	/* By call: those at the time of the return. */
	for (i = o - t->op + 1; i < t->nop && t->op[i].call <= o->ret; i++, t->work++)
		if (t->op[i].call == o->ret && t->op[i].thread == o->thread && o->call < o->ret)
			return true;
	return false;
}

/* Lay out the group of @k, whose operations come by call.  0, -EAGAIN, -ENOMEM. */
static int lay_out(struct set *t, const struct key *k)
{
	const struct kl_history *h = t->s->h;
	uint32_t item = t->next[k->last] & MONO_VALUE, i;

	for (t->nop = t->nev = 0; ; item = t->next[item] & MONO_VALUE) {
		const struct kl_op *op = &h->ops[index_of(t, item)];

		if (kl_grow(t->op, t->cop, t->nop + 1))
			return -ENOMEM;
		t->op[t->nop++] = (struct sim_op){
			.call = op->call, .ret = op->ret, .item = item, .thread = op->thread,
			.what = t->next[item] >> 28,
		};
		if (item == k->last)
			break;
	}
	if (kl_grow(t->ev, t->cev, 2 * t->nop) || kl_grow(t->open, t->copen, t->nop) ||
	    kl_grow(t->pending[0], t->cpending[0], t->nop) ||
	    kl_grow(t->pending[1], t->cpending[1], t->nop))
		return -ENOMEM;
	for (i = 0; i < t->nop && t->work < t->most_work; i++) {
		const struct sim_op *o = &t->op[i];
		const bool tied = called_then(t, o);

		t->ev[t->nev++] = (struct event){ o->call, i, CALL };
		if (o->ret != KL_TIME_MAX)
			t->ev[t->nev++] = (struct event){ o->ret, i, tied ? FIRST_RET : RET };
	}
	return sort_events(t) ? 0 : -EAGAIN;
}

static void finish(struct set *t, struct sim_op *o, const struct event *e)
{
	o->done = true;
	place(t, o->item, e->time, e->turn);
}

/*
 * Of the open ones that could change the bit the one that returns first; if there is
 * none one that never does, or NULL.
 */
static struct sim_op *earliest(struct set *t)
{
	const uint8_t what = t->bit ? DOWN : UP;
	struct sim_op *best = NULL;
	uint32_t i;

	for (i = 0; i < t->nopen; i++) {
		struct sim_op *o = &t->op[t->open[i]];

		if (!o->done && o->what == what && (!best || o->ret < best->ret))
			best = o;
	}
	t->work += t->nopen;
	if (!best && t->npending[!t->bit])
		best = &t->op[t->pending[!t->bit][--t->npending[!t->bit]]];
	return best;
}

/* @o changes the bit; all that wait to see it do. */
static void change(struct set *t, struct sim_op *o, const struct event *e)
{
	uint32_t i;

	finish(t, o, e);
	t->bit = !t->bit;
	for (i = 0; i < t->nopen; i++) {
		o = &t->op[t->open[i]];
		if (!o->done && o->what == (t->bit ? SEES_IN : SEES_OUT))
			finish(t, o, e);
	}
	t->work += t->nopen;
}

/* It returns: make it done.  False: there is no way. */
static bool force(struct set *t, struct sim_op *o, const struct event *e)
{
	if (o->done)
		return true;
	if (o->what <= SEES_IN || t->bit != (o->what == DOWN)) {
		struct sim_op *other = earliest(t);

		if (!other)
			return false;
		change(t, other, e);
	}
	if (!o->done)
		change(t, o, e);
	return true;
}

static void leave(struct set *t, uint32_t op)
{
	uint32_t i;

	for (i = 0; t->open[i] != op; i++)
		;
	t->open[i] = t->open[--t->nopen];
}

/* The bit after the group that is laid out, from @from on. */
static unsigned int simulate(struct set *t, unsigned int from)
{
	uint32_t i;

	if (!from)
		return 0;
	t->bit = from == IN;
	t->nopen = t->npending[0] = t->npending[1] = 0;
	for (i = 0; i < t->nop; i++)
		t->op[i].done = false;
	for (i = 0; i < t->nev; i++) {
		const struct event *e = &t->ev[i];
		struct sim_op *o = &t->op[e->op];

		if (e->turn == CALL && o->ret == KL_TIME_MAX) {
			if (o->what != FREE)
				t->pending[o->what == UP][t->npending[o->what == UP]++] = e->op;
		} else if (e->turn == CALL) {
			t->open[t->nopen++] = e->op;
			if (o->what == FREE || o->what == (t->bit ? SEES_IN : SEES_OUT))
				finish(t, o, e);
		} else if (force(t, o, e)) {
			leave(t, e->op);
		} else {
			t->bad_item = o->item;
			t->bad_why = t->bit ? "was in, and nothing could remove it in time" :
				     "was out, and nothing could add it in time";
			return 0;
		}
	}
	return t->bit ? IN : OUT;
}

/* 1, 0 if there is no way, -EAGAIN if this is too much, -ENOMEM. */
static int end_group(struct set *t, struct key *k)
{
	const unsigned int out = k->bits & (OUT | IN), in = k->bits >> FROM_IN;
	int ret;

	if (!k->several) {
		if (k->end == KL_TIME_MAX)
			return 1;
		t->bad_item = k->last;
		t->bad_why = out == OUT || (!out && in == OUT) ? "was out" : "was in";
		k->bits = after(k->bits, k->what);
		if (t->placed)
			place(t, k->last, t->s->h->ops[index_of(t, k->last)].call, CALL);
		return k->bits != 0;
	}
	ret = lay_out(t, k);
	if (ret)
		return ret;
	k->bits = simulate(t, out);
	k->bits |= (in == out ? k->bits : simulate(t, in)) << FROM_IN;
	return t->work >= t->most_work ? -EAGAIN : k->bits != 0;
}

static inline int add_op(struct set *t, uint32_t item, const struct kl_op *op, uint32_t number,
			 uint8_t what)
{
	struct key *k = &t->keys[number];
	int ret;

	if (!k->used) {
		k->used = true;
	} else if (op->call <= k->end) {
		/* After the last the first, which was alone after itself. */
		t->next[item] = (uint32_t)what << 28 | (t->next[k->last] & MONO_VALUE);
		t->next[k->last] = (t->next[k->last] & ~MONO_VALUE) | item;
		k->last = item;
		k->several = true;
		k->end = op->ret > k->end ? op->ret : k->end;
		return 1;
	} else {
		ret = end_group(t, k);
		if (ret <= 0) {
			t->bad = number;
			return ret;
		}
	}
	t->next[item] = (uint32_t)what << 28 | item;
	k->end = op->ret;
	k->last = item;
	k->several = false;
	k->what = what;
	return 1;
}

/* Keys are looked up together, so that they do not wait for memory one by one. */
static int add_block(struct set *t, uint32_t from, uint32_t n)
{
	const struct kl_history *h = t->s->h;
	uint32_t number[BLOCK], i;
	uint64_t key[BLOCK];
	int what[BLOCK], ret = 1;

	for (i = 0; i < n; i++) {
		const struct kl_op *op = &h->ops[index_of(t, from + i)];
		const struct kl_shape *s = &h->shapes[op->shape];
		const struct kl_val *v = &h->vals[s->vals];

		if (t->roles[s->method] == KL_ROLE_OTHER || v->tag != KL_WORD)
			return -EAGAIN;
		what[i] = what_of(t->roles[s->method], v[s->nargs], op->flags & KL_OP_PENDING);
		if (what[i] < 0)
			return -EAGAIN;
		key[i] = v->v;
		mono_words_soon(&t->words, key[i]);
	}
	for (i = 0; i < n; i++) {
		t->keys[t->words.n].bits = t->first[t->words.n & t->many];
		t->keys[t->words.n].used = false;
		if (mono_words_number(&t->words, key[i], &number[i]))
			return -ENOMEM;
		__builtin_prefetch(&t->keys[number[i]]);
	}
	for (i = 0; i < n && ret > 0; i++)
		ret = add_op(t, from + i, &h->ops[index_of(t, from + i)], number[i], what[i]);
	return ret;
}

static int sweep(struct set *t)
{
	uint32_t i, n;
	int ret = mono_words_init(&t->words, t->s->nops) ? -ENOMEM : 1;

	for (i = 0; i < t->s->nops && ret > 0; i += n) {
		n = t->s->nops - i < BLOCK ? t->s->nops - i : BLOCK;
		ret = add_block(t, i, n);
	}
	for (i = 0; i < t->words.n && ret > 0; i++) {
		t->bad = i;
		ret = end_group(t, &t->keys[i]);
	}
	return ret;
}

/*
 * For a witness one order has to be chosen: where the first bit is not known, one that
 * leads to the end.
 */
static int choose_first(struct set *t)
{
	uint32_t i;
	int ret = sweep(t);

	if (ret <= 0)
		return ret;
	t->first = malloc((size_t)t->words.n + 2);
	if (!t->first)
		return -ENOMEM;
	for (i = 0; i < t->words.n; i++)
		t->first[i] = t->keys[i].bits & (OUT | IN) ? OUT : IN << FROM_IN;
	t->first[i] = t->one;
	t->many = UINT32_MAX;
	mono_words_free(&t->words);
	return 1;
}

/* 1, 0, -EAGAIN or -ENOMEM. */
static int decide(struct set *t, bool witness)
{
	int ret = 1;

	t->first = &t->one;
	if (witness && t->one >> FROM_IN)
		ret = choose_first(t);
	if (ret > 0 && witness) {
		t->placed = kl_big_alloc(((size_t)t->s->nops + 1) * sizeof(*t->placed));
		if (!t->placed)
			ret = -ENOMEM;
	}
	return ret > 0 ? sweep(t) : ret;
}

/* The operations of the key that is wrong. */
static int list_bad(const struct set *t, struct kl_answer *a)
{
	const struct kl_history *h = t->s->h;
	const uint64_t key = t->words.word[t->bad];
	char op_text[80];
	uint32_t i;

	a->core = malloc(((size_t)t->s->nops + 1) * sizeof(*a->core));
	if (!a->core)
		return -ENOMEM;
	for (i = 0; i < t->s->nops; i++) {
		const uint32_t op = index_of(t, i);
		const struct kl_val *v = &h->vals[h->shapes[h->ops[op].shape].vals];

		/* What is not known may be this one. */
		if (v->tag != KL_WORD)
			return -EAGAIN;
		if (v->v == key)
			a->core[a->ncore++] = op;
	}
	kl_op_print(op_text, sizeof(op_text), h, &h->ops[index_of(t, t->bad_item)]);
	snprintf(a->reason, sizeof(a->reason), "%s: key %" PRIu64 " %s", op_text, key, t->bad_why);
	return 0;
}

/* The steps in order of time; 1, 0 if that is not the order of each thread, -ENOMEM. */
static int list_steps(struct set *t, struct kl_answer *a)
{
	struct kl_key *k = malloc(2 * (t->nplaced + 1) * sizeof(*k));
	struct mono m = { .s = t->s, .norder = t->nplaced };
	size_t i;
	int ret = -ENOMEM;

	a->steps = calloc(t->nplaced + 1, sizeof(*a->steps));
	m.order = malloc((t->nplaced + 1) * sizeof(*m.order));
	if (!k || !a->steps || !m.order)
		goto out;
	/* Stable: first by turn. */
	for (i = 0; i < t->nplaced; i++)
		k[i] = (struct kl_key){ .key = t->placed[i].turn, .val = i };
	kl_sort_keys(k, t->nplaced, k + t->nplaced);
	for (i = 0; i < t->nplaced; i++)
		k[i].key = t->placed[k[i].val].time;
	kl_sort_keys(k, t->nplaced, k + t->nplaced);
	for (i = 0; i < t->nplaced; i++)
		a->steps[i].item = m.order[i] = t->placed[k[i].val].item;
	a->nsteps = t->nplaced;
	ret = mono_keeps_lines(&m);
out:
	free(k);
	free(m.order);
	return ret;
}

/*
 * Does the order of a thread say more than times do?  Then orders of the keys may
 * each be right and not fit together, so that one of all has to be made and looked at.
 *
 * Return: 1 or 0, -ENOMEM.
 */
static int lines_matter(const struct set *t)
{
	const struct kl_history *h = t->s->h;
	uint64_t *last;
	uint32_t i;
	int ret = 0;

	if (h->error)
		return 1;
	last = calloc(h->nthreads + 1, sizeof(*last));
	if (!last)
		return -ENOMEM;
	for (i = 0; i < t->s->nops && !ret; i++) {
		const struct kl_op *op = &h->ops[index_of(t, i)];
		uint64_t *l = &last[op->thread];

		ret = *l && op->call < *l;
		*l = op->ret == KL_TIME_MAX || op->ret + 1 < *l ? *l : op->ret + 1;
	}
	free(last);
	return ret;
}

static int answer(struct set *t, int found, struct kl_answer *a)
{
	if (!found) {
		found = list_bad(t, a);
		if (!found)
			return mono_confirm(t->s, t->lim, a);
		kl_answer_free(a);
	}
	if (found == -EAGAIN) {
		snprintf(a->reason, sizeof(a->reason),
			 "log-linear: a result that is not known, or more at once than it bears");
		return 0;
	}
	if (found < 0)
		return found;
	found = t->placed ? list_steps(t, a) : 1;
	if (found > 0)
		a->verdict = KL_LINEARIZABLE;
	else
		kl_answer_free(a);
	return found < 0 ? found : 0;
}

int mono_set(const struct kl_slice *s, const struct kl_limits *lim, const struct kl_container *c,
	     struct kl_answer *a)
{
	const size_t n = (size_t)s->nops + 1;
	struct set t = {
		.s = s, .lim = lim, .most_work = WORK * (uint64_t)s->nops + FIRST_WORK,
		.one = c->init && s->h->fresh ? OUT : OUT | IN << FROM_IN,
	};
	int ret = -ENOMEM;
	size_t i;

	t.roles = calloc(s->h->nmethods + 1, sizeof(*t.roles));
	t.keys = kl_big_alloc(n * sizeof(*t.keys));
	t.next = kl_big_alloc(n * sizeof(*t.next));
	if (!t.roles || !t.keys || !t.next)
		goto out;
	for (i = 0; i < s->h->nmethods; i++)
		t.roles[i] = s->methods[i] < 0 ? KL_ROLE_OTHER : kl_spec_role(s->spec, s->methods[i]);
	ret = lim->no_witness ? lines_matter(&t) : 1;
	if (ret >= 0)
		ret = answer(&t, decide(&t, ret), a);
out:
	mono_words_free(&t.words);
	if (t.first != &t.one)
		free(t.first);
	free(t.roles);
	free(t.keys);
	free(t.next);
	free(t.op);
	free(t.ev);
	free(t.open);
	free(t.pending[0]);
	free(t.pending[1]);
	free(t.placed);
	return ret;
}
