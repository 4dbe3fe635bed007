// SPDX-License-Identifier: GPL-2.0
/*
 * The frontier, followed as operations come; frontier.c explains which configurations it keeps.
 * All partitions share one table of states and one of signatures.  When these have grown, entries
 * that are not in use are dropped.
 *
 * After a gap the state is unknown, and operations that were open may have taken effect in the gap.
 * Such an operation is a ghost: it may take effect once more, or not at all.  That gives all orders
 * with the gap in them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/online/online_frontier.h"

int live_init(struct kl_online *o)
{
	int ret = live_tables_init(o);

	if (ret)
		return ret;
	o->hidden = kl_spec_has_overwrites(o->spec);
	o->tmp = calloc(4, sizeof(*o->tmp));
	return o->tmp ? 0 : -ENOMEM;
}

void live_exit(struct kl_online *o)
{
	struct live *l;

	while ((l = o->pool)) {
		o->pool = l->next;
		kl_config_set_free(&l->cur);
		free(l);
	}
	live_tables_free(o);
	kl_config_set_free(&o->next);
	kl_config_set_free(&o->seen);
	free(o->tmp);
	free(o->succ);
}

static struct live *new_live(struct kl_online *o)
{
	struct live *l = o->pool;

	if (l) {
		o->pool = l->next;
	} else {
		l = calloc(1, sizeof(*l));
		if (!l)
			return NULL;
		l->c.masklen = 1;
		l->c.hidden = o->hidden;
		l->c.reclen = 2 + o->hidden;
		l->c.free = &l->free;
		l->c.over = &l->over;
	}
	l->free = l->over = l->used = l->ghosts = 0;
	kl_config_set_clear(&l->cur);
	return l;
}

void live_drop(struct kl_online *o, struct on_part *p)
{
	if (!p->live)
		return;
	p->live->next = o->pool;
	o->pool = p->live;
	p->live = NULL;
}

/* Link the operation of @slot into the list of twins: equal signatures, in order of return. */
static void find_twins(struct kl_online *o, struct live *l, unsigned int slot)
{
	struct live_open *op = &l->open[slot], *next = NULL;
	const struct on_op *me = on_op(o, op->op);
	uint64_t left, before = 0, after = KL_TIME_MAX;

	for (left = l->used & ~live_bit(slot); left; left &= left - 1) {
		const unsigned int s = __builtin_ctzll(left);
		struct live_open *t = &l->open[s];
		const struct on_op *other = on_op(o, t->op);

		if (!t->alone || t->free || other->sig != me->sig)
			continue;
		if (other->ret <= me->ret) {
			if (op->twin == LIVE_NO_SLOT || other->ret >= before) {
				before = other->ret;
				op->twin = s;
			}
		} else if (!next || other->ret <= after) {
			after = other->ret;
			next = t;
		}
	}
	if (next)
		next->twin = slot;
}

static int nature(struct kl_online *o, uint32_t op)
{
	const uint32_t sig = on_op(o, op)->sig;

	return o->fake.items[sig].pure ? KL_READ_ONLY : kl_stepper_nature(&o->sim, sig);
}

