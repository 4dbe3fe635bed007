// SPDX-License-Identifier: GPL-2.0
/*
 * Histories in which operations were lost.  Between the two ends of a gap all is possible,
 * and behind it the state is not known.  The gap may begin at the first and end at the last
 * moment at which it can: what comes to be inside of it need no longer be explained, the
 * beginning of an order is one, and so is its end, from the state then reached.  So the
 * operations that cannot have taken effect in a gap fall into segments that have nothing to
 * do with each other; those that can do so in their segment if that helps.
 *
 * Which ones do is a guess: additions of what is seen there, and removals.  When a segment
 * has no order the guess is changed where it has to do with that.  As always a yes comes
 * with an order of all, which is held against the times, and what is wrong has to be so for
 * a general engine too, with the gaps.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "check/engines.h"
#include "check/gaps.h"
#include "check/loglinear/loglinear.h"

#define TRIES	32	/* guesses for a segment */
#define WORK	(100000 * KL_CONFIG_LOOKS)	/* looks of another engine for it, */
#define EACH	(100 * KL_CONFIG_LOOKS)	/* and more for each operation placed */

enum {
	USED	= 1,	/* in the order of a segment */
	IN	= 2,	/* in this segment */
	MAYBE	= 4,	/* it need not be */
	CHANGED	= 8,	/* the guess was */
};

struct gapped {
	const struct kl_slice *s;
	const struct kl_limits *lim;
	enum kl_container_kind kind;
	struct kl_gap *gaps;
	size_t ngaps;
	uint8_t *flags;		/* of each item */
	enum kl_role *roles;	/* of each method of the history */
	uint32_t *order;	/* items; from s->nops on the ends of gaps */
	uint32_t norder;
	uint32_t *part;		/* the orders of the segments, and where each ends */
	uint32_t npart, *ends;

	/* A segment. */
	struct kl_history h;	/* as all of it, but for the operations */
	uint32_t *item;		/* of each of these */
	uint32_t *some;		/* items that may be in it, in order of call */
	uint32_t nsome, next;	/* @next: the first that is called behind it */
	uint64_t *words;	/* a table of what is seen there, by what is there for certain */
	size_t mask;
};

static const struct kl_op *op_of(const struct gapped *g, uint32_t item)
{
	return &g->s->h->ops[g->s->ops ? g->s->ops[item] : item];
}

static enum kl_role role_of(const struct gapped *g, const struct kl_op *op)
{
	return g->roles[kl_op_method(g->s->h, op)];
}

/* Its word; false if it has none. */
static bool word_of(const struct gapped *g, const struct kl_op *op, uint64_t *word)
{
	const struct kl_history *h = g->s->h;

	if (role_of(g, op) == KL_ROLE_OTHER || h->vals[h->shapes[op->shape].vals].tag != KL_WORD)
		return false;
	*word = h->vals[h->shapes[op->shape].vals].v;
	return true;
}

/* Can it be, whatever the state?  In a gap nothing else would tell that it cannot. */
static bool is_possible(const struct gapped *g, const struct kl_op *op)
{
	const struct kl_history *h = g->s->h;
	const enum kl_role role = role_of(g, op);

	if (role == KL_ROLE_OTHER)
		return false;
	switch (h->vals[h->shapes[op->shape].vals].tag) {
	case KL_WORD:
	case KL_ANY:
		return true;
	case KL_EMPTY:
		return role != KL_ROLE_ADD && g->kind != KL_CONTAINER_REGISTER;
	default:
		return false;
	}
}

/* Is it not known on which word it is? */
static bool is_unknown(const struct gapped *g, const struct kl_op *op)
{
	const struct kl_history *h = g->s->h;

	return role_of(g, op) != KL_ROLE_OTHER &&
	       h->vals[h->shapes[op->shape].vals].tag == KL_ANY;
}

/* Words are put in as they are, but for 0. */
static bool find_word(const struct gapped *g, uint64_t word, size_t *at)
{
	const uint64_t w = word + 1 ? word + 1 : 1;

	for (*at = kl_mix(w, 0) & g->mask; g->words[*at]; *at = (*at + 1) & g->mask)
		if (g->words[*at] == w)
			return true;
	return false;
}

static void put_word(struct gapped *g, uint64_t word)
{
	size_t at;

	if (!find_word(g, word, &at))
		g->words[at] = word + 1 ? word + 1 : 1;
}

/* No words, and room for so many. */
static void clear_words(struct gapped *g, uint32_t n)
{
	for (g->mask = 64; g->mask < 2 * (size_t)n; g->mask *= 2)
		;
	memset(g->words, 0, g->mask * sizeof(*g->words));
	g->mask--;
}

