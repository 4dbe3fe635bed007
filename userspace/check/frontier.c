// SPDX-License-Identifier: GPL-2.0
/*
 * The frontier engine: one pass over the events in time order, keeping every
 * configuration that explains the past: which of the open operations have taken
 * effect, and the state.  Operations take effect when a return makes them
 * (Lowe's just-in-time linearization); one that writes nothing and fits takes
 * effect at once, since every continuation without it has a twin with it.
 *
 * The same walk serves machines with moves of their own (store buffers): a move
 * is one more step, and the time by which an entry must have left is one more
 * event that configurations have to satisfy.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "check/sim.h"

#define NO_NODE		UINT32_MAX
#define LEFT_ENTRY	(1u << 31)	/* the step left an entry in a store buffer */

/* How a configuration came about: the last step of its order. */
struct node {
	uint32_t parent, item;	/* item from p->nitems on: a move; LEFT_ENTRY may be set */
};

/*
 * A set of configurations: records of masklen words of mask (a bit for each
 * slot: taken effect) and a word state << 32 | node.  The node is no part of
 * what makes configurations equal.
 */
struct set {
	uint64_t *rec;
	size_t n, cap;
	uint64_t *table;	/* stamp << 32 | index + 1 */
	size_t tsize;
	uint32_t stamp;
};

struct frontier {
	const struct kl_part *p;
	struct kl_system *sys;
	struct kl_budget *budget;
	size_t masklen, reclen;
	struct set cur, next, seen;
	uint64_t *tmp;			/* one record */
	struct node *nodes;
	size_t nnodes, cnodes;
	uint32_t *moves;		/* copy of a state's */
	size_t cmoves;
	uint32_t *open;			/* items called and not returned, in order of call */
	uint32_t nopen;
	uint32_t now;			/* index of the event */
	uint64_t work;
};

static uint32_t rec_state(const struct frontier *f, const uint64_t *rec)
{
	return rec[f->masklen] >> 32;
}

static uint32_t rec_node(const struct frontier *f, const uint64_t *rec)
{
	return (uint32_t)rec[f->masklen];
}

static void rec_set(const struct frontier *f, uint64_t *rec, uint32_t state, uint32_t node)
{
	rec[f->masklen] = (uint64_t)state << 32 | node;
}

static bool rec_has(const struct frontier *f, const uint64_t *rec, uint32_t item)
{
	uint32_t slot = f->p->items[item].slot;

	return rec[slot / 64] >> slot % 64 & 1;
}

static int set_rehash(const struct frontier *f, struct set *s, size_t size)
{
	uint64_t *table = calloc(size, sizeof(*table));
	size_t i, at;

	if (!table)
		return -ENOMEM;
	free(s->table);
	s->table = table;
	s->tsize = size;
	for (i = 0; i < s->n; i++) {
		const uint64_t *rec = s->rec + i * f->reclen;

		at = kl_hash_words(rec, f->masklen, rec_state(f, rec)) & (size - 1);
		while (table[at])
			at = (at + 1) & (size - 1);
		table[at] = (uint64_t)s->stamp << 32 | (i + 1);
	}
	return 0;
}

static void set_clear(struct set *s)
{
	s->n = 0;
	if (!++s->stamp) {
		memset(s->table, 0, s->tsize * sizeof(*s->table));
		s->stamp = 1;
	}
}

/* Return: 1 if @rec was added, 0 if it is there already, negative errno. */
static int set_add(const struct frontier *f, struct set *s, const uint64_t *rec)
{
	size_t at;
	int ret;

	if (s->n * 2 >= s->tsize) {
		ret = set_rehash(f, s, s->tsize ? s->tsize * 2 : 64);
		if (ret)
			return ret;
	}
	at = kl_hash_words(rec, f->masklen, rec_state(f, rec)) & (s->tsize - 1);
	for (; s->table[at] >> 32 == s->stamp; at = (at + 1) & (s->tsize - 1)) {
		const uint64_t *o = s->rec + ((uint32_t)s->table[at] - 1) * f->reclen;

		if (rec_state(f, o) == rec_state(f, rec) &&
		    !memcmp(o, rec, f->masklen * sizeof(*rec)))
			return 0;
	}
	ret = kl_grow(s->rec, s->cap, (s->n + 1) * f->reclen);
	if (ret)
		return ret;
	memcpy(s->rec + s->n * f->reclen, rec, f->reclen * sizeof(*rec));
	s->table[at] = (uint64_t)s->stamp << 32 | ++s->n;
	return 1;
}

