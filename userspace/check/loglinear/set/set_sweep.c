// SPDX-License-Identifier: GPL-2.0
/*
 * Sets: the operations of a part, in blocks.  The operations of a block are looked up together, and
 * then added to their keys, so that cache misses overlap.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/loglinear/set/set.h"

#define AHEAD		64	/* operations ahead of their turn that are prefetched, */
#define OPSIGS		48	/* the same for their signatures, */
#define VALUES		24	/* and for their values */
#define UNKNOWN		8	/* in place of an enum what: the operation's effect is not known */

/*
 * What an operation does: an enum what, or UNKNOWN.  Rows are roles; columns are results: false,
 * true, a special value, an unknown value, and none because the operation is pending.
 */
static const uint8_t set_does[][8] = {
	[KL_ROLE_ADD] = { SEES_IN, UP, UNKNOWN, UNKNOWN, UP },
	[KL_ROLE_REMOVE] = { SEES_OUT, DOWN, UNKNOWN, UNKNOWN, DOWN },
	[KL_ROLE_PEEK] = { SEES_OUT, SEES_IN, UNKNOWN, FREE, FREE },
	[KL_ROLE_COUNT] = { UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN },
};

static const uint8_t multiset_does[][8] = {
	[KL_ROLE_ADD] = { UP, UP, UP, UP, UP },
	[KL_ROLE_REMOVE] = { SEES_OUT, DOWN, UNKNOWN, UNKNOWN, DOWN },
	[KL_ROLE_PEEK] = { SEES_OUT, SEES_IN, UNKNOWN, FREE, FREE },
	[KL_ROLE_COUNT] = { SEES_OUT, SEES_COUNT, UNKNOWN, FREE, FREE },
};

/* Look up what an operation does.  Return: an enum what, or UNKNOWN. */
static inline unsigned int what_of(const uint8_t does[8], struct kl_val res, bool pending)
{
	const unsigned int special = 2 + (res.tag == KL_ANY);
	const unsigned int one = res.tag == KL_WORD ? res.v != 0 : special;

	return does[pending ? 4 : one];
}

/*
 * Return: true if the operation was called after all earlier ones of its thread had returned.
 * *latest is their latest return + 1.
 */
static inline bool follows(uint64_t *latest, const struct kl_op *op)
{
	const bool behind = op->call >= *latest;

	if (op->ret != KL_TIME_MAX && op->ret >= *latest)
		*latest = op->ret + 1;
	return behind;
}

/*
 * Record an operation that has not returned before the next part.  Return: 0, -ENOMEM, or -EAGAIN
 * if it is pending and too far back for the last part to find it.
 */
static int note_flight(struct set_part *s, uint32_t item, bool pending)
{
	const struct set *t = s->t;

	if (pending && s->next != KL_TIME_MAX && item + t->back < t->part[t->nparts - 1].from)
		return -EAGAIN;
	if (kl_grow(s->flight, s->cflight, s->nflight + 1))
		return -ENOMEM;
	s->flight[s->nflight++] = item;
	return 0;
}

/*
 * Look up the @n operations from @from on, of @list or, if it is NULL, of all.  Constants are
 * passed as arguments, since for the compiler any store could change a field.  Return: 1,
 * -ERESTART, -EAGAIN or -ENOMEM, see set_sweep().
 */
__attribute__((always_inline))
static inline int look_up(struct set_part *s, const uint32_t *list, uint32_t from, uint32_t n)
{
	const struct set *t = s->t;
	const struct kl_op *const ops = t->s->h->ops;
	const struct kl_opsig *const opsigs = t->s->h->opsigs;
	const struct kl_val *const vals = t->s->h->vals;
	const uint8_t *const roles = t->roles;
	const uint8_t(*const does)[8] = t->kind->multi ? multiset_does : set_does;
	const uint64_t nsmall = s->small.n, next = s->next;
	uint64_t *const latest = s->latest, top = s->top;
	const uint32_t end = from + n, last = s->to - 1;
	struct set_op *to = s->looked;
	bool lines = false;
	uint32_t i;
	int ret = 1;

	for (i = from; i < end; i++, to++) {
		const uint32_t far = i + OPSIGS < last ? i + OPSIGS : last;
		const uint32_t near = i + VALUES < last ? i + VALUES : last;
		const struct kl_op *op = &ops[list ? list[i] : i];
		const struct kl_opsig sig = opsigs[op->sig];
		const struct kl_val *v = &vals[sig.vals];
		const enum kl_role role = roles[sig.method];
		unsigned int what;

		__builtin_prefetch(op + AHEAD);
		__builtin_prefetch(&opsigs[ops[list ? list[far] : far].sig]);
		__builtin_prefetch(&vals[opsigs[ops[list ? list[near] : near].sig].vals]);
		ret = -EAGAIN;
		if (role == KL_ROLE_OTHER || v->tag != KL_WORD)
			break;
		/* An addition to a multiset has no result. */
		what = what_of(does[role], v[sig.nargs - !sig.nres],
			       op->flags & KL_OP_PENDING);
		if (what == UNKNOWN)
			break;
		ret = op->ret < next ? 0 : note_flight(s, i, op->flags & KL_OP_PENDING);
		if (ret)
			break;
		top = v->v >= top && v->v < nsmall ? v->v + 1 : top;
		lines |= !follows(&latest[op->thread], op);
		*to = (struct set_op){
			.key = v->v, .call = op->call, .ret = op->ret, .op = what << 28 | i,
			.thread = op->thread,
		};
	}
	s->top = top;
	if (lines && !t->lines && ret != -ENOMEM)
		return -ERESTART;
	return ret ? ret : 1;
}

/* The earliest wrong operation so far, and its key. */
struct worst {
	uint32_t item;
	uint64_t key;
	const char *why;
};

/* End the last group of a key.  If it is the earliest wrong one, set *worst.  1, 0 or an errno. */
static int end_key(struct set_part *s, struct set_key *k, uint64_t key, struct worst *worst)
{
	const int ret = s->t->kind->end_key(s, k);

	if (!ret && s->bad_item <= worst->item)
		*worst = (struct worst){ s->bad_item, key, s->bad_why };
	return ret;
}

int set_end_keys(struct set_part *s)
{
	struct worst worst = { .item = LL_NONE };
	uint64_t key;
	uint32_t i;
	int ret = 1;

	for (key = 0; key < s->top && ret >= 0; key++)
		ret = end_key(s, &s->small.key[key], key, &worst);
	for (i = 0; i < s->words.n && ret >= 0; i++)
		ret = end_key(s, &s->keys[i], s->words.word[i], &worst);
	if (ret < 0)
		return ret;
	s->bad = worst.key;
	s->bad_item = worst.item;
	s->bad_why = worst.why;
	return worst.item == LL_NONE;
}

int set_sweep(struct set_part *s)
{
	const struct set *t = s->t;
	const uint32_t *const list = t->s->ops;
	uint32_t i, n;
	int ret = 1;

	for (i = s->from; i < s->to && ret > 0; i += n) {
		n = s->to - i < SET_BLOCK ? s->to - i : SET_BLOCK;
		if (__atomic_load_n(&t->stop, __ATOMIC_RELAXED))
			return -EAGAIN;
		ret = list ? look_up(s, list, i, n) : look_up(s, NULL, i, n);
		if (ret > 0)
			ret = t->kind->add(s, s->looked, n);
		if (ret > 0 && s->work >= t->most_work)
			ret = -EAGAIN;
	}
	return ret;
}