/* Give an operation a slot. */
static int open_one(struct kl_online *o, struct on_part *p, uint32_t i, bool ghost)
{
	struct live *l = p->live;
	struct on_op *op = on_op(o, i);
	struct live_open *s;
	uint64_t left;
	unsigned int slot;
	size_t at;
	int n = nature(o, i), ret;

	op->slot = LIVE_NO_SLOT;
	/* A ghost that changes nothing may be omitted. */
	if (n < 0 || (ghost && n & KL_READ_ONLY))
		return n < 0 ? n : 0;
	if (l->used == UINT64_MAX)
		return o->opts.error ?
			       live_too_many(o,
					     "more than 64 operations overlap, or may do so within "
					     "the clock's error") :
			       live_too_many(o, "more than 64 operations overlap");
	slot = __builtin_ctzll(~l->used);
	s = &l->open[slot];
	*s = (struct live_open){
		.op = i,
		.twin = LIVE_NO_SLOT,
		.ghost = ghost,
		.free = n & KL_READ_ONLY,
		.over = n & KL_BLIND_WRITE,
	};
	for (left = l->used; left; left &= left - 1) {
		struct live_open *t = &l->open[__builtin_ctzll(left)];

		if (on_before(on_op(o, t->op), op))
			s->preds |= left & -left;
		if (ghost && on_before(op, on_op(o, t->op)))
			t->preds |= live_bit(slot);
	}
	op->slot = slot;
	l->used |= live_bit(slot);
	s->alone = !ghost && !s->preds && !op->is_pred;
	if (ghost)
		l->ghosts |= live_bit(slot);
	if (s->alone && !s->free)
		find_twins(o, l, slot);
	if (l->c.hidden && s->over && s->alone)
		l->over |= live_bit(slot);
	if (!s->free)
		return 0;
	l->free |= live_bit(slot);
	for (at = 0; at < l->cur.n; at++) {
		ret = live_settle(o, l, l->cur.rec + at * l->c.reclen);
		if (ret)
			return ret;
	}
	return 0;
}

/* Make p->live with one configuration, whose state is p->state. */
static int make_live(struct kl_online *o, struct on_part *p)
{
	int ret;

	p->live = new_live(o);
	if (!p->live)
		return -ENOMEM;
	memset(o->tmp, 0, p->live->c.reclen * sizeof(*o->tmp));
	kl_rec_set(&p->live->c, o->tmp, p->state, 0);
	ret = kl_config_set_add(&p->live->c, &p->live->cur, o->tmp, 0);
	return ret < 0 ? ret : 0;
}

int live_call(struct kl_online *o, struct on_part *p, uint32_t op)
{
	int ret;

	if (kl_intern_bytes(&o->sim.states) > o->limit_states) {
		ret = live_collect(o);
		if (ret)
			return ret;
		if (o->limit_states > o->opts.bytes)
			return live_too_many(o, "the possible states do not fit the memory");
	}
	/* A single open operation needs no slot, see live_return(). */
	if (!p->live && p->nopen == 1)
		return 0;
	if (!p->live) {
		ret = make_live(o, p) ?: open_one(o, p, p->open[0], false);
		if (ret)
			return ret;
	}
	return open_one(o, p, op, false);
}

/* A ghost returns: keep all configurations, and add those in which it takes effect now. */
static int end_ghost(struct kl_online *o, struct live *l, unsigned int slot)
{
	struct kl_config_set before = { 0 };
	size_t at;
	int ret = 0;

	for (at = 0; at < l->cur.n && ret >= 0; at++)
		ret = kl_config_set_add(&l->c, &before, l->cur.rec + at * l->c.reclen, 0);
	if (ret >= 0)
		ret = live_satisfy(o, l, slot);
	if (ret == 1)
		ret = 0;
	for (at = 0; at < before.n && ret >= 0; at++)
		ret = kl_config_set_add(&l->c, &l->cur, before.rec + at * l->c.reclen, 0);
	kl_config_set_free(&before);
	return ret < 0 ? ret : 0;
}

/*
 * Free a slot.  If it was a ghost's, make the set of configurations again: some may be equal now,
 * and read-only operations that would have excluded the ghost may take effect.
 */
static int close_slot(struct kl_online *o, struct live *l, unsigned int slot)
{
	const bool ghost = l->open[slot].ghost;
	struct kl_config_set swap;
	uint64_t left;
	size_t at;
	int ret = 0;

	l->used &= ~live_bit(slot);
	l->ghosts &= ~live_bit(slot);
	l->free &= ~live_bit(slot);
	l->over &= ~live_bit(slot);
	for (left = l->used; left; left &= left - 1) {
		struct live_open *t = &l->open[__builtin_ctzll(left)];

		t->preds &= ~live_bit(slot);
		if (t->twin == slot)
			t->twin = LIVE_NO_SLOT;
	}
	kl_config_set_clear(&o->next);
	for (at = 0; at < l->cur.n; at++) {
		uint64_t *rec = l->cur.rec + at * l->c.reclen;

		rec[0] &= ~live_bit(slot);
		if (l->c.hidden)
			rec[1] &= ~live_bit(slot);
		if (ghost) {
			ret = live_settle(o, l, rec);
			if (ret >= 0)
				ret = kl_config_set_add(&l->c, &o->next, rec, 0);
			if (ret < 0)
				return ret;
		}
	}
	if (ghost) {
		swap = l->cur;
		l->cur = o->next;
		o->next = swap;
	}
	return 0;
}