static int64_t node_new(struct frontier *f, uint32_t parent, uint32_t item)
{
	int ret = kl_grow(f->nodes, f->cnodes, f->nnodes + 1);

	if (ret)
		return ret;
	if (f->nnodes >= NO_NODE)
		return -EOVERFLOW;
	f->nodes[f->nnodes] = (struct node){ parent, item };
	return f->nnodes++;
}

/* May @item take effect: have all that precede it in program order? */
static bool ready(const struct frontier *f, const uint64_t *rec, uint32_t item)
{
	const struct kl_part *p = f->p;
	uint32_t i;

	if (!p->pred_at)
		return true;
	for (i = p->pred_at[item]; i < p->pred_at[item + 1]; i++) {
		uint32_t q = p->pred[i];

		if (p->items[q].ret_ev >= f->now && !rec_has(f, rec, q))
			return false;
	}
	return true;
}

/* Let @item take effect in @rec with the new @state. */
static int take(struct frontier *f, uint64_t *rec, uint32_t item, uint32_t state)
{
	uint32_t slot = f->p->items[item].slot;
	bool left = f->sys->left && f->sys->left(f->sys, rec_state(f, rec), state);
	int64_t node = node_new(f, rec_node(f, rec), left ? item | LEFT_ENTRY : item);

	if (node < 0)
		return node;
	rec[slot / 64] |= 1ull << slot % 64;
	rec_set(f, rec, state, node);
	return 0;
}

/* If @item writes nothing and fits the state as it is, it takes effect now. */
static int settle_one(struct frontier *f, uint64_t *rec, uint32_t item)
{
	const uint32_t *next;
	int n;

	if (!f->p->items[item].pure || rec_has(f, rec, item) || !ready(f, rec, item))
		return 0;
	n = f->sys->step(f->sys, rec_state(f, rec), item, &next);
	if (n == 1 && next[0] == rec_state(f, rec))
		n = take(f, rec, item, next[0]);
	return n < 0 ? n : 0;
}

static int settle(struct frontier *f, uint64_t *rec)
{
	uint32_t i;
	int ret;

	for (i = 0; i < f->nopen; i++) {
		ret = settle_one(f, rec, f->open[i]);
		if (ret)
			return ret;
	}
	return 0;
}

/* Add to `seen` what the step @item leads to from configuration number @at of it. */
static int expand_item(struct frontier *f, size_t at, uint32_t item)
{
	const uint64_t *rec = f->seen.rec + at * f->reclen;
	uint32_t copy[8], *succ = copy, k;
	const uint32_t *next;
	int n, ret = 0;

	if (rec_has(f, rec, item) || !ready(f, rec, item))
		return 0;
	n = f->sys->step(f->sys, rec_state(f, rec), item, &next);
	if (n <= 0)
		return n;
	if ((size_t)n > sizeof(copy) / sizeof(*copy)) {
		succ = malloc(n * sizeof(*succ));
		if (!succ)
			return -ENOMEM;
	}
	memcpy(succ, next, n * sizeof(*succ));
	for (k = 0; k < (uint32_t)n && ret >= 0; k++) {
		memcpy(f->tmp, f->seen.rec + at * f->reclen, f->reclen * sizeof(*f->tmp));
		ret = take(f, f->tmp, item, succ[k]);
		if (!ret)
			ret = settle(f, f->tmp);
		if (!ret)
			ret = set_add(f, &f->seen, f->tmp);
		f->work++;
	}
	if (succ != copy)
		free(succ);
	return ret < 0 ? ret : 0;
}

static int expand_move(struct frontier *f, size_t at, uint32_t move)
{
	uint32_t next;
	int64_t node;
	int ret;

	memcpy(f->tmp, f->seen.rec + at * f->reclen, f->reclen * sizeof(*f->tmp));
	ret = f->sys->move(f->sys, rec_state(f, f->tmp), move, &next);
	if (ret)
		return ret;
	node = node_new(f, rec_node(f, f->tmp), f->p->nitems + move);
	if (node < 0)
		return node;
	rec_set(f, f->tmp, next, node);
	ret = settle(f, f->tmp);
	if (!ret)
		ret = set_add(f, &f->seen, f->tmp);
	f->work++;
	return ret < 0 ? ret : 0;
}