/* List those that may be in the segment behind gap @k: all that is in no gap as a whole. */
static void list_some(struct gapped *g, size_t k)
{
	const uint64_t from = k < g->ngaps ? g->gaps[k].from : KL_TIME_MAX;
	uint32_t i, n = 0;

	while (g->next < g->s->nops && op_of(g, g->next)->call < from)
		g->some[g->nsome++] = g->next++;
	for (i = 0; i < g->nsome; i++)
		if (!k || op_of(g, g->some[i])->ret > g->gaps[k - 1].to)
			g->some[n++] = g->some[i];
	g->nsome = n;
}

/* Which operations are in that segment, for certain or perhaps. */
static void choose(struct gapped *g, size_t k)
{
	const uint64_t error = g->s->h->error;
	uint64_t word;
	uint32_t n;
	size_t at;

	list_some(g, k);
	clear_words(g, g->nsome);
	for (n = 0; n < g->nsome; n++) {
		const uint32_t i = g->some[n];
		const struct kl_op *op = op_of(g, i);
		/* What never returns is in the last one. */
		const bool before = k == g->ngaps ||
				    kl_time_add(op->ret, error) < g->gaps[k].from;
		const bool after = !k || op->call > kl_time_add(g->gaps[k - 1].to, error);

		g->flags[i] &= USED;
		if (g->flags[i])
			continue;
		g->flags[i] = before && after ? IN : MAYBE;
		if (g->flags[i] == IN && word_of(g, op, &word))
			put_word(g, word);
	}
	for (n = 0; n < g->nsome; n++) {
		const uint32_t i = g->some[n];
		const enum kl_role role = role_of(g, op_of(g, i));

		if ((g->flags[i] & MAYBE) && (role == KL_ROLE_ADD || role == KL_ROLE_REMOVE) &&
		    word_of(g, op_of(g, i), &word) && find_word(g, word, &at))
			g->flags[i] |= IN;
	}
}

/* Change the guess for an operation on a word of the core.  Was there one? */
static bool change(struct gapped *g, const struct kl_answer *a)
{
	uint64_t word, other;
	uint32_t i, n;
	size_t k;

	for (n = 0; n < g->nsome; n++) {
		i = g->some[n];
		if ((g->flags[i] & (MAYBE | CHANGED)) != MAYBE ||
		    role_of(g, op_of(g, i)) == KL_ROLE_PEEK ||
		    !word_of(g, op_of(g, i), &word))
			continue;
		for (k = 0; k < a->ncore; k++)
			if (word_of(g, &g->h.ops[a->core[k]], &other) && word == other)
				break;
		if (k == a->ncore)
			continue;
		g->flags[i] = (g->flags[i] ^ IN) | CHANGED;
		return true;
	}
	return false;
}

/*
 * Nothing is known of what is wrong: change the guess for one operation, then back and for
 * the next one.  @n: the next of g->some.
 */
static bool change_one(struct gapped *g, uint32_t *n)
{
	if (*n)
		g->flags[g->some[*n - 1]] ^= g->flags[g->some[*n - 1]] & CHANGED ? IN | CHANGED : 0;
	for (; *n < g->nsome; ++*n) {
		uint8_t *flags = &g->flags[g->some[*n]];

		if ((*flags & (MAYBE | CHANGED)) != MAYBE ||
		    role_of(g, op_of(g, g->some[*n])) == KL_ROLE_PEEK)
			continue;
		*flags = (*flags ^ IN) | CHANGED;
		++*n;
		return true;
	}
	return false;
}

/*
 * Does an operation that returned add or remove a word that is not known?  Its place in an
 * order may depend on every word: `enq 0; enq 1; deq -> ?; deq -> 1' has an order, and has
 * none without the operations on 0.  A register's write of any word hides only what was before.
 */
static bool needs_all_words(const struct gapped *g)
{
	uint32_t i;

	for (i = 0; i < g->s->nops; i++) {
		const struct kl_op *op = op_of(g, i);
		const enum kl_role role = role_of(g, op);

		if (!(op->flags & KL_OP_PENDING) && is_unknown(g, op) &&
		    (role == KL_ROLE_ADD || role == KL_ROLE_REMOVE))
			return g->kind != KL_CONTAINER_REGISTER;
	}
	return false;
}

/*
 * All operations on the words of a segment's core, wherever they are, and those of it that
 * found it empty: take all others out of an order of the whole, and it is one.  What may be
 * on any word, as its argument or result is not known, stays; if it must have taken effect,
 * all operations stay, and only the general engine tells whether they have an order.
 */
