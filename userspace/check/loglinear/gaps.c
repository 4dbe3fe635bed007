// SPDX-License-Identifier: GPL-2.0
/*
 * Histories with lost operations.  Inside a gap everything is possible, and after it the state is
 * unknown.  A gap may be taken to begin at the earliest and end at the latest possible time.
 * Operations inside it need no explanation.  The parts of an order before and after the gap are
 * orders by themselves.  So operations that cannot take effect in a gap fall into independent
 * segments.  Operations that can take effect in a gap may do so, or join a segment.
 *
 * The monitor guesses which of these join: additions and removals of words that are seen in the
 * segment.  When a segment has no order, the guess is changed for operations of the core.  A yes
 * comes with an order of everything, which is compared with all times.  A no must be confirmed by
 * a general engine that knows the gaps.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/table.h"
#include "check/gaps.h"
#include "check/engines.h"
#include "check/loglinear/loglinear.h"

#define TRIES	32	/* changes of the guess for a segment */
#define WORK	(100000 * KL_CONFIG_LOOKS)	/* bound of another engine's looks for a segment, */
#define EACH	(100 * KL_CONFIG_LOOKS)	/* and more for each operation that was placed */

enum {
	USED	= 1,	/* in the order of a segment */
	IN	= 2,	/* in this segment, for certain or by a guess */
	MAYBE	= 4,	/* a guess decides whether the item is in this segment */
	CHANGED	= 8,	/* the guess was changed */
};

struct gapped {
	const struct kl_slice *s;
	const struct kl_limits *lim;
	ll_decide_fn *decide;
	enum kl_container_kind kind;
	struct kl_gap *gaps;
	size_t ngaps;
	uint8_t *flags;		/* USED and so on, of each item */
	uint8_t *roles;		/* the enum kl_role of each method of the history */
	uint32_t *order;	/* items; s->nops + 2 * k: gap k begins; + 1: it ends */
	uint32_t norder;
	uint32_t *part;		/* the orders of all segments; @ends: index behind each */
	uint32_t npart, *ends;

	/* The segment that is being decided. */
	struct kl_history h;	/* the history with the segment's operations alone */
	uint32_t *item;		/* the item of each of these operations */
	uint32_t *some;		/* items that may be in the segment, in order of call */
	uint32_t nsome;
	uint32_t next;		/* the first item that is called after the segment */
	uint64_t *word;		/* the words of items that are certainly in the segment */
	uint32_t nwords;
	struct kl_table words;	/* indices in @word, by word */
};

static const struct kl_op *op_of(const struct gapped *g, uint32_t item)
{
	return &g->s->h->ops[g->s->ops ? g->s->ops[item] : item];
}

static enum kl_role role_of(const struct gapped *g, const struct kl_op *op)
{
	return g->roles[kl_op_method(g->s->h, op)];
}

/* Get the word of an operation.  Return: false if it has none. */
static bool word_of(const struct gapped *g, const struct kl_op *op, uint64_t *word)
{
	const struct kl_history *h = g->s->h;

	if (role_of(g, op) == KL_ROLE_OTHER || h->vals[h->opsigs[op->sig].vals].tag != KL_WORD)
		return false;
	*word = h->vals[h->opsigs[op->sig].vals].v;
	return true;
}

/* Return: true if the operation is possible in some state; in a gap nothing else checks that. */
static bool is_possible(const struct gapped *g, const struct kl_op *op)
{
	const struct kl_history *h = g->s->h;
	const enum kl_role role = role_of(g, op);

	if (role == KL_ROLE_OTHER)
		return false;
	switch (h->vals[h->opsigs[op->sig].vals].tag) {
	case KL_WORD:
	case KL_ANY:
		return true;
	case KL_EMPTY:
		return role != KL_ROLE_ADD && g->kind != KL_CONTAINER_REGISTER;
	default:
		return false;
	}
}

/* Return: true if the operation has a role whose word is unknown. */
static bool is_unknown(const struct gapped *g, const struct kl_op *op)
{
	const struct kl_history *h = g->s->h;

	return role_of(g, op) != KL_ROLE_OTHER &&
	       h->vals[h->opsigs[op->sig].vals].tag == KL_ANY;
}

static bool has_word(const struct gapped *g, uint64_t word)
{
	const uint32_t hash = kl_mix(word, 0);
	uint32_t i;
	size_t at;

	kl_table_for_each(&g->words, hash, at, i)
		if (g->word[i] == word)
			return true;
	return false;
}

/* Add a word, for which clear_words() made room. */
static void put_word(struct gapped *g, uint64_t word)
{
	if (has_word(g, word))
		return;
	g->word[g->nwords] = word;
	kl_table_put(&g->words, kl_mix(word, 0), g->nwords++);
}

/*
 * Forget all words, and make a table for @n words.  A table as large as the longest segment's would
 * take time to clear.  Return: 0, or -ENOMEM.
 */
static int clear_words(struct gapped *g, uint32_t n)
{
	g->nwords = 0;
	kl_table_free(&g->words);
	return kl_table_reserve(&g->words, n);
}