static int expand_moves(struct frontier *f, size_t at)
{
	const uint32_t *moves;
	int n, i, ret;

	n = f->sys->moves(f->sys, rec_state(f, f->seen.rec + at * f->reclen), &moves);
	if (n <= 0)
		return n;
	ret = kl_grow(f->moves, f->cmoves, n);
	if (!ret)
		memcpy(f->moves, moves, n * sizeof(*moves));
	for (i = 0; i < n && !ret; i++)
		ret = expand_move(f, at, f->moves[i]);
	return ret;
}

static int expand(struct frontier *f, size_t at)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < f->nopen && !ret; i++)
		ret = expand_item(f, at, f->open[i]);
	if (!ret && f->sys->moves)
		ret = expand_moves(f, at);
	return ret ? ret : kl_budget_check(f->budget, f->cnodes * sizeof(*f->nodes) +
					   f->seen.cap * sizeof(*f->seen.rec) +
					   f->sys->bytes(f->sys));
}

/*
 * Keep the configurations that satisfy the event (@item has taken effect; what
 * it wrote has left the buffer), after as many steps as that takes.
 *
 * Return: 0, 1 when there is none, negative errno.
 */
static int satisfy(struct frontier *f, uint32_t item, bool drain)
{
	const uint32_t slot = f->p->items[item].slot;
	struct set swap;
	size_t at;
	int ret;

	set_clear(&f->next);
	set_clear(&f->seen);
	for (at = 0; at < f->cur.n; at++) {
		ret = set_add(f, &f->seen, f->cur.rec + at * f->reclen);
		if (ret < 0)
			return ret;
	}
	for (at = 0; at < f->seen.n; at++) {
		const uint64_t *rec = f->seen.rec + at * f->reclen;

		if (drain ? f->sys->waits(f->sys, rec_state(f, rec), item) :
			    !rec_has(f, rec, item)) {
			ret = expand(f, at);
			if (ret)
				return ret;
			continue;
		}
		memcpy(f->tmp, rec, f->reclen * sizeof(*f->tmp));
		if (!drain)
			f->tmp[slot / 64] &= ~(1ull << slot % 64);
		ret = set_add(f, &f->next, f->tmp);
		if (ret < 0)
			return ret;
	}
	if (!f->next.n)
		return 1;
	swap = f->cur;
	f->cur = f->next;
	f->next = swap;
	return 0;
}

static int on_return(struct frontier *f, uint32_t item)
{
	uint32_t i;
	int ret = satisfy(f, item, false);

	if (ret)
		return ret;
	for (i = 0; f->open[i] != item; i++)
		;
	f->nopen--;
	memmove(f->open + i, f->open + i + 1, (f->nopen - i) * sizeof(*f->open));
	return 0;
}

static int on_drain(struct frontier *f, uint32_t item)
{
	size_t at;

	for (at = 0; at < f->cur.n; at++)
		if (f->sys->waits(f->sys, rec_state(f, f->cur.rec + at * f->reclen), item))
			return satisfy(f, item, true);
	return 0;
}

static int on_call(struct frontier *f, uint32_t item)
{
	size_t at;
	int ret;

	f->open[f->nopen++] = item;
	for (at = 0; at < f->cur.n; at++) {
		ret = settle_one(f, f->cur.rec + at * f->reclen, item);
		if (ret)
			return ret;
	}
	return 0;
}

static int frontier_init(struct frontier *f, const struct kl_part *p, struct kl_system *sys,
			 struct kl_budget *budget)
{
	int ret;

	memset(f, 0, sizeof(*f));
	f->p = p;
	f->sys = sys;
	f->budget = budget;
	f->masklen = p->nslots ? (p->nslots + 63) / 64 : 1;
	f->reclen = f->masklen + 1;
	f->open = malloc(((size_t)p->nslots + 1) * sizeof(*f->open));
	f->tmp = calloc(f->reclen, sizeof(*f->tmp));
	if (!f->open || !f->tmp || set_rehash(f, &f->cur, 64) || set_rehash(f, &f->next, 64) ||
	    set_rehash(f, &f->seen, 64))
		return -ENOMEM;
	f->cur.stamp = f->next.stamp = f->seen.stamp = 1;
	rec_set(f, f->tmp, sys->first, NO_NODE);
	ret = set_add(f, &f->cur, f->tmp);
	return ret < 0 ? ret : 0;
}

