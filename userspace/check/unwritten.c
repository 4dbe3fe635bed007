// SPDX-License-Identifier: GPL-2.0
/*
 * Operations that need a value which nothing wrote, see unwritten.h.
 *
 *	word mask = 7;  set(m) writes m & 7;  get() -> 9 needs mask == 9
 *
 * Each operation runs once from a state in which all is unknown, and shows what it writes.  Then
 * each runs again, and shows by the unknowns that its results settle what it must have read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/unwritten.h"

/* A value that a slot of the state may have. */
struct slot_val {
	uint32_t slot;
	struct kl_val val;
};

struct unwritten {
	const struct kl_part *p;
	struct kl_run *run;
	struct kl_looks *looks;
	struct kl_val *any;	/* the state in which all is unknown */
	size_t len;
	bool *open;		/* slots that may have any value */
	struct slot_val *vals;
	size_t nvals, cvals;
	bool possible;		/* some outcome needs only values that may have been there */
	bool nomem;
};

static int by_slot(const void *a, const void *b)
{
	const struct slot_val *x = a, *y = b;

	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	if (x->val.tag != y->val.tag)
		return x->val.tag < y->val.tag ? -1 : 1;
	return x->val.v < y->val.v ? -1 : x->val.v > y->val.v;
}

static void add_val(struct unwritten *u, uint32_t slot, struct kl_val val)
{
	if (val.tag == KL_ANY) {
		u->open[slot] = true;
	} else if (kl_grow(u->vals, u->cvals, u->nvals + 1)) {
		u->nomem = true;
	} else {
		memset(&u->vals[u->nvals], 0, sizeof(*u->vals));
		u->vals[u->nvals].slot = slot;
		u->vals[u->nvals++].val = val;
	}
}

static int on_write(void *ctx, const struct kl_outcome *o)
{
	struct unwritten *u = ctx;
	size_t i;

	for (i = 0; i < o->nwrote; i++)
		add_val(u, o->wrote[i], o->state[o->wrote[i]]);
	return u->nomem;
}

/* May the slot have had this value? */
static bool had(const struct unwritten *u, uint32_t slot, struct kl_val val)
{
	const struct slot_val want = { .slot = slot, .val = val };

	return val.tag == KL_ANY || u->open[slot] ||
	       bsearch(&want, u->vals, u->nvals, sizeof(want), by_slot);
}

/* A slot that the operation does not write had its value before, too. */
static int on_need(void *ctx, const struct kl_outcome *o)
{
	struct unwritten *u = ctx;
	size_t i, w = 0;

	for (i = 0; i < u->len; i++) {
		if (w < o->nwrote && o->wrote[w] == i)
			w++;
		else if (!had(u, i, o->state[i]))
			return 0;
	}
	u->possible = true;
	return 1;
}

/* Return: as kl_run_apply(); -EDQUOT if the bound is reached. */
static int apply(struct unwritten *u, const struct kl_item *it, kl_outcome_fn fn)
{
	int ret;

	kl_run_set_bound(u->run, kl_looks_left(u->looks), kl_looks_over, u->looks);
	ret = kl_run_apply(u->run, u->any, u->len, it->method, kl_item_args(u->p, it),
			   kl_item_res(u->p, it), fn, u);
	return kl_look(u->looks, kl_run_work(u->run) + u->len) ? -EDQUOT : ret;
}

static int unwritten_init(struct unwritten *u)
{
	const struct kl_val *state = kl_run_init(u->run, true, &u->len);
	size_t i;

	u->open = calloc(u->len + 1, sizeof(*u->open));
	u->any = malloc((u->len + 1) * sizeof(*u->any));
	if (!state || !u->open || !u->any)
		return -ENOMEM;
	for (i = 0; i < u->len; i++)
		add_val(u, i, state[i]);
	state = kl_run_init(u->run, false, &u->len);
	if (!state || u->nomem)
		return -ENOMEM;
	memcpy(u->any, state, u->len * sizeof(*state));
	return 0;
}

/* Collect what all operations write.  Return: 0, 1 if that is not known, or -ENOMEM. */
static int collect(struct unwritten *u)
{
	uint32_t i;
	int ret;

	for (i = 0; i < u->p->nitems; i++) {
		ret = apply(u, &u->p->items[i], on_write);
		if (ret)
			return ret == -ENOMEM || u->nomem ? -ENOMEM : 1;
	}
	qsort(u->vals, u->nvals, sizeof(*u->vals), by_slot);
	return 0;
}

int64_t kl_unwritten(const struct kl_part *p, struct kl_run *run, struct kl_looks *looks)
{
	struct unwritten u = { .p = p, .run = run, .looks = looks };
	int64_t found = KL_NO_OP;
	uint32_t i;
	int ret;

	if (!p->fresh || p->ngaps || !kl_spec_fixed_size(p->spec))
		return KL_NO_OP;
	ret = unwritten_init(&u) ?: collect(&u);
	for (i = 0; !ret && i < p->nitems && found == KL_NO_OP; i++) {
		if (p->items[i].ret_ev == KL_NO_EVENT)
			continue;
		u.possible = false;
		ret = apply(&u, &p->items[i], on_need);
		if (!ret && !u.possible)
			found = i;
		ret = ret == -ENOMEM || ret == -EDQUOT ? ret : 0;
	}
	free(u.any);
	free(u.open);
	free(u.vals);
	return ret == -ENOMEM ? ret : found;
}