static int widen(struct gapped *g, struct kl_answer *a)
{
	uint32_t *core = malloc(((size_t)g->s->nops + 1) * sizeof(*core)), n = 0, i;
	const bool all = needs_all_words(g);
	uint64_t word;
	size_t k, at;

	if (!core)
		return -ENOMEM;
	clear_words(g, a->ncore);
	memset(g->flags, 0, g->s->nops);
	for (k = 0; k < a->ncore; k++) {
		g->flags[g->item[a->core[k]]] |= IN;
		if (word_of(g, &g->h.ops[a->core[k]], &word))
			put_word(g, word);
	}
	for (i = 0; i < g->s->nops; i++) {
		const struct kl_op *op = op_of(g, i);
		const bool has = word_of(g, op, &word);

		if (all || (has ? find_word(g, word, &at) :
			    (g->flags[i] & IN) || (op->flags & KL_OP_PENDING) || is_unknown(g, op)))
			core[n++] = g->s->ops ? g->s->ops[i] : i;
	}
	free(a->core);
	a->core = core;
	a->ncore = n;
	return 0;
}

static int add_order(struct gapped *g, const struct kl_answer *a)
{
	size_t i;

	for (i = 0; i < a->nsteps; i++) {
		const uint32_t item = g->item[a->steps[i].item];

		g->part[g->npart++] = item;
		g->flags[item] |= USED;
	}
	return 1;
}

/*
 * What was there first of all is no more than a guess of the monitors: others may find an
 * order of a segment.  Fills @a if so.
 */
static int ask_others(const struct kl_slice *s, const struct kl_limits *limits,
		      struct kl_answer *a)
{
	static const struct kl_engine *const engines[] = { &kl_fifo_engine, &kl_lifo_engine };
	struct kl_limits lim = *limits;
	struct kl_part part = { 0 };
	size_t i, k;
	int ret = kl_part_build(s->spec, s->h, s->methods, NULL, s->nops, s->object, false, &part);

	lim.work = WORK;
	lim.each = EACH;
	for (i = 0; !ret && i < sizeof(engines) / sizeof(*engines); i++) {
		struct kl_answer other = { .verdict = KL_UNKNOWN };

		ret = engines[i]->decide(&part, &lim, &other);
		if (ret || other.verdict != KL_LINEARIZABLE) {
			kl_answer_free(&other);
			continue;
		}
		for (k = 0; k < other.nsteps; k++)
			other.steps[k].item = part.items[other.steps[k].item].op;
		kl_answer_free(a);
		*a = other;
		break;
	}
	kl_part_free(&part);
	return ret == -EOVERFLOW ? 0 : ret;
}

/* Decide the segment behind gap @k.  1: it has an order; 0: @a says more; -ENOMEM. */
static int segment(struct gapped *g, size_t k, struct kl_answer *a)
{
	struct kl_limits lim = *g->lim;
	struct kl_slice s = *g->s;
	unsigned int tries;
	uint32_t i, one = 0;
	int ret;

	choose(g, k);
	lim.no_witness = false;
	s.h = &g->h;
	s.ops = NULL;
	s.ngaps = 0;
	g->h.fresh = !k && g->s->h->fresh;
	for (tries = 0; ; tries++) {
		for (i = 0, s.nops = 0; i < g->nsome; i++) {
			if (!(g->flags[g->some[i]] & IN))
				continue;
			g->item[s.nops] = g->some[i];
			g->h.ops[s.nops++] = *op_of(g, g->some[i]);
		}
		g->h.nops = s.nops;
		kl_answer_free(a);
		*a = (struct kl_answer){ .verdict = KL_UNKNOWN };
		ret = kl_mono_engine.decide_ops(&s, &lim, a);
		if (!ret && a->verdict == KL_UNKNOWN)
			ret = ask_others(&s, &lim, a);
		if (ret)
			return ret;
		if (a->verdict == KL_LINEARIZABLE)
			return add_order(g, a);
		if (a->verdict != KL_VIOLATION) {
			if (tries == TRIES || !change_one(g, &one))
				return 0;
			continue;
		}
		if (tries == TRIES || !change(g, a))
			break;
	}
	a->verdict = KL_UNKNOWN;
	ret = widen(g, a);
	return ret ? ret : mono_confirm(g->s, g->lim, a);
}

/* What is in no segment is in the first gap that it may be in, for all were before. */
static void fill_gap(struct gapped *g, size_t k, uint32_t *i)
{
	const uint64_t to = kl_time_add(g->gaps[k].to, g->s->h->error);

	g->order[g->norder++] = g->s->nops + 2 * k;
	for (; *i < g->s->nops && op_of(g, *i)->call <= to; ++*i)
		if (!(g->flags[*i] & USED))
			g->order[g->norder++] = *i;
	g->order[g->norder++] = g->s->nops + 2 * k + 1;
}