static void frontier_free(struct frontier *f)
{
	free(f->cur.rec);
	free(f->cur.table);
	free(f->next.rec);
	free(f->next.table);
	free(f->seen.rec);
	free(f->seen.table);
	free(f->open);
	free(f->moves);
	free(f->tmp);
	free(f->nodes);
}

/* The longest order among the current configurations, as steps. */
static int extract(struct frontier *f, struct kl_answer *a)
{
	size_t at, best = 0, len, bestlen = 0;
	uint32_t node;

	for (at = 0; at < f->cur.n; at++) {
		const uint64_t *rec = f->cur.rec + at * f->reclen;
		size_t w;

		for (len = 0, w = 0; w < f->masklen; w++)
			len += __builtin_popcountll(rec[w]);
		if (len > bestlen) {
			bestlen = len;
			best = at;
		}
	}
	node = rec_node(f, f->cur.rec + best * f->reclen);
	for (len = 0; node != NO_NODE; node = f->nodes[node].parent)
		len++;
	a->steps = calloc(len + 1, sizeof(*a->steps));
	if (!a->steps)
		return -ENOMEM;
	a->nsteps = len;
	node = rec_node(f, f->cur.rec + best * f->reclen);
	for (; node != NO_NODE; node = f->nodes[node].parent) {
		const uint32_t item = f->nodes[node].item & ~LEFT_ENTRY;
		struct kl_step *st = &a->steps[--len];

		if (item >= f->p->nitems)
			*st = (struct kl_step){ item - f->p->nitems, KL_STEP_FLUSH };
		else
			*st = (struct kl_step){ item, f->nodes[node].item & LEFT_ENTRY ?
						      KL_STEP_BUFFERED : 0 };
	}
	return 0;
}

int kl_frontier_run(const struct kl_part *p, struct kl_system *sys, struct kl_budget *b,
		    struct kl_answer *a)
{
	struct frontier f;
	int ret;

	ret = frontier_init(&f, p, sys, b);
	for (f.now = 0; !ret && f.now < p->nevents; f.now++) {
		uint32_t item = p->events[f.now].item;

		switch (p->events[f.now].kind) {
		case KL_EV_CALL:
			ret = on_call(&f, item);
			break;
		case KL_EV_RET:
			ret = on_return(&f, item);
			break;
		case KL_EV_DRAIN:
			ret = sys->waits ? on_drain(&f, item) : 0;
			break;
		}
	}
	a->work = f.work;
	a->bytes = f.cnodes * sizeof(*f.nodes) + sys->bytes(sys);
	if (ret == -EDQUOT) {
		a->verdict = KL_UNKNOWN;
		a->more_work = b->more_work;
		snprintf(a->reason, sizeof(a->reason), "%s", b->reason);
		ret = 0;
	} else if (ret >= 0) {
		a->verdict = ret ? KL_VIOLATION : KL_LINEARIZABLE;
		a->fail_event = ret ? f.now - 1 : 0;
		ret = extract(&f, a);
	}
	frontier_free(&f);
	return ret;
}

/* The specification alone, as a system: sequential consistency. */
struct plain {
	struct kl_system sys;
	struct kl_sim sim;
};

static int plain_step(struct kl_system *s, uint32_t state, uint32_t item, const uint32_t **next)
{
	return kl_sim_step(&((struct plain *)s)->sim, state, item, next);
}

static size_t plain_bytes(const struct kl_system *s)
{
	return kl_sim_bytes(&((const struct plain *)s)->sim);
}

static int frontier_decide(const struct kl_part *p, const struct kl_limits *lim,
			   struct kl_answer *a)
{
	struct plain pl = { .sys = { .step = plain_step, .bytes = plain_bytes } };
	struct kl_budget b = { .lim = lim };
	int ret;

	a->engine = "frontier";
	ret = kl_sim_init(&pl.sim, p, b.reason);
	if (ret)
		return ret;
	pl.sys.first = pl.sim.first;
	ret = kl_frontier_run(p, &pl.sys, &b, a);
	kl_sim_free(&pl.sim);
	return ret;
}

const struct kl_engine kl_frontier_engine = { .name = "frontier", .decide = frontier_decide };
