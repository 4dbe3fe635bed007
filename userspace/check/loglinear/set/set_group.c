// SPDX-License-Identifier: GPL-2.0
/*
 * Sets: the operations of one key, group by group.
 *
 * In a group the bit changes as late as possible.  When an operation returns and has not taken
 * effect, the fewest changes are made that let it take effect: one or two.  Of the operations that
 * could make a change, the one that returns first makes it.
 *
 * This finds an order if there is one.  Let L be the operations that took effect here by some time,
 * and M those that took effect by then in an order.  M has all of L's changes, and maybe more.  Its
 * further changes are by open operations, since operations that returned took effect in both.  So
 * from L these changes can be made at once, in M's sequence, and each operation sees the same bits.
 * If two open operations make the same change, the one that returns first may go first.  Pending
 * operations make a change only if no other can.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "check/loglinear/set/set.h"

/* Sort the events, which are nearly in order.  Return: false if that takes too much work. */
static bool sort_events(struct set_part *s)
{
	struct set_event *ev = s->ev;
	size_t i, at;

	for (i = 1; i < s->nev && s->work < s->t->most_work; i++) {
		const struct set_event e = ev[i];

		for (at = i; at && (ev[at - 1].time > e.time ||
				    (ev[at - 1].time == e.time && ev[at - 1].turn > e.turn)); at--)
			ev[at] = ev[at - 1];
		ev[at] = e;
		s->work += i - at;
	}
	return s->work < s->t->most_work;
}

static inline uint64_t call_of(const struct set *t, uint32_t item)
{
	return t->s->h->ops[set_index(t, item)].call;
}

uint32_t set_find_call(const struct set *t, uint32_t from, uint64_t time)
{
	const uint32_t n = t->s->nops;
	uint32_t to, step = 1, mid;

	for (to = from + 1; to < n && call_of(t, to) < time; to += step) {
		from = to;
		step *= 2;
	}
	to = to < n ? to : n;
	while (to - from > 1) {
		mid = from + (to - from) / 2;
		if (call_of(t, mid) < time)
			from = mid;
		else
			to = mid;
	}
	return to;
}

bool set_called_then(struct set_part *s, uint32_t item, uint64_t call, uint64_t ret,
		     uint32_t thread)
{
	const struct set *t = s->t;
	uint32_t i;

	if (!t->lines || ret == KL_TIME_MAX || call == ret)
		return false;
	for (i = set_find_call(t, item, ret); i < t->s->nops; i++, s->work++) {
		const struct kl_op *op = &t->s->h->ops[set_index(t, i)];

		if (op->call != ret)
			break;
		if (op->thread == thread)
			return true;
	}
	return false;
}

/* Free the nodes of the group of @k, which has ended. */
static inline void free_nodes(struct set_part *s, const struct set_key *k)
{
	const uint32_t first = s->node[k->last].next;

	s->node[k->last].next = s->free_node;
	s->free_node = first;
}

/* Copy the group of @k to s->op, and make s->ev.  0, -EAGAIN if it is too large, or -ENOMEM. */
static int lay_out(struct set_part *s, const struct set_key *k)
{
	uint32_t n = s->node[k->last].next, i;

	for (s->nop = s->nev = 0; ; n = s->node[n].next) {
		if (kl_grow(s->op, s->cop, s->nop + 1))
			return -ENOMEM;
		s->op[s->nop++] = s->node[n];
		if (n == k->last)
			break;
	}
	free_nodes(s, k);
	if (kl_grow(s->ev, s->cev, 2 * s->nop) || kl_grow(s->open, s->copen, s->nop) ||
	    kl_grow(s->pending[0], s->cpending[0], s->nop) ||
	    kl_grow(s->pending[1], s->cpending[1], s->nop))
		return -ENOMEM;
	for (i = 0; i < s->nop && s->work < s->t->most_work; i++) {
		const struct set_node *o = &s->op[i];
		const bool tied = set_called_then(s, set_item(o->op), o->call, o->ret, o->thread);

		s->ev[s->nev++] = (struct set_event){ o->call, i, CALL };
		if (o->ret != KL_TIME_MAX)
			s->ev[s->nev++] = (struct set_event){ o->ret, i, tied ? FIRST_RET : RET };
	}
	return sort_events(s) ? 0 : -EAGAIN;
}

/* Let @o take effect at the event @e.  An operation is late if that is not its own call. */
static int finish(struct set_part *s, struct set_node *o, const struct set_event *e)
{
	o->done = true;
	if (!s->t->order || s->t->choose || e->turn == CALL)
		return 0;
	if (kl_grow(s->late, s->clate, s->nlate + 1))
		return -ENOMEM;
	s->late[s->nlate++] = (struct set_late){
		.item = set_item(o->op), .group = set_item(s->op[0].op), .place = s->place,
	};
	return 0;
}

/*
 * Return: of the open operations that can change the bit the one that returns first, or else
 * a pending one, or NULL.
 */