/* Are all there, in time, and each thread's in order?  1, 0 or -ENOMEM. */
static int is_order(const struct gapped *g)
{
	struct mono m = { .s = g->s, .nitems = g->s->nops };
	uint64_t latest = 0, call, ret;
	uint32_t i;
	int ok;

	if (g->norder != g->s->nops + 2 * g->ngaps)
		return 0;
	m.order = malloc(((size_t)g->norder + 1) * sizeof(*m.order));
	if (!m.order)
		return -ENOMEM;
	for (i = 0, ok = 1; i < g->norder && ok; i++) {
		const uint32_t item = g->order[i];
		const struct kl_gap *gap = item < g->s->nops ? NULL :
					   &g->gaps[(item - g->s->nops) / 2];

		call = gap ? gap->from : op_of(g, item)->call;
		ret = gap ? gap->to : op_of(g, item)->ret;
		ok = kl_time_add(ret, g->s->h->error) >= latest;
		latest = call > latest ? call : latest;
		if (!gap)
			mono_put(&m, item);
	}
	if (ok)
		ok = mono_keeps_lines(&m);
	free(m.order);
	return ok;
}

static void put_together(struct gapped *g)
{
	uint32_t i = 0, left = 0;
	size_t k;

	for (k = 0; k <= g->ngaps; k++) {
		while (i < g->ends[k])
			g->order[g->norder++] = g->part[i++];
		if (k < g->ngaps)
			fill_gap(g, k, &left);
	}
}

static int give_steps(struct gapped *g, struct kl_answer *a)
{
	uint32_t i;

	a->nsteps = 0;
	free(a->steps);
	a->steps = g->lim->no_witness ? NULL : calloc((size_t)g->norder + 1, sizeof(*a->steps));
	a->ngaps = g->ngaps;
	if (g->lim->no_witness)
		return 0;
	if (!a->steps)
		return -ENOMEM;
	for (i = 0; i < g->norder; i++)
		a->steps[i].item = g->order[i];
	a->nsteps = g->norder;
	return 0;
}

static int begin(struct gapped *g)
{
	const struct kl_slice *s = g->s;
	const size_t n = (size_t)s->nops + 1;
	size_t i;
	int ret = kl_gaps_collect(s->spec, s->h, s->methods, s->ops, s->nops, s->object, false,
				  &g->gaps, &g->ngaps);

	if (ret)
		return ret;
	g->words = malloc((4 * n + 64) * sizeof(*g->words));
	g->some = malloc(n * sizeof(*g->some));
	g->h = *s->h;
	g->h.ngaps = 0;
	g->h.points = g->h.drains = NULL;
	g->h.ops = malloc(n * sizeof(*g->h.ops));
	g->item = malloc(n * sizeof(*g->item));
	g->flags = calloc(n, 1);
	g->order = malloc((n + 2 * g->ngaps) * sizeof(*g->order));
	g->part = malloc(n * sizeof(*g->part));
	g->ends = malloc((g->ngaps + 1) * sizeof(*g->ends));
	g->roles = malloc((s->h->nmethods + 1) * sizeof(*g->roles));
	if (!g->some || !g->part || !g->ends || !g->words || !g->h.ops || !g->item || !g->flags ||
	    !g->order || !g->roles)
		return -ENOMEM;
	for (i = 0; i < s->h->nmethods; i++)
		g->roles[i] = s->methods[i] < 0 ? KL_ROLE_OTHER : kl_spec_role(s->spec, s->methods[i]);
	return 0;
}

int mono_gaps(const struct kl_slice *s, const struct kl_limits *lim, struct kl_answer *a)
{
	struct gapped g = { .s = s, .lim = lim };
	const char *const engine = a->engine;
	struct kl_container c;
	int ret = begin(&g);
	uint32_t i;
	size_t k;

	kl_spec_container(s->spec, &c);
	g.kind = c.kind;
	for (i = 0; !ret && i < s->nops; i++) {
		if (is_possible(&g, op_of(&g, i)))
			continue;
		a->verdict = KL_UNKNOWN;
		snprintf(a->reason, sizeof(a->reason), "log-linear: %s",
			 "a method or a result that it does not know, and operations were lost");
		goto out;
	}
	for (k = 0; !ret && k <= g.ngaps; k++) {
		ret = segment(&g, k, a);
		if (ret <= 0)
			goto out;
		ret = 0;
		g.ends[k] = g.npart;
	}
	if (!ret) {
		put_together(&g);
		ret = is_order(&g);
	}
	if (ret > 0) {
		ret = give_steps(&g, a);
	} else if (!ret) {
		a->verdict = KL_UNKNOWN;
		snprintf(a->reason, sizeof(a->reason), "log-linear: %s",
			 "no order found that fits the gaps");
	}
out:
	a->engine = engine;
	a->configs = a->work = s->nops;
	free(g.gaps);
	free(g.words);
	free(g.h.ops);
	free(g.item);
	free(g.flags);
	free(g.order);
	free(g.some);
	free(g.part);
	free(g.ends);
	free(g.roles);
	return ret;
}
