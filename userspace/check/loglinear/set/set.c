// SPDX-License-Identifier: GPL-2.0
/*
 * Sets, whole: each key by itself, but no partition is made for it.
 *
 * Of a key there is one bit, in or out.  What changes it goes up (added) or down
 * (removed); all else sees it in or out.  When nothing of the key is open the bit is
 * known, so its operations fall into groups that do not overlap; nearly all have one
 * operation, and cost one look at a table.
 *
 * The clock is taken to have no error, and where times are equal a thread's return comes
 * before its next call, see timeline.c for `strict': a yes is a yes; a no is only one if
 * a general engine says so of the key, too.
 *
 * Does the order of a thread say more than times do?  Then orders of the keys may
 * each be right and not fit together, so that one of all has to be made and looked at.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/loglinear/multiset/multiset.h"

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
 * For an order one has to be chosen: where the first bit is not known, one that leads to
 * the end.
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

	if (t->order && !t->multi && t->one >> FROM_IN)
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
	/* Where it matters it shows soon. */
	t->lines = t->order = true;
	set_start_again(t);
	return decide_whole(t);
}

/* The operations of the key that is wrong. */
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
		const struct kl_val *v = &h->vals[h->shapes[h->ops[op].shape].vals];

		/* What is not known may be this one. */
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
	const int ret = t->multi ? multi_confirm(t, op, a) : 0;

	if (ret)
		return ret < 0 ? ret : 0;
	return mono_confirm(t->s, t->lim, a);
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
		snprintf(a->reason, sizeof(a->reason),
			 "log-linear: a result that is not known, or more at once than it bears");
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

int mono_set(const struct kl_slice *s, const struct kl_limits *lim, const struct kl_container *c,
	     struct kl_answer *a)
{
	struct set t = {
		.s = s, .lim = lim, .most_work = SET_WORK * (uint64_t)s->nops + SET_FIRST_WORK,
		.back = SET_BACK, .multi = c->kind == KL_CONTAINER_MULTISET,
		.lines = s->h->error, .order = !lim->no_witness || s->h->error,
	};
	const bool known = c->init && s->h->fresh;
	uint32_t nparts;
	int ret = -ENOMEM;

	if (t.multi)
		t.one = MULTI_SEEN | (known ? 0 : MULTI_ANY);
	else
		t.one = known ? OUT : OUT | IN << FROM_IN;
	t.roles = mono_roles(s);
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
