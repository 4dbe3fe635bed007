// SPDX-License-Identifier: GPL-2.0
/*
 * The frontier engine: one pass over the events in time order, which keeps every configuration that
 * explains the past.  A configuration is the set of open operations that took effect, and the
 * state.  Operations take effect when a return needs them (Lowe's just-in-time linearization).
 * Reductions:
 *
 * - An operation that changes nothing, and whose results fit the state, takes effect at once: every
 *   continuation without it is also possible with it.  So a configuration is redundant beside one
 *   in which only more such operations have taken effect.
 * - An operation with KL_EARLY takes effect at once, see enum kl_nature.
 * - Of open operations with equal signatures, the one that returns first goes first; otherwise they
 *   could change places.
 * - An overwrite that no operation saw gets no place until the order is printed, see struct
 *   kl_configs.
 *
 * The same pass serves machines that make moves by themselves: entries leave store buffers.  A move
 * is one more kind of step.  The time by which an entry must have left its buffer is one more kind
 * of event that configurations must satisfy.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/general/frontier_internal.h"

/* Multiples of a beam's width for one event: */
#define MOST_NEXT	4	/* configurations that satisfy the event */
#define MOST_SEEN	64	/* configurations on the way to them */

#define MOST_COVERS	256	/* configurations that others are compared with */

/* Looks, see KL_CONFIG_LOOKS, besides those for the words of a configuration: */
#define STEP_LOOKS	12	/* for a step, */
#define ARRIVE_LOOKS	24	/* for a configuration that is added to its sets, */
#define COVER_LOOKS	6	/* for comparing two configurations */

static int64_t node_new(struct frontier *f, uint32_t parent, uint32_t item)
{
	int ret;

	if (f->no_nodes)
		return NO_NODE;
	ret = kl_grow(f->nodes, f->cnodes, f->nnodes + 1);
	if (ret)
		return ret;
	if (f->nnodes >= NO_NODE)
		return -EOVERFLOW;
	f->nodes[f->nnodes] = (struct node){ parent, item, f->now };
	return f->nnodes++;
}

/* Find the states to which @o may lead from @state.  Return: as kl_system.step. */
static inline int step(struct frontier *f, uint32_t state, const struct frontier_open *o,
		       const uint32_t **next)
{
	if (f->memo) {
		const uint64_t key = kl_memo_key(state, o->sig);
		const struct kl_memo_entry *m = kl_memo_at(f->memo, key);

		if (m->key == key && f->p->items[o->item].kind == KL_ITEM_OP) {
			*next = m->next;
			return m->n;
		}
	}
	return f->sys->step(f->sys, state, o->item, next);
}

/* Have all predecessors of @o taken effect? */
static bool ready(const struct frontier *f, const uint64_t *rec, const struct frontier_open *o)
{
	const struct kl_part *p = f->p;
	uint32_t i;

	if (!o->has_preds)
		return true;
	for (i = p->pred_at[o->item]; i < p->pred_at[o->item + 1]; i++) {
		const struct kl_item *q = &p->items[p->pred[i]];

		if (q->ret_ev >= f->now && !kl_rec_has(rec, q->slot))
			return false;
	}
	return true;
}

/* Let @o take effect in @rec with the new @state. */
static inline int take(struct frontier *f, uint64_t *rec, const struct frontier_open *o,
		       uint32_t state)
{
	uint32_t flags = o->over ? OVERWRITE : 0;
	bool dropped = false;
	int64_t node;
	size_t i;

	if (f->sys->left) {
		if (f->sys->left(f->sys, o->item, kl_rec_state(&f->c, rec), state, &dropped))
			flags |= LEFT_ENTRY;
		flags |= dropped ? DROPPED : 0;
	}
	node = node_new(f, kl_rec_node(&f->c, rec), o->item | flags);
	if (node < 0)
		return node;
	rec[o->slot / 64] |= 1ull << o->slot % 64;
	if (f->c.hidden)
		rec[f->c.hidden + o->slot / 64] &= ~(1ull << o->slot % 64);
	for (i = 0; i < f->c.masklen && f->c.hidden && o->over; i++)
		rec[f->c.hidden + i] |= f->c.over[i] & ~rec[i];
	kl_rec_set(&f->c, rec, state, node);
	return 0;
}

