// SPDX-License-Identifier: GPL-2.0
/*
 * From the monitor of a register to the frontier, where times no longer distinguish the uses of
 * a word.  The frontier begins with all possible configurations: sets of open operations that took
 * effect, each with a value of the register.  A configuration is possible if its operations, and
 * all that returned, have an order that ends with its value.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/online/register.h"

#define MOST	10	/* maximal number of open operations */
#define VALUES	64

/* A value that the register may have now, or that an open operation writes or reads. */
struct candidate {
	uint32_t value;
	/* with the open operations that took effect, see register.h */
	uint64_t first_ret, last_call;
	bool here;		/* an operation of the value took effect */
};

struct cut {
	struct reg *r;
	uint32_t op[MOST];	/* the open operations */
	unsigned int n;
	struct candidate c[VALUES];
	unsigned int ncand;
	/* for each set of open operations that took effect: bits of the values that may be last */
	uint64_t *last;
};

/* Return: the index of a value's candidate, which is made if there is room; or VALUES. */
static unsigned int candidate(struct cut *t, uint32_t value)
{
	unsigned int i;

	for (i = 0; i < t->ncand && t->c[i].value != value; i++)
		;
	if (i == t->ncand && i < VALUES)
		t->c[t->ncand++].value = value;
	return i;
}

static struct doing *doing(const struct cut *t, struct kl_online *o, unsigned int i)
{
	return &t->r->d[*doing_of(t->r, on_op(o, t->op[i]))];
}

/*
 * Return: true if the operations that returned, and the open operations of the set @done, have an
 * order.  The candidates get their times with these operations.
 */
static bool place(struct cut *t, struct kl_online *o, unsigned int done)
{
	const uint64_t now = t->r->ev + 1;
	unsigned int i, k;

	for (i = 0; i < t->ncand; i++) {
		const struct value *v = &t->r->v[t->c[i].value];

		t->c[i].first_ret = v->first_ret == NEVER ? now : v->first_ret;
		t->c[i].last_call = v->first_ret == NEVER ? 0 : v->last_call;
		t->c[i].here = v->first_ret != NEVER;
	}
	for (i = 0; i < t->n; i++) {
		const struct doing *d = doing(t, o, i);
		struct candidate *c;

		if (!(done & 1 << i) || d->value == ON_NONE)
			continue;
		c = &t->c[candidate(t, d->value)];
		if (d->call > t->r->v[d->value].over)
			return false;
		c->here = true;
		if (d->call > c->last_call)
			c->last_call = d->call;
	}
	for (i = 0; i < t->n; i++) {
		const struct doing *d = doing(t, o, i);

		if (o->ops[t->op[i]].kind == ON_ADD && !(done & 1 << i) &&
		    (d->value == ON_NONE || t->c[candidate(t, d->value)].here))
			return false;
	}
	for (i = 0; i < t->ncand; i++) {
		const struct candidate *a = &t->c[i];

		if (a->here && !t->r->v[a->value].written)
			return false;
		for (k = 0; a->here && k < i; k++)
			if (t->c[k].here && a->last_call > t->c[k].first_ret &&
			    t->c[k].last_call > a->first_ret)
				return false;
	}
	return true;
}

/* Return: bits of the candidates that may be last in an order that place() found. */
static uint64_t last(const struct cut *t)
{
	uint64_t mask = 0;
	unsigned int i, k;

	for (i = 0; i < t->ncand; i++) {
		const struct candidate *c = &t->c[i];

		if (!c->here || t->r->v[c->value].over != NEVER)
			continue;
		for (k = 0; k < t->ncand; k++)
			if (k != i && t->c[k].here && t->c[k].last_call > c->first_ret)
				break;
		if (k == t->ncand)
			mask |= 1ull << i;
	}
	return mask;
}

/*
 * Return: t->last[@done] without the values that stay possible if another open read took effect.
 * The configuration with that read is never worse.
 */
static uint64_t without_reads(const struct cut *t, const struct kl_online *o, unsigned int done)
{
	uint64_t mask = t->last[done];
	unsigned int i;

	for (i = 0; i < t->n; i++)
		if (!(done & 1 << i) && o->ops[t->op[i]].kind == ON_PEEK)
			mask &= ~t->last[done | 1 << i];
	return mask;
}

/* List the open operations and all candidates.  Return: 0, or -EDQUOT if there are too many. */
static int gather(struct kl_online *o, const struct on_part *p, struct cut *t)
{
	uint32_t i, value;

	for (i = 0; i < p->nopen; i++) {
		const struct on_op *op = on_op(o, p->open[i]);

		if (p->open[i] == t->r->calling || (op->kind != ON_ADD && op->kind != ON_PEEK))
			continue;
		if (t->n == MOST)
			return -EDQUOT;
		t->op[t->n++] = p->open[i];
		value = doing(t, o, t->n - 1)->value;
		if (value != ON_NONE && candidate(t, value) == VALUES)
			return -EDQUOT;
	}
	for (i = t->r->head; i != ON_NONE; i = t->r->v[i].next)
		if (candidate(t, i) == VALUES)
			return -EDQUOT;
	return 0;
}

/* Get the number of the state with this value. */
static int state_of(struct kl_online *o, const struct value *v, uint32_t *state)
{
	const uint32_t *next;
	int n;

	*state = o->sim.first;
	if (v->write == ON_NONE)
		return 0;
	n = on_sig(o, on_op(o, v->write));
	if (!n)
		n = kl_stepper_step(&o->sim, o->sim.any, on_op(o, v->write)->sig, &next);
	if (n == 1)
		*state = *next;
	return n == 1 ? 0 : n < 0 ? n : -EDQUOT;
}

int on_register_front(struct kl_online *o, struct on_part *p, void *mon)
{
	struct cut t = { .r = mon };
	struct live_config *c = NULL;
	uint32_t state[VALUES];
	size_t n = 0, cap = 0;
	unsigned int done, i;
	int ret = 0;

	if (t.r->begin != ON_FRESH || gather(o, p, &t))
		return -EDQUOT;
	ret = on_sigs(o, p);
	t.last = calloc(1u << t.n, sizeof(*t.last));
	if (!t.last)
		ret = -ENOMEM;
	for (i = 0; i < t.ncand && !ret; i++)
		if (t.r->v[t.c[i].value].written)
			ret = state_of(o, &t.r->v[t.c[i].value], &state[i]);
	for (done = 0; done < 1u << t.n && !ret; done++)
		if (place(&t, o, done))
			t.last[done] = last(&t);
	for (done = 0; done < 1u << t.n && !ret; done++) {
		uint64_t left = without_reads(&t, o, done);

		for (; left && !ret; left &= left - 1) {
			ret = kl_grow(c, cap, n + 1);
			if (!ret)
				c[n++] = (struct live_config){
					.state = state[__builtin_ctzll(left)], .done = done,
				};
		}
	}
	if (!ret)
		ret = live_begin(o, p, t.r->calling, t.op, t.n, c, n);
	free(c);
	free(t.last);
	return ret;
}
