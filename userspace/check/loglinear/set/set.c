// SPDX-License-Identifier: GPL-2.0
/*
 * Sets, decided whole: each key by itself, but without a partition for each key.
 *
 * A key is one bit, in or out.  An operation changes the bit up (added) or down (removed), or sees
 * it in or out.  When no operation of the key is open, the bit is known.  So a key's operations
 * fall into groups that do not overlap.  Nearly all groups have one operation, and cost one look-up
 * in a table.
 *
 * The clock is taken to have no error, and a thread's return comes before its next call at an equal
 * time (`strict' in timeline.c).  So a yes is right, and a no must be confirmed for the key by
 * a general engine.
 *
 * Threads may order operations that times do not.  Then each key may have an order, while these
 * orders do not fit together.  So an order of all operations is made and checked.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/loglinear/set/set.h"

/* Choose the first bit of a key from those that led to the end. */
static void choose(struct set_part *s, struct set_key *k)
{
	if (k->bits)
		k->first = k->bits & (OUT | IN) ? OUT : IN << FROM_IN;
}

static int sweep(struct set *t)
{
	struct set_part *s = &t->part[0];
	int ret;

	memset(s->latest, 0, t->s->h->nthreads * sizeof(*s->latest));
	ret = set_sweep(s);
	return ret > 0 ? set_end_keys(s) : ret;
}

/*
 * An order needs a first bit for each key.  Where it is unknown, choose a bit from which the key's
 * operations have an order.  Return: as set_sweep().
 */
static int choose_first(struct set *t)
{
	int ret;

	t->choose = true;
	ret = sweep(t);
	t->choose = false;
	if (ret > 0) {
		set_each_key(t, choose);
		set_start_again(t);
	}
	return ret;
}

static int decide_whole(struct set *t)
{
	int ret = 1;

	if (t->order && !t->kind->multi && t->one >> FROM_IN)
		ret = choose_first(t);
	return ret > 0 ? sweep(t) : ret;
}

int set_decide(struct set *t)
{
	int ret;

	if (t->nparts > 1) {
		if (set_decide_parts(t))
			return 1;
		set_start_again(t);
	}
	ret = decide_whole(t);
	if (ret != -ERESTART)
		return ret;
	/* The order of threads matters; a run that makes an order takes it into account. */
	t->lines = t->order = true;
	set_start_again(t);
	return decide_whole(t);
}

/* List the operations of the wrong key as the core. */
static int list_bad(const struct set *t, struct kl_answer *a)
{
	const struct set_part *bad = &t->part[0];
	const struct kl_history *h = t->s->h;
	char op_text[80];
	uint32_t i;

	a->core = malloc(((size_t)t->s->nops + 1) * sizeof(*a->core));
	if (!a->core)
		return -ENOMEM;
	for (i = 0; i < t->s->nops; i++) {
		const uint32_t op = set_index(t, i);
		const struct kl_val *v = &h->vals[h->opsigs[h->ops[op].sig].vals];

		/* An unknown value may be this key. */
		if (v->tag != KL_WORD)
			return -EAGAIN;
		if (v->v == bad->bad)
			a->core[a->ncore++] = op;
	}
	kl_op_print(op_text, sizeof(op_text), h, &h->ops[set_index(t, bad->bad_item)]);
	snprintf(a->reason, sizeof(a->reason), "%s: key %" PRIu64 " %s", op_text, bad->bad,
		 bad->bad_why);
	return 0;
}

static int confirm(const struct set *t, uint32_t op, struct kl_answer *a)
{
	const int ret = t->kind->confirm ? t->kind->confirm(t, op, a) : 0;

	if (ret)
		return ret < 0 ? ret : 0;
	return ll_confirm(t->s, t->lim, a);
}

static int answer(struct set *t, struct kl_answer *a)
{
	int found = set_decide(t);

	if (!found) {
		found = list_bad(t, a);
		if (!found)
			return confirm(t, set_index(t, t->part[0].bad_item), a);
		kl_answer_free(a);
	}
	if (found == -EAGAIN) {
		ll_decline(a, "a result is unknown, or too many operations overlap");
		return 0;
	}
	if (found < 0)
		return found;
	found = t->order ? set_order(t, a) : 1;
	if (found > 0)
		a->verdict = KL_LINEARIZABLE;
	else
		kl_answer_free(a);
	return found < 0 ? found : 0;
}

static int end_key(struct set_part *s, struct set_key *k)
{
	return k->bits ? set_end_group(s, k) : 1;
}

const struct set_kind set_kind = {
	.one = { OUT | IN << FROM_IN, OUT },
	.add = set_add,
	.end_key = end_key,
};

int set_answer(const struct kl_slice *s, const struct kl_limits *lim, const struct kl_container *c,
	       const struct set_kind *kind, struct kl_answer *a)
{
	struct set t = {
		.s = s, .kind = kind, .one = kind->one[c->init && s->h->fresh], .lim = lim,
		.most_work = SET_WORK * (uint64_t)s->nops + SET_FIRST_WORK,
		.back = SET_BACK, .lines = s->h->error, .order = !lim->no_witness || s->h->error,
	};
	uint32_t nparts;
	int ret = -ENOMEM;

	t.roles = ll_roles(s);
	nparts = set_count_parts(&t);
	if (t.roles)
		ret = set_init(&t, nparts);
	if (ret && t.roles && nparts > 1) {
		set_free(&t);
		ret = set_init(&t, 1);
	}
	if (!ret)
		ret = answer(&t, a);
	set_free(&t);
	free(t.roles);
	return ret;
}