static inline bool same(struct frontier *f, uint32_t a, uint32_t b)
{
	return a == b || (f->sys->same && f->sys->same(f->sys, a, b));
}

/* Let @o take effect if it changes nothing and fits, or is KL_EARLY.  Return: 1 if it does. */
static inline int settle_one(struct frontier *f, uint64_t *rec, const struct frontier_open *o)
{
	const uint32_t *next;
	int n;

	if (!(o->free || o->eager) || kl_rec_has(rec, o->slot) || !ready(f, rec, o))
		return 0;
	n = step(f, kl_rec_state(&f->c, rec), o, &next);
	if (n != 1 || (!o->eager && !same(f, next[0], kl_rec_state(&f->c, rec))))
		return n < 0 ? n : 0;
	n = take(f, rec, o, next[0]);
	return n < 0 ? n : 1;
}

static int settle(struct frontier *f, uint64_t *rec)
{
	bool again;
	uint32_t i;
	int ret;

	do {
		again = false;
		f->budget->work += f->nopen;
		for (i = 0; i < f->nopen; i++) {
			ret = settle_one(f, rec, &f->open[i]);
			if (ret < 0)
				return ret;
			/* Another operation may have waited for this one. */
			again |= ret && f->is_pred;
		}
	} while (again);
	return 0;
}

/*
 * Return: true if @it has taken effect in @rec, and all entries that must leave by its return or
 * @drain have left the store buffers.
 */
static bool satisfied(const struct frontier *f, const uint64_t *rec, const struct kl_item *it,
		      bool drain)
{
	return (drain || kl_rec_done(&f->c, rec, it->slot)) &&
	       !(f->sys->waits && f->sys->waits(f->sys, kl_rec_state(&f->c, rec),
						it - f->p->items, drain));
}

/* Add the configuration f->tmp to `next' if it satisfies the event, else to `seen'. */
static int arrive(struct frontier *f, const struct kl_item *it, bool drain)
{
	const bool done = satisfied(f, f->tmp, it, drain);
	/* A hidden operation may still take effect, but not after its return. */
	const bool seen = !done || (!drain && !kl_rec_has(f->tmp, it->slot));
	int ret = 0;

	f->budget->configs++;
	f->budget->work += ARRIVE_LOOKS + 4 * f->c.reclen;
	if (done && f->sys->seal) {
		const int64_t state = f->sys->seal(f->sys, kl_rec_state(&f->c, f->tmp));

		if (state < 0)
			return state;
		kl_rec_set(&f->c, f->tmp, state, kl_rec_node(&f->c, f->tmp));
	}
	if (done)
		ret = kl_config_set_add(&f->c, &f->next, f->tmp, 0);
	/* Configurations up to f->at are processed and stay. */
	if (ret >= 0 && seen)
		ret = kl_config_set_add(&f->c, &f->seen, f->tmp, f->at + 1);
	return ret < 0 ? ret : 0;
}