/* List items that may be in the segment before gap @k: those that do not lie wholly in a gap. */
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

/* Choose the items of the segment before gap @k: certain ones, and guesses.  0, or -ENOMEM. */
static int choose(struct gapped *g, size_t k)
{
	const uint64_t error = g->s->h->error;
	uint64_t word;
	uint32_t n;
	int ret;

	list_some(g, k);
	ret = clear_words(g, g->nsome);
	if (ret)
		return ret;
	for (n = 0; n < g->nsome; n++) {
		const uint32_t i = g->some[n];
		const struct kl_op *op = op_of(g, i);
		/* Pending operations belong to the last segment. */
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
		    word_of(g, op_of(g, i), &word) && has_word(g, word))
			g->flags[i] |= IN;
	}
	return 0;
}

/* Change the guess for an operation on a word of the core.  Return: false if there is none. */
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
 * There is no core: undo the last change of the guess, and change it for the next operation; *n is
 * that operation's index in g->some.  Return: false if none is left.
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
 * Return: true if an operation that returned added or removed an unknown word.  Then its place in
 * an order may depend on every word: `enq 0; enq 1; deq -> ?; deq -> 1' has an order, but none
 * without the operations on 0.  A write of an unknown word to a register only hides earlier writes.
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
 * Widen a segment's core to the whole history: the core gets all operations on its words, in any
 * segment, and keeps those that found the container empty.  Removing all other operations from an
 * order leaves an order, if operations on unknown words stay.  If needs_all_words(), all operations
 * stay, and the general engine decides the whole history.
 */
static int widen(struct gapped *g, struct kl_answer *a)
{
	uint32_t *core = malloc(((size_t)g->s->nops + 1) * sizeof(*core)), n = 0, i;
	const bool all = needs_all_words(g);
	uint64_t word;
	size_t k;

	if (!core || clear_words(g, a->ncore)) {
		free(core);
		return -ENOMEM;
	}
	memset(g->flags, 0, g->s->nops);
	for (k = 0; k < a->ncore; k++) {
		g->flags[g->item[a->core[k]]] |= IN;
		if (word_of(g, &g->h.ops[a->core[k]], &word))
			put_word(g, word);
	}
	for (i = 0; i < g->s->nops; i++) {
		const struct kl_op *op = op_of(g, i);
		const bool has = word_of(g, op, &word);

		if (all || (has ? has_word(g, word) :
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
 * The monitors only guess the state at the begin of a segment.  Other engines may find an order of
 * the segment; if one does, @a becomes its answer.
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

/* Decide the segment before gap @k.  Return: 1 if it has an order, 0 with an answer @a, -ENOMEM. */
static int segment(struct gapped *g, size_t k, struct kl_answer *a)
{
	struct kl_limits lim = *g->lim;
	struct kl_slice s = *g->s;
	unsigned int tries;
	uint32_t i, one = 0;
	int ret;

	ret = choose(g, k);
	if (ret)
		return ret;
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
		ret = g->decide(&s, &lim, a);
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
	return ret ? ret : ll_confirm(g->s, g->lim, a);
}

/*
 * Append gap @k to the order and, in it, the operations from *i on that are called by its end and
 * are in no segment.
 */
static void fill_gap(struct gapped *g, size_t k, uint32_t *i)
{
	const uint64_t to = kl_time_add(g->gaps[k].to, g->s->h->error);

	g->order[g->norder++] = g->s->nops + 2 * k;
	for (; *i < g->s->nops && op_of(g, *i)->call <= to; ++*i)
		if (!(g->flags[*i] & USED))
			g->order[g->norder++] = *i;
	g->order[g->norder++] = g->s->nops + 2 * k + 1;
}

/*
 * Return: 1 if the order contains all items, and contradicts neither times nor threads; 0 if not;
 * -ENOMEM.
 */
static int is_order(const struct gapped *g)
{
	struct loglinear m = { .s = g->s, .nitems = g->s->nops };
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
			ll_put(&m, item);
	}
	if (ok)
		ok = ll_keeps_thread_order(&m);
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
	int ret = kl_gaps_collect(s->spec, s->h, s->methods, s->ops, s->nops, s->object, false,
				  &g->gaps, &g->ngaps);

	if (ret)
		return ret;
	g->word = malloc(n * sizeof(*g->word));
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
	g->roles = ll_roles(s);
	if (!g->some || !g->part || !g->ends || !g->word || !g->h.ops || !g->item || !g->flags ||
	    !g->order || !g->roles)
		return -ENOMEM;
	return 0;
}

int ll_gaps(const struct kl_slice *s, const struct kl_limits *lim, ll_decide_fn *decide,
	    struct kl_answer *a)
{
	struct gapped g = { .s = s, .lim = lim, .decide = decide };
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
		ll_decline(a, "operations were lost, and a method or a result does not fit a "
			      "container");
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
		ll_decline(a, "found no order that fits the gaps");
	}
out:
	a->engine = engine;
	a->configs = a->work = s->nops;
	free(g.gaps);
	free(g.word);
	kl_table_free(&g.words);
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