static struct set_node *earliest(struct set_part *s)
{
	const enum what what = s->bit ? DOWN : UP;
	struct set_node *best = NULL;
	uint32_t i;

	for (i = 0; i < s->nopen; i++) {
		struct set_node *o = &s->op[s->open[i]];

		if (!o->done && set_what(o->op) == what && (!best || o->ret < best->ret))
			best = o;
	}
	s->work += s->nopen;
	if (!best && s->npending[!s->bit])
		best = &s->op[s->pending[!s->bit][--s->npending[!s->bit]]];
	return best;
}

/* At the event @e, let @o change the bit; open operations that saw the new bit take effect, too. */
static int change(struct set_part *s, struct set_node *o, const struct set_event *e)
{
	int ret = finish(s, o, e);
	uint32_t i;

	s->bit = !s->bit;
	for (i = 0; i < s->nopen && !ret; i++) {
		o = &s->op[s->open[i]];
		if (!o->done && set_what(o->op) == (s->bit ? SEES_IN : SEES_OUT))
			ret = finish(s, o, e);
	}
	s->work += s->nopen;
	return ret;
}

/* At the event @e, the operation @o returns: let it take effect.  1, 0 if it cannot, -ENOMEM. */
static int force(struct set_part *s, struct set_node *o, const struct set_event *e)
{
	const enum what what = set_what(o->op);
	int ret = 0;

	if (o->done)
		return 1;
	if (s->t->order)
		/* First returns come before calls of the same time. */
		s->place = set_find_call(s->t, set_item(o->op), e->time + (e->turn != FIRST_RET));
	if (what <= SEES_IN || s->bit != (what == DOWN)) {
		struct set_node *other = earliest(s);

		if (!other)
			return 0;
		ret = change(s, other, e);
	}
	if (!ret && !o->done)
		ret = change(s, o, e);
	return ret ? ret : 1;
}

static void leave(struct set_part *s, uint32_t op)
{
	uint32_t i;

	for (i = 0; s->open[i] != op; i++)
		;
	s->open[i] = s->open[--s->nopen];
}

static int call(struct set_part *s, uint32_t op, const struct set_event *e)
{
	struct set_node *o = &s->op[op];
	const enum what what = set_what(o->op);

	if (o->ret != KL_TIME_MAX) {
		s->open[s->nopen++] = op;
		if (what == FREE || what == (s->bit ? SEES_IN : SEES_OUT))
			return finish(s, o, e);
	} else if (what != FREE) {
		s->pending[what == UP][s->npending[what == UP]++] = op;
	}
	return 0;
}

/*
 * Process the events s->ev from the state @from: OUT, IN, or 0 if neither is possible.  Return: the
 * state after the group, 0 if there is none, or -ENOMEM.
 */
static int simulate(struct set_part *s, unsigned int from)
{
	uint32_t i;
	int ret = 1;

	if (!from)
		return 0;
	s->bit = from == IN;
	s->nopen = s->npending[0] = s->npending[1] = 0;
	for (i = 0; i < s->nop; i++)
		s->op[i].done = false;
	for (i = 0; i < s->nev && ret >= 0; i++) {
		const struct set_event *e = &s->ev[i];

		if (e->turn == CALL) {
			ret = call(s, e->op, e);
			continue;
		}
		ret = force(s, &s->op[e->op], e);
		if (!ret) {
			s->bad_item = set_item(s->op[e->op].op);
			s->bad_why = s->bit ? "was inside, and no operation could remove it in "
					      "time" :
				     "was not inside, and no operation could add it in time";
			return 0;
		}
		leave(s, e->op);
	}
	return ret < 0 ? ret : (int)(s->bit ? IN : OUT);
}

static inline bool are_two(const struct set_part *s, const struct set_key *k)
{
	const uint32_t first = s->node[k->last].next;

	return s->node[first].next == k->last && k->end != KL_TIME_MAX;
}

/*
 * End a group of two operations that returned.  Each takes effect at its call; or else the one
 * called first takes effect just after the other's call.  Return: 1, 0 if neither is possible,
 * -ENOMEM.
 */
static inline int end_two(struct set_part *s, struct set_key *k)
{
	const uint32_t two = s->node[k->last].op, one = s->node[s->node[k->last].next].op;
	const unsigned int before = set_after(set_after(k->bits, set_what(one)), set_what(two));
	const unsigned int behind = set_after(set_after(k->bits, set_what(two)), set_what(one));
	const bool order = s->t->order && !s->t->choose;

	if (!(before | behind))
		return 0;
	if (order && !before) {
		if (kl_grow(s->late, s->clate, s->nlate + 1))
			return -ENOMEM;
		s->late[s->nlate++] = (struct set_late){
			.item = set_item(one), .group = set_item(one), .place = set_item(two) + 1,
		};
	}
	free_nodes(s, k);
	/* If an order is wanted, a key has one first bit, so one of the two ways is enough. */
	k->bits = before | behind;
	return 1;
}