static int expand_open(struct frontier *f, size_t at, const struct frontier_open *o,
		       const struct kl_item *it, bool drain)
{
	const uint64_t *rec = f->seen.rec + at * f->c.reclen;
	const uint32_t *next;
	uint32_t from;
	int n, k, ret;

	if (kl_rec_has(rec, o->slot) || (o->twin != NO_TWIN && !kl_rec_has(rec, o->twin)) ||
	    !ready(f, rec, o))
		return 0;
	n = step(f, kl_rec_state(&f->c, rec), o, &next);
	/* An operation that changes nothing in this state has taken effect already. */
	if (n <= 0 || (o->free && n == 1 && same(f, next[0], kl_rec_state(&f->c, rec))))
		return n < 0 ? n : 0;
	ret = kl_grow(f->succ, f->csucc, n);
	if (ret)
		return ret;
	memcpy(f->succ, next, n * sizeof(*next));
	for (k = 0; k < n; k++) {
		kl_rec_copy(&f->c, f->tmp, f->seen.rec + at * f->c.reclen);
		f->budget->work += STEP_LOOKS + f->c.reclen;
		from = kl_rec_state(&f->c, f->tmp);
		ret = take(f, f->tmp, o, f->succ[k]);
		/*
		 * Only a beam that gave up configurations is pruned, since an answer may depend
		 * on pruning only then.
		 */
		if (!ret && f->sys->supply && f->cut)
			ret = kl_frontier_doomed(f, f->tmp, from, o->sig);
		if (!ret)
			ret = settle(f, f->tmp) ?: arrive(f, it, drain);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int expand_move(struct frontier *f, size_t at, uint32_t move, const struct kl_item *it,
		       bool drain)
{
	uint32_t next;
	int64_t node;
	int ret;

	kl_rec_copy(&f->c, f->tmp, f->seen.rec + at * f->c.reclen);
	f->budget->work += STEP_LOOKS + f->c.reclen;
	ret = f->sys->move(f->sys, kl_rec_state(&f->c, f->tmp), move, &next);
	if (ret)
		return ret;
	node = node_new(f, kl_rec_node(&f->c, f->tmp), f->p->nitems + move);
	if (node < 0)
		return node;
	kl_rec_set(&f->c, f->tmp, next, node);
	return settle(f, f->tmp) ?: arrive(f, it, drain);
}

static int expand_moves(struct frontier *f, size_t at, const struct kl_item *it, bool drain)
{
	const uint32_t *moves;
	int n, i, ret;

	n = f->sys->moves(f->sys, kl_rec_state(&f->c, f->seen.rec + at * f->c.reclen), &moves);
	if (n <= 0)
		return n;
	ret = kl_grow(f->moves, f->cmoves, n);
	if (!ret)
		memcpy(f->moves, moves, n * sizeof(*moves));
	for (i = 0; i < n && !ret; i++)
		ret = expand_move(f, at, f->moves[i], it, drain);
	return ret;
}

/* Count the looks of comparisons, which are many where configurations are similar. */
static void count_looks(struct frontier *f)
{
	f->budget->work += COVER_LOOKS * (f->next.looks + f->seen.looks);
	f->next.looks = f->seen.looks = 0;
}

static int budget_check(struct frontier *f)
{
	count_looks(f);
	return kl_budget_check(f->budget, f->cnodes * sizeof(*f->nodes) +
			       f->seen.cap * sizeof(*f->seen.rec) + f->sys->bytes(f->sys));
}

static int expand(struct frontier *f, size_t at, const struct kl_item *it, bool drain)
{
	uint32_t i;
	int ret = 0;

	f->budget->work += 2 * f->nopen;
	for (i = 0; i < f->nopen && !ret; i++)
		ret = expand_open(f, at, &f->open[i], it, drain);
	if (!ret && f->sys->moves)
		ret = expand_moves(f, at, it, drain);
	return ret ? ret : budget_check(f);
}

/* Return: true if a beam has enough configurations.  Those that need few steps were found first. */
static bool enough(struct frontier *f)
{
	const size_t width = f->width;

	if (!width || (f->next.n < MOST_NEXT * width && f->at < MOST_SEEN * width))
		return false;
	f->cut = true;
	return true;
}

/* Does @a cover @b?  It has taken the same operations, and its state covers the state of @b. */
static bool covers(const struct frontier *f, const uint64_t *a, const uint64_t *b)
{
	return kl_rec_has_all(&f->c, a, b) &&
	       f->sys->covers(f->sys, kl_rec_state(&f->c, a), kl_rec_state(&f->c, b));
}

/* Is @rec covered by one of the first configurations of @s? */
static bool is_covered(const struct frontier *f, const struct kl_config_set *s, const uint64_t *rec)
{
	size_t k;

	for (k = 0; k < s->n && k < MOST_COVERS; k++)
		if (covers(f, s->rec + k * f->c.reclen, rec))
			break;
	f->budget->work += COVER_LOOKS * k;
	return k < s->n && k < MOST_COVERS;
}

/* Drop next configurations that others cover.  Return: 0, or -EDQUOT. */
static int drop_covered(struct frontier *f)
{
	struct kl_config_set *s = &f->next;
	const size_t len = f->c.reclen, all = s->n;
	size_t i, k;
	int ret = 0;

	for (i = 0, s->n = 0; i < all && !ret; i++) {
		const uint64_t *rec = s->rec + i * len;
		/* Where few configurations are covered, comparing costs more than it saves. */
		const bool look = i < MOST_COVERS || s->n < i - i / 8;

		ret = look ? budget_check(f) : 0;
		if (ret || (look && is_covered(f, s, rec)))
			continue;
		f->budget->work += look ? COVER_LOOKS * (s->n < MOST_COVERS ? s->n : MOST_COVERS) :
			0;
		for (k = 0; look && k < s->n && k < MOST_COVERS; )
			if (covers(f, rec, s->rec + k * len))
				kl_rec_copy(&f->c, s->rec + k * len, s->rec + --s->n * len);
			else
				k++;
		kl_rec_copy(&f->c, s->rec + s->n++ * len, rec);
	}
	return ret;
}

/*
 * Compute the configurations that satisfy the event, after all steps that it needs: @it has taken
 * effect, or at a drain, its entries have left the buffer.
 *
 * Return: 0, 1 if there is none, or a negative errno.
 */
static int satisfy(struct frontier *f, const struct kl_item *it, bool drain)
{
	struct kl_config_set swap;
	size_t at;
	int ret;

	kl_config_set_clear(&f->next);
	kl_config_set_clear(&f->seen);
	f->sys->item = it - f->p->items;
	f->sys->drain = drain;
	f->at = 0;
	for (at = 0; at < f->cur.n; at++) {
		kl_rec_copy(&f->c, f->tmp, f->cur.rec + at * f->c.reclen);
		ret = arrive(f, it, drain);
		if (ret)
			return ret;
	}
	for (; f->at < f->seen.n && !enough(f); f->at++) {
		ret = expand(f, f->at, it, drain);
		if (ret)
			return ret;
	}
	if (!f->next.n)
		return 1;
	ret = f->sys->covers ? drop_covered(f) : 0;
	if (!ret && f->width)
		ret = kl_frontier_narrow(f);
	if (ret)
		return ret;
	f->budget->progress = f->now / 2;
	swap = f->cur;
	f->cur = f->next;
	f->next = swap;
	return 0;
}

/* Free a slot: another item will use it. */
static void clear_slot(struct frontier *f, uint32_t slot)
{
	const uint64_t mask = ~(1ull << slot % 64);
	size_t at;

	f->budget->work += f->cur.n;
	f->c.free[slot / 64] &= mask;
	f->c.over[slot / 64] &= mask;
	for (at = 0; at < f->cur.n; at++) {
		uint64_t *rec = f->cur.rec + at * f->c.reclen;

		rec[slot / 64] &= mask;
		if (f->c.hidden)
			rec[f->c.hidden + slot / 64] &= mask;
	}
}

static void close_open(struct frontier *f, uint32_t slot)
{
	const uint32_t i = f->place[slot];
	uint32_t k;

	if (f->sys->supply)
		kl_supply_open(f->sys->supply, f->open[i].sig, slot, false);
	for (k = 0; k < f->nopen; k++)
		if (f->open[k].twin == slot)
			f->open[k].twin = NO_TWIN;
	f->open[i] = f->open[--f->nopen];
	f->place[f->open[i].slot] = i;
}

/*
 * The fast path for one configuration and one open operation, which is usual in small partitions:
 * there is only one way to go on.
 *
 * Return: 1 if the event is done, 0 if this path does not apply, or a negative errno.
 */
static int only_step(struct frontier *f, const struct kl_item *it)
{
	const struct frontier_open *o = &f->open[f->place[it->slot]];
	const uint32_t *next;
	int n;

	if (f->cur.n != 1 || f->nopen != 1 || f->sys->moves ||
	    kl_rec_done(&f->c, f->cur.rec, it->slot))
		return 0;
	n = step(f, kl_rec_state(&f->c, f->cur.rec), o, &next);
	if (n != 1)
		return n < 0 ? n : 0;
	n = take(f, f->cur.rec, o, next[0]);
	f->budget->configs++;
	f->budget->work += STEP_LOOKS;
	return n < 0 ? n : 1;
}

static int on_return(struct frontier *f, const struct kl_item *it)
{
	size_t at;
	int ret = only_step(f, it);

	if (ret < 0)
		return ret;
	for (at = 0, ret = 0; at < f->cur.n; at++) {
		const uint64_t *rec = f->cur.rec + at * f->c.reclen;

		/* A hidden operation must be processed, since it may take effect. */
		if (kl_rec_has(rec, it->slot) && satisfied(f, rec, it, false))
			continue;
		ret = satisfy(f, it, false);
		break;
	}
	if (ret)
		return ret;
	close_open(f, it->slot);
	clear_slot(f, it->slot);
	return 0;
}

static int on_drain(struct frontier *f, const struct kl_item *it)
{
	size_t at;

	for (at = 0; at < f->cur.n; at++)
		if (!satisfied(f, f->cur.rec + at * f->c.reclen, it, true))
			return satisfy(f, it, true);
	return 0;
}

/* Link @o with the open operations that have its signature, in the order of returns. */
static void find_twins(struct frontier *f, struct frontier_open *o)
{
	uint32_t before = 0, after = KL_NO_EVENT, i;
	struct frontier_open *next = NULL;

	f->budget->work += f->nopen;
	for (i = 0; i < f->nopen; i++) {
		struct frontier_open *t = &f->open[i];

		if (t->sig != o->sig || t->free || t->has_preds ||
		    f->p->items[t->item].kind != KL_ITEM_OP ||
		    (f->is_pred && f->is_pred[t->item / 64] >> t->item % 64 & 1))
			continue;
		/* Pending operations go in order of call. */
		if (t->ret_ev < o->ret_ev || o->ret_ev == KL_NO_EVENT) {
			if (o->twin == NO_TWIN || t->ret_ev >= before) {
				before = t->ret_ev;
				o->twin = t->slot;
			}
		} else if (t->ret_ev <= after) {
			after = t->ret_ev;
			next = t;
		}
	}
	if (next)
		next->twin = o->slot;
}

static int on_call(struct frontier *f, uint32_t item)
{
	const struct kl_item *it = &f->p->items[item];
	struct frontier_open *o = &f->open[f->nopen];
	size_t at;
	int ret = it->pure ? KL_READ_ONLY : f->sys->nature(f->sys, item);
	bool alone;

	if (ret < 0)
		return ret;
	*o = (struct frontier_open){
		.item = item,
		.sig = it->sig,
		.slot = it->slot,
		.ret_ev = it->ret_ev,
		.twin = NO_TWIN,
		.free = ret & KL_READ_ONLY,
		.over = ret & KL_BLIND_WRITE,
		.eager = ret & KL_EARLY,
		.has_preds = f->p->has_preds && f->p->pred_at[item] < f->p->pred_at[item + 1],
	};
	/* Without predecessors and successors the operation can change places with a twin. */
	alone = !o->has_preds && it->kind == KL_ITEM_OP &&
		!(f->is_pred && f->is_pred[item / 64] >> item % 64 & 1);
	if (f->sys->opsigs && !o->free && alone)
		find_twins(f, o);
	if (f->c.hidden && o->over && alone)
		f->c.over[it->slot / 64] |= 1ull << it->slot % 64;
	f->place[it->slot] = f->nopen++;
	if (f->sys->supply)
		kl_supply_open(f->sys->supply, o->sig, o->slot, true);
	if (o->free)
		f->c.free[it->slot / 64] |= 1ull << it->slot % 64;
	f->budget->work += STEP_LOOKS + (o->free || o->eager ? STEP_LOOKS * f->cur.n : 0);
	for (at = 0; at < f->cur.n && (o->free || o->eager); at++) {
		uint64_t *rec = f->cur.rec + at * f->c.reclen;

		ret = settle_one(f, rec, o);
		/* Other operations may change nothing in the new state. */
		if (ret > 0 && o->eager)
			ret = settle(f, rec);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int find_is_pred(struct frontier *f)
{
	const struct kl_part *p = f->p;
	uint32_t i;

	if (!p->has_preds)
		return 0;
	f->is_pred = calloc((size_t)p->nitems / 64 + 1, sizeof(*f->is_pred));
	if (!f->is_pred)
		return -ENOMEM;
	for (i = 0; i < p->pred_at[p->nitems]; i++)
		f->is_pred[p->pred[i] / 64] |= 1ull << p->pred[i] % 64;
	return 0;
}

bool kl_spec_has_overwrites(const struct kl_spec *spec)
{
	unsigned int i;

	for (i = 0; i < kl_spec_nmethods(spec); i++)
		if (kl_spec_method(spec, i)->blind && !kl_spec_method(spec, i)->pure)
			return kl_spec_fixed_size(spec);
	return false;
}

static int frontier_init(struct frontier *f, const struct kl_part *p, struct kl_system *sys,
			 struct kl_budget *budget)
{
	int ret;

	memset(f, 0, sizeof(*f));
	f->p = p;
	f->sys = sys;
	f->memo = sys->memo;
	f->budget = budget;
	f->no_nodes = budget->lim->no_witness;
	f->width = sys->width;
	f->c.masklen = p->nslots ? (p->nslots + 63) / 64 : 1;
	f->c.hidden = sys->opsigs && kl_spec_has_overwrites(p->spec) ? f->c.masklen : 0;
	f->c.reclen = f->c.masklen + f->c.hidden + 1;
	f->open = malloc(((size_t)p->nslots + 1) * sizeof(*f->open));
	f->place = malloc(((size_t)p->nslots + 1) * sizeof(*f->place));
	f->tmp = calloc(f->c.reclen, sizeof(*f->tmp));
	f->c.free = calloc(f->c.masklen, sizeof(*f->c.free));
	f->c.over = calloc(f->c.masklen, sizeof(*f->c.over));
	if (!f->open || !f->place || !f->tmp || !f->c.free || !f->c.over)
		return -ENOMEM;
	ret = find_is_pred(f);
	if (ret)
		return ret;
	kl_rec_set(&f->c, f->tmp, sys->first, NO_NODE);
	ret = kl_config_set_add(&f->c, &f->cur, f->tmp, 0);
	return ret < 0 ? ret : 0;
}

static void frontier_free(struct frontier *f)
{
	kl_config_set_free(&f->cur);
	kl_config_set_free(&f->next);
	kl_config_set_free(&f->seen);
	free(f->open);
	free(f->place);
	free(f->moves);
	free(f->succ);
	free(f->is_pred);
	free(f->tmp);
	free(f->c.free);
	free(f->c.over);
	free(f->nodes);
	kl_frontier_marks_free(f);
}

/* Forget states that no configuration has. */
static int keep_states(struct frontier *f)
{
	uint32_t *states;
	size_t n = 0, i;
	unsigned int k;
	int ret;

	if (!f->sys->full || !f->sys->full(f->sys))
		return 0;
	for (k = 0; k <= MARKS; k++)
		n += kl_frontier_set(f, k)->n;
	states = malloc((n + 1) * sizeof(*states));
	if (!states)
		return -ENOMEM;
	for (k = 0, n = 0; k <= MARKS; k++) {
		const struct kl_config_set *s = kl_frontier_set(f, k);

		for (i = 0; i < s->n; i++)
			states[n++] = kl_rec_state(&f->c, s->rec + i * f->c.reclen);
	}
	ret = f->sys->keep(f->sys, states, n);
	for (k = 0, n = 0; !ret && k <= MARKS; k++) {
		struct kl_config_set *s = kl_frontier_set(f, k);

		for (i = 0; i < s->n; i++)
			kl_rec_set(&f->c, s->rec + i * f->c.reclen, states[n++],
				   kl_rec_node(&f->c, s->rec + i * f->c.reclen));
	}
	free(states);
	return ret;
}

/*
 * The fast path for one configuration, and an operation that is called and returns while no other
 * is open: a single step, without a slot.
 *
 * Return: 1 if both events are done, 0 if this path does not apply, or a negative errno.
 */
static int on_solitary(struct frontier *f, uint32_t item)
{
	const struct kl_part *p = f->p;
	const struct frontier_open o = { .item = item, .sig = p->items[item].sig };
	const struct kl_event *ret = &p->events[f->now + 1];
	const uint32_t *next;
	int64_t node;
	int n;

	if (f->nopen || f->cur.n != 1 || f->sys->moves || f->now + 1 == p->nevents ||
	    ret->item != item || ret->kind != KL_EV_RET)
		return 0;
	n = step(f, kl_rec_state(&f->c, f->cur.rec), &o, &next);
	if (n != 1)
		return n < 0 ? n : 0;
	node = node_new(f, kl_rec_node(&f->c, f->cur.rec), item);
	if (node < 0)
		return node;
	kl_rec_set(&f->c, f->cur.rec, next[0], node);
	f->budget->configs++;
	f->budget->work += STEP_LOOKS;
	return 1;
}

/* Process an event.  Return: 0, 1 if no configuration goes on, or a negative errno. */
static int on_event(struct frontier *f)
{
	const struct kl_event *e = &f->p->events[f->now];
	int ret;

	switch (e->kind) {
	case KL_EV_CALL:
		kl_item_ahead(f->p, e->item);
		ret = on_solitary(f, e->item);
		if (ret <= 0)
			return ret ? ret : on_call(f, e->item);
		f->now++;
		return 0;
	case KL_EV_RET:
		return on_return(f, &f->p->items[e->item]);
	case KL_EV_DRAIN:
		break;
	}
	return f->sys->waits ? on_drain(f, &f->p->items[e->item]) : 0;
}

/* Drop configurations with lost states.  Return: true if all states are lost. */
static bool all_lost(struct frontier *f)
{
	struct kl_config_set *s = &f->cur;
	size_t i, n = 0;

	for (i = 0; f->sys->lost && i < s->n; i++) {
		const uint64_t *rec = s->rec + i * f->c.reclen;

		if (!f->sys->lost(f->sys, kl_rec_state(&f->c, rec)))
			kl_rec_copy(&f->c, s->rec + n++ * f->c.reclen, rec);
	}
	if (n)
		s->n = n;
	return f->sys->lost && !n;
}

int kl_frontier_run(const struct kl_part *p, struct kl_system *sys, struct kl_budget *b,
		    struct kl_answer *a)
{
	struct frontier f;
	int ret;

	ret = frontier_init(&f, p, sys, b);
	while (!ret && f.now < p->nevents) {
		ret = kl_frontier_mark(&f) ?: on_event(&f);
		if (!ret)
			ret = keep_states(&f) ?: kl_frontier_sweep(&f);
		if (!ret)
			f.now++;
		else if (ret > 0)
			ret = kl_frontier_back(&f);
		kl_frontier_past(&f);
	}
	a->configs = b->configs;
	a->work = b->work;
	a->bytes = f.cnodes * sizeof(*f.nodes) + sys->bytes(sys);
	if (ret == -EDQUOT) {
		a->verdict = KL_UNKNOWN;
		a->bound = b->bound;
		a->progress = b->progress;
		snprintf(a->reason, sizeof(a->reason), "%s", b->reason);
		ret = 0;
	} else if (ret > 0 && f.cut) {
		a->verdict = KL_UNKNOWN;
		a->bound = KL_BOUND_WORK;
		a->progress = b->progress;
		a->fail_event = f.trouble;
		snprintf(a->reason, sizeof(a->reason),
			 "none of the %zu configurations that are kept at a time can be "
			 "continued", sys->width);
		ret = 0;
	} else if (!ret && all_lost(&f)) {
		a->verdict = KL_UNKNOWN;
		/* A configuration that was given up may have led to an order. */
		a->bound = f.cut ? KL_BOUND_WORK : KL_BOUND_NONE;
		a->lost = !f.cut;
		snprintf(a->reason, sizeof(a->reason), "%s", KL_LOST_REASON);
	} else if (ret >= 0) {
		a->verdict = ret ? KL_VIOLATION : KL_LINEARIZABLE;
		a->fail_event = ret ? f.now : 0;
		ret = kl_frontier_order(&f, f.now, a);
	}
	frontier_free(&f);
	return ret;
}