/* The only open operation returns, while the partition has a single state and no p->live. */
static int return_alone(struct kl_online *o, struct on_part *p, const struct on_op *op)
{
	const uint32_t *next;
	int n = live_step(o, p->state, op->sig, &next), ret;

	if (n == 1)
		p->state = next[0];
	if (n <= 1)
		return n < 0 ? n : !n;
	ret = make_live(o, p);
	return ret ? ret : open_one(o, p, p->open[0], false);
}

int live_return(struct kl_online *o, struct on_part *p, uint32_t i)
{
	const struct on_op *op = on_op(o, i);
	struct live *l;
	size_t at;
	int ret;

	if (!p->live) {
		ret = return_alone(o, p, op);
		if (ret || !p->live)
			return ret;
	}
	l = p->live;
	if (op->slot != LIVE_NO_SLOT) {
		ret = l->open[op->slot].ghost ? end_ghost(o, l, op->slot) : 0;
		for (at = 0; !ret && at < l->cur.n && !l->open[op->slot].ghost; at++) {
			if (kl_rec_has(l->cur.rec + at * l->c.reclen, op->slot))
				continue;
			ret = live_satisfy(o, l, op->slot);
			break;
		}
		if (!ret)
			ret = close_slot(o, l, op->slot);
		if (ret)
			return ret;
	}
	if (p->nopen == 1 && l->cur.n == 1) {
		p->state = kl_rec_state(&l->c, l->cur.rec);
		live_drop(o, p);
	}
	return 0;
}

int live_restart(struct kl_online *o, struct on_part *p)
{
	uint32_t i;
	int ret;

	live_drop(o, p);
	p->state = o->sim.any;
	if (!p->nopen)
		return 0;
	ret = make_live(o, p);
	for (i = 0; i < p->nopen && !ret; i++)
		ret = open_one(o, p, p->open[i], true);
	return ret;
}

int live_begin(struct kl_online *o, struct on_part *p, uint32_t but, const uint32_t *ops,
	       unsigned int nops, const struct live_config *c, size_t n)
{
	struct live *l;
	unsigned int k;
	uint32_t i;
	size_t at;
	int ret = 0;

	p->live = l = new_live(o);
	if (!l)
		return -ENOMEM;
	for (i = 0; i < p->nopen && !ret; i++)
		if (p->open[i] != but)
			ret = open_one(o, p, p->open[i], false);
	for (at = 0; at < n && ret >= 0; at++) {
		memset(o->tmp, 0, l->c.reclen * sizeof(*o->tmp));
		for (k = 0; k < nops; k++)
			if (c[at].done & live_bit(k))
				o->tmp[0] |= live_bit(on_op(o, ops[k])->slot);
		kl_rec_set(&l->c, o->tmp, c[at].state, 0);
		ret = live_settle(o, l, o->tmp);
		if (ret >= 0)
			ret = kl_config_set_add(&l->c, &l->cur, o->tmp, 0);
	}
	return ret < 0 ? ret : 0;
}

bool live_lost(struct kl_online *o, const struct on_part *p)
{
	size_t at;

	if (!p->live)
		return kl_stepper_lost(&o->sim, p->state);
	for (at = 0; at < p->live->cur.n; at++)
		if (!kl_stepper_lost(&o->sim,
				     kl_rec_state(&p->live->c,
						  p->live->cur.rec + at * p->live->c.reclen)))
			return false;
	return true;
}

int live_possible(struct kl_online *o, uint32_t op)
{
	const uint32_t *next;
	int n = kl_stepper_step(&o->sim, o->sim.any, on_op(o, op)->sig, &next);

	/* If the interpreter gives up, the operation may be possible. */
	return n == -EDQUOT ? 1 : n < 0 ? n : n > 0;
}
