// SPDX-License-Identifier: GPL-2.0
/* The values that must be peeled after a value of a stack, see stack.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "check/online/stack.h"

static int add(struct stack *st, uint32_t i, uint64_t first_ret, uint64_t last_call, uint64_t at)
{
	int ret = kl_grow(st->above, st->cabove, st->nabove + 1);

	if (!ret)
		st->above[st->nabove++] = (struct above){
			.first_ret = first_ret, .last_call = last_call, .at = at, .use = i,
		};
	return ret;
}

/*
 * Return: the slot, at most @from, before which no mark matters.  Each value that has a mark there
 * or later is first inside there or later, too, so it covers no earlier mark.  *end becomes the
 * last alive value without such a mark, or ON_NONE.
 */
static uint64_t find_from(const struct stack *st, uint64_t from, uint32_t *end)
{
	uint64_t before;
	size_t k;

	*end = st->tail;
	do {
		before = from;
		for (; *end != ON_NONE && st->l[*end].key >= from; *end = st->l[*end].prev)
			if (st->s.u[*end].first_ret < from)
				from = st->s.u[*end].first_ret;
		for (k = 0; k < st->ndying; k++)
			if (st->l[st->dying[k].use].key >= from && st->dying[k].first_ret < from)
				from = st->dying[k].first_ret;
	} while (from < before);
	return from;
}

/*
 * List in st->above first @i, then the dying values and then, by first_ret, the alive values that
 * may have to be peeled after @i.
 */
static int gather(struct stack *st, uint32_t i)
{
	const struct dying *d = st->l[i].state == LEVEL_DYING ? level_dying(st, i) : NULL;
	const uint64_t first_ret = d ? d->first_ret : use(&st->s, i)->first_ret;
	uint32_t end, w;
	uint64_t from;
	size_t k;

	st->nabove = 0;
	if (add(st, i, first_ret, d ? d->last_call : NEVER, d ? d->at : NEVER))
		return -ENOMEM;
	from = find_from(st, first_ret, &end);
	for (k = 0; k < st->ndying; k++) {
		d = &st->dying[k];
		if (d->use != i && st->l[d->use].key >= from &&
		    add(st, d->use, d->first_ret, d->last_call, d->at))
			return -ENOMEM;
	}
	st->first_alive = st->nabove;
	for (w = end == ON_NONE ? st->head : st->l[end].next; w != ON_NONE; w = st->l[w].next) {
		struct above a;

		if (w == i)
			continue;
		if (add(st, w, use(&st->s, w)->first_ret, NEVER, NEVER))
			return -ENOMEM;
		a = st->above[st->nabove - 1];
		for (k = st->nabove - 1;
		     k > st->first_alive && st->above[k - 1].first_ret > a.first_ret; k--)
			st->above[k] = st->above[k - 1];
		st->above[k] = a;
	}
	return 0;
}

/* Return: a value of st->above that covers the slot @at, is not peeled, and not @but; or NULL. */
static struct above *covering(struct stack *st, uint64_t at, size_t but)
{
	size_t k;

	for (k = 0; k < st->first_alive; k++) {
		struct above *a = &st->above[k];

		if (k != but && !a->peeled && a->first_ret <= at && at < a->last_call)
			return a;
	}
	/* The first of the alive values covers most. */
	for (; k < st->nabove && st->above[k].first_ret <= at; k++)
		if (k != but && !st->above[k].peeled)
			return &st->above[k];
	return NULL;
}

/*
 * Return: true if values of st->above other than @but, and dead ones, cover the slots @at ..
 * @end - 1.  @say: mark these values as needed for the core.
 */
static bool covered(struct stack *st, uint64_t at, uint64_t end, size_t but, bool say)
{
	struct above *a;

	for (; at < end; at = a->at) {
		a = covering(st, at, but);
		if (!a)
			return false;
		a->need |= say;
	}
	return true;
}

/* Return: a mark of the value above[@k] that other values cover, or ON_NONE. */
static uint32_t covered_mark(struct stack *st, size_t k)
{
	uint32_t m;

	for (m = st->l[st->above[k].use].marks; m != ON_NONE; m = st->marks[m].next)
		if (covered(st, st->marks[m].at, st->marks[m].end, k, false))
			break;
	return m;
}

/* Peel all values that can be peeled before the first one. */
static void peel(struct stack *st)
{
	bool again;
	size_t k;

	do {
		again = false;
		for (k = 1; k < st->nabove; k++) {
			if (st->above[k].peeled || covered_mark(st, k) != ON_NONE)
				continue;
			st->above[k].peeled = true;
			again = true;
		}
	} while (again);
}

/* The pending removal takes effect after its own call, and after the last call of the value. */
int above_give(struct kl_online *o, struct stack *st, uint32_t i)
{
	struct uses *s = &st->s;
	const uint32_t by = uses_give(s, i);
	struct use *u = use(s, i);
	uint64_t last_call;
	int ret;

	if (by == ON_NONE)
		return 0;
	last_call = st->wild_call[s->given - 1];
	last_call = st->l[i].last > last_call ? st->l[i].last : last_call;
	on_op(o, by)->refs++;
	u->remove = by;
	u->last_call = last_call;
	u->removed = true;
	if (u->inside)
		uses_leave(o, s, i);
	ret = level_leave(st, i, u->first_ret, last_call, proofs_free_gap(&st->dead, last_call));
	return ret ? ret : 1;
}

/* Make a core: values that cover the window [@call, @end), and the reasons why they are inside. */
static int name_core(struct kl_online *o, struct stack *st, uint64_t call, uint64_t at,
		     uint64_t end)
{
	struct uses *s = &st->s;
	const struct mark *m;
	size_t k;
	int ret = core_word(s, st->above[0].use) ?: proofs_core(&st->dead, s, call, at);

	covered(st, at, end, 0, true);
	for (k = 1; k < st->nabove && !ret; k++) {
		struct above *a = &st->above[k];

		if (!a->need || a->named)
			continue;
		a->named = true;
		m = &st->marks[covered_mark(st, k)];
		covered(st, m->at, m->end, k, true);
		ret = core_word(s, a->use) ?: proof_core(&st->dead, s, &m->proof);
		if (!ret && a->last_call != NEVER)
			ret = proofs_core(&st->dead, s, a->last_call, a->at);
		k = 0;
	}
	return ret;
}

/* Return: a value that the core needs, preferably the first alive one; or ON_NONE. */
static uint32_t find_other(const struct stack *st)
{
	uint32_t other = ON_NONE;
	size_t k;

	for (k = 1; k < st->nabove; k++)
		if (st->above[k].need && (other == ON_NONE || k == st->first_alive))
			other = st->above[k].use;
	return other;
}

int above_check(struct kl_online *o, struct stack *st, uint32_t i, uint64_t call, uint64_t at,
		const char *what)
{
	struct uses *s = &st->s;
	uint32_t other;
	int ret;

	for (;;) {
		ret = gather(st, i);
		if (ret)
			return ret;
		if (st->nabove == 1)
			return 0;
		peel(st);
		if (!covered(st, at, s->ev, 0, false))
			return 0;
		core_start(s);
		ret = name_core(o, st, call, at, s->ev);
		other = find_other(st);
		if (!ret && other != ON_NONE && st->l[other].state == LEVEL_ALIVE)
			ret = above_give(o, st, other);
		if (ret < 0)
			return ret;
		if (!ret)
			break;
	}
	snprintf(o->reason, sizeof(o->reason), what, use(s, i)->word,
		 other == ON_NONE ? 0 : use(s, other)->word);
	return 1;
}