int set_end_several(struct set_part *s, struct set_key *k)
{
	const unsigned int out = k->bits & (OUT | IN), in = k->bits >> FROM_IN;
	int ret = !s->t->lines && are_two(s, k) ? end_two(s, k) : 0, other;

	if (ret)
		return ret;
	ret = lay_out(s, k);
	if (ret)
		return ret;
	ret = other = simulate(s, out);
	if (ret >= 0 && in != out)
		other = simulate(s, in);
	if (ret < 0 || other < 0)
		return -ENOMEM;
	k->bits = ret | other << FROM_IN;
	return s->work >= s->t->most_work ? -EAGAIN : k->bits != 0;
}

/* Make a node for an operation of a group of several.  Return: LL_NONE without memory. */
static uint32_t new_node(struct set_part *s, const struct set_op *op)
{
	uint32_t n = s->free_node;

	if (n != LL_NONE) {
		s->free_node = s->node[n].next;
	} else {
		if (kl_grow(s->node, s->cnode, (size_t)s->nnodes + 1))
			return LL_NONE;
		n = s->nnodes++;
	}
	s->node[n] = (struct set_node){
		.call = op->call, .ret = op->ret, .op = op->op, .thread = op->thread, .next = n,
	};
	return n;
}

/* Turn a group of one operation into a group of several. */
static int join(struct set_part *s, struct set_key *k)
{
	const struct set_op op = set_only_op(s->t, k);

	k->last = new_node(s, &op);
	k->several = true;
	return k->last == LL_NONE ? -ENOMEM : 0;
}

/* Begin a group with @op. */
static inline void begin(struct set_key *k, const struct set_op *op)
{
	k->end = op->ret;
	k->last = op->op;
	k->several = false;
}

/* Keep an operation aside, in s->carried, because its group began in an earlier part. */
static int carry(struct set_part *s, struct set_key *k, const struct set_op *op)
{
	if (kl_grow(s->carried, s->ccarried, s->ncarried + 1))
		return -ENOMEM;
	s->carried[s->ncarried++] = *op;
	k->end = op->ret > k->end ? op->ret : k->end;
	return 1;
}

/* Add an operation to a key that is new, or whose group has several operations or is not over. */
static int add_slowly(struct set_part *s, struct set_key *k, const struct set_op *op)
{
	uint32_t n;
	int ret = 1;

	if (k->several == SET_CARRIED) {
		if (op->call <= k->end)
			return carry(s, k, op);
		k->several = false;
	}
	if (!k->bits) {
		k->bits = k->first ? k->first : s->one;
	} else if (op->call > k->end) {
		ret = set_end_several(s, k);
	} else {
		if (!k->several && join(s, k))
			return -ENOMEM;
		n = new_node(s, op);
		if (n == LL_NONE)
			return -ENOMEM;
		s->node[n].next = s->node[k->last].next;
		s->node[k->last].next = n;
		k->last = n;
		k->end = op->ret > k->end ? op->ret : k->end;
		return 1;
	}
	begin(k, op);
	return ret;
}

/* The fast path: most groups have one operation.  Whether a key is new cannot be predicted. */
static inline int add(struct set_part *s, struct set_key *k, const struct set_op *op)
{
	const unsigned int first = k->first ? k->first : s->one;
	unsigned int bits = k->bits;

	/* This is not a branch. */
	bits |= first & -(unsigned int)!bits;
	if (op->call <= k->end || k->several)
		return add_slowly(s, k, op);
	bits = set_after(bits, set_what(k->last));
	if (!bits)
		return set_end_single(s, k);
	k->bits = bits;
	begin(k, op);
	return 1;
}

int set_add(struct set_part *s, const struct set_op *op, uint32_t n)
{
	return set_add_each(s, op, n, add);
}

int set_add_carried(struct set_part *to, const struct set_part *from)
{
	size_t i;
	int ret = 1;

	for (i = 0; i < from->ncarried && ret > 0; i++) {
		struct set_key *k = set_find_key(to, &to->small, from->carried[i].key);

		ret = k ? add(to, k, &from->carried[i]) : -ENOMEM;
	}
	return ret;
}

int set_take_group(struct set_part *to, struct set_key *key, const struct set_part *from,
		   const struct set_key *k)
{
	uint32_t at = k->last, n, behind = LL_NONE;

	key->end = k->end;
	key->last = k->last;
	key->several = k->several;
	if (!k->several)
		return 1;
	/* Copy the last node first, then the others from the group's first one on. */
	for (key->last = LL_NONE;; behind = n) {
		const struct set_node *node = &from->node[at];
		const struct set_op op = {
			.call = node->call, .ret = node->ret, .op = node->op,
			.thread = node->thread,
		};

		n = new_node(to, &op);
		if (n == LL_NONE)
			return -ENOMEM;
		if (key->last == LL_NONE) {
			key->last = n;
		} else {
			to->node[n].next = to->node[behind].next;
			to->node[behind].next = n;
		}
		at = node->next;
		if (at == k->last)
			return 1;
	}
}
